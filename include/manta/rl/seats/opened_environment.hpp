// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The arguments of an environment that a function of this folder has made: how an algorithm that learns in a game finds
// it where it was given the environment.
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/types/tuple.hpp>
#include <sstream>
#include <tuple>
#include <typeinfo>

#include "manta/rl/environments/environment.hpp"

namespace manta::rl::detail {

/// An environment of class E, whose constructor takes Args.
template <class E, class... Args>
class opened_environment : public any_environment {
 public:
  explicit opened_environment(const any_environment& e) : any_environment(e) {}
  /// Whether it is one of this class.
  [[nodiscard]] bool is_right() const { return mangled_ == typeid(environment_entry<E, Args...>).name(); }
  [[nodiscard]] std::tuple<Args...> arguments() const {
    std::tuple<Args...> all;
    std::istringstream in(arguments_, std::ios::binary);
    cereal::BinaryInputArchive archive(in);
    archive(all);
    return all;
  }
};

}  // namespace manta::rl::detail
