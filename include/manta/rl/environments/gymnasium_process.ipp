// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A Python process with environments of Gymnasium: its spaces, and the messages of gymnasium_server.ipp. An environment
// is a place in a process. All that are stepped together announce their actions first; a process gets those of its
// places in one message, once all have come or the first answer is wanted.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/process.hpp"
#include "manta/rl/environments/gymnasium.hpp"
#include "manta/rl/environments/gymnasium_server.ipp"

namespace manta::rl {

namespace detail {

static_assert(std::endian::native == std::endian::little, "manta: rl: the messages to Python are little-endian");

template <class T>
void append_bytes(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
/// Reads values from the front of a message.
struct message_reader {
  std::string_view rest;
  template <class T>
  T take() {
    T value{};
    if (rest.size() < sizeof value) throw error("a message of the Python process is too short");
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> take_all(int count) {
    std::vector<T> values;
    for (int i = 0; i < count; ++i) values.push_back(take<T>());
    return values;
  }
};

inline space read_space(message_reader& from) {
  enum kind { one_choice, choices, numbers, dictionary, sequence, switches };
  const int its_kind = from.take<int>();
  if (its_kind == one_choice) {
    const int n = from.take<int>(), start = from.take<int>();
    return discrete{n, start};
  }
  if (its_kind == switches) return multi_binary{from.take<int>()};
  if (its_kind == numbers) {
    box b{.low = {}, .high = {}, .bytes = from.take<int>() != 0};
    b.shape = from.take_all<int>(from.take<int>());
    const int size = from.take<int>();
    b.low = from.take_all<float>(size);
    b.high = from.take_all<float>(size);
    return b;
  }
  const int count = from.take<int>();
  if (its_kind == choices) {
    std::vector<int> n = from.take_all<int>(count), start = from.take_all<int>(count);
    if (std::ranges::all_of(start, [](int x) { return x == 0; })) start.clear();
    return multi_discrete{std::move(n), std::move(start)};
  }
  tuple in_order;
  dict by_name;
  for (int i = 0; i < count; ++i) {
    if (its_kind == sequence) {
      in_order.parts.push_back(read_space(from));
    } else {
      const std::vector<char> name = from.take_all<char>(from.take<int>());
      by_name.parts.emplace(std::string(name.begin(), name.end()), read_space(from));
    }
  }
  if (its_kind == sequence) return in_order;
  return by_name;
}

/// This space, with bounds that let everything through.
inline space softened(const space& s) {
  if (const box* b = s.as_box()) {
    box soft = *b;
    soft.is_soft = true;
    return soft;
  }
  if (const tuple* t = s.as_tuple()) {
    tuple soft;
    for (const space& part : t->parts) soft.parts.push_back(softened(part));
    return soft;
  }
  if (const dict* d = s.as_dict()) {
    dict soft;
    for (const auto& [name, part] : d->parts) soft.parts.emplace(name, softened(part));
    return soft;
  }
  return s;
}
/// Brings the numbers of boxes to their bounds.
inline void clip(const space& s, std::span<float> value) {
  if (const box* b = s.as_box()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (!base::is_nan(static_cast<double>(value[i]))) value[i] = std::clamp(value[i], b->low[i], b->high[i]);
    }
  }
  for (const space* part : s.parts()) {
    clip(*part, value.first(static_cast<std::size_t>(part->size())));
    value = value.subspan(static_cast<std::size_t>(part->size()));
  }
}

/// A Python process and the places in it. Those who have a place keep the process alive.
class gymnasium_process {
 public:
  struct result {
    std::vector<float> observation;
    std::vector<unsigned char> mask;
    double reward = 0;
    bool terminated = false, truncated = false;
  };

  gymnasium_process(std::string name, const gymnasium_options& options)
      : name_(std::move(name)), options_(options), places_(static_cast<std::size_t>(std::max(1, options.per_process))) {
    start();
    const std::string text = ask("D");
    message_reader from{text};
    strict_ = observations_ = read_space(from);
    if (options_.bounds == out_of_bounds::warn) observations_ = softened(strict_);
    actions_ = read_space(from);
    mask_size_ = from.take<int>();
    has_bytes_ = from.take<int>() != 0;
  }

  [[nodiscard]] bool is_of(const std::string& name, const gymnasium_options& o) const {
    return name_ == name && options_ == o && !has_failed_;
  }
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  [[nodiscard]] bool is_idle() {
    const std::lock_guard lock(mutex_);
    return std::ranges::none_of(places_, [](const place& p) { return p.taken; });
  }
  [[nodiscard]] const space& observations() const { return observations_; }
  [[nodiscard]] const space& actions() const { return actions_; }
  [[nodiscard]] int mask_size() const { return mask_size_; }
  /// What the environment of the place allows, since its last reset() or step().
  [[nodiscard]] std::vector<unsigned char> mask(int p) {
    const std::lock_guard lock(mutex_);
    return at(p).last.mask;
  }

  /// A free place, or -1.
  int take_place() {
    const std::lock_guard lock(mutex_);
    if (std::ranges::none_of(places_, [](const place& p) { return p.taken; })) restarts_ = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].taken) continue;
      places_[i] = {};
      places_[i].taken = true;
      return static_cast<int>(i);
    }
    return -1;
  }
  void give_place(int p) {
    const std::lock_guard lock(mutex_);
    at(p).taken = false;
  }

