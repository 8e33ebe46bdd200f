// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Dependences: a task waits for its inputs, and a finished node tells everything that is linked to it. The graph is
// plain data, without a clock, threads or messages, so the same events always give the same order.
#pragma once

#include "manta/base/pool.hpp"
#include "manta/graph/task.hpp"

namespace manta::graph {

class task_graph {
 public:
  node_table nodes;
  base::pool<link> links;
  base::pool<dependents> more_dependents;
  task_pool tasks;

  link& add_link(node& n, link_kind kind) {
    link* l = links.make();
    l->kind = kind;
    link*& first = newest(n);
    l->next = first;
    first = l;
    return *l;
  }

  /// Links a task to its pending inputs. True if no input is pending, so that the task may start.
  bool depend(node& task_node) {
    task& t = *task_node.record;
    for (std::uint32_t i = 0; i < t.input_count; ++i) {
      if (t.inputs()[i]->state != state::pending) continue;
      add_dependent(*t.inputs()[i], task_node.index);
      ++task_node.missing;
    }
    return task_node.missing == 0;
  }

  void add_dependent(node& n, std::uint32_t dependent) {
    link* const l = newest(n);
    if (l == nullptr || l->kind != link_kind::input) {
      add_link(n, link_kind::input).index = dependent;
      return;
    }
    auto* last = static_cast<dependents*>(l->pointer);
    if (last == nullptr || last->count == dependents::most) {
      dependents* const added = more_dependents.make();
      added->next = last == nullptr ? added : std::exchange(last->next, added);
      l->pointer = last = added;
    }
    last->index[last->count++] = dependent;
  }

  /// Removes one dependent, if the node has it. The order of the others may change.
  void remove_dependent(node& n, std::uint32_t dependent) {
    for (link** at = &n.links; *at != nullptr; at = &(*at)->next) {
      link* const l = *at;
      if (l->kind != link_kind::input) continue;
      std::uint32_t* found = nullptr;
      visit_dependents(*l, [&](std::uint32_t& index) {
        if (index == dependent) found = &index;
        return found == nullptr;
      });
      if (found == nullptr) continue;
      auto* const last = static_cast<dependents*>(l->pointer);
      if (last == nullptr) {
        *at = l->next;
        links.free(l);
        return;
      }
      *found = last->index[--last->count];
      if (last->count == 0) l->pointer = without_newest(last);
      return;
    }
  }

  /// Visits the dependents from the oldest on, as long as visit(index) returns true.
  template <class Visit>
  static void visit_dependents(link& l, Visit&& visit) {
    if (!visit(l.index) || l.pointer == nullptr) return;
    auto* const newest = static_cast<dependents*>(l.pointer);
    dependents* d = newest;
    do {
      d = d->next;
      for (std::uint32_t i = 0; i < d->count; ++i) {
        if (!visit(d->index[i])) return;
      }
    } while (d != newest);
  }

  /// Removes the links of everything that waits for the end of `n`, and gives them to `tell`, oldest first. `tell` may
  /// add and finish nodes itself. Links that say what other ranks hold stay.
  template <class Tell>
  void finish(node& n, Tell&& tell) {
    link* first = std::exchange(newest(n), nullptr);
    link* oldest = nullptr;
    while (first != nullptr) {
      link* l = first;
      first = l->next;
      l->next = oldest;
      oldest = l;
      if (l->kind == link_kind::input) __builtin_prefetch(&nodes.at(l->index));
    }
    while (oldest != nullptr) {
      link* l = oldest;
      oldest = l->next;
      link copy = *l;
      links.free(l);
      if (copy.kind != link_kind::input || copy.pointer == nullptr) {
        tell(copy);
        continue;
      }
      auto* const newest = static_cast<dependents*>(std::exchange(copy.pointer, nullptr));
      tell(copy);
      tell_dependents(*newest, copy, tell);
    }
  }

  /// Removes the links of a node that is about to be freed.
  void drop_links(node& n) {
    while (n.links != nullptr) {
      link* const l = n.links;
      n.links = l->next;
      if (l->kind == link_kind::input && l->pointer != nullptr) {
        link unused;
        tell_dependents(*static_cast<dependents*>(l->pointer), unused, [](const link&) {});
      }
      links.free(l);
    }
  }

  /// Removes one link of that kind from n to the node `dependent`, if there is one.
  void remove_link(node& n, link_kind kind, std::uint32_t dependent) {
    remove_first(n, [&](const link& l) { return l.kind == kind && l.index == dependent; });
  }
  /// Removes one link of that kind with this pointer, if there is one.
  void remove_link(node& n, link_kind kind, const void* pointer) {
    remove_first(n, [&](const link& l) { return l.kind == kind && l.pointer == pointer; });
  }

 private:
  /// The newest of the links that hear when the node ends. They stand behind a home or exported link, which stays.
  static link*& newest(node& n) {
    const bool stays = n.links != nullptr && (n.links->kind == link_kind::home || n.links->kind == link_kind::exported);
    return stays ? n.links->next : n.links;
  }

  template <class Tell>
  void tell_dependents(dependents& newest, link& copy, Tell&& tell) {
    dependents* d = std::exchange(newest.next, nullptr);
    while (d != nullptr) {
      for (std::uint32_t i = 0; i < d->count; ++i) __builtin_prefetch(&nodes.at(d->index[i]));
      for (std::uint32_t i = 0; i < d->count; ++i) {
        copy.index = d->index[i];
        tell(copy);
      }
      dependents* const next = d->next;
      more_dependents.free(d);
      d = next;
    }
  }

  /// Removes the newest record and returns the next newest; null if it was the only one.
  dependents* without_newest(dependents* newest) {
    dependents* before = newest;
    while (before->next != newest) before = before->next;
    before->next = newest->next;
    more_dependents.free(newest);
    return before == newest ? nullptr : before;
  }

  template <class Is>
  void remove_first(node& n, Is&& is) {
    for (link** at = &n.links; *at != nullptr; at = &(*at)->next) {
      link* const l = *at;
      if (!is(*l)) continue;
      *at = l->next;
      links.free(l);
      return;
    }
  }
};

}  // namespace manta::graph
