// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Reads the gzip'ed IDX files in which MNIST and its successors are published:
// a big-endian header (0, 0, type, dimensions, one length for each dimension),
// then bytes. Every way in which a file can be wrong is one data_error whose
// text names the file and the defect. Used by examples/fashion_mnist.cpp.
#pragma once

#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <cereal/types/vector.hpp>

namespace fashion_mnist {

inline constexpr std::size_t pixels_per_image = 28 * 28;
inline constexpr std::size_t number_of_classes = 10;

/// A data file is missing or damaged.
struct data_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Labelled grey images: image i is the `pixels_per_image` bytes from `i * pixels_per_image`.
struct dataset {
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;

  std::size_t size() const { return labels.size(); }

  /// A copy of the images [first, last).
  dataset part(std::size_t first, std::size_t last) const {
    const auto cut = [](const std::vector<std::uint8_t>& v, std::size_t from, std::size_t to) {
      return std::vector<std::uint8_t>(v.begin() + static_cast<std::ptrdiff_t>(from),
                                       v.begin() + static_cast<std::ptrdiff_t>(to));
    };
    return {cut(pixels, first * pixels_per_image, last * pixels_per_image), cut(labels, first, last)};
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(pixels, labels);
  }
};

/// Images `i * size / n` to `(i + 1) * size / n`: the i-th of n parts of nearly equal size.
inline dataset nth_part(const dataset& all, std::size_t i, std::size_t n) {
  return all.part(i * all.size() / n, (i + 1) * all.size() / n);
}

/// The bytes of one IDX file of unsigned bytes whose dimensions after the first are `shape`.
inline std::vector<std::uint8_t> read_idx(const std::filesystem::path& path, const std::vector<std::uint32_t>& shape) {
  const auto fail = [&](const std::string& defect) -> void { throw data_error(path.string() + ": " + defect); };
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) fail(std::string("cannot be opened: ") + std::strerror(errno));
  gzbuffer(file.get(), 1U << 17);

  const auto read = [&](std::uint8_t* to, std::size_t bytes) -> std::size_t {
    const int got = gzread(file.get(), to, static_cast<unsigned>(bytes));
    int code = Z_OK;
    gzerror(file.get(), &code);
    if (code == Z_ERRNO) fail(std::string("cannot be read: ") + std::strerror(errno));
    if (code == Z_BUF_ERROR) fail("is damaged: it ends too early");
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) fail("is damaged: its compressed data make no sense");
    return static_cast<std::size_t>(got);
  };
  const auto read_length = [&] {
    std::array<std::uint8_t, 4> b{};
    if (read(b.data(), b.size()) != b.size()) fail("is damaged: its header is incomplete");
    return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | std::uint32_t{b[3]};
  };

  constexpr std::uint32_t unsigned_byte = 0x08;
  if (read_length() != (unsigned_byte << 8 | static_cast<std::uint32_t>(shape.size() + 1))) {
    fail("is not an IDX file of bytes with " + std::to_string(shape.size() + 1) + " dimensions");
  }
  const std::size_t count = read_length();
  std::size_t item = 1;
  for (const std::uint32_t wanted : shape) {
    const std::uint32_t length = read_length();
    if (length != wanted) fail("has a side of " + std::to_string(length) + ", not " + std::to_string(wanted));
    item *= length;
  }
  constexpr std::size_t most = 10'000'000;  // a larger count can only come from a damaged header
  if (count == 0 || count > most / item * 10) fail("is damaged: it claims to hold " + std::to_string(count) + " items");

  std::vector<std::uint8_t> bytes(count * item);
  const std::size_t got = read(bytes.data(), bytes.size());
  if (got != bytes.size()) {
    fail("is damaged: it holds " + std::to_string(got) + " of " + std::to_string(bytes.size()) + " bytes");
  }
  std::uint8_t beyond = 0;  // asking for one byte more also makes zlib verify the checksum
  if (read(&beyond, 1) != 0) fail("is damaged: there is data behind the last item");
  return bytes;
}

/// The images and labels `PREFIX-images-idx3-ubyte.gz`, `PREFIX-labels-idx1-ubyte.gz` of a folder.
inline dataset read_dataset(const std::filesystem::path& folder, const std::string& prefix) {
  const auto labels_path = folder / (prefix + "-labels-idx1-ubyte.gz");
  dataset data{read_idx(folder / (prefix + "-images-idx3-ubyte.gz"), {28, 28}), read_idx(labels_path, {})};
  if (data.pixels.size() != data.labels.size() * pixels_per_image) {
    throw data_error(labels_path.string() + ": has " + std::to_string(data.labels.size()) + " labels for " +
                     std::to_string(data.pixels.size() / pixels_per_image) + " images");
  }
  for (const std::uint8_t label : data.labels) {
    if (label >= number_of_classes) {
      throw data_error(labels_path.string() + ": is damaged: label " + std::to_string(int{label}));
    }
  }
  return data;
}

}  // namespace fashion_mnist
