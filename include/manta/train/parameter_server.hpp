// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Asynchronous training: actors hold the parameters, workers pull them, push gradients, and do not wait for each
// other's steps. Gradients are a few steps old then, which optimisers with a small rate bear.
//
//   train::parameter_server server(net.parameters(), nn::rmsprop({.rate = 5e-4}), {.shards = 3, .staleness = 4});
//   for (int i = 0; i < 3; ++i) tasks.push_back(manta::async<work>(server, i));
//
//   void work(const train::parameter_server<nn::rmsprop>& server, int number) {
//     auto worker = server.join(number);
//     for (...) {
//       worker.pull(net.parameters());
//       auto [loss, dy] = nn::cross_entropy(net.forward(x), labels);
//       net.zero_gradients();
//       net.backward(dy);
//       worker.push(net.gradients());
//     }
//   }
//
// No worker gets further ahead of the slowest than .staleness steps (stale synchronous parallel, Ho et al. 2013). A
// rank that dies costs at most the pushes under way and what its shard took since it was saved; a task that was lost
// with it runs again, and joins under its number.
#pragma once

#include <algorithm>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/train/worker_clocks.hpp"

namespace manta::train {

/// Workers do not wait for each other.
inline constexpr int any_staleness = std::numeric_limits<int>::max();

struct parameter_server_options {
  int shards = 1;  ///< actors that hold a part of the parameters each, on different ranks where there are some
  int staleness = any_staleness;  ///< steps by which a worker may be ahead of the slowest; 0: all make the same step
  int save_every = 50;            ///< pushes after which a shard is saved, to go on from there when its rank dies
};

namespace detail {

/// A part of the parameters and the optimiser's part for it.
template <class Optimizer, class T>
class shard {
 public:
  shard() = default;
  shard(std::vector<T> parameters, const Optimizer& o) : parameters_(std::move(parameters)), optimizer_(o) {}

  [[nodiscard]] std::vector<T> pull() const { return parameters_; }
  void push(const std::vector<T>& gradients) {
    optimizer_.step(std::span<T>(parameters_), std::span<const T>(gradients));
    ++steps_;
  }
  void rate(double r) { optimizer_.rate(r); }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(parameters_, optimizer_, steps_);
  }

 private:
  std::vector<T> parameters_;
  Optimizer optimizer_;
  std::uint64_t steps_ = 0;
};

}  // namespace detail

/// A handle: may be copied, stored and sent; the shards end with the last one. Any optimiser will do whose step treats
/// each parameter by itself, with `step(std::span<T>, std::span<const T>)`, `rate(double)` and serialize.
template <class Optimizer, class T = float>
class parameter_server {
  using shard = detail::shard<Optimizer, T>;

 public:
  class worker;

  /// Empty, to be assigned to.
  parameter_server() = default;
  /// Starts the shards, and waits for none of them.
  parameter_server(std::span<const T> parameters, const Optimizer& optimizer, const parameter_server_options& o = {})
      : size_(parameters.size()), staleness_(o.staleness) {
    if (o.shards < 1) throw error("manta: train: .shards is " + std::to_string(o.shards) + "; at least one is needed");
    if (o.staleness < 0)
      throw error("manta: train: .staleness is " + std::to_string(o.staleness) + "; it is a number of steps from 0");
    const auto count = static_cast<std::size_t>(o.shards);
    for (std::size_t i = 0; i < count; ++i) {
      const auto mine = parameters.subspan(size_ * i / count, size_ * (i + 1) / count - size_ * i / count);
      shards_.push_back(
          spawn<shard>({.spread = true, .restarts = detail::many_restarts, .checkpoint_every = o.save_every},
                       std::vector<T>(mine.begin(), mine.end()), optimizer));
    }
    if (is_bounded()) clocks_ = spawn<detail::worker_clocks>({.restarts = detail::many_restarts});
  }

  /// Starts to be a worker; `number` is its own among those that work at the same time.
  [[nodiscard]] worker join(int number) const { return worker(*this, number); }

