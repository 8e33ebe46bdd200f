// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What layers need to write themselves as operators of ONNX: the network's arrays, and operators
// that several layers have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "manta/nn/onnx.hpp"
#include "manta/nn/onnx/model.hpp"

namespace manta::nn::detail {

/// A value of the graph, and the shape of a sample of it.
struct onnx_value {
  std::string name;
  shape extents;
};

class onnx_builder {
 public:
  using integers = std::vector<std::int64_t>;

  /// Refers to the arrays, which live longer.
  explicit onnx_builder(const std::map<std::string, onnx_numbers>& arrays) : arrays_(arrays) {}
  [[nodiscard]] const onnx_graph& graph() const { return graph_; }

  /// The extents of a value, those of the batch first.
  static integers with_batch(const shape& s, std::int64_t batch) {
    integers all{batch};
    all.insert(all.end(), s.extents().begin(), s.extents().end());
    return all;
  }

 protected:
  [[nodiscard]] const onnx_numbers& array(const std::string& name) const { return arrays_.at(name); }
  [[nodiscard]] bool has(const std::string& name) const { return arrays_.contains(name); }
  /// An array of the network as it is, or in other extents of as many numbers.
  std::string put(const std::string& name) { return put(name, array(name).extents); }
  std::string put(const std::string& name, const shape& extents) {
    if (!std::exchange(is_put_[name + extents.text()], true))
      graph_.array(name_of(name, extents), {extents.extents().begin(), extents.extents().end()}, array(name).numbers);
    return name_of(name, extents);
  }
  [[nodiscard]] std::string name_of(const std::string& name, const shape& extents) const {
    return extents == array(name).extents ? name : name + " of " + extents.text();
  }
  /// A matrix with rows and columns exchanged.
  std::string put_turned(const std::string& name) {
    const auto& [extents, numbers] = array(name);
    const std::string turned_name = name + " transposed";
    if (std::exchange(is_put_[turned_name], true)) return turned_name;
    const int rows = extents[0], columns = extents[1];
    std::vector<float> turned(numbers.size());
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        turned[static_cast<std::size_t>(c * rows + r)] = numbers[static_cast<std::size_t>(r * columns + c)];
    return graph_.array(turned_name, {columns, rows}, turned);
  }

  std::string node(const std::string& operation, const std::vector<std::string>& inputs,
                   const std::vector<onnx_attribute>& attributes = {}) {
    return graph_.add(operation, inputs, attributes);
  }
  std::string turned(const std::string& x, integers order) {
    return node("Transpose", {x}, {{"perm", std::move(order)}});
  }
  /// In another shape of a sample.
  std::string in_shape(const std::string& x, const shape& extents) {
    return node("Reshape", {x, graph_.array(with_batch(extents, 0))});
  }
  /// The columns from `first` on of a batch of vectors, in this shape.
  onnx_value columns(const std::string& x, int first, const shape& extents) {
    const std::string some = node("Slice", {x, graph_.array(integers{first}),
                                            graph_.array(integers{first + extents.size()}), graph_.array(integers{1})});
    return {in_shape(some, extents), extents};
  }
  std::string vector(const onnx_value& x) {
    return x.extents.dimensions() == 1 ? x.name : node("Flatten", {x.name}, {{"axis", 1}});
  }
  std::string sum(const std::string& a, const std::string& b) { return node("Add", {a, b}); }
  static std::int64_t size_option(const spec& s, const char* name, int standard) {
    return static_cast<std::int64_t>(s.option(name, standard));
  }

  onnx_graph graph_;

 private:
  const std::map<std::string, onnx_numbers>& arrays_;
  std::map<std::string, bool> is_put_;
};

}  // namespace manta::nn::detail