  std::vector<float> reset(int p, std::uint32_t seed) {
    const std::lock_guard lock(mutex_);
    collect_all();
    std::string request = "R";
    append_bytes(request, p);
    append_bytes(request, seed);
    const auto asked = [&] {
      const std::string text = ask(request);
      message_reader from{text};
      return read_state(from);
    };
    result r;
    try {
      r = asked();
    } catch (const error&) {
      restart_or_throw();
      r = asked();
    }
    at(p).lost = at(p).answered = false;
    at(p).last = std::move(r);
    return at(p).last.observation;
  }

  void announce(int p, std::span<const float> action) {
    const std::lock_guard lock(mutex_);
    place& its = at(p);
    if (its.lost || its.waits || its.answered) return;
    its.waits = true;
    append_bytes(batch_, p);
    for (float x : action) append_bytes(batch_, x);
    batched_.push_back(p);
    const auto taken = std::count_if(places_.begin(), places_.end(), [](const place& q) { return q.taken; });
    if (static_cast<std::ptrdiff_t>(batched_.size()) == taken) guarded([&] { send_batch(); });
  }

  /// The answer to the action that was announced.
  result step(int p) {
    const std::lock_guard lock(mutex_);
    if (!at(p).lost)
      guarded([&] {
        if (std::find(batched_.begin(), batched_.end(), p) != batched_.end()) send_batch();
        while (at(p).waits) receive_batch();
      });
    at(p).answered = false;
    if (at(p).lost) return {at(p).last.observation, {}, 0, false, true};  // its process was restarted
    return at(p).last;
  }

 private:
  struct place {
    bool taken = false;
    bool waits = false;     ///< its action is in a batch
    bool answered = false;  ///< `last` is what step() has to give
    bool lost = false;      ///< its process was restarted: it has to be reset
    result last;
  };
  place& at(int p) { return places_[static_cast<std::size_t>(p)]; }
  [[nodiscard]] std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds(static_cast<long long>(options_.timeout * 1000));
  }

  void start() {
    constexpr std::array<const char*, 4> orders = {"auto", "last", "first", "flat"};
    python_ =
        process({python_program(), "-u", "-c", std::string(python_channel()) + gymnasium_spaces + gymnasium_server,
                 options_.module, name_, options_.arguments, orders.at(static_cast<std::size_t>(options_.images))});
  }
  std::string ask(const std::string& request) { return ask_python(python_, request, timeout()); }

  result read_state(message_reader& from) {
    result r;
    if (has_bytes_) {
      const std::vector<unsigned char> bytes = from.take_all<unsigned char>(observations_.size());
      r.observation.assign(bytes.begin(), bytes.end());
    } else {
      r.observation = from.take_all<float>(observations_.size());
    }
    if (options_.bounds == out_of_bounds::clip) clip(strict_, r.observation);
    if (options_.bounds == out_of_bounds::warn && !has_warned_ && !strict_.contains(r.observation)) warn(r.observation);
    r.mask = from.take_all<unsigned char>(mask_size_);
    return r;
  }
  void warn(std::span<const float> observation) {
    has_warned_ = true;
    std::fputs(
        base::text("manta: rl: gymnasium(\"{}\"): the observation {} is outside of the bounds of {}; it is taken as "
                   "it is, and others will be too (.bounds = rl::out_of_bounds::clip brings them to their bounds)\n",
                   name_, text_of(observation), strict_.text())
            .c_str(),
        stderr);
  }
  void send_batch() {
    if (batched_.empty()) return;
    std::string request = "S";
    append_bytes(request, static_cast<int>(batched_.size()));
    request += batch_;
    batch_.clear();
    sent_.push_back(std::exchange(batched_, {}));
    python_.send(request, timeout());
  }
  void receive_batch() {
    if (sent_.empty()) throw error("no action was announced");
    const std::vector<int> places = std::move(sent_.front());
    sent_.pop_front();
    for (int p : places) at(p).waits = false;
    const std::string text = checked_python_answer(python_.receive(timeout()));
    message_reader from{text};
    for (int p : places) {
      result& r = at(p).last;
      at(p).answered = true;
      r = read_state(from);
      r.reward = from.take<double>();
      r.terminated = from.take<std::uint8_t>() != 0;
      r.truncated = from.take<std::uint8_t>() != 0;
    }
  }
  /// Before a question out of turn: all answers that are under way.
  void collect_all() {
    guarded([&] {
      while (!sent_.empty()) receive_batch();
    });
  }

  /// If the process has died or hangs, starts another one where that is asked for: all its episodes are lost.
  bool restart() {
    if (python_.running() || restarts_ >= options_.restarts) return false;
    ++restarts_;
    start();
    batch_.clear();
    batched_.clear();
    sent_.clear();
    for (place& p : places_) {
      p.waits = p.answered = false;
      p.lost = true;
    }
    return true;
  }
  template <class F>
  void guarded(F&& f) {
    try {
      f();
    } catch (const error&) {
      restart_or_throw();
    }
  }
  /// In a handler of an error.
  void restart_or_throw() {
    if (restart()) return;
    has_failed_ = true;
    throw;
  }

  std::string name_;
  gymnasium_options options_;
  std::mutex mutex_;
  process python_;
  space observations_, actions_;
  space strict_;  ///< space of observations, with the bounds that Python declares
  int mask_size_ = 0;
  bool has_bytes_ = false, has_warned_ = false, has_failed_ = false;
  std::vector<place> places_;
  std::string batch_;
  std::vector<int> batched_;
  std::deque<std::vector<int>> sent_;
  int restarts_ = 0;
};

}  // namespace detail

}  // namespace manta::rl
