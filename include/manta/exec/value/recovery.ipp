// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/exec/value/recovery.hpp"

namespace manta::exec {

MANTA_DECL bool recovery::keep_lineage(node& n, const result_message& result) {
  const bool has_record = n.form == form::record;
  const form what = static_cast<form>(result.form);
  if (!own_.members.recovers()) return false;
  if (n.has(node::actor)) {  // a new actor needs its constructor's task, and is of use only where it may restart
    if (what != form::plain || !has_record || n.record->request->restarts == 0) return false;
    lineage_.keep(n, n.record);
    n.form = form::none;
    return true;
  }
  const bool of_actor = !has_record && n.sent.slot != no_index;  // what it gave cannot be made again
  const bool gives_handles = (result.flags & result_message::references) != 0;
  // A value that has come whole needs no task any more, unless the handles in it may need a parent.
  if ((what != form::remote && !gives_handles) || of_actor) return false;
  if (!has_record) {
    task* const t = own_.graph.tasks.make(0, n.size);
    t->id = n.sent.id;
    t->function = n.function;
    t->home_rank = own_.rank;
    t->home_index = n.index;
    std::memcpy(t->arguments(), &n.sent.kept, n.size);
    n.record = t;
  }
  note_lineage(n, n.record);
  n.form = form::none;
  n.size = 0;
  return true;
}

MANTA_DECL void recovery::note_lineage(const node& n, task* t) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < t->input_count; ++i) {
    const node& input = *t->inputs()[i];
    bytes += input.form == form::remote ? input.remote.bytes : store::is_here(input) ? store::size_of(input) : 0;
  }
  lineage_.keep(n, t, bytes);
  // Tasks that are kept for a death that may never come hold their inputs in memory, so the
  // oldest go when there are many.
  const std::uint64_t most = std::min<std::uint64_t>(own_.ledger.memory().share() / 4, std::uint64_t{1} << 30);
  while (task* const excess = lineage_.take_excess(most)) records_.free(excess);
}

MANTA_DECL bool recovery::keep_item(node& n, const node& actor, function_id function, std::uint64_t number) {
  if (!own_.members.recovers() || n.form != form::remote) return true;
  task* const made_by = lineage_.task_of(actor);
  // Without the constructor's task the stream that made this item cannot be started again.
  if (made_by == nullptr || is_stand_in(n)) return false;
  if (lineage_.task_of(n) != nullptr) return true;
  task& constructor = *made_by;
  wire::buffer bytes(constructor.arguments(), constructor.argument_bytes);
  wire::put(bytes, number);
  for (std::uint32_t i = 0; i < constructor.input_count; ++i) own_.refs.hold(*constructor.inputs()[i]);
  // A task of its own computes the item again: it has the stream's arguments and, behind them, the item's number.
  auto* const request = new graph::request(*constructor.request);
  request->actor = false;
  request->restarts = 0;
  const task_arguments given{bytes.data(), bytes.size(), constructor.inputs(), constructor.input_count};
  task* const t = records_.make(base::mix(constructor.id + number), function, given, graph::request_ptr(request));
  t->home_index = n.index;
  note_lineage(n, t);
  return true;
}

MANTA_DECL void recovery::forget_lineage(node& n) {
  if (task* const t = lineage_.take(n)) records_.free(t);
}

MANTA_DECL void recovery::make_again(node& n, task* t) {
  lineage_.take(n);
  // The task will be counted when it ends for the second time.
  own_.counts.take_back(n.function);
  n.state = state::pending;
  n.missing = 0;
  n.form = form::record;
  n.record = t;
  t->home_index = n.index;
  t->place = graph::place::here;
  own_.refs.hold(n);  // the engine's own, until the task has ended
  others_.start(others_.rank, n);
}

MANTA_DECL void recovery::make_again_after(node& n, task* t, rank_id dead) {
  if (has_cost_too_much(*t)) {
    forget_lineage(n);
    completion_.fail(n, own_.failures.died_with(n, dead));
    n.set(node::observed);
    return;
  }
  if (own_.members.obituary_of(dead).culprit == t->id) {
    if (t->request == nullptr) t->request = graph::request_ptr(new graph::request);
    t->request->cost.rank = static_cast<int>(dead);
  }
  make_again(n, t);
}

MANTA_DECL node& recovery::import_inside(const reference_message& r, type_id type) {
  node& n = own_.refs.import_reference(r, type);
  if (store::reading* const outer = store::reading::innermost; outer != nullptr && own_.members.recovers())
    join_family(n, *outer);
  return n;
}

MANTA_DECL void recovery::join_family(node& n, store::reading& outer) {
  const std::uint32_t position = outer.handles++;  // counts all handles, so that heirs are found by place
  if (outer.list != nullptr) outer.list->push_back(n.index);
  if (!is_stand_in(n) || lineage_.family_of(n) != nullptr) return;
  if (outer.family == nullptr) outer.family = lineage_.found(outer.of);
  if (outer.family != nullptr) lineage_.join(*static_cast<family*>(outer.family), n, position);
}

