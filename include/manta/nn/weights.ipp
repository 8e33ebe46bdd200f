// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of weights.hpp: types of numbers, and which format a file has. npz.ipp and safetensors.ipp
// have the formats.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <map>
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
using converter = void (*)(const std::string& bytes, T* to);

/// Null where numbers of this type are not converted.
template <class T>
converter<T> converter_from(const std::string& type) {
  static constexpr auto itself = [](auto n) { return n; };
  static const std::map<std::string, converter<T>> all = {
      {"F32", [](const std::string& b, T* to) { convert_all<T, float>(b, to, itself); }},
      {"F64", [](const std::string& b, T* to) { convert_all<T, double>(b, to, itself); }},
      {"F16", [](const std::string& b, T* to) { convert_all<T, std::uint16_t>(b, to, from_half); }},
      {"BF16", [](const std::string& b, T* to) { convert_all<T, std::uint16_t>(b, to, from_bfloat16); }},
      {"BOOL", [](const std::string& b, T* to) { convert_all<T, std::uint8_t>(b, to, itself); }},
      {"U8", [](const std::string& b, T* to) { convert_all<T, std::uint8_t>(b, to, itself); }},
      {"I8", [](const std::string& b, T* to) { convert_all<T, std::int8_t>(b, to, itself); }},
      {"U16", [](const std::string& b, T* to) { convert_all<T, std::uint16_t>(b, to, itself); }},
      {"I16", [](const std::string& b, T* to) { convert_all<T, std::int16_t>(b, to, itself); }},
      {"U32", [](const std::string& b, T* to) { convert_all<T, std::uint32_t>(b, to, itself); }},
      {"I32", [](const std::string& b, T* to) { convert_all<T, std::int32_t>(b, to, itself); }},
      {"U64", [](const std::string& b, T* to) { convert_all<T, std::uint64_t>(b, to, itself); }},
      {"I64", [](const std::string& b, T* to) { convert_all<T, std::int64_t>(b, to, itself); }},
  };
  const auto found = all.find(type);
  return found == all.end() ? nullptr : found->second;
}

