// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A replica: an actor with one object of the deployed class. The class is known to the templates open and run alone, so
// all else is compiled once. A generator's values are asked for by whoever reads them, some at a time: between these
// calls the replica does other work.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "manta/actor.hpp"
#include "manta/generator.hpp"
#include "manta/promise.hpp"
#include "manta/run.hpp"
#include "manta/serve/settings.hpp"
#include "manta/serve/target.hpp"

namespace manta::serve::detail {

/// The object of a replica, for what needs no type of its requests.
struct replica_object {
  virtual ~replica_object() = default;
  virtual bool healthy() const = 0;
  virtual void reconfigure(const settings& s) = 0;
};

template <class Signature>
struct answering_object;
/// A replica_object that knows the types of its requests and answers.
template <class R, class... A>
struct answering_object<R(A...)> : replica_object {
  virtual std::vector<value_of<R>> run(std::vector<std::tuple<A...>>&& batch) = 0;
};
template <class T, class... A>
struct answering_object<generator<T>(A...)> : replica_object {
  virtual generator<T> begin(std::tuple<A...>& arguments) = 0;
};

template <class Target, class Signature>
struct object_with_requests;
template <class Target, class R, class... A>
struct object_with_requests<Target, R(A...)> : answering_object<R(A...)> {
  explicit object_with_requests(std::unique_ptr<typename Target::class_type> o) : its(std::move(o)) {}
  std::vector<value_of<R>> run(std::vector<std::tuple<A...>>&& batch) override {
    return Target::run(*its, std::move(batch));
  }
  std::unique_ptr<typename Target::class_type> its;
};
template <class Target, class T, class... A>
struct object_with_requests<Target, generator<T>(A...)> : answering_object<generator<T>(A...)> {
  explicit object_with_requests(std::unique_ptr<typename Target::class_type> o) : its(std::move(o)) {}
  generator<T> begin(std::tuple<A...>& arguments) override { return Target::begin(*its, arguments); }
  std::unique_ptr<typename Target::class_type> its;
};

template <class Target>
struct object_of final : object_with_requests<Target, signature<Target>> {
  using object_with_requests<Target, signature<Target>>::object_with_requests;
  bool healthy() const override {
    if constexpr (requires { this->its->healthy(); }) {
      try {
        return this->its->healthy();
      } catch (const std::exception&) {
        return false;
      }
    }
    return true;
  }
  void reconfigure(const settings& s) override { apply_settings(*this->its, s); }
};

/// Values of a generator that is at work in a replica.
template <class T>
struct stream_part {
  std::vector<T> values;
  bool is_last = false;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(values, is_last);
  }
};

/// A generator at work.
struct open_stream {
  virtual ~open_stream() = default;
  promise<void> ended;
  bool is_running = false;             ///< a call is inside; others wait
  std::vector<promise<void>> waiting;  ///< calls that wait for that call
};
/// With the type of its values.
template <class T>
struct stream_of : open_stream {
  std::optional<generator<T>> values;
};
template <class T, class... A>
struct typed_stream final : stream_of<T> {
  explicit typed_stream(std::tuple<A...>&& a) : arguments(std::move(a)) {}
  std::tuple<A...> arguments;  ///< arguments to which the generator may refer
  ~typed_stream() override { this->values.reset(); }
};

class replica;
/// A replica of one set that another one takes over.
struct placed_replica {
  actor<replica> its = {};
  int rank = -1;
  bool is_isolated = false;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(its, rank, is_isolated);
  }
};

class replica {
 public:
  /// The process of an isolated one is ended if a batch takes longer; 0: it may take as long as it likes.
  explicit replica(std::int64_t longest_ns) : longest_ns_(longest_ns) {}

  /// Makes the object, and gives it its settings. Gives the rank.
  template <class Target, class... C>
  int open(type_tag<Target>, const settings& s, const C&... arguments) {
    object_ = std::make_unique<object_of<Target>>(make_object<typename Target::class_type>(arguments...));
    if (!s.type.empty()) object_->reconfigure(s);
    return manta::rank();
  }
  /// The answers to the batch of this number. Its method sees this_task::stop_requested() when nobody wants
  /// them any more.
  template <class R, class... A>
  answered_rows<R> run(type_tag<R>, std::uint64_t number, std::vector<std::tuple<A...>> batch) {
    const under_way mine(*this, number);
    answered_rows<R> answers{static_cast<answering_object<R(A...)>&>(*object_).run(std::move(batch))};
    answers.ns = mine.ns();
    return answers;
  }
  void reconfigure(const settings& s) { object_->reconfigure(s); }
  /// False if the class has `bool healthy() const` and it is false or throws.
  bool healthy() const { return object_->healthy(); }
  /// Returns when the rank runs what it is asked to.
  void is_there() const {}
  /// Ends when the batch, or the stream, of this number runs no more; a stream with what its generator threw.
  MANTA_DECL future<void> end_of(std::uint64_t number);

  /// Begins the generator of this number, which runs when its values are asked for.
  template <class T, class... A>
  void begin_stream(type_tag<T>, std::uint64_t number, std::tuple<A...> arguments) {
    auto made = std::make_unique<typed_stream<T, A...>>(std::move(arguments));
    made->values = static_cast<answering_object<generator<T>(A...)>&>(*object_).begin(made->arguments);
    streams_.emplace(number, std::move(made));
  }
  /// The next values: those that come within a short time, at least one and no more than `most`.
  template <class T>
  stream_part<T> next(type_tag<T>, std::uint64_t number, std::uint64_t most) {
    stream_part<T> part;
    const stream_turn mine(*this, number);
    if (mine.stream() == nullptr) return {{}, true};
    auto& values = *static_cast<stream_of<T>*>(mine.stream())->values;
    try {
      const auto begin = std::chrono::steady_clock::now();
      do {
        std::optional<T> value = values.next();
        if (!value) {
          part.is_last = true;
          end_stream(number);
          return part;
        }
        part.values.push_back(std::move(*value));
      } while (part.values.size() < most && std::chrono::steady_clock::now() - begin < share);
    } catch (...) {
      fail_stream(number);
      part.is_last = true;
    }
    return part;
  }
  /// Nobody reads the values any more.
  void close_stream(std::uint64_t number) { end_stream(number); }

 private:
  static constexpr std::chrono::milliseconds share{1};

  using running_batches =
      std::map<std::uint64_t, std::optional<promise<void>>>;  ///< their ends, where one is asked for
  class under_way {
   public:
    MANTA_DECL under_way(replica& r, std::uint64_t number);
    MANTA_DECL ~under_way();
    under_way(const under_way&) = delete;
    /// The time since its beginning.
    [[nodiscard]] MANTA_DECL std::int64_t ns() const;

   private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    running_batches& running_;
    running_batches::iterator at_;
  };
  /// The right to run a generator: one call at a time.
  class stream_turn {
   public:
    MANTA_DECL stream_turn(replica& r, std::uint64_t number);
    MANTA_DECL ~stream_turn();
    stream_turn(const stream_turn&) = delete;
    [[nodiscard]] open_stream* stream() const { return stream_.get(); }

   private:
    std::shared_ptr<open_stream> stream_;
  };
  MANTA_DECL void end_stream(std::uint64_t number);
  MANTA_DECL void fail_stream(std::uint64_t number);

  std::unique_ptr<replica_object> object_;
  const std::int64_t longest_ns_;
  running_batches running_;
  std::map<std::uint64_t, std::shared_ptr<open_stream>> streams_;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/replica.ipp"
#endif
