// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/environments/gymnasium_process.ipp"
#include "manta/rl/seats/pettingzoo.hpp"
#include "manta/rl/seats/pettingzoo_server.ipp"

namespace manta::rl {

namespace detail {

class pettingzoo_game {
 public:
  pettingzoo_game(const std::string& module, const pettingzoo_options& options) : options_(options) {
    constexpr std::array<const char*, 4> orders = {"auto", "last", "first", "flat"};
    python_ =
        process({python_program(), "-u", "-c", std::string(python_channel()) + gymnasium_spaces + pettingzoo_server,
                 module, options.function, options.arguments, orders.at(static_cast<std::size_t>(options.images))});
    const std::string text = ask("D");
    message_reader from{text};
    std::vector<seat> all;
    for (int count = from.take<int>(); count > 0; --count) {
      const std::vector<char> name = from.take_all<char>(from.take<int>());
      const space observations = read_space(from);
      strict_.push_back(observations);
      const bool is_soft = options.bounds == out_of_bounds::warn;
      space actions = read_space(from);
      all.push_back({{name.begin(), name.end()}, is_soft ? softened(observations) : observations, std::move(actions)});
      mask_sizes_.push_back(from.take<int>());
    }
    seats_ = rl::seats(std::move(all));
    size_of_state_ = from.take<int>();
  }

  [[nodiscard]] const rl::seats& seats() const { return seats_; }
  void reset(random& numbers, table& t) {
    std::string request = "R";
    append_bytes(request, static_cast<std::uint32_t>(numbers.bits() >> 33U));
    take(request, t);
  }
  void step(table& t) {
    std::string actions;
    int count = 0;
    for (int i = 0; i < seats_.size(); ++i) {
      if (!t.acted(i)) continue;
      ++count;
      append_bytes(actions, i);
      for (const float x : t.numbers(i)) append_bytes(actions, x);
    }
    std::string request = "S";
    append_bytes(request, count);
    take(request + actions, t);
  }

 private:
  std::string ask(const std::string& request) {
    return ask_python(python_, request, std::chrono::milliseconds(static_cast<long long>(options_.timeout * 1000)));
  }
  /// Puts what Python answers on the table.
  void take(const std::string& request, table& t) {
    enum told { sees = 1, has_ended = 2, is_cut = 4 };
    const std::string text = ask(request);
    message_reader from{text};
    bool anybody_acts = false;
    for (int i = 0; i < seats_.size(); ++i) {
      const int what = from.take<std::uint8_t>();
      if (const double reward = from.take<double>(); reward != 0) t.reward(i, reward);
      if ((what & sees) != 0) show(from, t, i, what == sees);
      anybody_acts = anybody_acts || what == sees;
      if ((what & has_ended) != 0) t.end(i);
      if ((what & is_cut) != 0) t.truncate(i);
    }
    if (size_of_state_ > 0) t.state(from.take_all<float>(size_of_state_));
    if (!anybody_acts) t.end();
  }
  void show(message_reader& from, table& t, int i, bool acts) {
    const space& strict = strict_[static_cast<std::size_t>(i)];
    std::vector<float> seen = from.take_all<float>(strict.size());
    if (options_.bounds == out_of_bounds::clip) clip(strict, seen);
    if (options_.bounds == out_of_bounds::warn && !has_warned_ && !strict.contains(seen)) warn(strict, seen);
    t.see(i, seen);
    const std::vector<unsigned char> mask = from.take_all<unsigned char>(mask_sizes_[static_cast<std::size_t>(i)]);
    if (acts && !mask.empty()) t.allow(i, mask);
  }
  void warn(const space& strict, std::span<const float> seen) {
    has_warned_ = true;
    std::fputs(
        base::text("manta: rl: pettingzoo: the observation {} is outside of the bounds of {}; it is taken as it "
                   "is, and others will be too (.bounds = rl::out_of_bounds::clip brings them to their bounds)\n",
                   text_of(seen), strict.text())
            .c_str(),
        stderr);
  }

  pettingzoo_options options_;
  process python_;
  rl::seats seats_;
  std::vector<space> strict_;  ///< spaces of observations, with the bounds that Python declares
  std::vector<int> mask_sizes_;
  int size_of_state_ = 0;
  bool has_warned_ = false;
};

}  // namespace detail

MANTA_DECL any_game pettingzoo(const std::string& module, const pettingzoo_options& options) {
  try {
    return environment<detail::pettingzoo_game>(module, options).with_name(module);
  } catch (const std::exception& e) {
    throw error(base::text("manta: rl: pettingzoo(\"{}\"): {}{}", module, python_package_advice(e.what()), e.what()));
  }
}

}  // namespace manta::rl
