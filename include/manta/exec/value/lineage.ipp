// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/exec/value/lineage.hpp"

namespace manta::exec {

MANTA_DECL lineage::~lineage() {
  for (family* f : families_) delete f;
}

MANTA_DECL void lineage::keep(const graph::node& n, graph::task* t, std::uint64_t input_bytes) {
  keep(n, t);
  // A task that is kept for its value and for a family is counted once.
  if (counted_.find(key(t->id)) != nullptr) return;
  const std::uint64_t bytes = sizeof(graph::task) + input_bytes;
  counted_.insert(key(t->id)) = bytes;
  bytes_ += bytes;
  // The list of ages is not searched when a task is forgotten: take_excess() skips entries whose task is gone.
  ages_.push_back({t->id, n.index});
}

MANTA_DECL void lineage::uncount(std::uint64_t id) {
  const std::uint64_t* const bytes = counted_.find(key(id));
  if (bytes == nullptr) return;
  bytes_ -= *bytes;
  counted_.erase(key(id));
}

MANTA_DECL graph::task* lineage::take(const graph::node& n) {
  graph::task* const t = task_of(n);
  if (t != nullptr) uncount(t->id);
  tasks_.erase(n.index);
  return t;
}

MANTA_DECL graph::task* lineage::take_excess(std::uint64_t most_bytes) {
  constexpr std::size_t most_tasks = std::size_t{1} << 20;
  while (!ages_.empty()) {
    const aged oldest = ages_.front();
    if (counted_.find(key(oldest.id)) == nullptr) {  // kept no more
      ages_.pop_front();
      continue;
    }
    if (bytes_ <= most_bytes && ages_.size() <= most_tasks) return nullptr;
    ages_.pop_front();
    uncount(oldest.id);
    graph::task* const t = tasks_.find(oldest.index);
    const bool made_value = t != nullptr && t->id == oldest.id;
    // The task may have been handed over to the family of the handles in its value, after the
    // value itself had come here.
    family* const f = made_value ? nullptr : family_of_parent(oldest.id);
    if (made_value) tasks_.erase(oldest.index);
    if (!made_value && f == nullptr) continue;
    has_given_up_ = true;
    return made_value ? t : take_parent(*f);
  }
  return nullptr;
}

MANTA_DECL lineage::family* lineage::family_of(const graph::node& n) const {
  const std::uint64_t* const at = members_.find(n.index);
  return at == nullptr ? nullptr : families_[*at >> 32];
}

MANTA_DECL lineage::family* lineage::family_of_parent(std::uint64_t id) const {
  const std::uint64_t* const at = parents_.find(id);
  return at == nullptr ? nullptr : families_[*at];
}

MANTA_DECL lineage::family* lineage::found(const graph::node& outer) {
  family* const above = family_of(outer);
  graph::task* const parent = task_of(outer);
  tasks_.erase(outer.index);  // the value itself is here for good
  // Nothing is kept from which the handles could be made again.
  if (parent == nullptr && above == nullptr) return nullptr;
  auto* const f = new family;
  f->type = outer.type;
  if (free_slots_.empty()) {
    f->slot = static_cast<std::uint32_t>(families_.size());
    families_.push_back(f);
  } else {
    f->slot = free_slots_.back();
    free_slots_.pop_back();
    families_[f->slot] = f;
  }
  if (parent != nullptr) {
    f->parent = parent;
    parents_.insert(parent->id) = f->slot;
  } else {
    f->above = above;
    f->position = position_of(outer);
    // The outer family stays as long as an inner one may need it.
    ++above->living;
  }
  return f;
}

MANTA_DECL void lineage::join(family& f, const graph::node& member, std::uint32_t position) {
  members_.insert(member.index) = static_cast<std::uint64_t>(f.slot) << 32 | position;
  ++f.living;
}

MANTA_DECL graph::task* lineage::take_parent(family& f) {
  if (f.parent != nullptr) {
    uncount(f.parent->id);
    // The task may have been run again meanwhile and have founded a family anew, which has the entry now.
    if (family_of_parent(f.parent->id) == &f) parents_.erase(f.parent->id);
  }
  return std::exchange(f.parent, nullptr);
}

MANTA_DECL void lineage::end(family& f) {
  families_[f.slot] = nullptr;
  free_slots_.push_back(f.slot);
  delete &f;
}

}  // namespace manta::exec
