// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A value that many small tasks read: it travels once to each rank that has such tasks. As an ordinary argument it
// would travel with each of them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "manta/future.hpp"
#include "manta/rl/source.hpp"
#include "manta/run.hpp"

namespace manta::rl::detail {

/// A task takes value() as a parameter `future<T>`, which is a reference, and the key, which no other value has.
template <class T>
class fetched_once {
 public:
  fetched_once() = default;
  explicit fetched_once(T value)
      : value_(put(std::move(value))), key_((static_cast<std::uint64_t>(manta::rank()) << 40U) + ++count()) {}

  [[nodiscard]] const future<T>& value() const { return value_; }
  [[nodiscard]] std::uint64_t key() const { return key_; }

  [[nodiscard]] std::shared_ptr<const T> get() const { return get(value_, key_); }
  /// The value on this rank, which keeps it until it is asked for another one of this type. Waits for it. A value with
  /// handles has a member settle(), which lets go of them: what is kept outlives the run.
  static std::shared_ptr<const T> get(const future<T>& value, std::uint64_t key) {
    static thread_local std::pair<std::uint64_t, std::shared_ptr<const T>> kept;
    if (kept.second != nullptr && kept.first == key) return kept.second;
    const auto fetched = std::make_shared<T>(value.get());  // other tasks may run meanwhile
    if constexpr (requires { fetched->settle(); }) fetched->settle();
    kept = {key, fetched};
    return fetched;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(value_, key_);
  }

 private:
  static std::uint64_t& count() {
    static std::uint64_t n = 0;
    return n;
  }
  future<T> value_;
  std::uint64_t key_ = 0;
};

}  // namespace manta::rl::detail
