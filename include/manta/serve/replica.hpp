// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A replica: an actor with one object of the deployed class.
#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "manta/serve/target.hpp"

namespace manta::serve::detail {

template <class Signature>
class replica;

template <class R, class... A>
class replica<R(A...)> {
 public:
  using answers = std::vector<value_of<R>>;
  using requests = std::vector<std::tuple<A...>>;

  /// Makes the object.
  template <class Target, class... C>
  void open(const C&... arguments) {
    body_ = std::make_unique<body_of<Target>>(make_object<typename Target::class_type>(arguments...));
  }
  answers run(requests batch) { return body_->run(std::move(batch)); }
  /// Throws if the class has `bool healthy() const` and it is false.
  void check() const { body_->check(); }

 private:
  struct body {
    virtual ~body() = default;
    virtual answers run(requests&& batch) = 0;
    virtual void check() const = 0;
  };
  template <class Target>
  struct body_of final : body {
    explicit body_of(std::unique_ptr<typename Target::class_type> o) : object(std::move(o)) {}
    answers run(requests&& batch) override { return Target::run(*object, std::move(batch)); }
    void check() const override {
      if constexpr (requires { object->healthy(); }) {
        if (!object->healthy()) throw error("manta: serve: a replica says that it is not healthy");
      }
    }
    std::unique_ptr<typename Target::class_type> object;
  };

  std::unique_ptr<body> body_;
};

}  // namespace manta::serve::detail