  /// Copies the parameters as they are now; waits. Calls of this rank see the pushes that it made before.
  void pull(std::span<T> parameters) const {
    check(parameters.size());
    manta::detail::insist([&] {
      std::vector<future<std::vector<T>>> parts;
      for (const auto& s : shards_) parts.push_back(async<&shard::pull>(s));
      auto to = parameters.begin();
      for (const auto& p : parts) to = std::copy(p.get().begin(), p.get().end(), to);
    });
  }
  /// Each shard makes a step of the optimiser with its part; does not wait.
  void push(std::span<const T> gradients) const {
    check(gradients.size());
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      const std::size_t first = size_ * i / shards_.size(), last = size_ * (i + 1) / shards_.size();
      async<&shard::push>(shards_[i], std::vector<T>(gradients.begin() + static_cast<std::ptrdiff_t>(first),
                                                     gradients.begin() + static_cast<std::ptrdiff_t>(last)));
    }
  }
  /// Sets the optimisers' rate from the next push on; waits.
  void rate(double r) const {
    manta::detail::insist([&] {
      std::vector<future<void>> set;
      for (const auto& s : shards_) set.push_back(async<&shard::rate>(s, r));
      get(set);
    });
  }
  /// Pushes since the beginning, of all workers; waits.
  [[nodiscard]] std::uint64_t steps() const {
    return manta::detail::insist([&] { return async<&shard::steps>(shards_.front()).get(); });
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(shards_, clocks_, size_, staleness_);
  }

 private:
  [[nodiscard]] bool is_bounded() const { return staleness_ != any_staleness; }
  void check(std::size_t size) const {
    if (size != size_)
      throw error("manta: train: the parameter server has " + std::to_string(size_) + " parameters, and " +
                  std::to_string(size) + " numbers were given");
  }

  std::vector<actor<shard>> shards_;
  actor<detail::worker_clocks> clocks_;
  std::size_t size_ = 0;
  int staleness_ = any_staleness;
};

template <std::ranges::contiguous_range Parameters, class Optimizer>
parameter_server(const Parameters&, const Optimizer&, const parameter_server_options& = {})
    -> parameter_server<Optimizer, std::ranges::range_value_t<Parameters>>;

/// A worker at work. It leaves when it is destroyed; the others wait for it no more.
template <class Optimizer, class T>
class parameter_server<Optimizer, T>::worker {
 public:
  /// Joins the workers of the server; parameter_server::join makes the object.
  worker(const parameter_server& s, int number) : server_(s), number_(number) {
    if (!server_.is_bounded()) return;
    made_ = slowest_ =
        manta::detail::insist([&] { return async<&detail::worker_clocks::join>(server_.clocks_, number).get(); });
  }
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker() {
    if (server_.is_bounded()) detail::worker_clocks::leave_quietly(server_.clocks_, number_);
  }

  /// Copies the parameters as they are now; waits, also until the slowest worker is less than
  /// `.staleness` steps behind.
  void pull(std::span<T> parameters) {
    if (server_.is_bounded() && made_ - slowest_ > static_cast<std::uint64_t>(server_.staleness_)) wait();
    server_.pull(parameters);
  }
  /// A step of the optimiser with these gradients; does not wait.
  void push(std::span<const T> gradients) {
    server_.push(gradients);
    ++made_;
    if (server_.is_bounded()) async<&detail::worker_clocks::made>(server_.clocks_, number_, made_);
  }

 private:
  void wait() {
    const std::uint64_t least = made_ - static_cast<std::uint64_t>(server_.staleness_);
    slowest_ = manta::detail::insist(
        [&] { return async<&detail::worker_clocks::wait>(server_.clocks_, number_, made_, least).get().get(); });
  }

  parameter_server server_;
  int number_;
  std::uint64_t made_ = 0, slowest_ = 0;  ///< steps: its own; the slowest worker's, as far as this one knows
};

}  // namespace manta::train
