// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A model of ONNX as the bytes of its file, which is a message of protobuf: a field is its number and kind, and then a
// number or the size and the bytes of what it has. The numbers of fields are those of onnx.proto.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "manta/base/text.hpp"

namespace manta::nn::detail {

/// A message of protobuf that is written field by field.
class protobuf {
 public:
  protobuf& number(int field, std::int64_t value) {
    head(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  protobuf& real(int field, float value) {
    head(field, 5);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  protobuf& text(int field, std::string_view value) {
    head(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  protobuf& message(int field, const protobuf& value) { return text(field, value.bytes_); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void head(int field, unsigned kind) { varint(static_cast<std::uint64_t>(field) << 3U | kind); }
  void varint(std::uint64_t n) {
    for (; n > 127; n >>= 7U) bytes_ += static_cast<char>(n | 128U);
    bytes_ += static_cast<char>(n);
  }

  std::string bytes_;
};

struct onnx_attribute {
  std::string name;
  std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>> value;

  [[nodiscard]] protobuf message() const {
    protobuf m;
    m.text(1, name);
    switch (value.index()) {
      case 0: m.number(3, std::get<0>(value)).number(20, 2); break;
      case 1: m.real(2, std::get<1>(value)).number(20, 1); break;
      case 2: m.text(4, std::get<2>(value)).number(20, 3); break;
      default:
        for (const std::int64_t n : std::get<3>(value)) m.number(8, n);
        m.number(20, 7);
    }
    return m;
  }
};

/// The graph of a model: nodes, each of which gives one value, and arrays of numbers.
class onnx_graph {
 public:
  using extents = std::vector<std::int64_t>;

  /// Adds a node, and gives the name of its value, its first output.
  std::string add(const std::string& operation, const std::vector<std::string>& inputs,
                  const std::vector<onnx_attribute>& attributes = {}) {
    const std::string name = base::text("{}_{}", operation, nodes_++);
    return add_named(name, operation, inputs, attributes);
  }
  /// Gives a value another name.
  void name(const std::string& name, const std::string& value) { add_named(name, "Identity", {value}, {}); }
  /// Adds an array of floats or of 64-bit integers, and gives its name.
  std::string array(const std::string& name, const extents& size, const std::vector<float>& numbers) {
    return tensor(name, size, 1, numbers.data(), numbers.size() * sizeof(float));
  }
  std::string array(const std::vector<std::int64_t>& numbers) {
    return tensor(base::text("integers_{}", arrays_++), {static_cast<std::int64_t>(numbers.size())}, 7, numbers.data(),
                  numbers.size() * sizeof(std::int64_t));
  }
  std::string number(float value) { return tensor(base::text("number_{}", arrays_++), {}, 1, &value, sizeof value); }

  /// The whole file. An extent below 0 is that of the batch, which may have any size.
  [[nodiscard]] std::string file(const std::string& input, const extents& of_input, const std::string& output,
                                 const extents& of_output) const {
    protobuf graph = graph_;
    graph.text(2, "manta").message(11, value(input, of_input)).message(12, value(output, of_output));
    protobuf operators;
    operators.text(1, "").number(2, operators_version);
    return protobuf().number(1, 8).text(2, "manta").message(7, graph).message(8, operators).bytes();
  }

 private:
  static constexpr std::int64_t operators_version = 17;

  std::string add_named(const std::string& name, const std::string& operation, const std::vector<std::string>& inputs,
                        const std::vector<onnx_attribute>& attributes) {
    protobuf node;
    for (const std::string& input : inputs) node.text(1, input);
    node.text(2, name).text(3, name).text(4, operation);
    for (const onnx_attribute& a : attributes) node.message(5, a.message());
    graph_.message(1, node);
    return name;
  }

  std::string tensor(const std::string& name, const extents& size, int type, const void* numbers, std::size_t bytes) {
    protobuf t;
    for (const std::int64_t n : size) t.number(1, n);
    t.number(2, type).text(8, name).text(9, {static_cast<const char*>(numbers), bytes});
    graph_.message(5, t);
    return name;
  }
  static protobuf value(const std::string& name, const extents& size) {
    protobuf shape;
    for (const std::int64_t n : size) shape.message(1, n < 0 ? protobuf().text(2, "batch") : protobuf().number(1, n));
    const protobuf tensor = protobuf().number(1, 1).message(2, shape);
    return protobuf().text(1, name).message(2, protobuf().message(1, tensor));
  }

  protobuf graph_;
  int nodes_ = 0, arrays_ = 0;
};

}  // namespace manta::nn::detail
