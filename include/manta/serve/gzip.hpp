// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Opt-in: compressed bodies and answers, by zlib. A program that includes this header links -lz.
//
//   serve::http http({.port = 8000, .compression = serve::gzip()});
//
// Bodies with `Content-Encoding: gzip` are expanded, up to http_options::max_body. Answers of a kilobyte and more are
// compressed for clients that accept gzip.
#pragma once

#include <zlib.h>  // not found? Install zlib1g-dev, and link with -lz

#include <memory>
#include <string>

#include "manta/error.hpp"
#include "manta/serve/http_options.hpp"

namespace manta::serve {

namespace detail {

class zlib_compression final : public body_compression {
 public:
  explicit zlib_compression(int level) : level_(level) {}

  std::string compressed(const std::string& body) const override {
    z_stream z{};
    if (deflateInit2(&z, level_, Z_DEFLATED, gzip_form, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw error("manta: serve::gzip: zlib cannot start; .level is from 1 to 9");
    std::string out(deflateBound(&z, static_cast<uLong>(body.size())), '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
    z.avail_in = static_cast<uInt>(body.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    deflate(&z, Z_FINISH);
    out.resize(z.total_out);
    deflateEnd(&z);
    return out;
  }

  bool expand(const std::string& body, std::size_t most, std::string& out) const override {
    z_stream z{};
    if (inflateInit2(&z, gzip_form) != Z_OK) throw error("manta: serve::gzip: zlib cannot start");
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
    z.avail_in = static_cast<uInt>(body.size());
    int state = Z_OK;
    char block[16 * 1024];
    while (state == Z_OK && out.size() <= most) {
      z.next_out = reinterpret_cast<Bytef*>(block);
      z.avail_out = sizeof block;
      state = inflate(&z, Z_NO_FLUSH);
      out.append(block, sizeof block - z.avail_out);
    }
    const bool is_whole = state == Z_STREAM_END && z.avail_in == 0;
    inflateEnd(&z);
    return is_whole || out.size() > most;
  }

 private:
  static constexpr int gzip_form = 15 + 16;  // the largest window; a gzip header
  int level_;
};

}  // namespace detail

/// For http_options::compression. `level`: from 1, the fastest, to 9.
inline std::shared_ptr<const detail::body_compression> gzip(int level = 5) {
  return std::make_shared<detail::zlib_compression>(level);
}

}  // namespace manta::serve
