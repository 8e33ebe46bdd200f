// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values that are made again after a death, by the books of lineage.hpp: which
// tasks are kept, when they run once more, and how members of families get the
// values of their heirs.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

/// A task of ours has ended elsewhere: keeps it if it may have to run again, which an actor's does too. The inputs live
/// as long; when they take too much, the oldest are given up, but for those of actors. False if there is no need or no
/// way.
MANTA_DECL bool engine::keep_lineage(node& n, const result_message& result) {
  const bool has_record = n.form == form::record;
  const form what = static_cast<form>(result.form);
  if (!members_.recovers()) return false;
  if (n.has(node::actor)) {
    if (what != form::plain || !has_record || n.record->request->restarts == 0) return false;
    lineage_.keep(n, n.record);
    n.form = form::none;
    return true;
  }
  const bool of_actor = !has_record && n.sent.slot != no_index;  // what it gave cannot be made again
  const bool gives_handles = (result.flags & result_message::references) != 0;
  if ((what != form::remote && !gives_handles) || of_actor) return false;
  if (!has_record) {
    task* const t = graph_.tasks.make(0, n.size);
    t->id = n.sent.id;
    t->function = n.function;
    t->home_rank = rank_;
    t->home_index = n.index;
    std::memcpy(t->arguments(), &n.sent.kept, n.size);
    n.record = t;
  }
  note_lineage(n, n.record);
  n.form = form::none;
  n.size = 0;
  return true;
}

MANTA_DECL void engine::note_lineage(const node& n, task* t) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < t->input_count; ++i) {
    const node& input = *t->inputs()[i];
    bytes += input.form == form::remote ? input.remote.bytes : store::is_here(input) ? store::size_of(input) : 0;
  }
  lineage_.keep(n, t, bytes);
  const std::uint64_t most = std::min<std::uint64_t>(ledger_.memory().share() / 4, std::uint64_t{1} << 30);
  while (task* const excess = lineage_.take_excess(most)) records_.free(excess);
}

/// A value that an actor of ours has given to us can be had again from what the actor was made of: by `function`, to
/// whose arguments its number is added. False if that is not known.
MANTA_DECL bool engine::keep_item(node& n, const node& actor, std::uint32_t function, std::uint64_t number) {
  task* const made_by = lineage_.task_of(actor);
  if (made_by == nullptr || is_stand_in(n)) return false;
  if (lineage_.task_of(n) != nullptr) return true;
  task& constructor = *made_by;
  wire::buffer arguments(constructor.arguments(), constructor.argument_bytes);
  wire::put(arguments, number);
  for (std::uint32_t i = 0; i < constructor.input_count; ++i) refs_.hold(*constructor.inputs()[i]);
  auto* const request = new graph::request(*constructor.request);
  request->actor = false;
  request->restarts = 0;
  task* const t = records_.make(base::mix(constructor.id + number), function, arguments.data(), arguments.size(),
                            constructor.inputs(), constructor.input_count, graph::request_ptr(request));
  t->home_index = n.index;
  note_lineage(n, t);
  return true;
}

/// The value's last handle is gone.
MANTA_DECL void engine::forget_lineage(node& n) {
  if (task* const t = lineage_.take(n)) records_.free(t);
}

/// Has the task run once more that made a value of ours.
MANTA_DECL void engine::make_again(node& n, task* t) {
  lineage_.take(n);
  n.state = state::pending;
  n.missing = 0;
  n.form = form::record;
  n.record = t;
  t->home_index = n.index;
  t->place = graph::place::here;
  refs_.hold(n);  // the engine's own, until the task has ended
  start_when_possible(n);
}

// --- families

/// A handle inside a value that is being read.
MANTA_DECL node& engine::import_inside(const reference_message& r, std::uint32_t type) {
  node& n = refs_.import_reference(r, type);
  if (store::reading* const outer = store::reading::innermost; outer != nullptr && members_.recovers())
    join_family(n, *outer);
  return n;
}

MANTA_DECL void engine::join_family(node& n, store::reading& outer) {
  const std::uint32_t position = outer.handles++;
  if (outer.list != nullptr) outer.list->push_back(n.index);
  if (!is_stand_in(n) || lineage_.family_of(n) != nullptr) return;
  if (outer.family == nullptr) outer.family = lineage_.found(outer.of);
  if (outer.family != nullptr) lineage_.join(*static_cast<family*>(outer.family), n, position);
}

/// A member's last handle is gone; `calls` were made through it, if it is an actor's.
MANTA_DECL void engine::leave_family(const node& n, std::uint64_t calls) {
  family* const f = lineage_.family_of(n);
  if (f == nullptr) return;
  if (const node* const heir = calls == 0 ? nullptr : heir_of(n)) refs_.add_calls(*heir, calls);
  lineage_.leave(n);
  end_if_empty(*f);
}
MANTA_DECL void engine::end_if_empty(family& f) {
  if (--f.living != 0) return;
  if (task* const parent = lineage_.take_parent(f)) records_.free(parent);
  if (f.above != nullptr) end_if_empty(*f.above);
  if (f.again != nullptr) refs_.release(*f.again);
  lineage_.end(f);
}

/// A stand-in waits for a value of which nobody has a copy. False if what it came from is not known, or not any
/// more.
MANTA_DECL bool engine::await_heir(node& n) {
  family* const f = lineage_.family_of(n);
  if (f == nullptr || !can_return(*f)) return false;
  if (f->has_ended) {
    inherit(n);
    return true;
  }
  f->waiting.push_back(n.index);  // held as long as it waits
  bring_back(*f);
  return true;
}
MANTA_DECL bool engine::can_return(const family& f) {
  return f.parent != nullptr || f.again != nullptr || (f.above != nullptr && can_return(*f.above));
}

