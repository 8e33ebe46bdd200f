// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/train/readers.hpp"

namespace manta::train {

namespace detail {

[[noreturn]] inline void refuse_file(const file& f, const std::string& where, const std::string& expected,
                                     const std::string& found) {
  throw error(base::text("manta: train: the file {}, {}: expected {}, found {}", f.name, where, expected, found));
}
inline std::string at_byte(std::size_t offset) { return base::text("byte {}", offset); }
inline unsigned byte_at(const file& f, std::size_t i) { return static_cast<unsigned char>(f.bytes[i]); }

/// The extents of an IDX file of bytes; `data` is set to where its numbers begin.
inline std::vector<std::size_t> idx_extents(const file& f, std::size_t& data) {
  const auto need = [&](std::size_t size) {
    if (f.bytes.size() < size)
      refuse_file(f, at_byte(f.bytes.size()), base::text("a header of {} bytes", size), "the end of the file");
  };
  need(4);
  if (byte_at(f, 0) == 0x1f && byte_at(f, 1) == 0x8b)
    refuse_file(f, at_byte(0), "an IDX file",
                "one compressed by gzip; give train::gunzip(path) of manta/train/gzip.hpp");
  if (byte_at(f, 0) != 0 || byte_at(f, 1) != 0)
    refuse_file(f, at_byte(0), "the bytes 0 and 0 of an IDX file",
                base::text("{} and {}", byte_at(f, 0), byte_at(f, 1)));
  if (byte_at(f, 2) != 8)
    refuse_file(f, at_byte(2), "the type 8, unsigned bytes", base::text("the type {}", byte_at(f, 2)));
  const std::size_t dimensions = byte_at(f, 3);
  if (dimensions == 0) refuse_file(f, at_byte(3), "one dimension or more", "0");
  data = 4 + 4 * dimensions;
  need(data);
  std::vector<std::size_t> extents;
  std::size_t numbers = 1;
  for (std::size_t at = 4; at < data; at += 4) {
    std::size_t extent = 0;
    for (std::size_t i = at; i < at + 4; ++i) extent = extent << 8U | byte_at(f, i);
    // What does not fit would overflow; a file has fewer bytes than this.
    if (extent != 0 && numbers > (std::size_t(1) << 48U) / extent)
      refuse_file(f, at_byte(at), "an extent that fits a file", base::text("{}", extent));
    numbers *= extent;
    extents.push_back(extent);
  }
  if (f.bytes.size() - data != numbers)
    refuse_file(f, at_byte(std::min(f.bytes.size(), data + numbers)), base::text("{} bytes in all", data + numbers),
                base::text("{}", f.bytes.size()));
  return extents;
}

/// A mean or deviation for each number of a channel.
inline float of_channel(const std::vector<float>& values, std::size_t channel, std::size_t channels, const char* what) {
  if (values.size() == 1) return values[0];
  if (values.size() == channels) return values[channel];
  throw error(
      base::text("manta: train: .{} has {} numbers; the pictures have {} channels, so one or that many are needed",
                 what, values.size(), channels));
}

/// Writes a picture's numbers to a column, channels first.
inline void scale_picture(const char* from, std::size_t channels, const picture_options& o,
                          Eigen::Ref<Eigen::VectorXf> to) {
  const std::size_t size = static_cast<std::size_t>(to.size()) / channels;
  const bool is_last = o.layout == layout::nhwc;
  for (std::size_t c = 0; c < channels; ++c) {
    const float mean = of_channel(o.mean, c, channels, "mean"),
                deviation = of_channel(o.deviation, c, channels, "deviation");
    for (std::size_t i = 0; i < size; ++i) {
      const char number = from[is_last ? i * channels + c : c * size + i];
      const auto byte = static_cast<float>(static_cast<unsigned char>(number));
      to[static_cast<Eigen::Index>(c * size + i)] = (byte / 255.0F - mean) / deviation;
    }
  }
}

/// The shape of a picture with channels first, from the extents of an array of pictures, which begin with their number.
template <class Extents>
nn::shape picture_shape(const Extents& extents, layout l) {
  std::vector<int> shape(extents.begin() + 1, extents.end());
  if (l == layout::nhwc && shape.size() == 3) std::rotate(shape.begin(), shape.end() - 1, shape.end());
  return nn::shape(std::move(shape));
}

inline std::size_t at_most(std::size_t count, std::size_t most) { return most == 0 ? count : std::min(count, most); }

}  // namespace detail

MANTA_DECL file::file(const std::string& path) : name(path) {
  const auto fail = [&] {
    throw error(base::text("manta: train: cannot read the file {}: {}", name, std::strerror(errno)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!in) fail();
  char block[1U << 16U];
  for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, in.get())) > 0;) bytes.append(block, got);
  if (std::ferror(in.get()) != 0) fail();
}

MANTA_DECL samples read_idx(const file& pictures, const file& labels, const picture_options& o) {
  std::size_t data = 0, label_data = 0;
  const std::vector<std::size_t> extents = detail::idx_extents(pictures, data),
                                 label_extents = detail::idx_extents(labels, label_data);
  if (label_extents.size() != 1)
    detail::refuse_file(labels, detail::at_byte(3), "1 dimension, as labels have",
                        base::text("{}", label_extents.size()));
  if (label_extents[0] != extents[0])
    detail::refuse_file(labels, detail::at_byte(4),
                        base::text("{} labels, as many as the pictures of {}", extents[0], pictures.name),
                        base::text("{}", label_extents[0]));
  std::size_t size = 1;
  for (std::size_t i = 1; i < extents.size(); ++i) size *= extents[i];
  const nn::shape shape = detail::picture_shape(extents, o.layout);
  const std::size_t channels = shape.dimensions() == 3 ? static_cast<std::size_t>(shape[0]) : 1;
  const std::size_t count = detail::at_most(extents[0], o.most);
  Eigen::MatrixXf x(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(count));
  std::vector<int> classes(count);
  for (std::size_t i = 0; i < count; ++i) {
    detail::scale_picture(pictures.bytes.data() + data + i * size, channels, o, x.col(static_cast<Eigen::Index>(i)));
    classes[i] = static_cast<int>(detail::byte_at(labels, label_data + i));
  }
  return samples(std::move(x), std::move(classes)).with(shape);
}

MANTA_DECL samples read_cifar10(const std::vector<file>& parts, const picture_options& o) {
  constexpr std::size_t channels = 3, size = channels * 32 * 32, record = 1 + size;
  std::size_t all = 0;
  for (const file& f : parts) {
    if (f.bytes.empty() || f.bytes.size() % record != 0)
      detail::refuse_file(f, detail::at_byte(f.bytes.size() / record * record),
                          base::text("records of {} bytes", record),
                          base::text("{} bytes and the end of the file", f.bytes.size() % record));
    all += f.bytes.size() / record;
  }
  const std::size_t count = detail::at_most(all, o.most);
  Eigen::MatrixXf x(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(count));
  std::vector<int> classes;
  for (const file& f : parts) {
    for (std::size_t at = 0; at < f.bytes.size() && classes.size() < count; at += record) {
      if (detail::byte_at(f, at) > 9)
        detail::refuse_file(f, detail::at_byte(at), "a class from 0 to 9", base::text("{}", detail::byte_at(f, at)));
      detail::scale_picture(f.bytes.data() + at + 1, channels, o, x.col(static_cast<Eigen::Index>(classes.size())));
      classes.push_back(static_cast<int>(detail::byte_at(f, at)));
    }
  }
  return samples(std::move(x), std::move(classes)).with(nn::shape{3, 32, 32});
}

}  // namespace manta::train
