// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Reads a value from JSON, the counterpart of json_writer: every form that the writer makes is read, and a class with
// named members also from an array in their order. Members that the class does not have are passed over. What does not
// fit throws json_error, which names the field, what was expected and what came.
#pragma once

#include <limits>

#include "manta/output/json_shape.hpp"
#include "manta/output/json_view.hpp"

namespace manta::output {

/// An input archive, as far as a `serialize` function can tell.
class json_reader {
 public:
  using is_saving = std::false_type;
  using is_loading = std::true_type;

  /// `called`: what the text is, for errors of the value as a whole.
  explicit json_reader(const char* called = "the body") : called_(called) {}

  /// Called by `serialize` functions.
  template <class... T>
  json_reader& operator()(T&&... values) {
    (item(values), ...);
    return *this;
  }
  template <class T>
  json_reader& operator&(T&& value) {
    item(value);
    return *this;
  }
  template <class T>
  json_reader& operator>>(T&& value) {
    item(value);
    return *this;
  }

  /// Reads `value` from what `from` shows; `from` may be a view of nothing, a field that is missing.
  template <class T>
  void read(T& value, json_view from);

  /// Reads an element or a member under its name in messages.
  template <class T>
  void read_at(const std::string& name, T& value, json_view from) {
    const std::size_t length = path_.size();
    if (!path_.empty() && name.front() != '[') path_ += '.';
    path_ += name;
    read(value, from);
    path_.resize(length);
  }

 private:
  struct frame {
    json_view of;
    std::size_t next = 0;
  };
  [[noreturn]] MANTA_DECL void complain(std::string_view expected, json_view came) const;
  /// None of the types of a variant fits.
  [[noreturn]] MANTA_DECL void complain_of_all(std::size_t types, json_view came, const std::string& refused) const;
  MANTA_DECL bool read_bool(json_view from) const;
  MANTA_DECL double read_number(json_view from) const;
  MANTA_DECL std::int64_t read_integer(json_view from, std::int64_t least, std::int64_t most) const;
  MANTA_DECL std::uint64_t read_natural(json_view from, std::uint64_t most) const;
  MANTA_DECL const std::string& read_text(json_view from) const;
  /// The view is an array, of that many elements if `size` is not negative.
  MANTA_DECL void expect_array(json_view from, std::int64_t size) const;
  /// Begins a class.
  MANTA_DECL void expect_members(json_view from) const;
  /// The next member of the class whose `serialize` runs; `name` may be null. Sets the name for messages.
  MANTA_DECL json_view next_member(const char* name, std::string& called);
  MANTA_DECL static std::string position(std::size_t i);

  template <class T>
  void item(T& value);
  template <class T>
  void read_arithmetic(T& value, json_view from) const;
  template <class Range>
  void read_range(Range& range, json_view from);
  template <class Matrix>
  void read_matrix(Matrix& m, json_view from);
  template <class Map>
  void read_map(Map& map, json_view from);
  template <class Tuple, std::size_t... I>
  void read_tuple(Tuple& tuple, json_view from, std::index_sequence<I...>);
  template <class Variant, std::size_t I = 0>
  void read_variant(Variant& variant, json_view from, const std::string& refused = {});

