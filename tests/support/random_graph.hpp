// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Random graphs of tasks, nested tasks, gangs, streams, actors, values of up to
// 320 kB, futures inside values and failures, with priorities and with tasks
// beside them that are cancelled: a description drawn from a seed, its serial
// evaluation, and the same on manta. Where ranks may die meanwhile, what has
// failed of it is lost, and what depends on that is not judged.
#pragma once

#include <algorithm>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <iterator>
#include <random>
#include <set>
#include <span>

#include "world.hpp"

namespace manta::testing::random_graph {

using number = std::int64_t;
using list = std::vector<number>;
using u64 = std::uint64_t;

// ---- what the tasks compute; the serial evaluation calls the same functions --------------------------

inline number as_number(u64 x) { return static_cast<number>(x >> 1U); }
inline number blend(u64 salt, number a, number b) {
  return as_number(mix(salt ^ mix(static_cast<u64>(a)) ^ static_cast<u64>(b)));
}
inline number fold(u64 salt, std::span<const number> v) {
  number h = as_number(salt);
  for (const number x : v) h = blend(salt, h, x);
  return h;
}
inline list spread(u64 salt, number x) {
  static constexpr std::size_t lengths[] = {0, 1, 3, 10, 60, 500, 600, 20'000, 40'000};
  list v(lengths[mix(salt) % (salt % 16 == 0 ? 9 : 6)]);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = blend(salt, x, static_cast<number>(i));
  return v;
}
/// Not a failure of the graph's own.
inline bool by_death(const std::exception& e) { return contains(e.what(), "has died"); }
struct node_failed : std::runtime_error {
  explicit node_failed(int node) : std::runtime_error("node <" + std::to_string(node) + "> fails"), id(node) {}
  int id;
};
inline bool refuses(int id, number x) { return mix(static_cast<u64>(x) ^ static_cast<u64>(id)) % 29 == 0; }
inline void work(u64 salt) {
  if (salt % 5 == 0) busy(std::chrono::microseconds(mix(salt) % 100));
}

// ---- the tasks ----------------------------------------------------------------------------------------

inline number leaf(u64 salt) { return work(salt), as_number(salt); }
inline number combine(u64 salt, number a, const number& b) { return work(salt), blend(salt, a, b); }
inline list make_list(u64 salt, number x) { return work(salt), spread(salt, x); }
inline number fold_vector(u64 salt, const list& v) { return work(salt), fold(salt, v); }
/// Several arrays in one value.
struct columns {
  std::vector<list> all;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(all);
  }
};
inline columns cut(u64 salt, const list& v) {
  work(salt);
  columns c{std::vector<list>(2 + salt % 3, v)};
  for (list& each : c.all) each.push_back(as_number(salt));
  return c;
}
inline number fold_columns(u64 salt, const columns& c) {
  number h = as_number(salt);
  for (const list& each : c.all) h = blend(salt, h, fold(salt, each));
  return h;
}
inline number fold_span(u64 salt, std::span<const number> v) { return work(salt), fold(salt, v); }
inline number fail(int id, number) { throw node_failed(id); }
inline number flaky(u64 salt, number x) {
  if (manta::this_task::attempt() == 0) throw std::runtime_error("the first attempt always fails");
  return blend(salt, x, x);
}
inline number wait_for(u64 salt, manta::future<number> f) { return work(salt), blend(salt, f.get(), 0); }

/// All members of the gang have to agree.
inline number together(manta::team team, u64 salt, number x, std::span<const number> v) {
  const number mine = blend(salt, x, fold(salt, v));
  number most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, team.comm());
  if (most != mine) throw std::runtime_error("the members of a gang differ");
  return most;
}

