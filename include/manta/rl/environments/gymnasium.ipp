// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of gymnasium.hpp. An environment is a place in a Python process. All that are stepped together
// announce their actions first; a process gets those of its places in one message, once all have come or the first
// answer is wanted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

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
  const int kind = from.take<int>();
  if (kind == 0) {
    const int n = from.take<int>(), start = from.take<int>();
    return discrete{n, start};
  }
  if (kind == 1) return multi_discrete{from.take_all<int>(from.take<int>())};
  box b;
  // The shape is not used: images of Gymnasium have their channels last, those of manta first.
  from.take_all<int>(from.take<int>());
  const int size = from.take<int>();
  b.low = from.take_all<float>(size);
  b.high = from.take_all<float>(size);
  return b;
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
    observations_ = read_space(from);
    actions_ = read_space(from);
    mask_size_ = from.take<int>();
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
      if (!restart()) throw;
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
    python_ = process({python_program(), "-u", "-c", std::string(python_channel()) + gymnasium_server, options_.module,
                       name_, options_.arguments});
  }
  std::string ask(const std::string& request) { return ask_python(python_, request, timeout()); }

  result read_state(message_reader& from) const {
    result r;
    r.observation = from.take_all<float>(observations_.size());
    r.mask = from.take_all<unsigned char>(mask_size_);
    return r;
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
      if (!restart()) throw;
    }
  }

  std::string name_;
  gymnasium_options options_;
  std::mutex mutex_;
  process python_;
  space observations_, actions_;
  int mask_size_ = 0;
  std::vector<place> places_;
  std::string batch_;
  std::vector<int> batched_;
  std::deque<std::vector<int>> sent_;
  int restarts_ = 0;
};

/// A process of this kind with a free place.
inline std::shared_ptr<gymnasium_process> find_gymnasium_process(const std::string& name, const gymnasium_options& o,
                                                                 int& place) {
  static std::mutex mutex;
  static std::multimap<std::string, std::weak_ptr<gymnasium_process>> all;
  const std::string kind = name + '\n' + o.module + '\n' + o.arguments + '\n' + std::to_string(o.per_process) + '\n' +
                           std::to_string(o.timeout) + '\n' + std::to_string(o.restarts);
  const std::lock_guard lock(mutex);
  std::erase_if(all, [](const auto& entry) { return entry.second.expired(); });
  for (auto [it, end] = all.equal_range(kind); it != end; ++it) {
    const std::shared_ptr<gymnasium_process> p = it->second.lock();
    if (p != nullptr && (place = p->take_place()) >= 0) return p;
  }
  auto p = std::make_shared<gymnasium_process>(name, o);
  all.emplace(kind, p);
  place = p->take_place();
  return p;
}

class gymnasium_environment {
 public:
  gymnasium_environment(const std::string& name, const gymnasium_options& options)
      : process_(find_gymnasium_process(name, options, place_)) {}
  gymnasium_environment(gymnasium_environment&& other) noexcept
      : place_(std::exchange(other.place_, -1)), process_(std::move(other.process_)) {}
  ~gymnasium_environment() {
    if (process_ != nullptr) process_->give_place(place_);
  }

  [[nodiscard]] space observation_space() const { return process_->observations(); }
  [[nodiscard]] space action_space() const { return process_->actions(); }
  std::vector<float> reset(random& numbers) {
    return process_->reset(place_, static_cast<std::uint32_t>(numbers.bits() >> 33U));
  }
  [[nodiscard]] bool has_action_mask() const { return process_->mask_size() > 0; }
  [[nodiscard]] std::vector<unsigned char> action_mask() const { return process_->mask(place_); }
  void announce(std::span<const float> action) { process_->announce(place_, action); }
  rl::step<std::vector<float>> step(std::span<const float> action) {
    process_->announce(place_, action);  // nothing if that was done
    gymnasium_process::result r = process_->step(place_);
    return {std::move(r.observation), r.reward, r.terminated, r.truncated};
  }

 private:
  int place_ = -1;
  std::shared_ptr<gymnasium_process> process_;
};

}  // namespace detail

MANTA_DECL any_environment gymnasium(const std::string& name, const gymnasium_options& options) {
  try {
    return environment<detail::gymnasium_environment>(name, options).with_name(name);
  } catch (const std::exception& e) {
    throw error("manta: rl: gymnasium(\"" + name + "\"): " + python_package_advice(e.what()) + e.what());
  }
}

}  // namespace manta::rl
