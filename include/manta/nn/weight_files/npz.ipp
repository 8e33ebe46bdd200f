// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// npz: a ZIP archive with a file NAME.npy for each array: a header with type and shape, the numbers. Archives are
// written without compression.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/nn/weight_files/bytes.hpp"
#include "manta/nn/weight_files/inflate.hpp"
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

/// The array in the bytes of an npy file. `begin` is the place of these bytes in `file`, or, if they were compressed,
/// that of the compressed ones.
inline stored_array read_npy(const input_file& file, const std::string& name, std::uint64_t begin,
                             std::string_view bytes) {
  const auto bad = [&](std::uint64_t offset, const std::string& expected, const std::string& found) {
    file.bad(begin + offset, base::text("{} for '{}'", expected, name), found);
  };
  const npy_header h = read_npy_header(bytes, bad);
  static const std::map<std::string, std::string> types = {
      {"<f2", "F16"}, {"<f4", "F32"}, {"<f8", "F64"}, {"|b1", "BOOL"}, {"|u1", "U8"},  {"|i1", "I8"},
      {"<u2", "U16"}, {"<i2", "I16"}, {"<u4", "U32"}, {"<i4", "I32"},  {"<u8", "U64"}, {"<i8", "I64"}};
  const auto type = types.find(h.type);
  if (type == types.end())
    bad(0, "numbers of a type like <f4, in the order of little-endian bytes, which numpy's astype('<f4') gives",
        h.type);
  stored_array a{name, h.extents, type->second, {}, begin + h.size};
  const std::size_t each = bytes_of_type(a.type);
  const std::uint64_t size = bytes_of_array(a.extents, each);
  if (size != bytes.size() - h.size)
    bad(h.size, base::text("{} numbers of {}", extents_text(a.extents), a.type),
        base::text("{} bytes", bytes.size() - h.size));
  a.bytes = bytes.substr(h.size);
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

/// An entry of the archive's directory.
struct zip_entry {
  std::string name;
  std::uint64_t at;            ///< position of the entry
  std::uint64_t begin;         ///< position of the local head, before the bytes
  std::uint64_t stored, size;  ///< bytes in the archive, and of the file that was stored there
  std::uint64_t method, checksum;
  std::uint64_t next;  ///< the place of the entry after this one
};

inline zip_entry read_entry(const input_file& file, std::uint64_t at) {
  if (file.part(at, 46, "the directory").substr(0, 4) != "PK\x01\x02")
    file.bad(at, "an entry of the directory", "other bytes");
  const auto get = [&](std::uint64_t offset, std::size_t bytes) {
    return file.number(at + offset, bytes, "the directory");
  };
  const std::uint64_t name_size = get(28, 2), extra_size = get(30, 2), extra = at + 46 + name_size;
  zip_entry e{std::string(file.part(at + 46, name_size, "a name")),
              at,
              get(42, 4),
              get(20, 4),
              get(24, 4),
              get(10, 2),
              get(16, 4),
              extra + extra_size + get(32, 2)};
  std::uint64_t wide = 0;
  for (std::uint64_t* number : {&e.size, &e.stored, &e.begin}) {
    if (*number == 0xffffffffU) *number = zip64_number(file, extra, extra_size, wide++);
  }
  return e;
}

inline std::vector<stored_array> read_npz(const input_file& file) {
  const std::size_t end = file.last("PK\x05\x06");
  if (end == std::string::npos) file.bad(file.size(), "the end of a ZIP archive", "the end of the file");
  (void)file.part(end, 22, "the end of a ZIP archive");
  const std::uint64_t count = file.number(end + 10, 2, "the number of arrays");
  std::uint64_t at = file.number(end + 16, 4, "the place of the directory");
  constexpr std::uint64_t as_it_is = 0, deflated = 8;
  std::vector<stored_array> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    zip_entry e = read_entry(file, at);
    const std::uint64_t array =
        e.begin + 30 + file.number(e.begin + 26, 2, "a size") + file.number(e.begin + 28, 2, "a size");
    if (e.method != as_it_is && e.method != deflated)
      file.bad(at, base::text("'{}' as it is or compressed by deflate", e.name),
               base::text("the method {} of compression", e.method));
    std::string_view bytes = file.part(array, e.stored, base::text("'{}'", e.name));
    std::string whole;
    if (e.method == deflated) bytes = whole = inflated(file, e.name, array, bytes, e.size);
    if (crc32(bytes) != e.checksum)
      file.bad(array, base::text("'{}' with the checksum of the directory", e.name),
               "another checksum: the file is damaged");
    if (e.name.ends_with(".npy")) e.name.resize(e.name.size() - 4);
    all.push_back(read_npy(file, e.name, array, bytes));
    at = e.next;
  }
  return all;
}

inline std::string npy_of(const stored_array& a) {
  std::string extents;
  for (std::int64_t e : a.extents) extents += base::text("{},", e);
  const std::size_t each = bytes_of_type(a.type);
  const char kind = a.type == "BOOL" ? 'b' : a.type[0] == 'F' ? 'f' : a.type[0] == 'U' ? 'u' : 'i';
  const std::string type = base::text("{}{}{}", each == 1 ? '|' : '<', kind, each);
  std::string header = base::text("{'descr': '{}', 'fortran_order': False, 'shape': ({}), }", type, extents);
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');  // with the 10 bytes before it and a newline
  std::string file("\x93NUMPY\x01\x00", 8);
  add_number(file, header.size() + 1, 2);
  return file + header + "\n" + a.bytes;
}

inline std::string npz_of(const std::string& path, const std::vector<stored_array>& arrays) {
  std::string file, directory;
  for (const stored_array& a : arrays) {
    if (a.type == "BF16" || a.type.starts_with("F8"))
      throw error(base::text("manta: nn: {}: NumPy has no numbers of the type {}; write '{}' as .safetensors", path,
                             a.type, a.name));
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
      throw error(base::text("manta: nn: {}: weights of more than 4 GB are written as .safetensors only", path));
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