inline manta::generator<number> produce(u64 salt, number x) {
  for (u64 i = 0; i < salt % 40; ++i) co_yield blend(salt, x, static_cast<number>(i));
}
/// Some leave their stream early.
inline number read_stream(u64 salt, number x) {
  number h = 0;
  u64 read = 0;
  manta::stream<number> values = manta::async<produce>(salt, x);
  while (read < salt % 30) {
    const auto f = values.next();
    if (!f) break;
    h = blend(salt + read++, h, f->get());
  }
  return h;
}
inline number serial_stream(u64 salt, number x) {
  number h = 0;
  for (u64 i = 0; i < std::min(salt % 30, salt % 40); ++i)
    h = blend(salt + i, h, blend(salt, x, static_cast<number>(i)));
  return h;
}

/// A tree of tasks that wait for each other in four ways, fail at some leaves and catch at some branches.
inline number tree(u64 salt, int depth, int id) {
  work(salt);
  if (depth == 0) return salt % 61 == 0 ? throw node_failed(id) : static_cast<number>(salt % 1000);
  std::vector<manta::future<number>> children;
  for (u64 c = 0; c < 1 + salt % 3; ++c) children.push_back(manta::async<tree>(mix(salt + c), depth - 1, id));
  try {
    number sum = 0;
    if (salt % 4 == 0) {
      for (const auto& f : children) sum += f.get();
    } else if (salt % 4 == 1) {
      for (auto f = children.rbegin(); f != children.rend(); ++f) sum += f->get();
    } else if (salt % 4 == 2) {
      for (auto& f : manta::as_completed(children)) sum += f.get();
    } else {
      sum = manta::async([](const list& v) { return std::accumulate(v.begin(), v.end(), number{0}); }, children).get();
    }
    return sum;
  } catch (const manta::error& e) {
    if (salt % 5 == 0 && !by_death(e)) return -5;
    throw;
  }
}

inline number serial_tree(u64 salt, int depth, int id) {
  if (depth == 0) return salt % 61 == 0 ? throw node_failed(id) : static_cast<number>(salt % 1000);
  try {
    number sum = 0;
    for (u64 c = 0; c < 1 + salt % 3; ++c) sum += serial_tree(mix(salt + c), depth - 1, id);
    return sum;
  } catch (const node_failed&) {
    if (salt % 5 == 0) return -5;
    throw;
  }
}

/// Futures that travel in a value.
struct parcel {
  number label = 0;
  manta::future<number> one;
  manta::future<list> items;
  std::vector<manta::future<number>> more;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(label, one, items, more);
  }
};

inline parcel forward(parcel p, u64 salt) {
  work(salt);
  p.label = blend(salt, p.label, 0);
  p.more.push_back(manta::async<leaf>(salt));
  return p;
}
inline number open_parcel(u64 salt, const parcel& p) {
  number h = blend(salt, p.one.get(), p.label);
  h = blend(salt, h, fold(salt, p.items.get()));
  for (const auto& f : p.more) h = blend(salt, h, f.get());
  return h;
}
template <typename Get>
inline number or_else(Get get) {
  try {
    return get();
  } catch (const manta::error& e) {
    if (by_death(e)) throw;
    return -1;
  }
}
inline number open_carefully(u64 salt, parcel p) {
  number h = blend(salt, or_else([&] { return p.one.get(); }), p.label);
  h = blend(salt, h, or_else([&] { return fold(salt, p.items.get()); }));
  for (auto f = p.more.rbegin(); f != p.more.rend(); ++f) h = blend(salt, h, or_else([&] { return f->get(); }));
  return h;
}

class ledger {
 public:
  number add(int id, number x) {
    if (refuses(id, x)) throw node_failed(id);
    return state_ = blend(7, state_, x);
  }
  number add_given(int id, manta::future<number> f) { return add(id, f.get()); }
  number state() const { return state_; }

 private:
  number state_ = 0;
};

inline number own_ledger(u64 salt) {
  auto mine = manta::spawn<ledger>();
  for (u64 i = 0; i < salt % 5; ++i) manta::async<&ledger::add>(mine, 0, 1);
  return blend(salt, manta::async<&ledger::state>(mine).get(), 0);
}
inline number serial_own_ledger(u64 salt) {
  number state = 0;
  for (u64 i = 0; i < salt % 5; ++i) state = refuses(0, 1) ? state : blend(7, state, 1);
  return blend(salt, state, 0);
}

