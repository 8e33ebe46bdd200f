// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// safetensors: the size of a header in 8 bytes, the header in JSON with type, shape and place of each
// array, the arrays.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>  // not found? Install nlohmann-json3-dev
#include <string>
#include <vector>

#include "manta/nn/weight_files/bytes.hpp"
#include "manta/nn/weights.hpp"

namespace manta::nn::detail {

inline std::vector<stored_array> read_safetensors(const input_file& file) {
  const std::uint64_t header_size = file.number(0, 8, "the header's size");
  const std::string_view text = file.part(8, header_size, "the header");
  const auto header = nlohmann::ordered_json::parse(text.begin(), text.end(), nullptr, false);
  if (!header.is_object()) file.bad(8, "an object in JSON", "'" + std::string(text.substr(0, 20)) + "'");
  const std::uint64_t data = 8 + header_size;
  std::vector<stored_array> all;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    stored_array a;
    std::vector<std::uint64_t> ends;
    try {
      a = {name, entry.at("shape").get<std::vector<std::int64_t>>(), entry.at("dtype").get<std::string>(), {}, 0};
      ends = entry.at("data_offsets").get<std::vector<std::uint64_t>>();
    } catch (const nlohmann::json::exception&) {
      file.bad(8, "dtype, shape and data_offsets of '" + name + "' in the header", entry.dump());
    }
    const std::size_t each = bytes_of_type(a.type);
    if (each == 0) file.bad(8, "a type of numbers, as F32, for '" + name + "'", a.type);
    const std::uint64_t bytes = bytes_of_array(a.extents, each);
    if (ends.size() != 2 || ends[1] < ends[0] || ends[1] - ends[0] != bytes)
      file.bad(8, "data_offsets of '" + name + "' for " + extents_text(a.extents) + " numbers of " + a.type,
               entry.at("data_offsets").dump());
    if (ends[0] > file.size()) file.bad(data, "the array '" + name + "'", "the end of the file");
    a.offset = data + ends[0];
    a.bytes = file.part(a.offset, bytes, "the array '" + name + "'");
    all.push_back(std::move(a));
  }
  return all;
}

inline std::string safetensors_of(const std::vector<stored_array>& arrays) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::uint64_t at = 0;
  std::string data;
  for (const stored_array& a : arrays) {
    header[a.name] = {{"dtype", a.type}, {"shape", a.extents}, {"data_offsets", {at, at + a.bytes.size()}}};
    at += a.bytes.size();
    data += a.bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that arrays are aligned
  std::string file;
  add_number(file, text.size(), 8);
  return file + text + data;
}

}  // namespace manta::nn::detail
