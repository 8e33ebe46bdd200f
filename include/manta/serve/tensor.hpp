// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tensors of the Open Inference Protocol, version 2 (the REST part, with the extension for binary data): arrays with a
// name, a type and a shape, in requests and answers. The first dimension is the batch: each row of the inputs is one
// call. A parameter or result is a tensor if it is a number, a text, or arrays of these: std::vector, std::array,
// Eigen's vectors and matrices, nested or not.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "manta/serve/json.hpp"

namespace manta::serve::detail {

using output::detail::is_array_of;
using output::detail::matrix;
using output::detail::range_like;

/// What metadata says of a tensor; -1 in the shape: of any size.
struct tensor_type {
  std::string name, datatype;
  std::vector<std::int64_t> shape;
};

struct tensor : tensor_type {
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::uint64_t>, std::vector<std::string>>
      data;
  bool binary = false;
  std::size_t count() const {
    return std::visit([](const auto& v) { return v.size(); }, data);
  }
};

struct infer_request {
  std::string id;
  bool has_id = false, binary_output = false;
  std::vector<tensor> inputs;
  std::vector<std::pair<std::string, bool>> outputs;  // names and whether each is to be binary; empty: all
  MANTA_DECL const tensor& tensor_named(const std::string& name) const;
};

/// Reads a request; `json_bytes`: where the binary data begins, from the header Inference-Header-Content-Length; npos:
/// there is none. Throws json_error.
MANTA_DECL infer_request read_infer_request(std::string_view body, std::size_t json_bytes);
/// The number of rows. Throws json_error if the tensors are not those of the model.
MANTA_DECL std::size_t check_rows(const infer_request& request, const std::vector<tensor_type>& wanted);
/// The answer; where some output is to be binary, the JSON is preceded by its length in eight bytes and a mark, see
/// split_infer_answer.
MANTA_DECL std::string write_infer_answer(const infer_request& request, const std::string& model,
                                          const std::vector<tensor>& outputs);
/// Takes the mark off. The number of bytes of JSON, or npos where all is JSON.
MANTA_DECL std::size_t split_infer_answer(std::string& answer);
MANTA_DECL std::string describe_tensors(const std::vector<tensor_type>& all);
[[noreturn]] MANTA_DECL void refuse_tensor(const std::string& name, const std::string& what);

// --- which types are tensors

template <class T>
constexpr bool tensor_like() {
  if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return true;
  } else if constexpr (matrix<T>) {
    return std::is_arithmetic_v<typename T::Scalar>;
  } else if constexpr (range_like<T>) {
    return tensor_like<std::remove_cvref_t<typename T::value_type>>();
  } else {
    return false;
  }
}
template <class T>
inline constexpr bool is_tensor = tensor_like<T>();
template <class T>
inline constexpr bool are_tensors = is_tensor<T>;
template <class... T>
inline constexpr bool are_tensors<std::tuple<T...>> = (is_tensor<T> && ...);
template <class A, class B>
inline constexpr bool are_tensors<std::pair<A, B>> = is_tensor<A>&& is_tensor<B>;
template <class T>
inline constexpr std::size_t tensor_count = 1;
template <class... T>
inline constexpr std::size_t tensor_count<std::tuple<T...>> = sizeof...(T);
template <class A, class B>
inline constexpr std::size_t tensor_count<std::pair<A, B>> = 2;

template <class T>
std::string datatype_of() {
  if constexpr (std::is_same_v<T, std::string>) {
    return "BYTES";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "BOOL";
  } else if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? "FP32" : "FP64";
  } else {
    return (std::is_signed_v<T> ? "INT" : "UINT") + std::to_string(8 * sizeof(T));
  }
}

/// Appends the dimensions of a value of type T, and gives the type of its numbers.
template <class T>
std::string add_shape(std::vector<std::int64_t>& shape) {
  if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return datatype_of<T>();
  } else if constexpr (matrix<T>) {
    const auto dimension = [](auto n) { return n < 0 ? std::int64_t{-1} : static_cast<std::int64_t>(n); };
    if (T::ColsAtCompileTime == 1) {
      shape.push_back(dimension(T::RowsAtCompileTime));
    } else {
      if (T::RowsAtCompileTime != 1) shape.push_back(dimension(T::RowsAtCompileTime));
      shape.push_back(dimension(T::ColsAtCompileTime));
    }
    return datatype_of<typename T::Scalar>();
  } else {
    if constexpr (is_array_of<T>) {
      shape.push_back(static_cast<std::int64_t>(std::tuple_size_v<T>));
    } else {
      shape.push_back(-1);
    }
    return add_shape<std::remove_cvref_t<typename T::value_type>>(shape);
  }
}