// ---- the description --------------------------------------------------------------------------------------

enum class kind {
  leaf,
  put,
  combine,
  gather,
  fold_vector,
  fold_columns,
  fold_span,
  fail,
  flaky,
  wait_for,
  tree,
  own_ledger,
  together,
  stream,
  open,
  open_carefully,
  add,
  add_given,
  make_list,
  send,
  resend
};

struct node {
  kind what = kind::leaf;
  u64 salt = 0;
  std::vector<std::size_t> in;  ///< earlier nodes, in the order of the parameters
  std::size_t actor = 0;
};

constexpr std::size_t actors = 4;

inline std::vector<node> draw_graph(u64 seed) {
  std::mt19937_64 rng(seed);
  const auto below = [&rng](std::size_t n) { return static_cast<std::size_t>(rng() % n); };
  static constexpr kind kinds[] = {
      kind::leaf,     kind::put,       kind::combine,        kind::combine,        kind::combine,   kind::combine,
      kind::gather,   kind::gather,    kind::fold_vector,    kind::fold_columns,   kind::fold_span, kind::flaky,
      kind::wait_for, kind::wait_for,  kind::tree,           kind::own_ledger,     kind::together,  kind::stream,
      kind::open,     kind::open,      kind::open_carefully, kind::open_carefully, kind::add,       kind::add,
      kind::add,      kind::add_given, kind::make_list,      kind::make_list,      kind::send,      kind::resend};
  std::vector<node> graph;
  std::vector<std::size_t> numbers, lists, parcels;
  const std::size_t size = 100 + below(below(4) == 0 ? 4000 : 600);
  const std::size_t span = 5 + below(300);  // how far back inputs reach: narrow graphs are chains, wide ones are bushes
  const std::size_t failing = 20 + below(200);
  const auto recent = [&](const std::vector<std::size_t>& of) {
    return of[of.size() - 1 - below(std::min(of.size(), span))];
  };
  while (graph.size() < size) {
    node n;
    n.salt = rng() >> 8U;
    n.actor = below(actors);
    n.what = graph.size() < 3                      ? kind::leaf
             : numbers.size() > 3 && lists.empty() ? kind::make_list
             : below(failing) == 0                 ? kind::fail
                                                   : kinds[below(std::size(kinds))];
    if (n.what == kind::send && lists.empty()) n.what = kind::make_list;
    if (((n.what >= kind::fold_vector && n.what <= kind::fold_span) || n.what == kind::together) && lists.empty())
      n.what = kind::combine;
    if ((n.what == kind::open || n.what == kind::open_carefully || n.what == kind::resend) && parcels.empty())
      n.what = lists.empty() ? kind::leaf : kind::send;
    switch (n.what) {
      case kind::leaf:
      case kind::put:
      case kind::tree:
      case kind::own_ledger: break;
      case kind::combine: n.in = {recent(numbers), recent(numbers)}; break;
      case kind::gather:
        for (std::size_t i = below(30); i > 0; --i) n.in.push_back(recent(numbers));
        break;
      case kind::fold_vector:
      case kind::fold_columns:
      case kind::fold_span: n.in = {recent(lists)}; break;
      case kind::together: n.in = {recent(numbers), recent(lists)}; break;
      case kind::fail:
      case kind::flaky:
      case kind::wait_for:
      case kind::stream:
      case kind::add:
      case kind::add_given:
      case kind::make_list: n.in = {recent(numbers)}; break;
      case kind::open:
      case kind::open_carefully:
      case kind::resend: n.in = {recent(parcels)}; break;
      case kind::send:
        n.in = {recent(numbers), recent(lists)};
        for (std::size_t i = below(4); i > 0; --i) n.in.push_back(recent(numbers));
        break;
    }
    (n.what == kind::make_list                        ? lists
     : n.what == kind::send || n.what == kind::resend ? parcels
                                                      : numbers)
        .push_back(graph.size());
    graph.push_back(std::move(n));
  }
  return graph;
}

