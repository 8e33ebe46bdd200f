// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The arrays that Keras has for the layers of a network, in its order, and where their numbers go.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/graph_shapes.hpp"
#include "manta/nn/layer.hpp"

namespace manta::nn::detail {

/// Where a number goes: an array of the network's layer, and the place in it.
struct keras_place {
  std::string array;
  int at;
};

/// One way in which Keras may have an array.
struct keras_form {
  std::vector<int> extents;  ///< the last extent fastest
  /// Gets a place in the array, by its extents.
  std::function<keras_place(const std::vector<int>&)> place;
};

struct keras_array {
  std::string layer;  ///< the place of the layer in the network: "0"
  std::string role;   ///< as the path in Keras ends: "kernel", "query/kernel"
  std::vector<keras_form> forms;
};

/// Goes through the layers, and lists arrays. `order` has, while a flattened image goes through layers, our place for
/// each of Keras' places; it is empty where they are the same.
class keras_layers {
 public:
  std::vector<keras_array> arrays;
  std::vector<std::string> notes;

  shape row(const std::vector<spec>& layers, const std::string& prefix, shape in) {
    for (std::size_t i = 0; i < layers.size(); ++i) in = layer(layers[i], base::text("{}{}", prefix, i), in);
    return in;
  }

 private:
  using place_of = std::function<keras_place(const std::vector<int>&)>;

  shape layer(const spec& s, const std::string& name, const shape& in) {
    if (s.kind == "sequential") return row(s.parts, name + ".", in);
    if (s.kind == "residual") return residual(s, name + ".", in);
    if (s.kind == "graph") return graph(s, name + ".");
    check_kind(s);
    const shape out = make_layer<float>(s, in)->output_shape();
    if (s.kind == "linear") linear(s, name, in);
    if (s.kind == "conv1d" || s.kind == "conv2d" || s.kind == "conv3d") convolution(s, name, in);
    if (s.kind == "conv2d_transposed") transposed_convolution(s, name, in);
    if (s.kind == "batch_norm") normalisation(s, name, {in.dimensions() == 2 ? in[1] : in[0]}, true);
    if (s.kind == "group_norm") normalisation(s, name, {in[0]}, false);
    if (s.kind == "layer_norm") normalisation(s, name, in.dimensions() == 2 ? shape{in[1]} : in, false);
    if (s.kind == "embedding") add(name, "embeddings", {s.sizes[0], s.sizes[1]}, "weight");
    if (s.kind == "positions") add(name, "embeddings", in.extents(), "weight");
    if (s.kind == "lstm" || s.kind == "gru") recurrent(s, name, "", "", in);
    if (s.kind == "bidirectional") {
      recurrent(s.parts[0], name, "forward/", "", in);
      recurrent(s.parts[0], name, "backward/", "_reverse", in);
    }
    if (s.kind == "attention") attention(s, name, in);
    if (s.kind == "flatten") order_ = flat_order(in);
    if (s.kind == "leaky_relu") note(name, "the slope of leaky_relu is 0.3", base::text("{}", s.option("slope", 0.01)));
    return out;
  }
  static void check_kind(const spec& s) {
    const bool is_unknown = s.kind == "own" || s.kind == "step_attention" || s.kind == "masked" || s.kind == "parts" ||
                            s.kind == "tied_linear";
    if (is_unknown || (s.kind == "reshape" && s.sizes.size() > 2))
      throw error(
          base::text("manta: nn: load_keras: the layer {} has no counterpart whose order of numbers is known; "
                     "convert the weights in Python, and read them by load_weights",
                     s.text()));
  }
  void note(const std::string& layer, const std::string& standard, const std::string& own) {
    notes.push_back(base::text("layer {}: in Keras {} where nothing is said, here it is {}", layer, standard, own));
  }

  void add(const std::string& layer, const std::string& role, std::vector<int> extents, place_of place) {
    arrays.push_back({layer, role, {{std::move(extents), std::move(place)}}});
  }
  /// An array whose numbers have our order.
  void add(const std::string& layer, const std::string& role, const std::vector<int>& extents, const char* array) {
    add(layer, role, extents, [=](const std::vector<int>& at) {
      int all = 0;
      for (std::size_t i = 0; i < at.size(); ++i) all = all * extents[i] + at[i];
      return keras_place{array, all};
    });
  }