template <class T>
tensor_type tensor_type_of(const std::string& name) {
  tensor_type t{name, "", {-1}};
  t.datatype = add_shape<T>(t.shape);
  return t;
}
template <class T>
struct list_types {
  static std::vector<tensor_type> of(const std::vector<std::string>& names) { return {tensor_type_of<T>(names[0])}; }
};
template <class... T>
struct list_types<std::tuple<T...>> {
  static std::vector<tensor_type> of(const std::vector<std::string>& names) {
    std::size_t i = 0;
    std::vector<tensor_type> all;
    (all.push_back(tensor_type_of<T>(names[i++])), ...);
    return all;
  }
};
template <class A, class B>
struct list_types<std::pair<A, B>> : list_types<std::tuple<A, B>> {};
template <class T>
std::vector<tensor_type> tensor_types(const std::vector<std::string>& names) {
  return list_types<T>::of(names);
}

// --- rows of inputs

/// Reads the numbers of one row, one after the other.
class row_cursor {
 public:
  row_cursor(const tensor& from, std::size_t row) : from_(from) {
    std::size_t length = 1;
    for (std::size_t d = 1; d < from.shape.size(); ++d) length *= static_cast<std::size_t>(from.shape[d]);
    at_ = row * length;
    length_ = length;
  }
  std::size_t dimensions() const { return from_.shape.size(); }
  std::size_t length() const { return length_; }
  std::size_t size_of(std::size_t dimension) const {
    if (dimension >= from_.shape.size()) refuse_tensor(from_.name, "has too few dimensions");
    return static_cast<std::size_t>(from_.shape[dimension]);
  }
  /// The next numbers, as many as that.
  template <class T>
  void copy(T* to, std::size_t count) {
    std::visit(
        [&]<class V>(const std::vector<V>& numbers) {
          if constexpr (std::is_same_v<V, std::string>) {
            refuse_tensor(from_.name, "is of BYTES, and the model takes numbers");
          } else {
            for (std::size_t i = 0; i < count; ++i) to[i] = as<T>(numbers[at_ + i]);
          }
        },
        from_.data);
    at_ += count;
  }
  template <class T>
  T next() {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto* const texts = std::get_if<std::vector<std::string>>(&from_.data);
      if (texts == nullptr) refuse_tensor(from_.name, "has numbers, and the model takes BYTES");
      return (*texts)[at_++];
    } else {
      return std::visit(
          [this]<class V>(const std::vector<V>& numbers) -> T {
            if constexpr (std::is_same_v<V, std::string>) {
              refuse_tensor(from_.name, "is of BYTES, and the model takes numbers");
            } else {
              return as<T>(numbers[at_++]);
            }
          },
          from_.data);
    }
  }

 private:
  template <class T, class V>
  T as(V v) const {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(v);
    } else if constexpr (std::is_floating_point_v<V>) {
      if (!(v >= -9.2e18 && v <= 9.2e18) || static_cast<V>(static_cast<std::int64_t>(v)) != v)
        refuse_tensor(from_.name, "has a number that is no integer");
      return as<T>(static_cast<std::int64_t>(v));
    } else {
      using whole = std::numeric_limits<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>;
      if (std::cmp_less(v, +whole::min()) || std::cmp_greater(v, +whole::max())) {  // + makes an int of a char
        refuse_tensor(from_.name, "has " + std::to_string(v) + ", which does not fit " + datatype_of<T>());
      }
      return static_cast<T>(v);
    }
  }
  const tensor& from_;
  std::size_t at_ = 0, length_ = 0;
};

