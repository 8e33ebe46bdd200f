// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A replica: an actor with one object of the deployed class.
#pragma once

#include <memory>
#include <tuple>
#include <vector>

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
  answers run(requests batch) { return body_->run(std::move(batch)); }
  /// False if the class has `bool healthy() const` and it is false or throws.
  bool healthy() const { return body_->healthy(); }

 private:
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
};

}  // namespace manta::serve::detail
