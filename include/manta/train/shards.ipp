// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/weight_files/bytes.hpp"
#include "manta/nn/weight_files/npy.hpp"
#include "manta/train/shards.hpp"

namespace manta::train {

namespace detail {

/// An npy file, mapped into memory.
class mapped_array {
 public:
  explicit mapped_array(const std::string& path) : path_(path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat s {};
    if (file < 0 || ::fstat(file, &s) != 0) {
      const int why = errno;
      if (file >= 0) ::close(file);
      throw error(base::text("manta: train: the file {} cannot be read: {}", path, std::strerror(why)));
    }
    bytes_ = static_cast<std::size_t>(s.st_size);
    if (bytes_ > 0) data_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file, 0);
    const int why = errno;
    ::close(file);
    if (data_ == MAP_FAILED)
      throw error(base::text("manta: train: the file {} cannot be mapped: {}", path, std::strerror(why)));
    try {
      read_header();
    } catch (...) {
      unmap();
      throw;
    }
  }
  mapped_array(const mapped_array&) = delete;
  mapped_array& operator=(const mapped_array&) = delete;
  ~mapped_array() { unmap(); }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// Numbers of a row.
  [[nodiscard]] std::size_t width() const { return width_; }
  /// The extents of a row with channels first; without dimensions where a row is a vector.
  [[nodiscard]] nn::shape shape(layout l) const {
    return header_.extents.size() > 2 ? picture_shape(header_.extents, l) : nn::shape();
  }
  [[nodiscard]] bool is_integer() const { return header_.type[1] == 'u' || header_.type[1] == 'i'; }
  [[nodiscard]] bool is_bytes() const { return header_.type == "|u1"; }
  [[noreturn]] void bad(std::uint64_t offset, const std::string& expected, const std::string& found) const {
    throw error(
        base::text("manta: train: the file {}, byte {}: expected {}, found {}", path_, offset, expected, found));
  }
  [[nodiscard]] std::uint64_t header_size() const { return header_.size; }

  /// The numbers of a row.
  template <class T>
  void copy(std::uint64_t row, T* to) const {
    const char* const from = start_of(row);
    if (header_.type == "|u1") return convert<unsigned char>(from, to);
    if (header_.type == "<i4") return convert<std::int32_t>(from, to);
    if (header_.type == "<i8") return convert<std::int64_t>(from, to);
    if (header_.type == "<f4") return convert<float>(from, to);
    convert<double>(from, to);
  }

  /// Has the system begin to read the row.
  void will_need(std::uint64_t row) const {
    static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(start_of(row)), first = begin / page * page;
    ::madvise(reinterpret_cast<void*>(first), begin - first + width_ * each_, MADV_WILLNEED);
  }

 private:
  void unmap() {
    if (data_ && data_ != MAP_FAILED) ::munmap(data_, bytes_);
  }
  [[nodiscard]] const char* start_of(std::uint64_t row) const {
    return static_cast<const char*>(data_) + header_.size + row * width_ * each_;
  }

  void read_header() {
    header_ = nn::detail::read_npy_header(
        {static_cast<const char*>(data_), bytes_},
        [this](std::uint64_t offset, const std::string& e, const std::string& f) { bad(offset, e, f); });
    if (header_.type == "|u1") each_ = 1;
    if (header_.type == "<f4" || header_.type == "<i4") each_ = 4;
    if (header_.type == "<f8" || header_.type == "<i8") each_ = 8;
    if (each_ == 0) bad(0, "numbers of the type |u1, <i4, <i8, <f4 or <f8", header_.type);
    if (header_.first_is_fastest && header_.extents.size() > 1)
      bad(0, "an array in C order; write it with numpy.ascontiguousarray", "one in Fortran's");
    if (header_.extents.empty()) bad(0, "an array whose first dimension is the sample", "one number");
    const std::uint64_t bytes = nn::detail::bytes_of_array(header_.extents, each_), numbers = bytes / each_;
    if (bytes > bytes_ || bytes_ - header_.size != bytes)
      bad(bytes_, base::text("{} + {} x {} bytes", header_.size, numbers, each_), "the end of the file");
    rows_ = static_cast<std::uint64_t>(header_.extents[0]);
    width_ = rows_ == 0 ? 0 : static_cast<std::size_t>(numbers / rows_);
  }

  template <class From, class T>
  void convert(const char* from, T* to) const {
    for (std::size_t i = 0; i < width_; ++i) {
      From x;
      std::memcpy(&x, from + i * sizeof(From), sizeof(From));
      to[i] = static_cast<T>(x);
    }
  }

  std::string path_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0, each_ = 0, width_ = 0;
  std::uint64_t rows_ = 0;
  nn::detail::npy_header header_;
};

}  // namespace detail