  /// Our places of the features of an image or a volume, in Keras' order, which has channels last.
  static std::vector<int> flat_order(const shape& in) {
    if (in.dimensions() < 3) return {};
    const int pixels = in.size() / in[0];
    std::vector<int> order;
    for (int pixel = 0; pixel < pixels; ++pixel)
      for (int c = 0; c < in[0]; ++c) order.push_back(c * pixels + pixel);
    return order;
  }
  static int ours(const std::vector<int>& order, int theirs) {
    return order.empty() ? theirs : order[static_cast<std::size_t>(theirs)];
  }

  void linear(const spec& s, const std::string& name, const shape& in) {
    const int inputs = in.dimensions() == 2 ? in[1] : in.size();
    const std::vector<int> order = in.dimensions() > 2 ? flat_order(in) : std::exchange(order_, {});
    add(name, "kernel", {inputs, s.sizes[0]}, [=](const std::vector<int>& at) {
      return keras_place{"weight", at[1] * inputs + ours(order, at[0])};
    });
    if (s.option("bias", 1) != 0) add(name, "bias", {s.sizes[0]}, "bias");
  }

  /// Keras: the window, inputs, outputs; ours: outputs, inputs, the window. A depthwise convolution of Keras has each
  /// channel's filters one after the other.
  void convolution(const spec& s, const std::string& name, const shape& in) {
    const int axes = s.kind == "conv1d" ? 1 : s.kind == "conv2d" ? 2 : 3, size = s.sizes[1], filters = s.sizes[0];
    const int channels = s.kind == "conv1d" ? in[1] : in[0], groups = static_cast<int>(s.option("groups", 1));
    const int seen = channels / groups;
    const auto in_window = [=](const std::vector<int>& at) {
      int all = 0;
      for (int i = 0; i < axes; ++i) all = all * size + at[static_cast<std::size_t>(i)];
      return all;
    };
    int window = 1;
    for (int i = 0; i < axes; ++i) window *= size;
    const auto form = [&](int from, int to, place_of place) {
      std::vector<int> extents(static_cast<std::size_t>(axes), size);
      extents.insert(extents.end(), {from, to});
      return keras_form{extents, std::move(place)};
    };
    const auto last = static_cast<std::size_t>(axes);
    keras_array kernel{name, "kernel", {form(seen, filters, [=](const std::vector<int>& at) {
                         return keras_place{"weight", (at[last + 1] * seen + at[last]) * window + in_window(at)};
                       })}};
    if (groups == channels && groups > 1)
      kernel.forms.push_back(form(channels, filters / channels, [=](const std::vector<int>& at) {
        return keras_place{"weight", (at[last] * (filters / channels) + at[last + 1]) * window + in_window(at)};
      }));
    arrays.push_back(std::move(kernel));
    if (s.option("bias", 1) != 0) add(name, "bias", {filters}, "bias");
  }
  /// Keras: the window, outputs, inputs; ours: inputs, outputs, the window.
  void transposed_convolution(const spec& s, const std::string& name, const shape& in) {
    const int size = s.sizes[1], outputs = s.sizes[0];
    add(name, "kernel", {size, size, outputs, in[0]}, [=](const std::vector<int>& at) {
      return keras_place{"weight", ((at[3] * outputs + at[2]) * size + at[0]) * size + at[1]};
    });
    if (s.option("bias", 1) != 0) add(name, "bias", {outputs}, "bias");
  }