// ---- the serial evaluation ------------------------------------------------------------------------------------

struct outcome {
  std::set<int> causes;  ///< nodes whose failure this one may report; empty when it has a value
  number value = 0;
  list items;
  number label = 0;                 ///< of a parcel
  std::vector<std::size_t> inside;  ///< of a parcel: the nodes whose futures it holds
  std::vector<number> extra;        ///< of a parcel: values of the futures that its tasks added
};

inline std::vector<outcome> evaluate(const std::vector<node>& graph) {
  std::vector<outcome> done(graph.size());
  std::vector<number> ledgers(actors, 0);
  for (std::size_t at = 0; at < graph.size(); ++at) {
    const node& n = graph[at];
    outcome& o = done[at];
    const int id = static_cast<int>(at);
    if (n.what != kind::send) {  // a parcel holds futures: it does not depend on them
      for (const std::size_t i : n.in) o.causes.insert(done[i].causes.begin(), done[i].causes.end());
    }
    if (!o.causes.empty()) continue;
    const auto in = [&](std::size_t i) -> const outcome& { return done[n.in[i]]; };
    const auto post = [&](number x) {
      if (refuses(id, x)) o.causes.insert(id);
      else o.value = ledgers[n.actor] = blend(7, ledgers[n.actor], x);
    };
    switch (n.what) {
      case kind::leaf:
      case kind::put: o.value = as_number(n.salt); break;
      case kind::combine: o.value = blend(n.salt, in(0).value, in(1).value); break;
      case kind::gather: {
        list v;
        for (const std::size_t i : n.in) v.push_back(done[i].value);
        o.value = fold(n.salt, v);
        break;
      }
      case kind::fold_vector:
      case kind::fold_span: o.value = fold(n.salt, in(0).items); break;
      case kind::fold_columns: {
        const columns c = cut(n.salt, in(0).items);
        o.value = blend(n.salt, fold_columns(n.salt, c), fold_columns(n.salt + 1, c));
        break;
      }
      case kind::fail: o.causes.insert(id); break;
      case kind::flaky: o.value = blend(n.salt, in(0).value, in(0).value); break;
      case kind::wait_for: o.value = blend(n.salt, in(0).value, 0); break;
      case kind::tree: try { o.value = serial_tree(n.salt, 4, id);
        } catch (const node_failed& e) {
          o.causes.insert(e.id);
        }
        break;
      case kind::own_ledger: o.value = serial_own_ledger(n.salt); break;
      case kind::together: o.value = blend(n.salt, in(0).value, fold(n.salt, in(1).items)); break;
      case kind::stream: o.value = serial_stream(n.salt, in(0).value); break;
      case kind::add:
      case kind::add_given: post(in(0).value); break;
      case kind::make_list: o.items = spread(n.salt, in(0).value); break;
      case kind::send:
      case kind::resend:
        if (n.what == kind::send) o.inside = n.in;
        else o.label = in(0).label, o.inside = in(0).inside, o.extra = in(0).extra;
        o.label = blend(n.salt, o.label, 0);
        o.extra.push_back(as_number(n.salt));
        break;
      case kind::open:
      case kind::open_carefully: {
        const outcome& p = in(0);
        const bool careful = n.what == kind::open_carefully;
        const auto value_of = [&](std::size_t i) {
          return done[i].causes.empty() ? i == p.inside[1] ? fold(n.salt, done[i].items) : done[i].value : number{-1};
        };
        list more;
        for (std::size_t i = 2; i < p.inside.size(); ++i) more.push_back(value_of(p.inside[i]));
        more.insert(more.end(), p.extra.begin(), p.extra.end());
        if (careful) std::reverse(more.begin(), more.end());
        o.value = blend(n.salt, value_of(p.inside[0]), p.label);
        o.value = blend(n.salt, o.value, value_of(p.inside[1]));
        for (const number x : more) o.value = blend(n.salt, o.value, x);
        const auto failed =
            std::find_if(p.inside.begin(), p.inside.end(), [&](std::size_t i) { return !done[i].causes.empty(); });
        if (!careful && failed != p.inside.end())
          o.causes = done[*failed].causes;  // gets in this order: the first one throws
        break;
      }
    }
  }
  return done;
}

