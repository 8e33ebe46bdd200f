// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Files that gzip made, for the readers of train/readers.hpp. Opt-in: needs zlib, link with -lz.
//
//   train::read_idx(train::gunzip("train-images-idx3-ubyte.gz"), train::gunzip("train-labels-idx1-ubyte.gz"))
#pragma once

#include <zlib.h>  // not found? Install zlib1g-dev

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/train/readers.hpp"

namespace manta::train {

/// The content of a compressed file, checked by its checksum; of a file that is not compressed, its bytes.
inline file gunzip(const std::string& path) {
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(path.c_str(), "rb"), &gzclose);
  const auto system_says = [] { return std::string(errno != 0 ? std::strerror(errno) : "out of memory"); };
  if (!in) throw error("manta: train: cannot read the file " + path + ": " + system_says());
  file f(path, std::string());
  std::string block(std::size_t(1) << 17U, '\0');
  for (int got = 0; (got = gzread(in.get(), block.data(), static_cast<unsigned>(block.size()))) != 0;) {
    if (got < 0) break;
    f.bytes.append(block.data(), static_cast<std::size_t>(got));
  }
  int code = Z_OK;
  const char* message = gzerror(in.get(), &code);
  if (code == Z_OK || code == Z_STREAM_END) return f;
  const std::string found = code == Z_ERRNO ? system_says() : code == Z_BUF_ERROR ? "the end of the file" : message;
  throw error(base::text("manta: train: the file {}, byte {}: expected compressed data, found {}", path,
                         gzoffset(in.get()), found));
}

}  // namespace manta::train
