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
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "manta/actor.hpp"
#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/base/unknown_options.hpp"
#include "manta/nn/checks.hpp"
#include "manta/nn/parameter_span.hpp"
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

/// Ranges of parameters: the first number, and the one after the last.
using parameter_ranges = nn::parameter_span<float>::frozen_ranges;

/// A part of the parameters and the optimiser's part for it.
template <class Optimizer, class T>
class shard {
 public:
  shard() = default;
  /// `frozen` are ranges of this part.
  shard(std::vector<T> parameters, const parameter_ranges& frozen, const Optimizer& o)
      : parameters_(std::move(parameters)), optimizer_(o) {
    for (const auto& [begin, end] : frozen) {
      const std::span<const T> values = std::span<const T>(parameters_).subspan(begin, end - begin);
      frozen_.emplace_back(begin, std::vector<T>(values.begin(), values.end()));
    }
  }

  [[nodiscard]] std::vector<T> pull() const { return parameters_; }
  /// Weight decay moves parameters without a gradient too, so frozen ones get back their values.
  void push(const std::vector<T>& gradients) {
    optimizer_.step(std::span<T>(parameters_), std::span<const T>(gradients));
    for (const auto& [begin, values] : frozen_)
      std::ranges::copy(values, parameters_.begin() + static_cast<std::ptrdiff_t>(begin));
    ++steps_;
  }
  void rate(double r) { optimizer_.rate(r); }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(parameters_, frozen_, optimizer_, steps_);
  }

 private:
  std::vector<T> parameters_;
  /// Frozen parameters: the index of the first, and their values.
  std::vector<std::pair<std::uint64_t, std::vector<T>>> frozen_;
  Optimizer optimizer_;
  std::uint64_t steps_ = 0;
};

}  // namespace detail

/// A handle: may be copied, stored and sent; the shards end with the last one. Any optimiser will do whose step treats
/// each parameter by itself, with `step(std::span<T>, std::span<const T>)`, `rate(double)` and serialize. L-BFGS does
/// not, and groups need the names of a network: both are refused. What a network has frozen stays as it is, where the
/// server is made of `net.parameters()`.
template <class Optimizer, class T = float>
class parameter_server {
  using shard = detail::shard<Optimizer, T>;

 public:
  class worker;

  /// Empty, to be assigned to.
  parameter_server() = default;
  /// Starts the shards, and waits for none of them.
  parameter_server(std::span<const T> parameters, const Optimizer& optimizer, const parameter_server_options& o = {})
      : parameter_server(parameters, {}, optimizer, o) {}
  parameter_server(const nn::parameter_span<const T>& parameters, const Optimizer& optimizer,
                   const parameter_server_options& o = {})
      : parameter_server(parameters, parameters.frozen(), optimizer, o) {}
  parameter_server(const nn::parameter_span<T>& parameters, const Optimizer& optimizer,
                   const parameter_server_options& o = {})
      : parameter_server(parameters, parameters.frozen(), optimizer, o) {}

