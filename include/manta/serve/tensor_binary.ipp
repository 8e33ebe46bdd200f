// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The binary data of tensors (the extension of the Open Inference Protocol): elements as they lie in memory.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "manta/base/text.hpp"
#include "manta/serve/tensor.hpp"

namespace manta::serve::detail {

/// The bytes of one element; 0: any number (BYTES).
inline std::size_t element_bytes(const std::string& datatype, const std::string& name) {
  if (datatype == "BYTES") return 0;
  if (datatype == "BOOL" || datatype == "INT8" || datatype == "UINT8") return 1;
  if (datatype == "INT16" || datatype == "UINT16" || datatype == "FP16") return 2;
  if (datatype == "INT32" || datatype == "UINT32" || datatype == "FP32") return 4;
  if (datatype == "INT64" || datatype == "UINT64" || datatype == "FP64") return 8;
  throw json_error("input \"" + name +
                   "\": expected a datatype of the protocol (BOOL, UINT8 .. INT64, FP16, FP32, FP64, BYTES), not \"" +
                   datatype + "\"");
}

inline double from_half(std::uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                           : exponent == 31 ? (fraction != 0 ? std::nan("") : HUGE_VAL)
                                            : std::ldexp(1024 + fraction, exponent - 25);
  return (h & 0x8000) != 0 ? -magnitude : magnitude;
}

template <class T>
T number_at(std::string_view bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}
template <class T, class V>
void copy_numbers(std::vector<V>& out, std::string_view bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<V>(number_at<T>(bytes, i)));
}

inline void read_binary(tensor& t, std::string_view bytes, std::size_t count) {
  const std::size_t each = element_bytes(t.datatype, t.name);
  if (each == 0) {
    std::vector<std::string> texts;
    while (bytes.size() >= 4) {
      const auto length = number_at<std::uint32_t>(bytes, 0);
      if (length > bytes.size() - 4) break;
      texts.emplace_back(bytes.substr(4, length));
      bytes.remove_prefix(4 + length);
    }
    if (!bytes.empty() || texts.size() != count) refuse_tensor(t.name, "has binary data that does not fit its shape");
    t.data = std::move(texts);
    return;
  }
  if (bytes.size() != each * count)
    refuse_tensor(t.name,
                  base::text("has {} bytes of binary data, and its shape needs {}", bytes.size(), each * count));
  if (t.datatype == "UINT64") {
    copy_numbers<std::uint64_t>(t.data.emplace<std::vector<std::uint64_t>>(), bytes, count);
  } else if (t.datatype[0] == 'F') {
    auto& out = t.data.emplace<std::vector<double>>();
    if (each == 4) return copy_numbers<float>(out, bytes, count);
    if (each == 8) return copy_numbers<double>(out, bytes, count);
    for (std::size_t i = 0; i < count; ++i) out.push_back(from_half(number_at<std::uint16_t>(bytes, i)));
  } else {
    auto& out = t.data.emplace<std::vector<std::int64_t>>();
    const bool is_signed = t.datatype[0] == 'I';
    if (each == 1)
      return is_signed ? copy_numbers<std::int8_t>(out, bytes, count) : copy_numbers<std::uint8_t>(out, bytes, count);
    if (each == 2)
      return is_signed ? copy_numbers<std::int16_t>(out, bytes, count) : copy_numbers<std::uint16_t>(out, bytes, count);
    if (each == 4)
      return is_signed ? copy_numbers<std::int32_t>(out, bytes, count) : copy_numbers<std::uint32_t>(out, bytes, count);
    copy_numbers<std::int64_t>(out, bytes, count);
  }
}

}  // namespace manta::serve::detail
