// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A replica: an actor with one object of the deployed class.
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

template <class Signature>
class replica;

template <class R, class... A>
class replica<R(A...)> {
 public:
  using answers = std::vector<value_of<R>>;
  using requests = std::vector<std::tuple<A...>>;

  /// Makes the object, and gives it its settings.
  template <class Target, class... C>
  void open(const settings& s, const C&... arguments) {
    body_ = std::make_unique<body_of<Target>>(make_object<typename Target::class_type>(arguments...));
    if (!s.type.empty()) body_->reconfigure(s);
  }
  void reconfigure(const settings& s) { body_->reconfigure(s); }
  /// The answers to the batch of this number. Its method sees this_task::stop_requested() when nobody wants them any
  /// more.
  answers run(std::uint64_t number, requests batch) {
    const under_way mine(*this, number);
    return body_->run(std::move(batch));
  }
  /// Ends when the batch of this number runs no more.
  future<void> end_of(std::uint64_t number) {
    const auto running = running_.find(number);
    if (running != running_.end()) return running->second.get_future();
    promise<void> none;
    none.set_value();
    return none.get_future();
  }
  /// False if the class has `bool healthy() const` and it is false or throws.
  bool healthy() const { return body_->healthy(); }

 private:
  class under_way {
   public:
    under_way(replica& r, std::uint64_t number) : running_(r.running_), at_(running_.try_emplace(number).first) {}
    ~under_way() {
      at_->second.set_value();
      running_.erase(at_);
    }
    under_way(const under_way&) = delete;

   private:
    std::map<std::uint64_t, promise<void>>& running_;
    std::map<std::uint64_t, promise<void>>::iterator at_;
  };
  struct body {
    virtual ~body() = default;
    virtual answers run(requests&& batch) = 0;
    virtual bool healthy() const = 0;
    virtual void reconfigure(const settings& s) = 0;
  };
  template <class Target>
  struct body_of final : body {
    explicit body_of(std::unique_ptr<typename Target::class_type> o) : object(std::move(o)) {}
    answers run(requests&& batch) override { return Target::run(*object, std::move(batch)); }
    bool healthy() const override {
      if constexpr (requires { object->healthy(); }) {
        try {
          return object->healthy();
        } catch (const std::exception&) {
          return false;
        }
      }
      return true;
    }
    void reconfigure(const settings& s) override { apply_settings(*object, s); }
    std::unique_ptr<typename Target::class_type> object;
  };

  std::unique_ptr<body> body_;
  std::map<std::uint64_t, promise<void>> running_;  ///< the ends of batches
};

}  // namespace manta::serve::detail
