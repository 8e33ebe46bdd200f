// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/store/ledger.hpp"
#include "manta/store/saving.hpp"

namespace manta::store {

namespace detail {
/// Copies what lies before the first whole page of `to`, and behind the last one.
inline void copy_ends(std::byte* to, const std::byte* from, std::size_t bytes) {
  const inner_pages inner(to, bytes);
  const auto before = inner.bytes == 0 ? bytes : static_cast<std::size_t>(inner.begin - to);
  std::memcpy(to, from, before);
  const std::size_t after = before + inner.bytes;
  std::memcpy(to + after, from + after, bytes - after);
}
}  // namespace detail

MANTA_DECL std::string ledger::excess() const {
  if (budget_.charged() <= budget_.limit()) return {};
  if (!disk_.is_allowed()) return "it may not be moved to a disk (MANTA_SPILL_FOLDER=none)";
  return order_.oldest_in_memory() != nullptr ? disk_.why_not() : "they are looked at, or have futures inside";
}
MANTA_DECL large& ledger::enter(std::byte* array, std::size_t bytes, std::uint32_t function) {
  large& e = add(bytes, function);
  e.object = {array, 0, region::place::memory};
  recount(e);
  make_room();
  return e;
}
MANTA_DECL large& ledger::enter(graph::node& n, const wire::segment& array, bool shapeless, bool fixed, bool copy,
                                std::uint32_t function) {
  large& e = add(array.bytes, function);
  e.node = &n;
  e.shapeless = shapeless;
  e.fixed = fixed;
  e.copy = copy;
  e.object = {static_cast<std::byte*>(array.data), 0, region::place::memory};
  n.boxed.large = &e;
  recount(e);
  make_room();
  return e;
}
MANTA_DECL large* ledger::enter(node_file* memory, std::uint64_t at, std::size_t bytes, bool peers,
                                std::uint32_t function) {
  if (memory == nullptr) return nullptr;
  std::byte* const window = memory->window();
  if (window == nullptr) {
    delete memory;
    return nullptr;
  }
  large& e = add(bytes, function);
  e.view = {window + at, 0, region::place::node};
  e.peers = peers;
  own(e, memory, at);
  make_room();
  return &e;
}
MANTA_DECL large* ledger::enter_copy(const std::byte* array, std::size_t bytes, std::uint32_t function) {
  return enter(files_.copy(array, bytes), page_offset(array), bytes, false, function);
}
MANTA_DECL void ledger::remove(large& e) {
  if (e.on_disk()) give_up_shared(e);  // the pages of its view are those of the disk's file now
  for (const region* r : {&e.object, &e.view}) {
    if (r->place == region::place::disk) disk_.release_array(e, *r);
  }
  if (e.object.place == region::place::node || e.object.place == region::place::disk)
    let_go_of_file(e.object.array, e.bytes);
  disk_.release_encoding(e);
  if (e.shared != nullptr) files_.leave(std::exchange(e.shared, nullptr));
  withdraw_offer(e);
  budget_.charge(0, e.charged);
  order_.remove(e);
  delete &e;
}
MANTA_DECL void ledger::rank_died(std::uint32_t rank) {
  budget_.borrow_no_more(rank);
  files_.rank_died();
  order_.for_each([&](large& e) {
    if (e.shared != nullptr && e.shared->maker() == rank) e.shared->orphan();
  });
}
MANTA_DECL void ledger::touch(large& e) {
  order_.renew(e);
  if (e.on_disk()) e.warm = true;
  ++e.looks;  // make_room() must not move this value
  recount(e);
  make_room();
  --e.looks;
  recount(e);
}
MANTA_DECL void ledger::look(large& e) {
  ++e.looks;
  recount(e);
}
MANTA_DECL void ledger::look_away(large& e) {
  --e.looks;
  recount(e);
  make_room();
}
MANTA_DECL void ledger::show(large& e) {
  ++e.shown;
  look(e);
}
MANTA_DECL void ledger::shown_no_more(large& e) {
  --e.shown;
  if (e.shown == 0 && !e.peers && e.on_disk()) give_up_shared(e);
  look_away(e);
}
MANTA_DECL void ledger::fill(large& e, std::byte* array) {
  const bool mapped =
      e.view.place == region::place::node && take_place_of(array, e.bytes, e.shared->memory(), e.shared_at);
  e.object = {array, 0, mapped ? region::place::node : region::place::memory};
  if (mapped) {
    detail::copy_ends(array, e.view.array, e.bytes);
  } else {
    std::memcpy(array, e.view.array, e.bytes);
  }
  use(e);
}
MANTA_DECL void ledger::bring_back(large& e) {
  const disk_store::encoding bytes(disk_, e);
  wire::source in(bytes.data, e.encoding.bytes);
  const wire::type_entry& type = wire::type_at(e.node->type);
  e.node->boxed.object = type.read(in);
  e.node->form = graph::form::box;
  e.object.place = region::place::memory;
  if (!e.shapeless) e.object.array = static_cast<std::byte*>(type.array(e.node->boxed.object).data);
}
MANTA_DECL bool ledger::share(large& e) {
  if (e.is_shared()) return true;
  if (e.bytes < shared_bytes || e.shapeless || e.is_encoded() || e.on_disk()) return false;
  node_file* const memory = files_.copy(e.object.array, e.bytes);
  if (memory == nullptr) return false;
  const std::uint64_t at = page_offset(e.object.array);
  if (take_place_of(e.object.array, e.bytes, memory->memory(), at)) e.object.place = region::place::node;
  own(e, memory, at);
  return true;
}
MANTA_DECL void ledger::offer(large& e) {
  if (e.bytes < shared_bytes || e.shapeless || e.is_shared() || e.offered) return;
  e.offered = true;
  offered_.push_back(&e);
}
MANTA_DECL bool ledger::share_offered() {
  if (offered_.empty()) return false;
  large& next = *offered_.back();
  withdraw_offer(next);
  share(next);
  return true;
}
MANTA_DECL void ledger::take_over(large& e) {
  e.peers = false;
  recount(e);
  make_room();
}
MANTA_DECL large& ledger::add(std::size_t bytes, std::uint32_t function) {
  auto* const e = new large;
  e->book = this;
  e->bytes = bytes;
  e->function = function;
  e->task = saving::task_now();
  order_.add(*e);
  return *e;
}
MANTA_DECL void ledger::own(large& e, node_file* memory, std::uint64_t at) {
  e.shared = memory;
  e.shared_at = at;
  files_.use();
  recount(e);
}
MANTA_DECL void ledger::withdraw_offer(large& e) {
  if (!e.offered) return;
  e.offered = false;
  offered_.remove(&e);
}
MANTA_DECL void ledger::recount(large& e) {
  const std::uint64_t cost = e.cost();
  budget_.charge(cost, e.charged);
  e.charged = cost;
  order_.sort_in(e);
}
MANTA_DECL void ledger::make_room() {
  while (budget_.is_exceeded(files_.kept_bytes())) {
    if (files_.kept_bytes() != 0) {
      files_.stop_keeping_own();
      continue;
    }
    if (large* const copy = order_.oldest_copy()) {
      drop(*copy);
      continue;
    }
    large* e = order_.oldest_in_memory();
    if (e != nullptr && move_to_disk(*e)) continue;
    if (disk_.bytes() == 0) return;
    // The disk is full, but a value whose encoding lies there already can still go.
    while (e != nullptr && e->encoding.bytes == 0) e = e->newer;
    if (e == nullptr || !move_to_disk(*e)) return;
  }
}
MANTA_DECL void ledger::drop(large& e) {
  graph::node& n = *e.node;
  // This rank must owe the home a reference, else the home may have forgotten the value.
  const graph::link* const home = n.links;
  const bool still =
      home != nullptr && home->kind == graph::link_kind::home && home->count != 0 && !n.has(graph::node::primary);
  if (!still) return keep(e);
  void* const object = n.form == graph::form::box ? n.boxed.object : nullptr;
  const std::uint64_t bytes = e.bytes;
  remove(e);
  if (object != nullptr) wire::type_at(n.type).destroy(object);
  n.form = graph::form::remote;
  n.remote.bytes = bytes;
  n.remote.place = n.links->rank;
  n.size = 0;
  ++dropped_;
  freed_.add(bytes, budget_.share() / 8);
}
MANTA_DECL bool ledger::move_to_disk(large& e) {
  const bool plain = e.object.place == region::place::memory && e.view.place == region::place::none && !e.is_shared();
  const bool seen = e.looks != 0 || e.given;
  if (e.shapeless || (plain && !seen && !e.fixed && e.bytes < in_place_bytes && e.node != nullptr))
    return move_whole(e);
  bool moved = true;
  for (region* r : {&e.object, &e.view}) {
    if (r->place == region::place::disk) {
      forget_pages(r->array, e.bytes);
    } else if (r->place == region::place::memory || (r->place == region::place::node && !e.peers)) {
      moved = moved && disk_.write_array(e, *r);
    }
  }
  if (moved) {
    if (!e.peers && e.shown == 0) give_up_shared(e);  // other ranks keep their mappings
    e.warm = false;
  }
  recount(e);
  return moved;
}
MANTA_DECL bool ledger::move_whole(large& e) {
  if (e.encoding.bytes == 0 && !disk_.write_encoding(e)) {
    recount(e);
    return e.fixed;
  }
  graph::node& n = *e.node;
  wire::type_at(n.type).destroy(std::exchange(n.boxed.object, nullptr));
  n.form = graph::form::pages;
  e.object = region{};
  recount(e);
  freed_.add(e.bytes, budget_.share() / 8);
  return true;
}

}  // namespace manta::store