// ---- the same on manta --------------------------------------------------------------------------------------------

struct handles {
  manta::future<number> value;
  manta::future<list> items;
  manta::future<parcel> pack;
};

/// What came of a run.
struct verdict {
  std::size_t right = 0, lost = 0;  ///< of those looked at
  std::vector<std::string> wrong;
};

class builder {
 public:
  /// `deadly`: ranks may die.
  builder(const std::vector<node>& graph, const std::vector<outcome>& expected, u64 seed, bool deadly = false)
      : graph_(graph),
        expected_(expected),
        rng_(seed + 1),
        deadly_(deadly),
        made_(graph.size()),
        uses_(graph.size(), 0),
        dropped_(graph.size(), false),
        seen_(graph.size()) {
    for (const node& n : graph) {
      for (const std::size_t i : n.in) ++uses_[i];
    }
    for (std::size_t i = 0; i < actors; ++i) ledgers_.push_back(manta::spawn<ledger>());
  }

  /// Submits everything, now and then looking at what is there; then compares the rest.
  verdict run() {
    for (std::size_t at = 0; at < graph_.size(); ++at) {
      submit(at);
      if (one_in(40)) compare(below(at + 1));
      if (one_in(100)) look_around(at);
      if (one_in(60)) change_mind(at);
      for (const std::size_t i : graph_[at].in) {
        if (--uses_[i] == 0 && one_in(3)) drop(i);  // nobody but the graph needs it any more
      }
    }
    std::vector<std::size_t> order(graph_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), rng_);
    for (const std::size_t at : order) {
      compare(at);
      if (one_in(2)) drop(at);
    }
    judge();
    return std::move(verdict_);
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(rng_() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }

  manta::task_options options() {
    manta::task_options o;
    if (modest_) return o;
    if (one_in(8)) o.rank = executor(below(64));
    if (one_in(20)) o.name = "a task with a name";
    if (one_in(10)) o.priority = static_cast<int>(below(5)) - 2;
    if (one_in(20)) o.spread = true;
    return o;
  }
  manta::task_options gang_options(const manta::any_future& argument) {
    manta::task_options o;
    o.ranks = modest_ ? 1 : 1 + static_cast<int>(below(executors().size()));
    if (one_in(4)) {
      o.near = argument;
    } else {
      o.spread = one_in(3);
    }
    return o;
  }

  void submit(std::size_t at) {
    try {
      modest_ = false;
      submit_node(at);
    } catch (const manta::unschedulable& e) {  // it asked for a rank that has died, or for more than are left
      if (!deadly_ || !by_death(e)) throw;
      modest_ = true;
      submit_node(at);
    }
  }