MANTA_DECL void recovery::leave_family(const node& n, std::uint64_t calls) {
  family* const f = lineage_.family_of(n);
  if (f == nullptr) return;
  // The heir's actor has to wait for these calls before it may end.
  if (const node* const heir = calls == 0 ? nullptr : heir_of(n)) own_.refs.add_calls(*heir, calls);
  lineage_.leave(n);
  end_if_empty(*f);
}

MANTA_DECL void recovery::end_if_empty(family& f) {
  if (--f.living != 0) return;
  if (task* const parent = lineage_.take_parent(f)) records_.free(parent);
  // An outer family counts each inner one that needs it as a member.
  if (f.above != nullptr) end_if_empty(*f.above);
  if (f.again != nullptr) own_.refs.release(*f.again);
  lineage_.end(f);
}

MANTA_DECL bool recovery::await_heir(node& n) {
  family* const f = lineage_.family_of(n);
  if (f == nullptr || !can_return(*f)) return false;
  // Another member has already had the value made again.
  if (f->has_ended) {
    inherit(n);
    return true;
  }
  f->waiting.push_back(n.index);  // held as long as it waits
  bring_back(*f);
  return true;
}

MANTA_DECL bool recovery::can_return(const family& f) const {
  if (f.parent != nullptr && has_cost_too_much(*f.parent)) return false;
  return f.parent != nullptr || f.again != nullptr || (f.above != nullptr && can_return(*f.above));
}

MANTA_DECL bool recovery::has_cost_too_much(const task& t) const {
  if (!own_.members.has_tolls()) return false;
  return static_cast<int>(own_.members.toll_of(t.id).blamed()) > (t.request == nullptr ? 0 : t.request->retries);
}

MANTA_DECL void recovery::bring_back(family& f) {
  if (std::exchange(f.comes_back, true)) return;  // one second value serves all members
  if (task* const t = lineage_.take_parent(f)) {
    f.again = &own_.refs.make_node(t->function, f.type);
    own_.graph.add_link(*f.again, link_kind::family).index = f.slot;
    return make_again(*f.again, t);
  }
  // Without a parent of its own, the family came in the value of a member of the family above.
  if (f.above->has_ended) return take_from_above(f);
  f.above->below.push_back(f.slot);
  bring_back(*f.above);
}

MANTA_DECL void recovery::take_from_above(family& f) {
  node* const value = heir_at(*f.above, f.position, f.type);
  f.again = value != nullptr ? value : f.above->again;
  own_.refs.hold(*f.again);
  // The second value of the outer family has fewer handles or other types: each member that
  // waits fails, with the reason.
  if (value == nullptr) return all_return(f);
  fetches_.need(*f.again);
  await_return(f);
}

MANTA_DECL void recovery::await_return(family& f) {
  if (store::is_here(*f.again)) return all_return(f);
  fetches_.fetch(*f.again);
  own_.graph.add_link(*f.again, link_kind::family).index = f.slot;
}

MANTA_DECL void recovery::all_return(family& f) {
  f.has_ended = true;
  f.again->set(node::observed);  // those who wait tell of it
  find_heirs(f);
  base::list<std::uint32_t> waiting, below;
  waiting.swap(f.waiting);
  below.swap(f.below);
  ++f.living;  // keeps the family while its members leave
  for (const std::uint32_t index : waiting) inherit(own_.graph.nodes.at(index));
  for (const std::uint32_t slot : below) take_from_above(lineage_.at(slot));
  end_if_empty(f);
}

MANTA_DECL void recovery::find_heirs(family& f) {
  // Without heirs each member that waits fails; inherit() says why.
  if (f.again->state == state::failed || f.again->type != f.type) return;
  // The value itself may be read by somebody else, who then owns the handles in it; reading a copy gives new ones.
  node& copy = own_.refs.make_node(f.type);
  try {
    store::decode(*f.again);
    store::set_box(copy, copy_of(*f.again, copy, &f.heirs));
  } catch (...) {
    f.heirs.clear();
    store::set_failure(copy, own_.failures.codec("save() or load()", f.type));
    copy.set(node::observed);
  }
  completion_.complete(copy);
  own_.refs.release(*std::exchange(f.again, &copy));
}

MANTA_DECL void* recovery::copy_of(const node& from, node& to, base::list<std::uint32_t>* handles) {
  wire::buffer bytes;
  wire::sink out(bytes);
  wire::type_at(from.type).write(from.box, out);
  wire::source in(bytes.data(), bytes.size());
  store::reading inside(to);
  inside.list = handles;
  return wire::type_at(from.type).read(in);
}

MANTA_DECL node* recovery::heir_at(const family& f, std::uint32_t position, type_id type) {
  if (position >= f.heirs.size()) return nullptr;
  node& heir = own_.graph.nodes.at(f.heirs[position]);
  return heir.type == type ? &heir : nullptr;
}