template <class T>
void read_numbers(T& value, row_cursor& in, std::size_t dimension) {
  if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    value = in.next<T>();
  } else if constexpr (matrix<T>) {
    using index = decltype(value.rows());
    constexpr bool column = T::ColsAtCompileTime == 1, row = T::RowsAtCompileTime == 1;
    const auto first = static_cast<index>(in.size_of(dimension));
    const index rows = row ? 1 : first, cols = column ? 1 : row ? first : static_cast<index>(in.size_of(dimension + 1));
    value.resize(rows, cols);
    for (index r = 0; r < rows; ++r) {
      for (index c = 0; c < cols; ++c) value(r, c) = in.next<typename T::Scalar>();
    }
  } else {
    const std::size_t size = in.size_of(dimension);
    if constexpr (is_array_of<T>) {
      for (auto& v : value) read_numbers(v, in, dimension + 1);
    } else if constexpr (output::detail::is_number_list<T>::value) {
      value.resize(size);
      in.copy(value.data(), size);
    } else {
      value.clear();
      for (std::size_t i = 0; i < size; ++i) {
        typename T::value_type v{};
        read_numbers(v, in, dimension + 1);
        value.insert(value.end(), std::move(v));
      }
    }
  }
}

template <class T>
void read_row(T& value, const tensor& from, std::size_t row) {
  row_cursor in(from, row);
  read_numbers(value, in, 1);
}

// --- rows of outputs

template <class T>
void append_numbers(tensor& out, const T& value, std::vector<std::int64_t>& shape) {
  if constexpr (std::is_same_v<T, std::string>) {
    std::get<std::vector<std::string>>(out.data).push_back(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    std::visit(
        [&]<class V>(std::vector<V>& numbers) {
          if constexpr (!std::is_same_v<V, std::string>) numbers.push_back(static_cast<V>(value));
        },
        out.data);
  } else if constexpr (matrix<T>) {
    using index = decltype(value.rows());
    constexpr bool column = T::ColsAtCompileTime == 1, row = T::RowsAtCompileTime == 1;
    if (!row) shape.push_back(value.rows());
    if (!column) shape.push_back(value.cols());
    std::vector<std::int64_t> none;
    for (index r = 0; r < value.rows(); ++r) {
      for (index c = 0; c < value.cols(); ++c) append_numbers(out, value(r, c), none);
    }
  } else {
    shape.push_back(static_cast<std::int64_t>(value.size()));
    std::vector<std::int64_t> first;
    bool begun = false;
    for (const auto& v : value) {
      std::vector<std::int64_t> inner;
      append_numbers(out, static_cast<const std::remove_cvref_t<typename T::value_type>&>(v), inner);
      if (!std::exchange(begun, true)) {
        first = inner;
      } else if (inner != first) {
        throw error("manta: the rows of the model's result have different shapes, which no tensor has");
      }
    }
    shape.insert(shape.end(), first.begin(), first.end());
  }
}

template <class T>
tensor empty_tensor(std::size_t rows, const std::string& name) {
  tensor t;
  static_cast<tensor_type&>(t) = tensor_type_of<T>(name);
  t.shape = {static_cast<std::int64_t>(rows)};
  if (t.datatype == "BYTES") {
    t.data = std::vector<std::string>();
  } else if (t.datatype[0] == 'F') {
    t.data = std::vector<double>();
  } else if (t.datatype == "UINT64") {
    t.data = std::vector<std::uint64_t>();
  } else {
    t.data = std::vector<std::int64_t>();
  }
  return t;
}
template <class T>
struct rows_of {
  static std::vector<tensor> none(std::size_t rows, const std::vector<std::string>& names) {
    return {empty_tensor<T>(rows, names[0])};
  }
};
template <class... T>
struct rows_of<std::tuple<T...>> {
  static std::vector<tensor> none(std::size_t rows, const std::vector<std::string>& names) {
    std::size_t i = 0;
    std::vector<tensor> all;
    (all.push_back(empty_tensor<T>(rows, names[i++])), ...);
    return all;
  }
};
template <class A, class B>
struct rows_of<std::pair<A, B>> : rows_of<std::tuple<A, B>> {};
template <class T>
std::vector<tensor> empty_tensors(std::size_t rows, const std::vector<std::string>& names) {
  return rows_of<T>::none(rows, names);
}

template <class T>
void append_to(tensor& out, const T& value) {
  std::vector<std::int64_t> shape{out.shape[0]};
  const bool first = out.count() == 0;
  append_numbers(out, value, shape);
  if (first) {
    out.shape = shape;
  } else if (out.shape != shape) {
    throw error("manta: the rows of the model's result have different shapes, which no tensor has");
  }
}
template <class T>
void append_row(std::vector<tensor>& out, const T& value) {
  if constexpr (is_tensor<T>) {
    append_to(out[0], value);
  } else {
    std::size_t i = 0;
    std::apply([&](const auto&... v) { (append_to(out[i++], v), ...); }, value);
  }
}

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/tensor.ipp"
#endif
