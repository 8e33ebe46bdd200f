// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Data that stay in files: shards in NumPy's npy format, of which each worker reads only the samples that it takes.
//
//   train::shards training_data() const { return train::shards({"x0.npy", "x1.npy"}, {"y0.npy", "y1.npy"}); }
//
// Python writes them: numpy.save("x0.npy", x), whose first dimension is the sample. The files are mapped into memory:
// data may be larger than it, and the workers of a node share what the system holds of them. While a step runs, the
// system reads what the worker takes next.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/train/readers.hpp"
#include "manta/train/samples.hpp"
#include "manta/train/source.hpp"

namespace manta::train {

namespace detail {
class mapped_array;
}

class shards {
 public:
  shards() = default;
  /// Inputs: bytes, which become numbers as picture_options says, or floats or doubles, for which mean and deviation
  /// count too. Targets: a file for each file of inputs, with classes (integers, one for each sample), or with floats
  /// or doubles. Throws manta::error, with file, offset, what was expected and what was found.
  MANTA_DECL shards(const std::vector<std::string>& inputs, const std::vector<std::string>& targets,
                    const picture_options& o = {});

  /// One file of each.
  template <std::convertible_to<std::string> Inputs, std::convertible_to<std::string> Targets>
  shards(const Inputs& inputs, const Targets& targets, const picture_options& o = {})
      : shards(std::vector<std::string>{inputs}, std::vector<std::string>{targets}, o) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Numbers of a sample.
  [[nodiscard]] MANTA_DECL std::size_t features() const;
  /// The extents of a sample with channels first; without dimensions where a sample is a vector.
  [[nodiscard]] MANTA_DECL nn::shape extents() const;

  MANTA_DECL void take(std::span<const std::uint64_t> which, batch<float>& to) const;
  MANTA_DECL void take(std::span<const std::uint64_t> which, batch<double>& to) const;
  /// Has the system begin to read these samples; does not wait.
  MANTA_DECL void will_take(std::span<const std::uint64_t> which) const;

  /// The files' names travel; who receives them opens the files.
  template <class Archive>
  void save(Archive& archive) const {
    archive(names_of_inputs(), names_of_targets(), options_);
  }
  template <class Archive>
  void load(Archive& archive) {
    std::vector<std::string> inputs, targets;
    picture_options o;
    archive(inputs, targets, o);
    *this = inputs.empty() ? shards() : shards(inputs, targets, o);
  }

 private:
  [[nodiscard]] MANTA_DECL std::vector<std::string> names_of_inputs() const;
  [[nodiscard]] MANTA_DECL std::vector<std::string> names_of_targets() const;
  struct place {
    std::size_t shard;
    std::uint64_t row;
  };
  [[nodiscard]] place find(std::uint64_t sample) const;
  /// Channels of a sample that has several dimensions, else 1.
  [[nodiscard]] std::size_t channels() const;
  template <class T>
  void copy(std::span<const std::uint64_t> which, batch<T>& to) const;

  std::vector<std::shared_ptr<const detail::mapped_array>> inputs_, targets_;
  std::vector<std::uint64_t> ends_;  ///< ends of each shard, in samples of all
  std::size_t size_ = 0;
  bool has_labels_ = true;
  picture_options options_;
};

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/shards.ipp"
#endif
