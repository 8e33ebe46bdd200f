// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A replica: an actor with one object of the deployed class. The class is known to the templates open and run alone, so
// all else is compiled once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "manta/promise.hpp"
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
/// Likewise, with its requests and answers.
template <class R, class... A>
struct answering_object<R(A...)> : replica_object {
  virtual std::vector<value_of<R>> run(std::vector<std::tuple<A...>>&& batch) = 0;
};

template <class Target>
struct object_of final : answering_object<signature<Target>> {
  explicit object_of(std::unique_ptr<typename Target::class_type> o) : its(std::move(o)) {}
  std::vector<value_of<typename Target::result>> run(std::vector<typename Target::arguments>&& batch) override {
    return Target::run(*its, std::move(batch));
  }
  bool healthy() const override {
    if constexpr (requires { its->healthy(); }) {
      try {
        return its->healthy();
      } catch (const std::exception&) {
        return false;
      }
    }
    return true;
  }
  void reconfigure(const settings& s) override { apply_settings(*its, s); }
  std::unique_ptr<typename Target::class_type> its;
};

class replica {
 public:
  /// Makes the object, and gives it its settings.
  template <class Target, class... C>
  void open(type_tag<Target>, const settings& s, const C&... arguments) {
    object_ = std::make_unique<object_of<Target>>(make_object<typename Target::class_type>(arguments...));
    if (!s.type.empty()) object_->reconfigure(s);
  }
  /// The answers to the batch of this number. Its method sees this_task::stop_requested() when nobody wants them any
  /// more.
  template <class R, class... A>
  std::vector<value_of<R>> run(type_tag<R>, std::uint64_t number, std::vector<std::tuple<A...>> batch) {
    const under_way mine(*this, number);
    return static_cast<answering_object<R(A...)>&>(*object_).run(std::move(batch));
  }
  void reconfigure(const settings& s) { object_->reconfigure(s); }
  /// False if the class has `bool healthy() const` and it is false or throws.
  bool healthy() const { return object_->healthy(); }
  /// Ends when the batch of this number runs no more.
  future<void> end_of(std::uint64_t number) {
    const auto running = running_.find(number);
    if (running != running_.end()) return running->second.get_future();
    promise<void> none;
    none.set_value();
    return none.get_future();
  }

 private:
  using running_batches = std::map<std::uint64_t, promise<void>>;  ///< their ends, by their numbers
  class under_way {
   public:
    under_way(replica& r, std::uint64_t number) : running_(r.running_), at_(running_.try_emplace(number).first) {}
    ~under_way() {
      at_->second.set_value();
      running_.erase(at_);
    }
    under_way(const under_way&) = delete;

   private:
    running_batches& running_;
    running_batches::iterator at_;
  };

  std::unique_ptr<replica_object> object_;
  running_batches running_;
};

}  // namespace manta::serve::detail
