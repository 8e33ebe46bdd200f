// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/base/containers.hpp"
#include "manta/base/hash.hpp"
#include "manta/exec/rank/names.hpp"

namespace manta::exec {

struct names::asked {
  question q;
  asked* next = nullptr;
};

struct names::entry {
  std::string name;
  std::string type;
  std::uint32_t handle = graph::no_index;  // the actor's node; no_index: the name is only claimed
  std::uint32_t claimer = 0;               // the rank that spawns the actor
  end_place end = {};                      // of an actor that has left
  std::uint64_t id = 0;                    // of the task that constructs the actor
  asked* kept = nullptr;                   // questions, the oldest first
  entry* next = nullptr;                   // of the names with this hash
  bool is_set() const { return handle != graph::no_index; }
  bool has_left() const { return end.slot != graph::no_index; }
};

MANTA_DECL void names::append(asked*& first, asked* others) {
  asked** end = &first;
  while (*end != nullptr) end = &(*end)->next;
  *end = others;
}

MANTA_DECL void names::drop_questions_of(rank_id asker, asked*& first) {
  for (asked** at = &first; *at != nullptr;) {
    if ((*at)->q.asker == asker) {
      delete std::exchange(*at, (*at)->next);
    } else {
      at = &(*at)->next;
    }
  }
}

MANTA_DECL void names::ask_again(entry* e) { append(first_, std::exchange(e->kept, nullptr)); }

MANTA_DECL names::~names() { clear(); }

MANTA_DECL void names::ask(question q) { append(first_, new asked{std::move(q), nullptr}); }

MANTA_DECL std::uint32_t names::handle_in_question() const { return handle_of(first_->q.name); }

MANTA_DECL names::reply names::answer(actor_state state) {
  asked* const a = std::exchange(first_, first_->next);
  const question& q = a->q;
  entry* e = find(q.name);
  const bool waits_for_end = e != nullptr && e->has_left() && q.id != 0;
  if (e != nullptr && e->has_left() && q.id == 0) e = nullptr;  // for who only looks, it is gone
  const bool claims_another = e != nullptr && e->is_set() && q.id != 0 && q.id != e->id;
  const bool asks_later = claims_another && state == actor_state::dead;
  if (asks_later) free(e);  // questions that the name kept were asked before this one
  const bool is_open = e != nullptr && !asks_later && !e->is_set() && e->type == q.type;
  const bool waits = is_open || waits_for_end || (claims_another && state == actor_state::unwanted);
  if (asks_later || waits) {
    a->next = nullptr;
    append(asks_later ? first_ : e->kept, a);
    return {};
  }
  reply r{verdict::missing, q.asker, q.ticket, graph::no_index, {}};
  if (e == nullptr && q.id != 0) {
    e = new entry{.name = q.name, .type = q.type, .claimer = q.asker, .id = q.id};
    const std::uint64_t hash = base::hash_text(q.name);
    e->next = by_name_.find(hash);
    by_name_.set(hash, e);
    r.what = verdict::claimed;
  } else if (e != nullptr && e->type != q.type) {
    r.what = verdict::wrong_type;
    r.type = e->type;
  } else if (e != nullptr) {
    r.what = e->id == q.id ? verdict::found_own : verdict::found;
    r.handle = e->handle;
  }
  delete a;
  return r;
}

MANTA_DECL std::uint32_t names::handle_of(std::string_view name) const {
  const entry* const e = find(name);
  return e == nullptr ? graph::no_index : e->handle;
}

MANTA_DECL void names::set(std::string_view name, node_index handle) {
  entry* const e = find(name);
  e->handle = handle;
  by_handle_.set(handle, e);
  ask_again(e);
}

MANTA_DECL void names::give_up(std::string_view name, rank_id claimer) {
  entry* const e = find(name);
  if (e != nullptr && !e->is_set() && !e->has_left() && e->claimer == claimer) free(e);
}

MANTA_DECL bool names::free(node_index handle) {
  entry* const e = by_handle_.find(handle);
  if (e == nullptr) return false;
  free(e);
  return true;
}

MANTA_DECL bool names::keep_until_end(node_index handle, end_place where) {
  entry* const e = keeps_until_end_ ? by_handle_.find(handle) : nullptr;
  if (e == nullptr) return false;
  by_handle_.erase(handle);
  e->handle = graph::no_index;
  e->end = where;
  return true;
}

MANTA_DECL bool names::free_ended(std::string_view name, end_place where) {
  entry* const e = find(name);
  if (e == nullptr || !e->has_left() || e->end != where) return false;
  free(e);
  return true;
}

MANTA_DECL void names::rank_died(rank_id dead) {
  drop_questions_of(dead, first_);
  base::list<entry*> claimed;
  by_name_.for_each([&](entry& first) {
    for (entry* e = &first; e != nullptr; e = e->next) {
      drop_questions_of(dead, e->kept);
      if (!e->is_set() && (e->has_left() ? e->end.rank : rank_id(e->claimer)) == dead) claimed.push_back(e);
    }
  });
  for (entry* const e : claimed) free(e);
}

MANTA_DECL void names::clear() {
  base::list<entry*> all;
  by_name_.for_each([&](entry& first) {
    for (entry* e = &first; e != nullptr; e = e->next) all.push_back(e);
  });
  for (entry* const e : all) free(e);
  while (first_ != nullptr) delete std::exchange(first_, first_->next);
}

MANTA_DECL names::entry* names::find(std::string_view name) const {
  entry* e = by_name_.find(base::hash_text(name));
  while (e != nullptr && e->name != name) e = e->next;
  return e;
}

MANTA_DECL void names::free(entry* e) {
  ask_again(e);
  const std::uint64_t hash = base::hash_text(e->name);
  entry* const first = by_name_.find(hash);
  if (first != e) {
    entry* each = first;
    while (each->next != e) each = each->next;
    each->next = e->next;
  } else if (e->next != nullptr) {
    by_name_.set(hash, e->next);
  } else {
    by_name_.erase(hash);
  }
  if (e->is_set()) by_handle_.erase(e->handle);
  delete e;
}

}  // namespace manta::exec