MANTA_DECL shards::shards(const std::vector<std::string>& inputs, const std::vector<std::string>& targets,
                          const picture_options& o)
    : options_(o) {
  if (inputs.empty()) throw error("manta: train: shards: there is no file of inputs");
  if (inputs.size() != targets.size())
    throw error(base::text(
        "manta: train: shards: there are {} files of inputs and {} of targets; each file of inputs needs one of "
        "targets",
        inputs.size(), targets.size()));
  for (std::size_t i = 0; i < inputs.size() && (o.most == 0 || size_ < o.most); ++i) {
    const auto x = std::make_shared<const detail::mapped_array>(inputs[i]),
               y = std::make_shared<const detail::mapped_array>(targets[i]);
    if (y->rows() != x->rows())
      y->bad(0, base::text("{} samples, as {} has", x->rows(), x->path()), base::text("{}", y->rows()));
    if (i == 0) has_labels_ = y->is_integer();
    if (has_labels_ != y->is_integer())
      y->bad(0, base::text("{}, as in {}", has_labels_ ? "integers" : "floats or doubles", targets[0]), "others");
    if (has_labels_ && y->width() > 1) y->bad(0, "one class for each sample", base::text("{}", y->width()));
    const auto check_width = [](const detail::mapped_array& a, const detail::mapped_array& first) {
      if (a.width() != first.width())
        a.bad(0, base::text("{} numbers for each sample, as in {}", first.width(), first.path()),
              base::text("{}", a.width()));
    };
    if (i > 0) check_width(*x, *inputs_[0]), check_width(*y, *targets_[0]);
    if (i > 0 && x->shape(o.layout) != inputs_[0]->shape(o.layout))
      x->bad(0, base::text("samples of {}, as in {}", inputs_[0]->shape(o.layout).text(), inputs[0]),
             x->shape(o.layout).text());
    size_ += x->rows();
    ends_.push_back(size_);
    inputs_.push_back(x);
    targets_.push_back(y);
  }
  size_ = detail::at_most(size_, o.most);
  (void)detail::of_channel(o.mean, 0, channels(), "mean");
  (void)detail::of_channel(o.deviation, 0, channels(), "deviation");
}

namespace detail {
inline std::vector<std::string> names_of(const std::vector<std::shared_ptr<const mapped_array>>& files) {
  std::vector<std::string> names;
  for (const auto& file : files) names.push_back(file->path());
  return names;
}
}  // namespace detail
MANTA_DECL std::vector<std::string> shards::names_of_inputs() const { return detail::names_of(inputs_); }
MANTA_DECL std::vector<std::string> shards::names_of_targets() const { return detail::names_of(targets_); }

MANTA_DECL nn::shape shards::extents() const {
  return inputs_.empty() ? nn::shape() : inputs_[0]->shape(options_.layout);
}
inline std::size_t shards::channels() const {
  const nn::shape s = extents();
  return s.dimensions() > 1 ? static_cast<std::size_t>(s[0]) : 1;
}
MANTA_DECL std::size_t shards::features() const { return inputs_.empty() ? 0 : inputs_[0]->width(); }

inline shards::place shards::find(std::uint64_t sample) const {
  const auto shard = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), sample) - ends_.begin());
  return {shard, sample - (shard == 0 ? 0 : ends_[shard - 1])};
}

template <class T>
void shards::copy(std::span<const std::uint64_t> which, batch<T>& to) const {
  const auto count = static_cast<Eigen::Index>(which.size());
  const std::size_t channels = this->channels();
  const auto channel = static_cast<Eigen::Index>(features() / channels);
  const bool is_last = options_.layout == layout::nhwc && extents().dimensions() == 3;
  nn::matrix<T> turned;
  const T unit = inputs_[0]->is_bytes() ? T(1) / T(255) : T(1);
  to.x.resize(static_cast<Eigen::Index>(features()), count);
  to.has_labels = has_labels_;
  has_labels_ ? to.labels.resize(which.size()) : to.y.resize(static_cast<Eigen::Index>(targets_[0]->width()), count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const place at = find(which[static_cast<std::size_t>(i)]);
    inputs_[at.shard]->copy(at.row, to.x.col(i).data());
    if (is_last) {  // from pixels of channels to planes
      turned = Eigen::Map<const nn::matrix<T>>(to.x.col(i).data(), static_cast<Eigen::Index>(channels), channel);
      Eigen::Map<nn::matrix<T>>(to.x.col(i).data(), channel, static_cast<Eigen::Index>(channels)) = turned.transpose();
    }
    for (std::size_t c = 0; c < channels; ++c) {
      auto numbers = to.x.col(i).segment(static_cast<Eigen::Index>(c) * channel, channel).array();
      numbers = (numbers * unit - static_cast<T>(detail::of_channel(options_.mean, c, channels, "mean"))) /
                static_cast<T>(detail::of_channel(options_.deviation, c, channels, "deviation"));
    }
    has_labels_ ? targets_[at.shard]->copy(at.row, &to.labels[static_cast<std::size_t>(i)])
                : targets_[at.shard]->copy(at.row, to.y.col(i).data());
  }
}

MANTA_DECL void shards::take(std::span<const std::uint64_t> which, batch<float>& to) const { copy(which, to); }
MANTA_DECL void shards::take(std::span<const std::uint64_t> which, batch<double>& to) const { copy(which, to); }

MANTA_DECL void shards::will_take(std::span<const std::uint64_t> which) const {
  for (const std::uint64_t sample : which) {
    const place at = find(sample);
    inputs_[at.shard]->will_need(at.row);
  }
}

}  // namespace manta::train
