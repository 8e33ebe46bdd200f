// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Workers of an asynchronous algorithm. Each acts with the weights that it was given last, and nobody waits for the
// slowest: results are handed out as they come, with the version of the weights that they were made with.
#pragma once

#include <cereal/types/deque.hpp>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "manta/insist.hpp"
#include "manta/manta.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/workers/worker.hpp"
#include "manta/rl/workers/worker_states.hpp"
#include "manta/watcher.hpp"

namespace manta::rl::detail {

/// `Method` is what a worker does in a call: its first parameter is the policy's weights.
template <auto Method>
class crew;

template <class Worker, class Result, class... Parameters, Result (Worker::*Method)(Parameters...)>
class crew<Method> {
 public:
  /// What a worker has sent.
  struct arrival {
    std::uint64_t duty = 0, version = 0;
    Result result;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(duty, version, result);
    }
  };

  struct settings {
    int environments = 1, workers = 1;
    int lag = 0;        ///< calls get weights that are this number of versions older than the newest
    int in_flight = 1;  ///< calls that each worker has at a time
  };

  /// more: the last arguments of a worker's constructor.
  template <class... More>
  crew(const any_environment& e, std::uint64_t seed, const settings& how, const More&... more)
      : environments_(how.environments),
        lag_(static_cast<std::size_t>(how.lag)),
        workers_(start_workers<Worker>(e, seed, how.environments, how.workers, more...)),
        duties_(workers_.size() * static_cast<std::size_t>(how.in_flight)) {}

  /// New weights, for the calls to come.
  void publish(std::uint64_t version, policy::weights w) {
    published_.push_back({version, {}, {}});
    if (sizeof(float) * w.parameters.size() > with_a_call) {
      published_.back().shared = put(std::move(w));  // once to each node
    } else {
      published_.back().weights = std::move(w);
    }
    while (published_.size() > lag_ + 1) published_.pop_front();
  }
  /// Gives calls to each worker that has fewer than its number in flight.
  template <class... Arguments>
  void keep_busy(const Arguments&... arguments) {
    const weights_version& now = published_.front();
    for (std::size_t i = 0; i < duties_.size(); ++i) {
      duty& d = duties_[i];
      if (d.is_busy) continue;
      d.is_busy = true;
      d.version = now.number;
      const actor<Worker>& worker = workers_[i % workers_.size()];
      d.call = now.shared.valid() ? async<Method>(worker, now.shared, arguments...)
                                  : async<Method>(worker, now.weights, arguments...);
      ended_.add(d.call, i);
    }
  }
  /// Gives the workers that have nothing to do a call each, and waits for the result that comes next.
  /// Throws manta::error with what went wrong in a worker; the others' results are kept. A call that was
  /// lost with its rank is no error.
  template <class... Arguments>
  arrival next(const Arguments&... arguments) {
    return manta::detail::insist([&] {
      keep_busy(arguments...);
      return arrived_.empty() ? take() : take_kept();
    });
  }
  /// Calls f, an iteration of the learner. What it throws leaves once all calls have ended, so that nothing goes wrong
  /// in a worker that nobody looks at.
  template <class F>
  void guard(F&& f) {
    try {
      f();
    } catch (...) {
      settle();
      throw;
    }
  }

  /// Waits for the calls that are under way, and keeps their results for next().
  std::string state() {
    settle();
    std::vector<std::pair<std::uint64_t, policy::weights>> published;
    for (const weights_version& v : published_)
      published.emplace_back(v.number, v.shared.valid() ? v.shared.get() : v.weights);
    return output::pack(states_of(workers_), published, arrived_);
  }
  /// Also of another number of workers. Without the environments, their results are left aside too.
  /// Throws, and changes nothing, if the number of environments is another one.
  void restore(const std::string& bytes, bool with_environments) {
    std::vector<std::string> states;
    std::vector<std::pair<std::uint64_t, policy::weights>> published;
    std::deque<arrival> arrived;
    output::unpack(bytes, states, published, arrived);
    if (with_environments) require_environments(states.size(), environments_);
    for (auto& [number, weights] : published) publish(number, std::move(weights));
    if (!with_environments) return;
    arrived_ = std::move(arrived);
    for (const arrival& a : arrived_) set_busy(a, true);
    restore_states(workers_, states);
  }

 private:
  /// Bytes of weights that go with each call: a worker that has to fetch them waits until this rank has time, which
  /// takes longer than it takes to send them again.
  static constexpr std::size_t with_a_call = std::size_t{64} << 10;

  /// What a call may act with.
  struct weights_version {
    std::uint64_t number = 0;
    policy::weights weights;         ///< if they go with each call
    future<policy::weights> shared;  ///< else
  };
  /// One of the calls that a worker has at a time.
  struct duty {
    bool is_busy = false;       ///< whether it has a call under way, or one whose result is kept
    std::uint64_t version = 0;  ///< version of the weights of its call
    future<Result> call;
  };

  /// Waits for all calls, and keeps their results. What went wrong in one comes again, as its worker's next
  /// call meets it.
  void settle() {
    while (ended_.size() > 0) {
      try {
        arrived_.push_back(take());
        set_busy(arrived_.back(), true);
      } catch (const error&) {
      }
    }
  }
  arrival take() {
    const std::uint64_t i = *ended_.next();
    duty& d = duties_[i];
    d.is_busy = false;
    return {i, d.version, sentence(std::exchange(d.call, {}))};
  }
  arrival take_kept() {
    arrival a = std::move(arrived_.front());
    arrived_.pop_front();
    set_busy(a, false);
    return a;
  }
  /// A checkpoint may be of more workers than there are.
  void set_busy(const arrival& a, bool busy) {
    if (a.duty < duties_.size()) duties_[a.duty].is_busy = busy;
  }

  int environments_;
  std::size_t lag_;
  std::vector<actor<Worker>> workers_;
  std::vector<duty> duties_;  ///< one of each worker, then the next one of each
  watcher ended_;
  std::deque<arrival> arrived_;
  std::deque<weights_version> published_;
};

}  // namespace manta::rl::detail
