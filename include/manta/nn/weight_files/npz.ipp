// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// npz: a ZIP archive without compression, with a file NAME.npy for each array: a header with type and shape, the
// numbers.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "manta/nn/weight_files/bytes.hpp"
#include "manta/nn/weight_files/npy.hpp"
#include "manta/nn/weights.hpp"

namespace manta::nn::detail {

/// The checksum of ZIP (ISO 3309).
inline std::uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int k = 0; k < 8; ++k) t[i] = (t[i] >> 1U) ^ ((t[i] & 1U) ? 0xedb88320U : 0U);
    }
    return t;
  }();
  std::uint32_t crc = ~0U;
  for (char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 255U] ^ (crc >> 8U);
  return ~crc;
}

/// From an array whose first extent is the fastest.
inline std::string with_last_fastest(const std::string& bytes, const std::vector<std::int64_t>& extents,
                                     std::size_t each) {
  std::string result(bytes.size(), '\0');
  std::vector<std::size_t> at(extents.size(), 0);
  for (std::size_t to = 0; to < bytes.size(); to += each) {
    std::size_t from = 0, stride = 1;
    for (std::size_t d = 0; d < extents.size(); stride *= static_cast<std::size_t>(extents[d]), ++d)
      from += at[d] * stride;
    std::memcpy(result.data() + to, bytes.data() + from * each, each);
    for (std::size_t d = extents.size(); d-- > 0 && ++at[d] == static_cast<std::size_t>(extents[d]);) at[d] = 0;
  }
  return result;
}

inline stored_array read_npy(const input_file& file, const std::string& name, std::uint64_t begin, std::uint64_t size) {
  const auto bad = [&](std::uint64_t offset, const std::string& expected, const std::string& found) {
    file.bad(begin + offset, expected + " for '" + name + "'", found);
  };
  const npy_header h = read_npy_header(file.part(begin, size, "the array '" + name + "'"), bad);
  static const std::map<std::string, std::string> types = {
      {"<f2", "F16"}, {"<f4", "F32"}, {"<f8", "F64"}, {"<i4", "I32"}, {"<i8", "I64"}};
  const auto type = types.find(h.type);
  if (type == types.end()) bad(0, "the type <f2, <f4, <f8, <i4 or <i8", h.type);
  stored_array a{name, h.extents, type->second, {}, begin + h.size};
  const std::size_t each = bytes_of_type(a.type);
  const std::uint64_t bytes = bytes_of_array(a.extents, each);
  if (bytes != size - h.size)
    bad(h.size, extents_text(a.extents) + " numbers of " + a.type, std::to_string(size - h.size) + " bytes");
  a.bytes = file.part(a.offset, bytes, "the array '" + name + "'");
  if (h.first_is_fastest) a.bytes = with_last_fastest(a.bytes, a.extents, each);
  return a;
}

/// A 64-bit number of the directory that did not fit into 32 bits: number `index` of the extra field 1.
inline std::uint64_t zip64_number(const input_file& file, std::uint64_t extra, std::uint64_t size,
                                  std::uint64_t index) {
  for (std::uint64_t at = extra; at + 4 <= extra + size;) {
    const std::uint64_t id = file.number(at, 2, "an extra field"), bytes = file.number(at + 2, 2, "an extra field");
    if (id == 1 && bytes >= 8 * (index + 1)) return file.number(at + 4 + 8 * index, 8, "a size");
    at += 4 + bytes;
  }
  file.bad(extra, "sizes of 64 bits", "none");
}

inline std::vector<stored_array> read_npz(const input_file& file) {
  const std::size_t end = file.last("PK\x05\x06");
  if (end == std::string::npos) file.bad(file.size(), "the end of a ZIP archive", "the end of the file");
  (void)file.part(end, 22, "the end of a ZIP archive");
  const std::uint64_t count = file.number(end + 10, 2, "the number of arrays");
  std::uint64_t at = file.number(end + 16, 4, "the place of the directory");
  std::vector<stored_array> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (file.part(at, 46, "the directory").substr(0, 4) != "PK\x01\x02")
      file.bad(at, "an entry of the directory", "other bytes");
    const auto get = [&](std::uint64_t offset, std::size_t bytes) {
      return file.number(at + offset, bytes, "the directory");
    };
    const std::uint64_t name_size = get(28, 2), extra_size = get(30, 2), comment_size = get(32, 2);
    std::string name(file.part(at + 46, name_size, "a name"));
    if (get(10, 2) != 0)
      file.bad(at, "an array that is not compressed", "'" + name + "', compressed; write it by numpy.savez");
    std::uint64_t size = get(24, 4), begin = get(42, 4), wide = 0;
    const std::uint64_t extra = at + 46 + name_size;
    if (size == 0xffffffffU) size = zip64_number(file, extra, extra_size, wide++);
    if (get(20, 4) == 0xffffffffU) ++wide;
    if (begin == 0xffffffffU) begin = zip64_number(file, extra, extra_size, wide);
    const std::uint64_t array =
        begin + 30 + file.number(begin + 26, 2, "a size") + file.number(begin + 28, 2, "a size");
    if (crc32(file.part(array, size, "'" + name + "'")) != get(16, 4))
      file.bad(array, "'" + name + "' with the checksum of the directory", "another checksum: the file is damaged");
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    all.push_back(read_npy(file, name, array, size));
    at = extra + extra_size + comment_size;
  }
  return all;
}

inline std::string npy_of(const stored_array& a) {
  std::string extents;
  for (std::int64_t e : a.extents) extents += std::to_string(e) + ",";
  const char* type = a.type == "F16"   ? "<f2"
                     : a.type == "F32" ? "<f4"
                     : a.type == "F64" ? "<f8"
                     : a.type == "I32" ? "<i4"
                                       : "<i8";
  std::string header = std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (" + extents + "), }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');  // with the 10 bytes before it and a newline
  std::string file("\x93NUMPY\x01\x00", 8);
  add_number(file, header.size() + 1, 2);
  return file + header + "\n" + a.bytes;
}

inline std::string npz_of(const std::string& path, const std::vector<stored_array>& arrays) {
  std::string file, directory;
  for (const stored_array& a : arrays) {
    if (a.type == "BF16")
      throw error("manta: nn: " + path + ": NumPy has no bfloat16; write '" + a.name + "' as .safetensors");
    const std::string name = a.name + ".npy", data = npy_of(a);
    std::string common;  // what an array's head and its entry of the directory share
    for (const unsigned n : {20U, 0U, 0U, 0U, 33U})
      add_number(common, n, 2);  // version, flags, method, time, 1980-01-01
    add_number(common, crc32(data), 4);
    add_number(common, data.size(), 4);
    add_number(common, data.size(), 4);
    add_number(common, name.size(), 2);
    add_number(common, 0, 2);
    directory += std::string("PK\x01\x02\x14\x00", 6) + common + std::string(10, '\0');
    add_number(directory, file.size(), 4);
    directory += name;
    file += "PK\x03\x04" + common + name + data;
    if (file.size() > 0xfffffffe)
      throw error("manta: nn: " + path + ": weights of more than 4 GB are written as .safetensors only");
  }
  const std::size_t begin = file.size();
  file += directory + "PK\x05\x06";
  add_number(file, 0, 4);
  add_number(file, arrays.size(), 2);
  add_number(file, arrays.size(), 2);
  add_number(file, directory.size(), 4);
  add_number(file, begin, 4);
  add_number(file, 0, 2);
  return file;
}

}  // namespace manta::nn::detail