/// Has the value made again in which the family came, if that is not under way.
MANTA_DECL void engine::bring_back(family& f) {
  if (std::exchange(f.comes_back, true)) return;
  if (task* const t = lineage_.take_parent(f)) {
    f.again = &refs_.make_node(t->function, f.type);
    graph_.add_link(*f.again, link_kind::family).index = f.slot;
    return make_again(*f.again, t);
  }
  if (f.above->has_ended) return take_from_above(f);
  f.above->below.push_back(f.slot);
  bring_back(*f.above);
}

/// It is the value of one of the family above, whose heirs are there.
MANTA_DECL void engine::take_from_above(family& f) {
  node* const value = heir_at(*f.above, f.position, f.type);
  f.again = value != nullptr ? value : f.above->again;
  refs_.hold(*f.again);
  if (value == nullptr) return all_return(f);
  fetches_.need(*f.again);
  await_return(f);
}
MANTA_DECL void engine::await_return(family& f) {
  if (store::is_here(*f.again)) return all_return(f);
  fetches_.fetch(*f.again);
  graph_.add_link(*f.again, link_kind::family).index = f.slot;
}

/// The second value is here, or there will be none.
MANTA_DECL void engine::all_return(family& f) {
  f.has_ended = true;
  f.again->set(node::observed);  // those who wait tell of it
  find_heirs(f);
  base::list<std::uint32_t> waiting, below;
  waiting.swap(f.waiting);
  below.swap(f.below);
  ++f.living;
  for (const std::uint32_t index : waiting) inherit(graph_.nodes.at(index));
  for (const std::uint32_t slot : below) take_from_above(lineage_.at(slot));
  end_if_empty(f);
}

/// The handles in the second value, in the order in which they are read: from a copy, which keeps them.
MANTA_DECL void engine::find_heirs(family& f) {
  if (f.again->state == state::failed || f.again->type != f.type) return;
  node& copy = refs_.make_node(no_index, f.type);
  try {
    store::decode(*f.again);
    store::set_box(copy, copy_of(*f.again, copy, &f.heirs));
  } catch (...) {
    f.heirs.clear();
    store::set_failure(copy, failures_.codec("save() or load()", f.type));
    copy.set(node::observed);
  }
  completion_.complete(copy);
  refs_.release(*std::exchange(f.again, &copy));
}

/// A copy of a boxed value, read as that of `to`. Throws what its save() or load() throws.
MANTA_DECL void* engine::copy_of(const node& from, node& to, base::list<std::uint32_t>* handles) {
  wire::buffer bytes;
  wire::sink out(bytes);
  wire::type_at(from.type).write(from.box, out);
  wire::source in(bytes.data(), bytes.size());
  store::reading inside(to);
  inside.list = handles;
  return wire::type_at(from.type).read(in);
}

/// Null if there is none yet, or the second value has other handles.
MANTA_DECL node* engine::heir_at(const family& f, std::uint32_t position, std::uint32_t type) {
  if (position >= f.heirs.size()) return nullptr;
  node& heir = graph_.nodes.at(f.heirs[position]);
  return heir.type == type ? &heir : nullptr;
}
MANTA_DECL node* engine::heir_of(const node& n) {
  return heir_at(*lineage_.family_of(n), lineage_.position_of(n), n.type);
}

/// Gives a member that waits what its heir has, now or when it has it.
MANTA_DECL void engine::inherit(node& n) {
  const bool is_pending = n.state == state::pending;  // else the value has come from elsewhere
  node* const heir = heir_of(n);
  if (is_pending && (heir == nullptr || heir == &n)) {
    const node& again = *lineage_.family_of(n)->again;
    completion_.fail(n, failures_.orphan(n, again.state == state::failed
                                    ? "; the task that gave it away has failed when it ran once more: " +
                                          store::describe(*store::failure_of(again))
                                    : "; the task that gave it away ran once more, and gave other futures away"));
    n.set(node::observed);
  } else if (is_pending && !store::is_here(*heir)) {
    heir->state == state::pending ? fetches_.need(*heir) : fetches_.fetch(*heir);
    graph_.add_link(*heir, link_kind::heir).index = n.index;
    return;
  } else if (is_pending) {
    take_value(n, *heir);
  }
  fetches_.asked_no_more(n);
  refs_.release(n);
}

/// The value of one that is here becomes that of a pending one too. An array for which nobody else can ask is moved.
MANTA_DECL void engine::take_value(node& n, node& from) {
  if (from.state == state::failed) {
    from.set(node::observed);
    return completion_.fail(n, store::failure_of(from));
  }
  if (from.form == form::plain || from.form == form::none) {
    n.form = from.form;
    std::memcpy(n.bytes, from.bytes, sizeof n.bytes);
    return completion_.complete(n);
  }
  try {
    store::decode(from);
    if (wire::type_at(n.type).array == nullptr || from.refs.load(std::memory_order_acquire) > 1 ||
        from.has(node::primary)) {
      return completion_.complete_object(n, copy_of(from, n), from.function);
    }
  } catch (...) {
    return completion_.fail(n, failures_.codec("save() or load()", n.type));
  }
  store::move_payload(n, from);
  completion_.complete(n);
}

}  // namespace manta::exec