template <class T>
void convert_to(const stored_array& from, T* to) {
  if (const converter<T> convert = converter_from<T>(from.type)) return convert(from.bytes, to);
  throw error(
      base::text("manta: nn: the array '{}' has the type {}; converted are F16, BF16, F32, F64, BOOL and "
                 "integers of 8 to 64 bits",
                 from.name, from.type));
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

/// Names joined for a message; of many, the first twenty.
class listed {
 public:
  void add(const std::string& one) {
    constexpr std::size_t most = 20;
    if (++count_ <= most) text_ += (text_.empty() ? "" : ", ") + one;
    if (count_ == most + 1) text_ += ", ..";
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::string text() const { return empty() ? "nothing" : text_; }

 private:
  std::string text_;
  std::size_t count_ = 0;
};

/// What a file lacks, what it has too much and what does not fit.
struct misfits {
  listed missing, spare, others;
  std::uint64_t offset = 0;  ///< offset of the first array that is there and wrong

  void note(listed& which, const stored_array& a, const std::string& text) {
    if (spare.empty() && others.empty()) offset = a.offset;
    which.add(text);
  }
  /// Throws if there are any. `there`: what the file has; `wanted`: what was asked for.
  void refuse(const std::string& path, const std::string& there, const std::string& wanted) const {
    if (missing.empty() && spare.empty() && others.empty()) return;
    std::string text = base::text("manta: nn: {}, offset {}: the file does not suit the network.", path, offset);
    if (!others.empty()) text += " " + others.text() + ".";
    if (!missing.empty()) text += " It has no array " + missing.text() + ".";
    if (!spare.empty()) text += " The network does not have its array " + spare.text() + ".";
    throw error(text + " The file has " + there + "; asked for were " + wanted);
  }
};

/// Throws if a name is none of the network's.
inline void check_names(const std::string& path, const std::vector<wanted_array>& wanted,
                        const std::map<std::string, std::string>& names) {
  for (const auto& [own, in_file] : names) {
    if (std::ranges::any_of(wanted, [&own = own](const wanted_array& w) { return matches(own, w.name); })) continue;
    listed all;
    for (const wanted_array& w : wanted) all.add(w.name);
    throw error(
        base::text("manta: nn: {}: '{}' was to be read as the network's array '{}', which it does not have; it "
                   "has {}",
                   path, in_file, own, all.text()));
  }
}

MANTA_DECL std::string name_in_file(const std::string& own, const std::map<std::string, std::string>& names) {
  const std::pair<const std::string, std::string>* best = nullptr;
  for (const auto& each : names) {
    if (matches(each.first, own) && (!best || each.first.size() > best->first.size())) best = &each;
  }
  if (!best) return own;
  const auto [begin, rest] = std::pair(best->first.find('*'), best->second.find('*'));
  if (begin == std::string::npos || rest == std::string::npos) return best->second;
  const std::string text = own.substr(begin, own.size() + 1 - best->first.size());  // for which the star stands
  return best->second.substr(0, rest) + text + best->second.substr(rest + 1);
}

/// What is wrong with an array of a file for this place, in words; "" if nothing is.
inline std::string misfit_of(const stored_array& a, const wanted_array& w) {
  const std::vector<std::int64_t> extents(w.extents.extents().begin(), w.extents.extents().end());
  if (a.extents != extents)
    return base::text("'{}' is expected to be {}, and is {}", a.name, w.extents.text(), extents_text(a.extents));
  if (!converter_from<float>(a.type))
    return base::text("'{}' has numbers of the type {}, which are not read", a.name, a.type);
  return "";
}

MANTA_DECL std::vector<stored_array> match_arrays(const std::string& path, const std::vector<wanted_array>& wanted,
                                                  const load_options& options, load_report& report) {
  check_names(path, wanted, options.names);
  std::vector<stored_array> all = read_arrays(path), found(wanted.size());
  std::vector<bool> is_used(all.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const wanted_array& w = wanted[i];
    if (!matches(options.arrays, w.name)) {
      report.left_out.push_back(w.name);
      continue;
    }
    const auto a = std::ranges::find(all, name_in_file(w.name, options.names), &stored_array::name);
    if (a == all.end()) {
      report.missing.push_back(w.name);
      continue;
    }
    if (const std::string misfit = misfit_of(*a, w); !misfit.empty()) {
      report.misfits.push_back(base::text("{} ({})", w.name, misfit));
      continue;
    }
    is_used[static_cast<std::size_t>(a - all.begin())] = true;
    report.loaded.push_back(w.name);
    found[i] = *a;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_used[i]) report.unused.push_back(all[i].name);
  }
  if (report.loaded.empty())
    throw error(base::text("manta: nn: {}: the network gets none of the file's arrays: {}", path, report.text()));
  return found;
}

MANTA_DECL std::vector<stored_array> find_arrays(const std::string& path, const std::vector<wanted_array>& wanted,
                                                 const std::map<std::string, std::string>& names) {
  check_names(path, wanted, names);
  std::vector<stored_array> all = read_arrays(path), found;
  misfits wrong;
  listed there, asked_for;
  for (const stored_array& a : all) there.add(base::text("{} ({})", a.name, extents_text(a.extents)));
  for (const wanted_array& w : wanted) {
    const std::string name = name_in_file(w.name, names);
    asked_for.add(base::text("{} ({})", name, w.extents.text()));
    const auto a = std::ranges::find(all, name, &stored_array::name);
    if (a == all.end()) {
      wrong.missing.add(base::text("'{}' of {}", name, w.extents.text()));
      continue;
    }
    if (const std::string misfit = misfit_of(*a, w); !misfit.empty()) wrong.note(wrong.others, *a, misfit);
    found.push_back(std::move(*a));
    all.erase(a);
  }
  for (const stored_array& a : all) {
    if (!a.name.ends_with("num_batches_tracked"))
      wrong.note(wrong.spare, a, base::text("'{}' of {}", a.name, extents_text(a.extents)));
  }
  wrong.refuse(path, there.text(), asked_for.text());
  return found;
}

}  // namespace detail

MANTA_DECL std::string load_report::text() const {
  std::string all = base::text("loaded {} arrays", loaded.size());
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    detail::listed list;
    for (const std::string& name : names) list.add(name);
    if (!list.empty()) all += base::text("; {}: {}", what, list.text());
  };
  add("missing in the file", missing);
  add("of another shape or type", misfits);
  add("left out", left_out);
  add("not used of the file", unused);
  return all;
}

}  // namespace manta::nn
