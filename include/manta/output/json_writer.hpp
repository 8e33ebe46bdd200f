// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Writes a value as JSON. Standard containers become arrays, maps with text as keys objects, an empty optional null, a
// matrix an array of its rows. A class becomes what its `serialize` function says: an object if its members have names
// (CEREAL_NVP), else an array in their order. Enumerations are their numbers.
#pragma once

#include "manta/output/json_shape.hpp"
#include "manta/output/json_view.hpp"

namespace manta::output {

/// An output archive, as far as a `serialize` function can tell.
class json_writer {
 public:
  using is_saving = std::true_type;
  using is_loading = std::false_type;

  /// Called by `serialize` functions.
  template <class... T>
  json_writer& operator()(T&&... values) {
    (item(values), ...);
    return *this;
  }
  template <class T>
  json_writer& operator&(T&& value) {
    item(value);
    return *this;
  }
  template <class T>
  json_writer& operator<<(T&& value) {
    item(value);
    return *this;
  }

  /// Appends the value to the text.
  template <class T>
  void write(const T& value);

  /// Gives the text up.
  std::string take() { return std::move(text_); }

 private:
  struct frame {
    bool begun = false, named = false;
    std::size_t count = 0;
  };

  template <class T>
  void item(const T& value);
  MANTA_DECL void begin_item(const char* name);
  MANTA_DECL void write_text(std::string_view text);
  MANTA_DECL void write_number(double value);
  MANTA_DECL void write_number(float value);
  MANTA_DECL void write_number(std::int64_t value);
  MANTA_DECL void write_number(std::uint64_t value);
  template <class Range>
  void write_range(const Range& range);
  template <class Matrix>
  void write_matrix(const Matrix& m);
  template <class Map>
  void write_map(const Map& map);

  std::string text_;
  frame frame_;  // of the class whose serialize function runs
};

/// The value as a JSON text without spaces. Throws json_error for what JSON has no form for: infinite numbers and NaN,
/// and text that is not UTF-8.
template <class T>
std::string to_json(const T& value) {
  json_writer out;
  out.write(value);
  return out.take();
}

// --- templates

template <class T>
void json_writer::item(const T& value) {
  if constexpr (detail::is_name_value<T>::value) {
    begin_item(value.name);
    write(value.value);
  } else if constexpr (detail::is_base_of_value<T>::value) {
    detail::serialize_members(*this, *value.base_ptr);  // its members are ours
  } else if constexpr (detail::is_size_tag<T>::value) {
    // an array has its length
  } else {
    begin_item(nullptr);
    write(value);
  }
}

template <class T>
void json_writer::write(const T& value) {
  using namespace detail;
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::vector<bool>::const_reference>) {
    text_ += value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    write(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    write_number(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    write_number(static_cast<double>(value));
  } else if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) {
      write_number(static_cast<std::int64_t>(value));
    } else {
      write_number(static_cast<std::uint64_t>(value));
    }
  } else if constexpr (text<T>) {
    write_text(value);
  } else if constexpr (std::is_same_v<T, std::nullopt_t> || std::is_same_v<T, std::monostate>) {
    text_ += "null";
  } else if constexpr (is_optional<T> || is_pointer_to_one<T>) {
    if (value) {
      write(*value);
    } else {
      text_ += "null";
    }
  } else if constexpr (is_variant<T>) {
    std::visit([this](const auto& v) { write(v); }, value);
  } else if constexpr (is_complex<T>) {
    write(std::array{value.real(), value.imag()});
  } else if constexpr (tuple_like<T>) {
    text_ += '[';
    bool first = true;
    std::apply([&](const auto&... v) { ((text_ += std::exchange(first, false) ? "" : ",", write(v)), ...); }, value);
    text_ += ']';
  } else if constexpr (matrix<T>) {
    write_matrix(value);
  } else if constexpr (map_like<T>) {
    write_map(value);
  } else if constexpr (range_like<T>) {
    write_range(value);
  } else {
    const frame outer = std::exchange(frame_, {});
    serialize_members(*this, value);
    text_ += !frame_.begun ? "{}" : frame_.named ? "}" : "]";
    frame_ = outer;
  }
}

template <class Range>
void json_writer::write_range(const Range& range) {
  text_ += '[';
  bool first = true;
  for (const auto& v : range) {
    if (!std::exchange(first, false)) text_ += ',';
    write(v);
  }
  text_ += ']';
}

template <class Matrix>
void json_writer::write_matrix(const Matrix& m) {
  using index = decltype(m.rows());
  constexpr bool is_vector = Matrix::ColsAtCompileTime == 1 || Matrix::RowsAtCompileTime == 1;
  text_ += '[';
  if constexpr (is_vector) {
    for (index i = 0; i < m.size(); ++i) {
      if (i > 0) text_ += ',';
      write(m.data()[i]);
    }
  } else {
    for (index r = 0; r < m.rows(); ++r) {
      text_ += r > 0 ? ",[" : "[";
      for (index c = 0; c < m.cols(); ++c) {
        if (c > 0) text_ += ',';
        write(m(r, c));
      }
      text_ += ']';
    }
  }
  text_ += ']';
}

template <class Map>
void json_writer::write_map(const Map& map) {
  constexpr bool object = detail::text<typename Map::key_type>;
  text_ += object ? '{' : '[';
  bool first = true;
  for (const auto& [key, v] : map) {
    if (!std::exchange(first, false)) text_ += ',';
    if constexpr (!object) text_ += '[';
    write(key);
    text_ += object ? ':' : ',';
    write(v);
    if constexpr (!object) text_ += ']';
  }
  text_ += object ? '}' : ']';
}

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/json_writer.ipp"
#endif