MANTA_DECL node* recovery::heir_of(const node& n) {
  return heir_at(*lineage_.family_of(n), lineage_.position_of(n), n.type);
}

MANTA_DECL void recovery::inherit(node& n) {
  const bool is_pending = n.state == state::pending;  // else the value has come from elsewhere
  node* const heir = heir_of(n);
  if (is_pending && (heir == nullptr || heir == &n)) {
    const node& again = *lineage_.family_of(n)->again;
    completion_.fail(
        n, own_.failures.orphan(n, again.state == state::failed
                                       ? "; the task that gave it away has failed when it ran once more: " +
                                             store::describe(*store::failure_of(again))
                                       : "; the task that gave it away ran once more, and gave other futures away"));
    n.set(node::observed);
  } else if (is_pending && !store::is_here(*heir)) {
    heir->state == state::pending ? fetches_.need(*heir) : fetches_.fetch(*heir);
    own_.graph.add_link(*heir, link_kind::heir).index = n.index;
    return;
  } else if (is_pending) {
    take_value(n, *heir);
  }
  fetches_.asked_no_more(n);
  own_.refs.release(n);
}

MANTA_DECL void recovery::take_value(node& n, node& from) {
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
    // The value can be moved only if it is an array, and nobody else may ask for it.
    if (wire::type_at(n.type).array == nullptr || from.refs.load(std::memory_order_acquire) > 1 ||
        from.has(node::primary)) {
      return completion_.complete_object(n, copy_of(from, n), from.function);
    }
  } catch (...) {
    return completion_.fail(n, own_.failures.codec("save() or load()", n.type));
  }
  store::move_payload(n, from);
  completion_.complete(n);
}

MANTA_DECL void recovery::value_lost(node& n, rank_id dead) {
  const bool is_here = !is_stand_in(n);
  if (fetches_.is_asked_for(n, dead)) {
    fetches_.asked_no_more(n);
    own_.refs.release(n);
  }
  if (n.state == state::failed) return;
  if (n.state == state::pending) {
    if (!is_here) {
      fetches_.need(n);  // its home is dead, so others are asked
    } else {             // a ticket: only the dead rank could answer
      n.missing = 0;
      completion_.fail(n, own_.failures.death(store::failure::kind::rank, dead,
                                              base::text("there will be no answer from rank {}: ", dead)));
      own_.refs.release(n);
    }
    return;
  }
  if (place_of(n, own_.rank) != dead) return;
  if (fetches_.has_arrived(n)) return;  // all blocks are here, only decoding is left
  if (n.has(node::actor)) return actor_lost(n, dead);
  const bool fetching = n.has(node::fetching);
  fetches_.no_longer_fetching(n);
  n.size = 0;
  n.state = state::pending;
  n.form = form::none;
  if (!is_here) {
    fetches_.need(n);  // the home has it made again
  } else if (task* const made_by = lineage_.task_of(n)) {
    make_again_after(n, made_by, dead);
  } else {
    const std::string_view name = n.function == no_index ? "put" : task_name(n);
    const std::string what =
        n.function != no_index && lineage_.has_given_up()
            ? base::text(
                  "the value of '{}' is lost, and its task was no longer kept to make it again, since the tasks "
                  "of rank {} and their inputs need more room than a quarter of its memory for values (a larger "
                  "MANTA_STORE_MEMORY keeps more of them): ",
                  name, own_.rank.number())
            : base::text("the value of '{}' is lost, and what it was made from is not known any more: ", name);
    completion_.fail(n, own_.failures.death(store::failure::kind::object, dead, what));
    n.set(node::observed);
  }
  if (fetching) own_.refs.release(n);
}

MANTA_DECL void recovery::actor_lost(node& n, rank_id dead) {
  own_.refs.forget_calls(n);  // the new actor has not got them, and must not wait for them
  n.state = state::pending;
  n.form = form::none;
  if (is_stand_in(n) && !own_.members.is_dead(n.links->rank)) return fetches_.need(n);
  std::string why = "the actor died with its rank: " + own_.members.obituary_of(dead).why;
  if (task* const t = is_stand_in(n) ? nullptr : lineage_.task_of(n)) {
    if (t->attempt < t->request->restarts) {
      ++t->attempt;
      return make_again(n, t);
    }
    why += base::text("; it has been restarted {} times, as often as it may be", t->attempt);
    forget_lineage(n);
  }
  completion_.fail(n, actor_failure(why));
  n.set(node::observed);
}

MANTA_DECL void recovery::on_checkpoint(const checkpoint_message& m, const std::byte* data, std::size_t bytes) {
  node& handle = own_.graph.nodes.at(m.index);
  const task* const t = lineage_.task_of(handle);
  if (t == nullptr || (m.id != 0 && m.id != t->id)) return;
  // An empty checkpoint says that the actor has ended for good.
  if (bytes == 0) return forget_lineage(handle);
  t->request->checkpoint.assign(reinterpret_cast<const char*>(data), bytes);
}

}  // namespace manta::exec