  void submit_node(std::size_t at) {
    const node& n = graph_[at];
    const int id = static_cast<int>(at);
    handles& h = made_[at];
    const auto value = [&](std::size_t i) -> const manta::future<number>& { return made_[n.in[i]].value; };
    const auto& first_ledger = ledgers_[n.actor];
    switch (n.what) {
      case kind::leaf: h.value = manta::async<leaf>(options(), n.salt); break;
      case kind::put: h.value = manta::put(as_number(n.salt)); break;
      case kind::combine: h.value = manta::async<combine>(options(), n.salt, value(0), value(1)); break;
      case kind::gather: {
        std::vector<manta::future<number>> all;
        for (std::size_t i = 0; i < n.in.size(); ++i) all.push_back(value(i));
        h.value = manta::async<fold_vector>(options(), n.salt, all);
        break;
      }
      case kind::fold_vector: h.value = manta::async<fold_vector>(options(), n.salt, made_[n.in[0]].items); break;
      case kind::fold_columns: {
        const auto c = manta::async<cut>(options(), n.salt, made_[n.in[0]].items);
        h.value = manta::async<combine>(options(), n.salt, manta::async<fold_columns>(options(), n.salt, c),
                                        manta::async<fold_columns>(options(), n.salt + 1, c));
        break;
      }
      case kind::fold_span: h.value = manta::async<fold_span>(options(), n.salt, made_[n.in[0]].items); break;
      case kind::fail: h.value = manta::async<fail>(options(), id, value(0)); break;
      case kind::flaky: h.value = manta::async<flaky>({.retries = 1}, n.salt, value(0)); break;
      case kind::wait_for: h.value = manta::async<wait_for>(options(), n.salt, value(0)); break;
      case kind::tree: h.value = manta::async<tree>(options(), n.salt, 4, id); break;
      case kind::own_ledger: h.value = manta::async<own_ledger>(options(), n.salt); break;
      case kind::together:
        h.value = manta::async<together>(gang_options(made_[n.in[1]].items), n.salt, value(0), made_[n.in[1]].items);
        break;
      case kind::stream: h.value = manta::async<read_stream>(options(), n.salt, value(0)); break;
      case kind::open: h.value = manta::async<open_parcel>(options(), n.salt, made_[n.in[0]].pack); break;
      case kind::open_carefully: h.value = manta::async<open_carefully>(options(), n.salt, made_[n.in[0]].pack); break;
      case kind::add: h.value = manta::async<&ledger::add>(first_ledger, id, value(0)); break;
      case kind::add_given: h.value = manta::async<&ledger::add_given>(first_ledger, id, value(0)); break;
      case kind::make_list: h.items = manta::async<make_list>(options(), n.salt, value(0)); break;
      case kind::send: {
        parcel p{0, value(0), made_[n.in[1]].items, {}};
        for (std::size_t i = 2; i < n.in.size(); ++i) p.more.push_back(value(i));
        h.pack = manta::async<forward>(options(), std::move(p), n.salt);
        break;
      }
      case kind::resend: h.pack = manta::async<forward>(options(), made_[n.in[0]].pack, n.salt); break;
    }
  }

  void compare(std::size_t at) {
    const handles& h = made_[at];
    const outcome& o = expected_[at];
    const kind what = graph_[at].what;
    if (dropped_[at]) return;
    if (what == kind::make_list) look(at, h.items, [&](const list& v) { return v == o.items; });
    else if (what == kind::send || what == kind::resend)
      look(at, h.pack, [&](const parcel& p) {
        return p.label == o.label && p.more.size() + 2 == o.inside.size() + o.extra.size();
      });
    else look(at, h.value, [&](number x) { return x == o.value; });
  }

  template <typename Future, typename Same>
  void look(std::size_t at, const Future& f, Same same) {
    const std::set<int>& causes = expected_[at].causes;
    sight& seen = seen_[at];
    seen.looked = true;
    try {
      const bool right = same(f.get());
      if (!causes.empty()) seen.wrong = "has a value and should have failed";
      else if (!right) seen.wrong = "has a wrong value";
    } catch (const manta::error& e) {
      const bool expected = std::any_of(causes.begin(), causes.end(), [&](int id) {
        return contains(e.what(), std::string(1, '<').append(std::to_string(id)) + ">");
      });
      if (expected && dynamic_cast<const manta::task_failed*>(&e) != nullptr) return;
      if (deadly_ && by_death(e)) seen.lost = true;
      else
        seen.wrong =
            (causes.empty() ? "failed and should not: " : "failed for another reason: ") + std::string(e.what());
    } catch (const std::exception& e) {
      seen.wrong = "threw what is no error of manta's: " + std::string(e.what());
    }
  }

