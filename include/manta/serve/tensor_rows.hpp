// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rows of tensors as values of C++ types: read from the inputs of a request, appended to the outputs of an answer.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/serve/tensor.hpp"

namespace manta::serve::detail {

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
      if constexpr (sizeof(T) < sizeof(double)) {
        const double wide = static_cast<double>(v);
        if (std::abs(wide) > static_cast<double>(std::numeric_limits<T>::max()) && wide - wide == 0)
          refuse_tensor(from_.name, "has a number that does not fit " + datatype_of<T>());
      }
      return static_cast<T>(v);
    } else if constexpr (std::is_floating_point_v<V>) {
      if (!(v >= -9.2e18 && v <= 9.2e18) || static_cast<V>(static_cast<std::int64_t>(v)) != v)
        refuse_tensor(from_.name, "has a number that is no integer");
      return as<T>(static_cast<std::int64_t>(v));
    } else {
      using whole = std::numeric_limits<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>;
      if (std::cmp_less(v, +whole::min()) || std::cmp_greater(v, +whole::max())) {  // + makes an int of a char
        refuse_tensor(from_.name, base::text("has {}, which does not fit {}", v, datatype_of<T>()));
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
  return empty_tensor_of(tensor_type_of<T>(name), rows);
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
  const bool first = out.shape.size() == 1 || out.count() == 0;
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