  /// `extents`: of our arrays.
  void normalisation(const spec& s, const std::string& name, const shape& extents, bool has_means) {
    const double epsilon = s.option("epsilon", 1e-5);
    if (epsilon != 1e-3) note(name, base::text("the epsilon of {} is 0.001", s.kind), base::text("{}", epsilon));
    const std::vector<int> order = extents.dimensions() > 2 ? flat_order(extents) : order_;
    std::vector<int> theirs = extents.extents();
    if (theirs.size() > 2) std::rotate(theirs.begin(), theirs.begin() + 1, theirs.end());
    const auto vector = [&](const char* role, const char* array) {
      add(name, role, theirs, [=](const std::vector<int>& at) {
        int all = 0;
        for (std::size_t i = 0; i < at.size(); ++i) all = all * theirs[i] + at[i];
        return keras_place{array, ours(order, all)};
      });
    };
    vector("gamma", "weight");
    vector("beta", "bias");
    if (!has_means) return;
    vector("moving_mean", "running_mean");
    vector("moving_variance", "running_var");
  }

  /// Keras has the gates i, f, c, o of an LSTM, as we have them, and z, r, h of a GRU, where we have r, z, n.
  void recurrent(const spec& s, const std::string& name, const std::string& way, const std::string& end,
                 const shape& in) {
    const int features = s.sizes[0], inputs = in.dimensions() == 2 ? in[1] : in.size();
    const bool is_lstm = s.kind == "lstm";
    const int gates = is_lstm ? 4 : 3;
    const auto row = [=](int column) {
      const int gate = column / features;
      return (is_lstm || gate == 2 ? gate : 1 - gate) * features + column % features;
    };
    const auto matrix = [&](const char* role, const std::string& array, int from) {
      add(name, way + role, {from, gates * features}, [=](const std::vector<int>& at) {
        return keras_place{array, row(at[1]) * from + at[0]};
      });
    };
    matrix("kernel", "weight_ih_l0" + end, inputs);
    matrix("recurrent_kernel", "weight_hh_l0" + end, features);
    const std::string ih = "bias_ih_l0" + end, hh = "bias_hh_l0" + end;
    if (is_lstm)
      return add(name, way + "bias", {gates * features}, [=](const std::vector<int>& at) {
        return keras_place{ih, at[0]};
      });
    add(name, way + "bias", {2, gates * features}, [=](const std::vector<int>& at) {
      return keras_place{at[0] == 0 ? ih : hh, row(at[1])};
    });
  }

  /// MultiHeadAttention with as many features as the input has.
  void attention(const spec& s, const std::string& name, const shape& in) {
    const int features = in[1], heads = s.sizes[0], width = features / heads;
    int part = 0;
    for (const char* which : {"query", "key", "value"}) {
      const int first = part++ * features;
      add(name, base::text("{}/kernel", which), {features, heads, width}, [=](const std::vector<int>& at) {
        return keras_place{"in_proj_weight", (first + at[1] * width + at[2]) * features + at[0]};
      });
      add(name, base::text("{}/bias", which), {heads, width}, [=](const std::vector<int>& at) {
        return keras_place{"in_proj_bias", first + at[0] * width + at[1]};
      });
    }
    add(name, "attention_output/kernel", {heads, width, features}, [=](const std::vector<int>& at) {
      return keras_place{"out_proj.weight", at[2] * features + at[0] * width + at[1]};
    });
    add(name, "attention_output/bias", {features}, "out_proj.bias");
  }

  static std::vector<spec> row_of(const spec& s) { return s.kind == "sequential" ? s.parts : std::vector<spec>{s}; }
  shape residual(const spec& s, const std::string& prefix, const shape& in) {
    const shape out = row(row_of(s.parts[0]), prefix + "main.", in);
    if (s.parts.size() > 1) row(row_of(s.parts[1]), prefix + "shortcut.", in);
    return out;
  }
  shape graph(const spec& s, const std::string& prefix) {
    std::vector<shape> shapes;
    for (const spec& one : s.parts) {
      if (one.kind == "outputs") return shapes[static_cast<std::size_t>(one.sizes[0])];
      shapes.push_back(is_named(one.kind)
                           ? layer(one.parts[0], prefix + one.kind, shapes[static_cast<std::size_t>(one.sizes[0])])
                           : joined_shape(one, shapes));
    }
    return {};
  }

  std::vector<int> order_;
};

}  // namespace manta::nn::detail