  /// A lost call, or one that nobody looked at, leaves its actor in another state than the serial evaluation's.
  void judge() {
    std::vector<bool> vague(graph_.size(), false);
    bool unsure[actors] = {};
    for (std::size_t at = 0; at < graph_.size(); ++at) {
      const node& n = graph_[at];
      const sight& seen = seen_[at];
      const bool call = n.what == kind::add || n.what == kind::add_given;
      vague[at] = seen.lost || (call && unsure[n.actor]) ||
                  std::any_of(n.in.begin(), n.in.end(), [&](std::size_t i) { return vague[i]; });
      if (call && deadly_ && (vague[at] || !seen.looked)) unsure[n.actor] = true;
      if (!seen.wrong.empty() && !vague[at]) {
        verdict_.wrong.push_back("node " + std::to_string(at) + " of kind " + std::to_string(static_cast<int>(n.what)) +
                                 " " + seen.wrong);
      } else if (seen.looked) {
        ++(seen.lost ? verdict_.lost : verdict_.right);
      }
    }
  }

  void drop(std::size_t at) {
    made_[at] = {};
    dropped_[at] = true;
  }

  /// A tree beside the graph, with a task behind it, is cancelled at some time in its life: they end, one way or the other.
  void change_mind(std::size_t at) {
    modest_ = deadly_;
    const u64 salt = rng_() >> 8U;
    const auto unwanted = manta::async<tree>(options(), salt, 4, -1);
    const auto behind = manta::async<wait_for>(options(), salt, unwanted);
    const auto after = manta::async<combine>(options(), salt, unwanted, unwanted);
    if (one_in(3)) unwanted.wait_for(std::chrono::microseconds(below(200)));
    const bool cancelled = manta::cancel(unwanted, {.children = one_in(2)});
    for (const auto& f : {unwanted, behind, after}) {
      try {
        (void)f.get();
        if (cancelled)
          verdict_.wrong.push_back("a task has a value although it, or what it depends on, was cancelled, near node " +
                                   std::to_string(at));
      } catch (const manta::cancelled&) {
        if (!cancelled)
          verdict_.wrong.push_back("a task that had ended became cancelled, near node " + std::to_string(at));
      } catch (const manta::error& e) {  // the tree's own failure, or that of the task that waited for it
        if (deadly_ && by_death(e)) continue;
        if ((cancelled && f == unwanted) || dynamic_cast<const manta::task_failed*>(&e) == nullptr)
          verdict_.wrong.push_back("a cancelled task failed for another reason, near node " + std::to_string(at));
      }
    }
  }

  /// wait, ready and wait_for change nothing about the results.
  void look_around(std::size_t at) {
    std::set<std::size_t> places;
    for (std::size_t i = 0; i < 10; ++i) places.insert(below(at + 1));
    std::vector<manta::future<number>> some;
    for (const std::size_t i : places) {
      const kind what = graph_[i].what;
      if (what != kind::make_list && what != kind::send && what != kind::resend && !dropped_[i])
        some.push_back(made_[i].value);
    }
    if (some.empty()) return;
    const auto [ready, pending] =
        manta::wait(some, {.count = 1 + below(some.size()), .timeout = std::chrono::milliseconds(below(3))});
    for (const auto& f : ready) {
      if (!f.ready()) verdict_.wrong.push_back("a future that wait called ready is not");
    }
    if (ready.size() + pending.size() != some.size()) verdict_.wrong.push_back("wait lost a future");
    for (const auto& f : pending) f.wait_for(std::chrono::microseconds(below(50)));
  }

  const std::vector<node>& graph_;
  const std::vector<outcome>& expected_;
  std::mt19937_64 rng_;
  bool deadly_;
  bool modest_ = false;  // no conditions that a world with fewer ranks might not meet
  std::vector<handles> made_;
  std::vector<std::size_t> uses_;
  std::vector<bool> dropped_;
  std::vector<manta::actor<ledger>> ledgers_;
  struct sight {
    bool looked = false, lost = false;
    std::string wrong;
  };
  std::vector<sight> seen_;
  verdict verdict_;
};

}  // namespace manta::testing::random_graph
