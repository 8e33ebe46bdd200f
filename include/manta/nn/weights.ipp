// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of weights.hpp: types of numbers, and which format a file has. npz.ipp and safetensors.ipp have the
// formats.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>

#include "manta/error.hpp"
#include "manta/nn/weight_files/bytes.hpp"
#include "manta/nn/weight_files/npz.ipp"
#include "manta/nn/weight_files/safetensors.ipp"
#include "manta/nn/weights.hpp"

namespace manta::nn {

MANTA_DECL std::vector<stored_array> read_arrays(const std::string& path) {
  const detail::input_file file(path);
  return detail::is_npz(path) ? detail::read_npz(file) : detail::read_safetensors(file);
}

MANTA_DECL void write_arrays(const std::string& path, const std::vector<stored_array>& arrays) {
  detail::write_whole(path, detail::is_npz(path) ? detail::npz_of(path, arrays) : detail::safetensors_of(arrays));
}

namespace detail {

/// The float with the upper half of its bits from b.
inline float from_bfloat16(std::uint16_t b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16U); }

inline float from_half(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000U) << 16U, exponent = (h >> 10U) & 31U,
                      digits = h & 1023U;
  if (exponent == 0) {
    const float small = static_cast<float>(digits) * 0x1p-24F;
    return sign ? -small : small;
  }
  return std::bit_cast<float>(sign | (exponent == 31 ? 255U : exponent + 112U) << 23U | digits << 13U);
}

template <class T, class Number, class Function>
void convert_all(const std::string& bytes, T* to, Function number_of) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(Number); ++i) {
    Number n;
    std::memcpy(&n, bytes.data() + i * sizeof n, sizeof n);
    to[i] = static_cast<T>(number_of(n));
  }
}

template <class T>
void convert_to(const stored_array& from, T* to) {
  const auto itself = [](auto n) { return n; };
  if (from.type == "F32") return convert_all<T, float>(from.bytes, to, itself);
  if (from.type == "F64") return convert_all<T, double>(from.bytes, to, itself);
  if (from.type == "F16") return convert_all<T, std::uint16_t>(from.bytes, to, from_half);
  if (from.type == "BF16") return convert_all<T, std::uint16_t>(from.bytes, to, from_bfloat16);
  if (from.type == "I32") return convert_all<T, std::int32_t>(from.bytes, to, itself);
  if (from.type == "I64") return convert_all<T, std::int64_t>(from.bytes, to, itself);
  throw error("manta: nn: the array '" + from.name + "' has the type " + from.type +
              "; read are F16, BF16, F32, F64, I32 and I64");
}

MANTA_DECL void convert(const stored_array& from, float* to) { convert_to(from, to); }
MANTA_DECL void convert(const stored_array& from, double* to) { convert_to(from, to); }

template <class T>
stored_array stored(const std::string& name, const shape& extents, const T* numbers) {
  return {name,
          {extents.extents().begin(), extents.extents().end()},
          sizeof(T) == 4 ? "F32" : "F64",
          std::string(reinterpret_cast<const char*>(numbers), static_cast<std::size_t>(extents.size()) * sizeof(T)),
          0};
}
MANTA_DECL stored_array store(const std::string& name, const shape& extents, const float* numbers) {
  return stored(name, extents, numbers);
}
MANTA_DECL stored_array store(const std::string& name, const shape& extents, const double* numbers) {
  return stored(name, extents, numbers);
}

MANTA_DECL std::vector<stored_array> find_arrays(const std::string& path, const std::vector<wanted_array>& wanted,
                                                 const std::map<std::string, std::string>& names) {
  std::vector<stored_array> all = read_arrays(path), found;
  const auto list = [&] {
    std::string s;
    for (const stored_array& a : all) s += (s.empty() ? "" : ", ") + a.name + " (" + extents_text(a.extents) + ")";
    return s.empty() ? std::string("nothing") : s;
  };
  for (const wanted_array& w : wanted) {
    const auto renamed = names.find(w.name);
    const std::string& name = renamed == names.end() ? w.name : renamed->second;
    const auto a = std::find_if(all.begin(), all.end(), [&](const stored_array& s) { return s.name == name; });
    if (a == all.end())
      throw error("manta: nn: " + path + " has no array '" + name + "' of " + w.extents.text() + "; it has " + list());
    const std::vector<std::int64_t> extents(w.extents.extents().begin(), w.extents.extents().end());
    if (a->extents != extents)
      throw error("manta: nn: " + path + ", offset " + std::to_string(a->offset) + ": the array '" + name +
                  "' is expected to be " + w.extents.text() + ", and is " + extents_text(a->extents));
    found.push_back(std::move(*a));
    all.erase(a);
  }
  for (const stored_array& a : all) {
    if (!a.name.ends_with("num_batches_tracked"))
      throw error("manta: nn: " + path + ", offset " + std::to_string(a.offset) + ": there is an array '" + a.name +
                  "' of " + extents_text(a.extents) + ", which the network does not have");
  }
  return found;
}

}  // namespace detail

}  // namespace manta::nn
