// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Reservations: parts of several ranks that rank 0 takes in one step and holds for tasks and actors
// that belong together.
//
//   manta::reservation r = manta::reserve({.bundles = {{.cpus = 2}, {.gpus = 1}}, .strategy = manta::pack});
//   auto x = manta::async<train>({.gpus = 1, .in = r, .bundle = 1}, data);   // starts when r is met
#pragma once

#include "manta/future.hpp"
#include "manta/quantities.hpp"

namespace manta {

/// A part of one rank.
struct bundle {
  int cpus = 1;               ///< cores
  double gpus = 0;            ///< devices: a part of one, or whole ones
  quantities resources = {};  ///< named amounts
};

/// pack: on as few nodes as possible. spread: on as many nodes as possible. Both: on as many ranks as possible, since a
/// rank runs one task at a time.
using strategy = graph::strategy;
/// Bundles on as few nodes as possible.
inline constexpr strategy pack = strategy::pack;
/// Bundles on as many nodes as possible.
inline constexpr strategy spread = strategy::spread;

/// What reserve asks for.
struct reservation_options {
  std::vector<bundle> bundles;      ///< each lies on one rank; all are taken in one step
  manta::strategy strategy = pack;  ///< on few nodes, or on many
};

namespace detail {
/// A value on the rank that called reserve. Nobody reads it; its destruction ends the reservation.
struct reservation_token {
  std::uint64_t id = 0;
  bool is_original = false;

  reservation_token() = default;
  reservation_token(const reservation_token&) = delete;
  reservation_token& operator=(const reservation_token&) = delete;
  ~reservation_token() {
    if (is_original && exec::engine::current() != nullptr) exec::engine::current()->questions().give_up_reservation(id);
  }
  template <class Archive>
  void serialize(Archive& archive) {  // a copy ends nothing
    archive(id);
  }
};
}  // namespace detail

/// A handle on a reservation, which may be copied, stored and sent. The reservation ends with release(), or when its
/// last handle and the last task in it have ended.
class reservation {
 public:
  /// An empty handle.
  reservation() = default;
  /// False for an empty handle.
  bool valid() const { return handle_.valid(); }
  /// Number of bundles.
  std::size_t size() const { return bundles_.size(); }

  /// A future that is ready when rank 0 holds all bundles. Fails with `cancelled` if the reservation ends before.
  const future<void>& ready() const { return ready_; }

  /// Ends the reservation now, for all of its handles. Tasks in it that have not started fail with unschedulable.
  /// Running tasks, and actors, go on and keep what they hold. Returns at once. A second call does nothing.
  void release() const {
    exec::engine& e = exec::engine::here("reservation::release");
    const exec::engine::guard g(e);
    (void)handle_.node("reservation::release");
    e.questions().give_up_reservation(id_);
  }

  /// Lets the handle travel to another rank; called by manta alone.
  template <class Archive>
  void save(Archive& out) const {
    static_assert(std::is_same_v<Archive, wire::writer>, "manta: a reservation can be sent between ranks, not stored");
    handle_.save(out);
    ready_.save(out);
    wire::buffer bytes;
    wire::put(bytes, id_);
    wire::put(bytes, bundles_.size());
    for (const auto& b : bundles_) b.write(bytes);
    const std::size_t count = bytes.size();
    out.write(&count, sizeof count);
    out.write(bytes.data(), count);
  }
  /// The other end of save().
  template <class Archive>
  void load(Archive& in) {
    handle_.load(in, wire::type_index<typename wire::only_with<detail::reservation_token, Archive>::type>::value);
    ready_.load(in);
    std::size_t count = 0;
    in.read(&count, sizeof count);
    std::vector<std::byte> bytes(count);
    in.read(bytes.data(), count);
    wire::source source(bytes.data(), count);
    source.get(id_);
    bundles_.clear();
    bundles_.resize(source.get<std::size_t>());
    for (auto& b : bundles_) b.read(source);
  }

 private:
  friend struct detail::access;

  using bundle_list = std::vector<graph::bundle>;

  reservation(detail::handle token, future<void> ready, std::uint64_t id, bundle_list bundles)
      : handle_(std::move(token)), ready_(std::move(ready)), id_(id), bundles_(std::move(bundles)) {}

  detail::handle handle_;
  future<void> ready_;
  std::uint64_t id_ = 0;
  bundle_list bundles_;
};

namespace detail {
/// reserve() with the type of the token, which is registered only in programs that make reservations.
MANTA_DECL reservation reserve(const reservation_options& options, std::uint32_t token_type);
}  // namespace detail

/// Asks rank 0 for all bundles in one step. Waits for rank 0's answer, but not for the bundles: see ready(). Throws
/// unschedulable if the ranks could not meet the reservation even when they are all free.
///
/// Rank 0 meets reservations in the order of their requests, as soon as all bundles are free at the same time. When 64
/// tasks that take resources have started before a waiting reservation, rank 0 keeps ranks free for it.
///
/// Other tasks may not use reserved resources. A rank whose cpus are all reserved runs no other tasks while other ranks
/// can, except tasks that ask for it by `rank` and tasks that tasks on this rank submit.
template <class Token = detail::reservation_token>
reservation reserve(const reservation_options& options) {
  return detail::reserve(options, wire::type_index<Token>::value);
}

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/reservation.ipp"
#endif
