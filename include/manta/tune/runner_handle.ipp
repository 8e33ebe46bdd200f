// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/tune/runner_handle.hpp"

namespace manta::tune::detail {

template <class Runner, class Base>
class handle_on final : public runner_handle {
 public:
  /// `lines`: of training, each of which runs inside a call.
  template <class... A>
  handle_on(const actor_options& o, const body_name& what, std::uint64_t lines, const A&... more)
      : who_(spawn<Runner>(o, what, more...)), is_isolated_(o.isolate), lines_(o.isolate ? 0 : lines) {}
  future<whereabouts> greet() const override { return async<&Base::greet>(who_); }
  std::vector<future<void>> work() const override {
    std::vector<future<void>> calls;
    for (std::uint64_t i = 0; i < lines_; ++i) {
      if constexpr (std::is_same_v<Base, repeated_runner>) calls.push_back(async<&Base::work>(who_, i));
      else calls.push_back(async<&Base::work>(who_));
    }
    return calls;
  }
  future<answers> tell(order o) const override {
    if constexpr (requires { &Base::tell_from; }) {
      if (is_isolated_ && !o.from.empty()) {  // a child process cannot fetch it
        const auto from = std::exchange(o.from, {});
        return async<&Base::tell_from>(who_, std::move(o), from);
      }
    }
    return async<&Base::tell>(who_, std::move(o));
  }
  future<checkpoint> take() const override { return async<&Base::take>(who_); }

 private:
  actor<Runner> who_;
  bool is_isolated_;
  std::uint64_t lines_;
};

MANTA_DECL std::unique_ptr<runner_handle> spawn_runner(const actor_options& options, const body_name& what, bool gang,
                                                       int repeats) {
  if (repeats > 1) {
    const auto lines = static_cast<std::uint64_t>(repeats);
    return std::make_unique<handle_on<repeated_runner, repeated_runner>>(options, what, lines, lines,
                                                                         static_cast<bool>(options.isolate));
  }
  if (gang) return std::make_unique<handle_on<gang_runner, runner>>(options, what, 1);
  if (options.isolate) return std::make_unique<handle_on<isolated_runner, isolated_runner>>(options, what, 1);
  return std::make_unique<handle_on<runner, runner>>(options, what, 1);
}

}  // namespace manta::tune::detail