  template <std::size_t N>
  parameter_server(  // manta: its options are .shards, .staleness, .save_every
      const nn::parameter_span<T>&, const Optimizer&, base::unknown_options<N>) = delete;
  template <class Other>
    requires(!std::ranges::contiguous_range<Other>)
  parameter_server(  // manta: a parameter server is made from net.parameters()
      const Other&, const Optimizer&, const parameter_server_options& = {})
  = delete;

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
  /// Each shard makes a step of the optimiser with its part; does not wait. Throws if a gradient is NaN or infinite.
  void push(std::span<const T> gradients) const {
    check(gradients.size());
    check_finite(gradients);
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      const std::size_t first = size_ * i / shards_.size(), last = size_ * (i + 1) / shards_.size();
      async<&shard::push>(shards_[i], std::vector<T>(gradients.begin() + static_cast<std::ptrdiff_t>(first),
                                                     gradients.begin() + static_cast<std::ptrdiff_t>(last)));
    }
  }
  /// Sets the optimisers' rate from the next push on; waits.
  void rate(double r) const {
    check_filled();
    manta::detail::insist([&] {
      std::vector<future<void>> set;
      for (const auto& s : shards_) set.push_back(async<&shard::rate>(s, r));
      for (const auto& f : set) manta::detail::sentence(f);
    });
  }
  /// Pushes since the beginning, of all workers; waits.
  [[nodiscard]] std::uint64_t steps() const {
    check_filled();
    return manta::detail::insist([&] { return async<&shard::steps>(shards_.front()).get(); });
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(shards_, clocks_, size_, staleness_);
  }

 private:
  parameter_server(std::span<const T> parameters, const detail::parameter_ranges& frozen, const Optimizer& optimizer,
                   const parameter_server_options& o)
      : size_(parameters.size()), staleness_(o.staleness) {
    if (o.shards < 1) throw error(base::text("manta: train: .shards is {}; at least one is needed", o.shards));
    if (o.staleness < 0)
      throw error(base::text("manta: train: .staleness is {}; it is a number of steps from 0", o.staleness));
    check_optimizer(optimizer);
    const auto count = static_cast<std::size_t>(o.shards);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = size_ * i / count, last = size_ * (i + 1) / count;
      const auto mine = parameters.subspan(first, last - first);
      detail::parameter_ranges frozen_here;
      for (const auto& [begin, end] : frozen) {
        if (begin < last && end > first)
          frozen_here.emplace_back(std::max(begin, first) - first, std::min(end, last) - first);
      }
      shards_.push_back(
          spawn<shard>({.spread = true, .restarts = detail::many_restarts, .checkpoint_every = o.save_every},
                       std::vector<T>(mine.begin(), mine.end()), frozen_here, optimizer));
    }
    if (is_bounded()) clocks_ = spawn<detail::worker_clocks>({.restarts = detail::many_restarts});
  }

  /// Makes a step on a copy: what it throws in a shard would reach nobody.
  static void check_optimizer(Optimizer optimizer) {
    if constexpr (requires { optimizer.name() == "lbfgs"; }) {
      if (optimizer.name() == "lbfgs")
        throw error(
            "manta: train: a parameter server does not work with lbfgs, whose steps are for all samples at once and "
            "look at all parameters together; take sgd, adam, adamw or rmsprop");
    }
    std::vector<T> parameter(1), gradient(1);
    try {
      optimizer.step(std::span<T>(parameter), std::span<const T>(gradient));
    } catch (const error& e) {
      throw error(std::string("manta: train: a parameter server knows parameters without names: ") + e.what());
    }
  }
  [[nodiscard]] bool is_bounded() const { return staleness_ != any_staleness; }
  void check(std::size_t size) const {
    if (size != size_)
      throw error(
          base::text("manta: train: the parameter server has {} parameters, and {} numbers were given", size_, size));
  }
  void check_filled() const {
    if (shards_.empty()) throw error("manta: train: this parameter server is empty; assign one that has parameters");
  }
  static void check_finite(std::span<const T> gradients) {
    if (nn::all_finite(gradients)) return;
    const auto wrong = std::ranges::find_if(gradients, [](T g) { return !base::is_finite(static_cast<double>(g)); });
    throw error(base::text(
        "manta: train: gradient {} of {} that were pushed is NaN or infinite; the parameter server did not take them. "
        "Try a smaller rate, or look at the data",
        wrong - gradients.begin(), gradients.size()));
  }

  std::vector<actor<shard>> shards_;
  actor<detail::worker_clocks> clocks_;
  std::size_t size_ = 0;
  int staleness_ = any_staleness;
};

template <std::ranges::contiguous_range Parameters, class Optimizer>
parameter_server(const Parameters&, const Optimizer&, const parameter_server_options& = {})
    -> parameter_server<Optimizer, std::ranges::range_value_t<Parameters>>;
template <class Other, class Optimizer>
  requires(!std::ranges::contiguous_range<Other>)
parameter_server(const Other&, const Optimizer&, const parameter_server_options& = {})
->parameter_server<Optimizer, float>;

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