  const char* called_;
  std::string path_;
  frame frame_;
};

/// The value that a JSON text describes. T needs a default constructor. `called`: what the text is, for errors.
template <class T>
T from_json(std::string_view text, const char* called = "the body") {
  const json_document document(text, called);
  T value{};
  json_reader(called).read(value, document.root());
  return value;
}

// --- templates

template <class T>
void json_reader::item(T& value) {
  std::string called;
  if constexpr (detail::is_name_value<std::remove_const_t<T>>::value) {
    const json_view member = next_member(value.name, called);
    read_at(called, value.value, member);
  } else if constexpr (detail::is_base_of_value<std::remove_const_t<T>>::value) {
    detail::serialize_members(*this, *value.base_ptr);
  } else if constexpr (detail::is_size_tag<std::remove_const_t<T>>::value) {
    value.size = static_cast<std::remove_cvref_t<decltype(value.size)>>(frame_.of.size());
  } else {
    const json_view member = next_member(nullptr, called);
    read_at(called, value, member);
  }
}

template <class T>
void json_reader::read_arithmetic(T& value, json_view from) const {
  if constexpr (std::is_same_v<T, bool>) {
    value = read_bool(from);
  } else if constexpr (std::is_floating_point_v<T>) {
    const double number = read_number(from);
    if constexpr (sizeof(T) < sizeof(double)) {
      if (number > std::numeric_limits<T>::max() || number < std::numeric_limits<T>::lowest())
        complain("a number that fits", from);
    }
    value = static_cast<T>(number);
  } else if constexpr (std::is_signed_v<T>) {
    value = static_cast<T>(read_integer(from, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else {
    value = static_cast<T>(read_natural(from, std::numeric_limits<T>::max()));
  }
}

template <class T>
void json_reader::read(T& value, json_view from) {
  using namespace detail;
  if constexpr (std::is_enum_v<T>) {
    std::underlying_type_t<T> number{};
    read_arithmetic(number, from);
    value = static_cast<T>(number);
  } else if constexpr (std::is_arithmetic_v<T>) {
    read_arithmetic(value, from);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = read_text(from);
  } else if constexpr (std::is_same_v<T, std::monostate>) {
    if (!from.is_null()) complain("null", from);
  } else if constexpr (is_optional<T> || is_pointer_to_one<T>) {
    value.reset();
    if (!from.exists() || from.is_null()) return;
    if constexpr (is_optional<T>) {
      read(value.emplace(), from);
    } else {
      value = T(new typename T::element_type{});
      read(*value, from);
    }
  } else if constexpr (is_variant<T>) {
    read_variant(value, from);
  } else if constexpr (is_complex<T>) {
    std::array<typename T::value_type, 2> parts{};
    read(parts, from);
    value = T(parts[0], parts[1]);
  } else if constexpr (tuple_like<T>) {
    read_tuple(value, from, std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (matrix<T>) {
    read_matrix(value, from);
  } else if constexpr (map_like<T>) {
    read_map(value, from);
  } else if constexpr (range_like<T>) {
    read_range(value, from);
  } else {
    expect_members(from);
    const frame outer = std::exchange(frame_, frame{from, 0});
    serialize_members(*this, value);
    frame_ = outer;
  }
}

template <class Range>
void json_reader::read_range(Range& range, json_view from) {
  using value_type = typename Range::value_type;
  if constexpr (detail::is_array_of<Range>) {
    expect_array(from, static_cast<std::int64_t>(range.size()));
    for (std::size_t i = 0; i < range.size(); ++i) read_at(position(i), range[i], from.element(i));
  } else {
    expect_array(from, -1);
    const std::size_t count = from.size();
    range.clear();
    if constexpr (requires { range.resize(count); } && std::is_arithmetic_v<value_type> &&
                  !std::is_same_v<value_type, bool>) {
      range.resize(count);
      std::size_t i = 0;
      for (value_type& v : range) {
        const json_view here = from.element(i++);
        const bool is_number = std::is_floating_point_v<value_type> && here.what() == json_view::kind::number;
        if (is_number && std::abs(here.number()) <= static_cast<double>(std::numeric_limits<value_type>::max())) {
          v = static_cast<value_type>(here.number());
        } else {  // perhaps an integer; or an error, which names the place
          read_at(position(i - 1), v, here);
        }
      }
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        value_type v{};
        read_at(position(i), v, from.element(i));
        range.insert(range.end(), std::move(v));
      }
    }
  }
}

template <class Matrix>
void json_reader::read_matrix(Matrix& m, json_view from) {
  using index = decltype(m.rows());
  constexpr index fixed_rows = Matrix::RowsAtCompileTime, fixed_cols = Matrix::ColsAtCompileTime;
  if constexpr (fixed_cols == 1 || fixed_rows == 1) {
    expect_array(from, fixed_rows == 1 ? fixed_cols : fixed_rows);
    const auto size = static_cast<index>(from.size());
    m.resize(fixed_rows == 1 ? 1 : size, fixed_rows == 1 ? size : 1);
    for (index i = 0; i < size; ++i)
      read_at(position(static_cast<std::size_t>(i)), m.data()[i], from.element(static_cast<std::size_t>(i)));
  } else {
    expect_array(from, fixed_rows);
    const auto rows = static_cast<index>(from.size());
    index cols = fixed_cols;
    for (index r = 0; r < rows; ++r) {
      const json_view row = from.element(static_cast<std::size_t>(r));
      const std::size_t length = path_.size();
      path_ += position(static_cast<std::size_t>(r));
      expect_array(row, cols);
      if (r == 0) cols = static_cast<index>(row.size()), m.resize(rows, cols);
      for (index c = 0; c < cols; ++c)
        read_at(position(static_cast<std::size_t>(c)), m(r, c), row.element(static_cast<std::size_t>(c)));
      path_.resize(length);
    }
    if (rows == 0 && fixed_rows <= 0) m.resize(0, cols < 0 ? 0 : cols);
  }
}

template <class Map>
void json_reader::read_map(Map& map, json_view from) {
  map.clear();
  if constexpr (detail::text<typename Map::key_type>) {
    if (!from.is_object()) complain("an object", from);
    for (const auto& [key, view] : from.members()) {
      typename Map::mapped_type v{};
      read_at(std::string(key), v, view);
      map.emplace(std::string(key), std::move(v));
    }
  } else {
    expect_array(from, -1);
    for (std::size_t i = 0; i < from.size(); ++i) {
      std::pair<typename Map::key_type, typename Map::mapped_type> entry{};
      read_at(position(i), entry, from.element(i));
      map.insert(std::move(entry));
    }
  }
}

template <class Tuple, std::size_t... I>
void json_reader::read_tuple(Tuple& tuple, json_view from, std::index_sequence<I...>) {
  expect_array(from, sizeof...(I));
  (read_at(position(I), std::get<I>(tuple), from.element(I)), ...);
}

/// The first alternative that fits. `refused`: why those before this one do not.
template <class Variant, std::size_t I>
void json_reader::read_variant(Variant& variant, json_view from, const std::string& refused) {
  if constexpr (I == std::variant_size_v<Variant>) {
    complain_of_all(I, from, refused);
  } else {
    const std::string path = path_;
    const frame before = frame_;
    std::string why;
    try {
      return read(variant.template emplace<I>(), from);
    } catch (const json_error& e) {
      why = e.what();
      path_ = path;
      frame_ = before;
    }
    read_variant<Variant, I + 1>(variant, from, refused + (I == 0 ? "" : "; ") + why);
  }
}

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/json_reader.ipp"
#endif
