// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Dependences: a task waits for its inputs, a finished node tells whoever is
// linked to it. Plain data, no clock, no thread, no message: the same events
// give the same order every time.
#pragma once

#include "manta/base/pool.hpp"
#include "manta/graph/task.hpp"

namespace manta::graph {

class task_graph {
 public:
  node_table nodes;
  base::pool<link> links;

  link& add_link(node& n, link_kind kind) {
    link* l = links.make();
    l->kind = kind;
    // home and exported links stay first, the others are told in the order in which they came (see finish)
    if (n.links != nullptr && (n.links->kind == link_kind::home || n.links->kind == link_kind::exported)) {
      l->next = n.links->next;
      n.links->next = l;
    } else {
      l->next = n.links;
      n.links = l;
    }
    return *l;
  }

  /// Links a task to those of its inputs that are pending. True if none is: it may start.
  bool depend(node& task_node) {
    task& t = *task_node.record;
    for (std::uint32_t i = 0; i < t.input_count; ++i) {
      if (t.inputs()[i]->state != state::pending) continue;
      add_link(*t.inputs()[i], link_kind::input).index = task_node.index;
      ++task_node.missing;
    }
    return task_node.missing == 0;
  }

  /// Takes the links of everyone who is to be told that `n` has ended, oldest first, and gives them to `tell`,
  /// which may add and finish nodes itself. Links that say what other ranks hold stay.
  template <class Tell>
  void finish(node& n, Tell&& tell) {
    link* first = n.links;
    if (first == nullptr) return;
    if (first->kind == link_kind::home || first->kind == link_kind::exported) {
      link* keep = first;
      first = keep->next;
      keep->next = nullptr;
    } else {
      n.links = nullptr;
    }
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
      const link copy = *l;
      links.free(l);
      tell(copy);
    }
  }

  /// Removes one link of that kind by which the node `dependent` hangs on n, if there is one.
  void remove_link(node& n, link_kind kind, std::uint32_t dependent) {
    remove_first(n, [&](const link& l) { return l.kind == kind && l.index == dependent; });
  }
  /// The same for one with this pointer.
  void remove_link(node& n, link_kind kind, const void* pointer) {
    remove_first(n, [&](const link& l) { return l.kind == kind && l.pointer == pointer; });
  }

 private:
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
