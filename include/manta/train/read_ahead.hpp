// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Data that tasks read ahead of the training: for samples that take long to read or to decode.
//
//   struct photos {
//     std::string folder;
//     std::size_t size() const;
//     void take(std::span<const std::uint64_t> which, train::batch<float>& to) const;   // the samples of these numbers
//     template <class Archive> void serialize(Archive& archive) { archive(folder); }
//   };
//   train::read_ahead<photos> training_data() const { return {photos{folder}, {.window = 4}}; }
//
// The tasks of a worker are streams (manta/stream.hpp), which read what the worker takes next, in its order and at most
// a window ahead of it. They run on ranks without a worker, or on the worker's own while it waits for them, so leave
// some ranks free: with 8 ranks for example {.workers = 4} and {.tasks = 1}. The training is the same bits as without.
// When the rank of a task dies under manta-run, the task goes on elsewhere.
#pragma once

#include <algorithm>
#include <cereal/archives/binary.hpp>
#include <cereal/types/vector.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/async.hpp"
#include "manta/base/unknown_options.hpp"
#include "manta/error.hpp"
#include "manta/generator.hpp"
#include "manta/stream.hpp"
#include "manta/train/samples.hpp"
#include "manta/train/source.hpp"

namespace manta::train {

struct read_ahead_options {
  int window = 4;  ///< the most parts of batches that the tasks may be ahead of their worker
  int tasks = 1;   ///< streams of each worker, which read side by side; at most .window
};

/// Numbers of the samples of parts of batches, in the order in which a worker takes the parts.
using reading_plan = std::vector<std::vector<std::uint64_t>>;

namespace detail {
/// Throws if they cannot be meant.
MANTA_DECL void check_read_ahead(const read_ahead_options& o);

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push  // GCC 12 warns of sources from unnamed namespaces in the coroutine's frame
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif
template <class Source, class T>
generator<batch<T>> read_parts(Source source, reading_plan all) {
  for (const std::vector<std::uint64_t>& part : all) {
    batch<T> b;
    source.take(part, b);
    co_yield std::move(b);
  }
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}  // namespace detail

/// A source is sent to its tasks once an epoch, so it should name its data (by files, say) rather than hold them, and
/// open them when they are used. train::shards is such a source. Move-only, since it owns streams.
template <class Source>
class read_ahead {
  static_assert(std::is_default_constructible_v<Source> &&
                    cereal::traits::is_output_serializable<Source, cereal::BinaryOutputArchive>::value &&
                    cereal::traits::is_input_serializable<Source, cereal::BinaryInputArchive>::value,
                "manta: train: the source of read_ahead is sent to the tasks that read: give it a default constructor "
                "and a serialize() function that names its members, and include the <cereal/types/...> headers of "
                "their types");
  static_assert(
      requires(const Source& s) { s.size(); },
      "manta: train: the source of read_ahead needs size() const, the number of its samples");

 public:
  read_ahead() = default;
  /// Throws manta::error if the options cannot be met.
  read_ahead(Source source, const read_ahead_options& o = {})  // NOLINT(google-explicit-constructor): data of a recipe
      : source_(std::move(source)), options_(o) {
    detail::check_read_ahead(o);
  }

  template <std::size_t N>
  read_ahead(Source, base::unknown_options<N>) = delete;  // manta: train::read_ahead_options has no such name

  [[nodiscard]] std::size_t size() const { return source_.size(); }
  /// The extents of a sample, where the source has them.
  [[nodiscard]] nn::shape extents() const {
    if constexpr (requires(const Source& s) {
                    { s.extents() } -> std::convertible_to<nn::shape>;
                  })
      return source_.extents();
    return {};
  }
  /// The source, as the tasks have it.
  [[nodiscard]] const Source& source() const { return source_; }

  /// Says which parts take() is called for next; the tasks begin with the first call. A trainer's workers do so
  /// themselves; a loop of one's own calls it once an epoch.
  void plan(reading_plan next) {
    stop();
    planned_ = std::move(next);
    taken_ = 0;
  }

  /// Copies these samples, in this order. Waits for the tasks if they are the next part of the plan, and rethrows what
  /// the source has thrown there. Other samples are read here.
  template <class T>
  void take(std::span<const std::uint64_t> which, batch<T>& to) {
    if (taken_ == planned_.size() || !std::ranges::equal(which, planned_[taken_])) return source_.take(which, to);
    auto& streams = std::get<std::vector<stream<batch<T>>>>(streams_);
    if (streams.empty()) start(streams);
    try {
      to = std::move(*streams[(taken_ - first_) % streams.size()].next()).get();
    } catch (...) {
      stop();  // a stream ends with an error; the next call begins with this part
      throw;
    }
    if (++taken_ == planned_.size()) plan({});
  }

 private:
  template <class T>
  void start(std::vector<stream<batch<T>>>& streams) {
    first_ = taken_;
    const auto tasks = static_cast<std::size_t>(options_.tasks), window = static_cast<std::size_t>(options_.window);
    for (std::size_t task = 0; task < tasks; ++task) {
      reading_plan mine;
      for (std::size_t i = first_ + task; i < planned_.size(); i += tasks) mine.push_back(planned_[i]);
      streams.push_back(async<detail::read_parts<Source, T>>(source_, std::move(mine)));
      streams.back().set_window({.items = (window + tasks - 1 - task) / tasks});
    }
  }
  void stop() {
    std::apply([](auto&... each) { (each.clear(), ...); }, streams_);
  }

  Source source_{};
  read_ahead_options options_;
  reading_plan planned_;
  std::size_t first_ = 0;  ///< part of the plan with which the streams began
  std::size_t taken_ = 0;  ///< parts of the plan
  std::tuple<std::vector<stream<batch<float>>>, std::vector<stream<batch<double>>>> streams_;
};

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/read_ahead.ipp"
#endif
