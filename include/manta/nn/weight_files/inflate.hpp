// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Bytes that were compressed by deflate, as numpy.savez_compressed does it. zlib is opened here, when it is needed, so
// that no program has to be linked with it.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <climits>
#include <string>
#include <string_view>

#include "manta/nn/weight_files/bytes.hpp"

#if __has_include(<zlib.h>)
#include <zlib.h>
#endif

namespace manta::nn::detail {

#if __has_include(<zlib.h>)
/// The functions of zlib; null where there is none on this machine.
struct zlib_functions {
  decltype(&::inflateInit2_) begin = nullptr;
  decltype(&::inflate) inflate = nullptr;
  decltype(&::inflateEnd) end = nullptr;

  zlib_functions() {
    void* const library = ::dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    begin = reinterpret_cast<decltype(begin)>(::dlsym(library, "inflateInit2_"));
    inflate = reinterpret_cast<decltype(inflate)>(::dlsym(library, "inflate"));
    end = reinterpret_cast<decltype(end)>(::dlsym(library, "inflateEnd"));
  }
  [[nodiscard]] bool are_there() const { return begin && inflate && end; }
};

/// The `size` bytes that `compressed` stands for, or fewer if it is damaged.
inline std::string inflate_raw(const zlib_functions& zlib, std::string_view compressed, std::uint64_t size) {
  std::string whole;
  z_stream stream{};
  if (zlib.begin(&stream, -MAX_WBITS, ZLIB_VERSION, static_cast<int>(sizeof stream)) != Z_OK) return whole;
  constexpr std::size_t block = std::size_t{1} << 20;
  std::size_t taken = 0;
  for (int code = Z_OK; code == Z_OK && whole.size() < size;) {
    // Memory is taken as the bytes come: a damaged directory may name any size.
    const std::size_t have = whole.size(), room = std::min<std::uint64_t>(block, size - have);
    const std::size_t part = std::min<std::size_t>(compressed.size() - taken, INT_MAX);
    whole.resize(have + room);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data() + taken));
    stream.avail_in = static_cast<uInt>(part);
    stream.next_out = reinterpret_cast<Bytef*>(whole.data() + have);
    stream.avail_out = static_cast<uInt>(room);
    code = zlib.inflate(&stream, Z_NO_FLUSH);
    taken += part - stream.avail_in;
    whole.resize(have + room - stream.avail_out);
    if (stream.avail_out == room && part == stream.avail_in) break;
  }
  zlib.end(&stream);
  return whole;
}
#endif

/// The `size` bytes of `name`, which lies compressed at the byte `at` of the file. Throws if they are damaged, or zlib
/// is not on this machine.
inline std::string inflated(const input_file& file, const std::string& name, std::uint64_t at,
                            std::string_view compressed, std::uint64_t size) {
  std::string whole;
#if __has_include(<zlib.h>)
  static const zlib_functions zlib;
  const bool can = zlib.are_there();
  if (can) whole = inflate_raw(zlib, compressed, size);
#else
  const bool can = false;
#endif
  if (!can)
    file.bad(at, base::text("'{}' as it is: compressed arrays need zlib, which is not on this machine", name),
             "one that is compressed; install zlib (zlib1g-dev), or write the file by numpy.savez");
  if (whole.size() != size)
    file.bad(at, base::text("{} bytes of '{}' after decompression", size, name),
             base::text("{}: the file is damaged", whole.size()));
  return whole;
}

}  // namespace manta::nn::detail
