// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tensors of the Open Inference Protocol, version 2 (the REST part, with the extension for binary data): arrays with a
// name, a type and a shape, in requests and answers. The first dimension is the batch: each row of the inputs is one
// sample. A parameter or result is a tensor if it is a number, a text, or arrays of these: std::vector, std::array,
// Eigen's vectors and matrices, nested or not. Their values are read and written in tensor_rows.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
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
  std::size_t rows = 0;                               // of all inputs, once check_rows has seen them
  MANTA_DECL const tensor& tensor_named(const std::string& name) const;
};

/// The model that answers, as the protocol names it.
struct model_name {
  std::string name = {}, version = "1";
};

/// Reads a request; `json_bytes`: where the binary data begins, from the header Inference-Header-Content-Length; npos:
/// there is none. Throws json_error.
MANTA_DECL infer_request read_infer_request(std::string_view body, std::size_t json_bytes);
/// Notes the number of rows. Throws json_error if the tensors are not those of the model.
MANTA_DECL void check_rows(infer_request& request, const std::vector<tensor_type>& wanted);
/// The JSON of the answer. Outputs that are to be binary are appended to `binary`, in their order.
MANTA_DECL std::string write_infer_answer(const infer_request& request, const model_name& model,
                                          const std::vector<tensor>& outputs, std::string& binary);
MANTA_DECL std::string describe_tensors(const std::vector<tensor_type>& all);
[[noreturn]] MANTA_DECL void refuse_tensor(const std::string& name, const std::string& what);
/// A tensor without rows.
MANTA_DECL tensor empty_tensor_of(tensor_type its, std::size_t rows);

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

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/tensor.ipp"
#endif
