// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of onnx.hpp: which operators stand for a layer.
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/graph_shapes.hpp"
#include "manta/nn/layer.hpp"
#include "manta/nn/onnx.hpp"
#include "manta/nn/onnx/builder.hpp"
#include "manta/nn/weight_files/bytes.hpp"

namespace manta::nn::detail {

/// Writes layer after layer. The names of a layer's arrays begin with `prefix`.
class onnx_layers : public onnx_builder {
  using maker = std::string (onnx_layers::*)(const spec&, const std::string& prefix, const onnx_value& x);

 public:
  using onnx_builder::onnx_builder;

  onnx_value row(const std::vector<spec>& layers, const std::string& prefix, onnx_value x) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      row_ = prefix;
      x = layer(layers[i], base::text("{}{}.", prefix, i), std::move(x));
    }
    return x;
  }

 private:
  onnx_value layer(const spec& s, const std::string& prefix, onnx_value x) {
    static const std::map<std::string, maker> makers = {
        {"linear", &onnx_layers::linear},
        {"tied_linear", &onnx_layers::tied_linear},
        {"relu", &onnx_layers::activation},
        {"tanh", &onnx_layers::activation},
        {"sigmoid", &onnx_layers::activation},
        {"softplus", &onnx_layers::activation},
        {"gelu", &onnx_layers::gelu},
        {"leaky_relu", &onnx_layers::leaky_relu},
        {"elu", &onnx_layers::elu},
        {"silu", &onnx_layers::silu},
        {"softmax", &onnx_layers::softmax},
        {"conv1d", &onnx_layers::conv1d},
        {"conv2d", &onnx_layers::convolution},
        {"conv3d", &onnx_layers::convolution},
        {"conv2d_transposed", &onnx_layers::transposed_convolution},
        {"upsample", &onnx_layers::upsample},
        {"max_pool", &onnx_layers::pool},
        {"average_pool", &onnx_layers::pool},
        {"batch_norm", &onnx_layers::batch_norm},
        {"layer_norm", &onnx_layers::layer_norm},
        {"group_norm", &onnx_layers::group_norm},
        {"dropout", &onnx_layers::nothing},
        {"embedding", &onnx_layers::embedding},
        {"positions", &onnx_layers::positions},
        {"lstm", &onnx_layers::recurrent},
        {"gru", &onnx_layers::recurrent},
        {"bidirectional", &onnx_layers::recurrent},
        {"attention", &onnx_layers::attention},
        {"last", &onnx_layers::last},
        {"mean", &onnx_layers::mean},
        {"flatten", &onnx_layers::flat},
        {"reshape", &onnx_layers::reshape},
        {"sequential", &onnx_layers::sequential},
        {"residual", &onnx_layers::residual},
        {"parts", &onnx_layers::parts},
        {"graph", &onnx_layers::graph_of},
    };
    const auto found = makers.find(s.kind);
    if (found == makers.end())
      throw error(
          base::text("manta: nn: save_onnx: the layer {} has no counterpart in ONNX: leave it out of the network "
                     "that is written, and do its work in the program that runs the model",
                     s.text()));
    // The shapes of a tied layer follow from another one's array.
    shape out;
    if (s.kind == "tied_linear") {
      const bool turned = s.option("transposed", 0) != 0;
      const int outputs = array(weight_of_tied(s)).extents[turned ? 1 : 0];
      out = x.extents.dimensions() == 2 ? shape{x.extents[0], outputs} : shape{outputs};
    } else {
      out = make_layer<float>(s, x.extents)->output_shape();
    }
    return {(this->*found->second)(s, prefix, x), std::move(out)};
  }

  /// W x + b of vectors or of the positions of a sequence; `bias` may be "".
  std::string product(const onnx_value& x, const std::string& weight, bool is_turned, const std::string& bias) {
    if (x.extents.dimensions() == 2) {
      const std::string y = node("MatMul", {x.name, is_turned ? put(weight) : put_turned(weight)});
      return bias.empty() ? y : sum(y, put(bias));
    }
    std::vector<std::string> inputs{vector(x), put(weight)};
    if (!bias.empty()) inputs.push_back(put(bias));
    return node("Gemm", inputs, {{"transB", is_turned ? 0 : 1}});
  }
  [[nodiscard]] std::string bias_of(const std::string& prefix) const {
    return has(prefix + "bias") ? prefix + "bias" : "";
  }

  // ---- layers ----

  std::string activation(const spec& s, const std::string&, const onnx_value& x) {
    const std::string operation{static_cast<char>(std::toupper(s.kind[0]))};
    return node(operation + s.kind.substr(1), {x.name});
  }
  std::string nothing(const spec&, const std::string&, const onnx_value& x) { return x.name; }

  std::string linear(const spec&, const std::string& prefix, const onnx_value& x) {
    return product(x, prefix + "weight", false, bias_of(prefix));
  }
  [[nodiscard]] std::string weight_of_tied(const spec& s) const { return base::text("{}{}.weight", row_, s.sizes[0]); }
  std::string tied_linear(const spec& s, const std::string& prefix, const onnx_value& x) {
    return product(x, weight_of_tied(s), s.option("transposed", 0) != 0, bias_of(prefix));
  }

  std::string gelu(const spec&, const std::string&, const onnx_value& x) {
    const std::string scaled = node("Mul", {x.name, graph_.number(std::numbers::sqrt2_v<float> / 2)});
    const std::string below = sum(node("Erf", {scaled}), graph_.number(1));
    return node("Mul", {node("Mul", {x.name, below}), graph_.number(0.5F)});
  }
  std::string leaky_relu(const spec& s, const std::string&, const onnx_value& x) {
    return node("LeakyRelu", {x.name}, {{"alpha", static_cast<float>(s.option("slope", 0.01))}});
  }
  std::string elu(const spec& s, const std::string&, const onnx_value& x) {
    return node("Elu", {x.name}, {{"alpha", static_cast<float>(s.option("alpha", 1))}});
  }
  std::string silu(const spec&, const std::string&, const onnx_value& x) {
    return node("Mul", {x.name, node("Sigmoid", {x.name})});
  }
  std::string softmax(const spec&, const std::string&, const onnx_value& x) {
    if (x.extents.dimensions() == 2) return node("Softmax", {x.name}, {{"axis", -1}});
    const std::string y = node("Softmax", {vector(x)}, {{"axis", -1}});
    return x.extents.dimensions() == 1 ? y : in_shape(y, x.extents);
  }

  /// A convolution over `axes` axes of the operator's order, batch and channels first.
  std::string convolve(const char* operation, const spec& s, const std::string& prefix, const std::string& x,
                       std::size_t axes) {
    const auto each = [&](std::int64_t n, std::size_t count) { return integers(count, n); };
    std::vector<onnx_attribute> attributes{{"kernel_shape", each(s.sizes[1], axes)},
                                           {"strides", each(size_option(s, "stride", 1), axes)},
                                           {"pads", each(size_option(s, "padding", 0), 2 * axes)},
                                           {"dilations", each(size_option(s, "dilation", 1), axes)},
                                           {"group", size_option(s, "groups", 1)}};
    if (const std::int64_t more = size_option(s, "more", 0); more > 0)
      attributes.push_back({"output_padding", each(more, axes)});
    std::vector<std::string> inputs{x, put(prefix + "weight")};
    if (!bias_of(prefix).empty()) inputs.push_back(put(prefix + "bias"));
    return node(operation, inputs, attributes);
  }
  std::string convolution(const spec& s, const std::string& prefix, const onnx_value& x) {
    return convolve("Conv", s, prefix, x.name, static_cast<std::size_t>(x.extents.dimensions()) - 1);
  }
  std::string transposed_convolution(const spec& s, const std::string& prefix, const onnx_value& x) {
    return convolve("ConvTranspose", s, prefix, x.name, 2);
  }
  std::string conv1d(const spec& s, const std::string& prefix, const onnx_value& x) {
    return turned(convolve("Conv", s, prefix, turned(x.name, {0, 2, 1}), 1), {0, 2, 1});
  }
  std::string upsample(const spec& s, const std::string&, const onnx_value& x) {
    const auto factor = static_cast<float>(s.sizes[0]);
    const std::string scales = graph_.array(base::text("{} times {}", s.sizes[0], x.name), {4}, {1, 1, factor, factor});
    const bool is_linear = s.option("bilinear", 0) != 0;
    return node("Resize", {x.name, "", scales},
                {{"mode", std::string(is_linear ? "linear" : "nearest")},
                 {"coordinate_transformation_mode", std::string(is_linear ? "half_pixel" : "asymmetric")},
                 {"nearest_mode", std::string("floor")}});
  }
  std::string pool(const spec& s, const std::string&, const onnx_value& x) {
    const bool is_sequence = x.extents.dimensions() == 2;
    const int size = s.sizes[0] == 0 ? x.extents[is_sequence ? 0 : 1] : s.sizes[0];
    const auto axes = static_cast<std::size_t>(x.extents.dimensions()) - 1;
    const std::int64_t stride = size_option(s, "stride", size), padding = size_option(s, "padding", 0);
    const std::string y =
        node(s.kind == "max_pool" ? "MaxPool" : "AveragePool", {is_sequence ? turned(x.name, {0, 2, 1}) : x.name},
             {{"kernel_shape", integers(axes, size)},
              {"strides", integers(axes, stride)},
              {"pads", integers(2 * axes, padding)}});
    return is_sequence ? turned(y, {0, 2, 1}) : y;
  }

  std::string batch_norm(const spec& s, const std::string& prefix, const onnx_value& x) {
    const auto normalised = [&](const std::string& input) {
      return node("BatchNormalization",
                  {input, put(prefix + "weight"), put(prefix + "bias"), put(prefix + "running_mean"),
                   put(prefix + "running_var")},
                  {{"epsilon", static_cast<float>(s.option("epsilon", 1e-5))}});
    };
    if (x.extents.dimensions() != 2) return normalised(x.name);
    return turned(normalised(turned(x.name, {0, 2, 1})), {0, 2, 1});
  }
  std::string layer_norm(const spec& s, const std::string& prefix, const onnx_value& x) {
    return node(
        "LayerNormalization", {x.name, put(prefix + "weight"), put(prefix + "bias")},
        {{"axis", x.extents.dimensions() == 2 ? -1 : 1}, {"epsilon", static_cast<float>(s.option("epsilon", 1e-5))}});
  }
  /// Each group is a channel of an instance norm, which has neither weight nor bias of its own.
  std::string group_norm(const spec& s, const std::string& prefix, const onnx_value& x) {
    const int groups = s.sizes[0];
    const auto count = static_cast<std::size_t>(groups);
    const std::string ones = graph_.array(prefix + "ones", {groups}, std::vector<float>(count, 1)),
                      zeros = graph_.array(prefix + "zeros", {groups}, std::vector<float>(count, 0));
    const std::string z =
        node("InstanceNormalization", {in_shape(x.name, shape{groups, x.extents.size() / groups}), ones, zeros},
             {{"epsilon", static_cast<float>(s.option("epsilon", 1e-5))}});
    std::vector<int> extents(static_cast<std::size_t>(x.extents.dimensions()), 1);
    extents[0] = x.extents[0];
    const std::string scaled = node("Mul", {in_shape(z, x.extents), put(prefix + "weight", shape(extents))});
    return sum(scaled, put(prefix + "bias", shape(extents)));
  }

  std::string embedding(const spec&, const std::string& prefix, const onnx_value& x) {
    return node("Gather", {put(prefix + "weight"), node("Cast", {x.name}, {{"to", 7}})}, {{"axis", 0}});
  }
  std::string positions(const spec&, const std::string& prefix, const onnx_value& x) {
    return sum(x.name, put(prefix + "weight"));
  }

  /// The gates of an array in ONNX's order, of all directions.
  std::string gates(const std::string& prefix, const std::vector<std::string>& names, const std::vector<int>& order,
                    bool is_two_way) {
    std::vector<float> all;
    std::string whole;
    for (const char* way : {"", "_reverse"}) {
      if (*way != '\0' && !is_two_way) continue;
      for (const std::string& name : names) {
        const std::vector<float>& numbers = array(prefix + name + way).numbers;
        const auto each = static_cast<std::ptrdiff_t>(numbers.size() / order.size());
        for (const int gate : order)
          all.insert(all.end(), numbers.begin() + gate * each, numbers.begin() + (gate + 1) * each);
      }
    }
    const int ways = is_two_way ? 2 : 1;
    const shape& its = array(prefix + names[0]).extents;
    onnx_graph::extents extents{ways, its[0] * static_cast<int>(names.size())};
    if (its.dimensions() == 2) extents.push_back(its[1]);
    return graph_.array(prefix + names[0] + " in ONNX's order", extents, all);
  }
  std::string recurrent(const spec& s, const std::string& prefix, const onnx_value& x) {
    if (x.extents.dimensions() != 2)
      throw error(
          base::text("manta: nn: save_onnx: {} carries its state from step to step, and ONNX's runs over whole "
                     "sequences: give the network the shape {length, features}, which has the same weights",
                     s.text()));
    const bool is_two_way = s.kind == "bidirectional";
    const spec& cell = is_two_way ? s.parts[0] : s;
    const bool is_lstm = cell.kind == "lstm";
    const std::vector<int> order = is_lstm ? std::vector<int>{0, 3, 1, 2} : std::vector<int>{1, 0, 2};
    std::vector<onnx_attribute> attributes{{"hidden_size", cell.sizes[0]},
                                           {"direction", std::string(is_two_way ? "bidirectional" : "forward")}};
    if (!is_lstm) attributes.push_back({"linear_before_reset", 1});
    const std::string y = node(is_lstm ? "LSTM" : "GRU",
                               {turned(x.name, {1, 0, 2}), gates(prefix, {"weight_ih_l0"}, order, is_two_way),
                                gates(prefix, {"weight_hh_l0"}, order, is_two_way),
                                gates(prefix, {"bias_ih_l0", "bias_hh_l0"}, order, is_two_way)},
                               attributes);  // length x directions x batch x features
    return in_shape(turned(y, {2, 0, 1, 3}), shape{x.extents[0], cell.sizes[0] * (is_two_way ? 2 : 1)});
  }

  std::string attention(const spec& s, const std::string& prefix, const onnx_value& x) {
    const int length = x.extents[0], features = x.extents[1], heads = s.sizes[0], width = features / heads;
    const std::string all =
        sum(node("MatMul", {x.name, put_turned(prefix + "in_proj_weight")}), put(prefix + "in_proj_bias"));
    const auto part = [&](int which, const integers& order) {
      const std::string its =
          node("Slice", {all, graph_.array(integers{which * features}), graph_.array(integers{(which + 1) * features}),
                         graph_.array(integers{2})});
      return turned(in_shape(its, shape{length, heads, width}), order);
    };
    std::string scores = node("MatMul", {part(0, {0, 2, 1, 3}), part(1, {0, 2, 3, 1})});
    scores = node("Mul", {scores, graph_.number(1 / std::sqrt(static_cast<float>(width)))});
    if (s.option("causal", 0) != 0) {
      std::vector<float> mask(static_cast<std::size_t>(length * length));
      for (int query = 0; query < length; ++query)
        for (int key = query + 1; key < length; ++key) mask[static_cast<std::size_t>(query * length + key)] = -1e30F;
      scores = sum(scores, graph_.array(prefix + "mask", {length, length}, mask));
    }
    const std::string mixed = node("MatMul", {node("Softmax", {scores}, {{"axis", -1}}), part(2, {0, 2, 1, 3})});
    const std::string joined = in_shape(turned(mixed, {0, 2, 1, 3}), x.extents);
    return sum(node("MatMul", {joined, put_turned(prefix + "out_proj.weight")}), put(prefix + "out_proj.bias"));
  }

  std::string last(const spec&, const std::string&, const onnx_value& x) {
    const std::string its = node("Slice", {x.name, graph_.array(integers{x.extents[0] - 1}),
                                           graph_.array(integers{x.extents[0]}), graph_.array(integers{1})});
    return in_shape(its, shape{x.extents[1]});
  }
  std::string mean(const spec&, const std::string&, const onnx_value& x) {
    return node("ReduceMean", {x.name}, {{"axes", integers{1}}, {"keepdims", 0}});
  }
  std::string flat(const spec&, const std::string&, const onnx_value& x) { return vector(x); }
  std::string reshape(const spec& s, const std::string&, const onnx_value& x) {
    return in_shape(x.name, shape(s.sizes));
  }

  // ---- layers of layers ----

  static std::vector<spec> row_of(const spec& s) { return s.kind == "sequential" ? s.parts : std::vector<spec>{s}; }
  std::string sequential(const spec& s, const std::string& prefix, const onnx_value& x) {
    return row(s.parts, prefix, x).name;
  }
  std::string residual(const spec& s, const std::string& prefix, const onnx_value& x) {
    const std::string main = row(row_of(s.parts[0]), prefix + "main.", x).name;
    return sum(main, s.parts.size() > 1 ? row(row_of(s.parts[1]), prefix + "shortcut.", x).name : x.name);
  }
  std::string parts(const spec& s, const std::string& prefix, const onnx_value& x) {
    const std::string all = vector(x);
    std::vector<std::string> results;
    int first = 0;
    for (std::size_t i = 0; i < s.parts.size(); ++i) {
      const shape its(s.parts[i].sizes);
      results.push_back(vector(row(s.parts[i].parts, base::text("{}{}.", prefix, i), columns(all, first, its))));
      first += its.size();
    }
    return node("Concat", results, {{"axis", 1}});
  }
  std::string graph_of(const spec& s, const std::string& prefix, const onnx_value& x) {
    const std::string all = vector(x);
    std::vector<onnx_value> values;
    std::vector<shape> shapes;
    int first = 0;
    for (const spec& one : s.parts) {
      std::vector<std::string> from;
      for (const int i : one.kind == "input" ? std::vector<int>() : one.sizes)
        from.push_back(one.kind == "outputs" ? vector(values[static_cast<std::size_t>(i)])
                                             : values[static_cast<std::size_t>(i)].name);
      if (one.kind == "outputs") {
        return one.sizes.size() == 1 ? values[static_cast<std::size_t>(one.sizes[0])].name
                                     : node("Concat", from, {{"axis", 1}});
      }
      if (one.kind == "input") {
        values.push_back(columns(all, first, shape(one.sizes)));
        first += values.back().extents.size();
      } else if (is_named(one.kind)) {
        values.push_back(layer(one.parts[0], prefix + one.kind + ".", values[static_cast<std::size_t>(one.sizes[0])]));
      } else {
        const shape joined = joined_shape(one, shapes);
        values.push_back(
            {one.kind == "sum" ? node("Sum", from) : node("Concat", from, {{"axis", joined.dimensions() == 2 ? 2 : 1}}),
             joined});
      }
      shapes.push_back(values.back().extents);
    }
    return "";
  }

  std::string row_;  ///< the beginning of the names of the row under way
};

MANTA_DECL void write_onnx(const std::string& path, const shape& in, const std::vector<spec>& layers,
                           const std::map<std::string, onnx_numbers>& arrays, const onnx_options& options) {
  if (options.batch < 0 || options.input.empty() || options.output.empty() || options.input == options.output)
    throw error(
        base::text("manta: nn: save_onnx: .batch is {}, .input '{}' and .output '{}'; a batch has at least one sample, "
                   "or 0 for any number, and both names differ",
                   options.batch, options.input, options.output));
  onnx_layers all(arrays);
  const onnx_value y = all.row(layers, "", {options.input, in});
  onnx_graph graph = all.graph();
  graph.name(options.output, y.name);
  const std::int64_t batch = options.batch == 0 ? -1 : options.batch;
  write_whole(path, graph.file(options.input, onnx_layers::with_batch(in, batch), options.output,
                               onnx_layers::with_batch(y.extents, batch)));
}

}  // namespace manta::nn::detail
