// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of start.hpp. What each rank has: settings first, else what the
// machine and the batch system say. Every rank says what it sees; all compute the
// same shares of what the ranks of a node see together.
#pragma once

#include <csignal>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/environment.hpp"
#include "manta/base/hash.hpp"
#include "manta/base/launcher.hpp"
#include "manta/base/machine.hpp"
#include "manta/base/text.hpp"
#include "manta/exec/start.hpp"
#include "manta/net/collectives.hpp"

namespace manta::exec {

MANTA_DECL void compare_programs(const rank_stores& rank) {
  const std::string listing = wire::table_listing();
  const std::uint64_t digest = base::hash_text(listing);
  const std::vector<std::string> digests =
      net::all_gather(rank.net.comm(), std::string(reinterpret_cast<const char*>(&digest), sizeof digest));
  bool same = true;
  for (const std::string& d : digests) same = same && d == digests[0];
  if (same) return;
  const std::string theirs = net::broadcast(rank.net.comm(), listing);
  const auto line = [](const std::string& text, std::size_t at) {
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    const std::size_t end = text.find('\n', begin);
    return begin >= text.size() ? std::string() : text.substr(begin, end - begin);
  };
  std::string mine;
  if (listing != theirs) {
    std::size_t at = 0;
    while (at < listing.size() && at < theirs.size() && listing[at] == theirs[at]) ++at;
    const std::string here = line(listing, at), there = line(theirs, at);
    const auto readable = [](const std::string& l) {
      return l.size() < 3 ? std::string("nothing") : "'" + wire::demangle(l.c_str() + 2) + "'";
    };
    mine = base::text("rank {} ({}) has {} where rank 0 has {}", rank.rank, store::host_name(), readable(here),
                      readable(there));
  }
  for (const std::string& difference : net::all_gather(rank.net.comm(), mine)) {
    if (difference.empty()) continue;
    throw error("manta: not all ranks run the same program: " + difference +
                "; start every rank from the same binary, and rebuild it everywhere");
  }
}

/// What is wrong with a program of which some units were compiled header-only and others not; empty: nothing.
MANTA_DECL std::string mixed_modes() {
#ifdef MANTA_COMPILED
  if (manta::detail::header_only_unit != nullptr) {
    return std::string("manta: ") + manta::detail::header_only_unit +
           " was compiled without MANTA_COMPILED, and other units of this " +
           "program with it; compile all of them with -DMANTA_COMPILED, or none (then leave out manta/src.hpp and "
           "libmanta.a)";
  }
#endif
  return {};
}

/// What a rank says of itself before devices are shared out.
struct claim {
  graph::capacity offered;
  std::string devices;      ///< the list it sees
  bool alone = false;       ///< nobody else sees them
  double gpus = -1;         ///< a setting; below 0: what it sees
  std::uint64_t lends = 0;  ///< bytes for values that others of its node may use as long as it does not
  std::uint64_t share = 0;  ///< bytes for values if none are set; 0: any number. Others are not told

  void write(wire::buffer& out) const {
    offered.write(out);
    wire::put(out, devices);
    wire::put(out, alone);
    wire::put(out, gpus);
    wire::put(out, lends);
  }
  void read(wire::source& in) {
    offered.read(in);
    in.get(devices);
    in.get(alone);
    in.get(gpus);
    in.get(lends);
  }
};

/// A rank's own devices, given what the ranks of its node say. A setting takes the first of its share, and where that
/// is too small the first of all. Those that stand by have devices that nobody else sees who works.
MANTA_DECL graph::gpu_set devices_of(const base::array<claim>& all, const base::list<std::uint32_t>& on_node,
                                     rank_id rank) {
  const claim& mine = all[rank];
  int ranks = 0, position = 0;
  for (const std::uint32_t r : on_node) {
    if (r != rank && (mine.alone || all[r].alone || all[r].devices != mine.devices)) continue;
    if (mine.offered.stands_by && all[r].offered.executes) return {};
    if (all[r].offered.executes != mine.offered.executes || all[r].offered.stands_by != mine.offered.stands_by)
      continue;
    if (r < rank) ++position;
    ++ranks;
  }
  const base::device_share share = base::share_devices(base::count_devices(mine.devices), position, ranks);
  graph::gpu_set set;
  set.whole = share.whole;
  set.part = share.part;
  if (share.part >= 0) set.part_units = graph::gpu_set::whole_device / share.part_ranks;
  if (!mine.offered.executes && !mine.offered.stands_by) return {};
  if (mine.gpus < 0) return set;
  const auto wanted = static_cast<int>(mine.gpus);
  const std::int64_t part = std::llround((mine.gpus - wanted) * graph::quantity_units);
  graph::gpu_set chosen;
  int at = 0;
  const auto next = [&] {
    while (at < graph::gpu_set::most && set.whole_count() >= wanted + (part > 0) && (set.whole >> at & 1) == 0) ++at;
    return at++;
  };
  for (int i = 0; i < wanted; ++i) chosen.whole |= std::uint64_t{1} << next();
  if (part > 0) {
    chosen.part = wanted == 0 && set.part >= 0 ? set.part : next();
    chosen.part_units = part;
  }
  return chosen;
}

/// Collective. The last ranks stand by, as many as rank 0 says.
MANTA_DECL void appoint_spares(rank_stores& rank, const engine_options& options) {
  int count = options.spares;
  net::check(MPI_Bcast(&count, 1, MPI_INT, 0, rank.net.comm()), "MPI_Bcast");
  if (rank.size == 1) return;
  if (count + 1 >= static_cast<int>(rank.size)) {
    throw error(base::text(
        "manta: runtime_options::spares or MANTA_SPARES: {} of {} ranks are to stand by, and none is left to run "
        "tasks; start more ranks, or let fewer stand by",
        count, rank.size));
  }
  rank.members.appoint_spares(static_cast<std::uint32_t>(count));
  rank.net.stand_by(count);
}

/// What this rank has, before the others are asked.
MANTA_DECL claim claim_of(const rank_stores& rank, const engine_options& options) {
  const auto variable = [](const char* name) -> const char* { return std::getenv(name); };
  const net::topology& nodes = rank.net.topology();
  const auto workers = static_cast<std::uint64_t>(std::max(1, nodes.busy_on_node()));
  claim mine;
  graph::capacity& c = mine.offered;
  c.stands_by = rank.members.is_spare(rank.rank);
  // A rank that stands by takes no part in what the workers of its node share out.
  const bool beside_workers = c.stands_by && nodes.busy_on_node() < nodes.ranks_on_node();
  c.cpus = options.cpus > 0 ? options.cpus
           : beside_workers ? 1
                            : base::cpus_of_rank(nodes.cores(), nodes.busy_on_node(), base::read_file, variable);
  c.node = rank.net.node();
  c.resources = options.resources;
  c.executes = !c.stands_by && (rank.rank != 0 || rank.size == 1 || options.rank0_tasks);
  double memory = c.resources.amount("memory");
  if (!c.resources.has("memory")) {
    memory = std::max(0.0, base::memory_of_rank(c.cpus, nodes.busy_on_node(), base::read_file, variable));
    if (memory > 0 && !beside_workers) c.resources["memory"] = graph::quantity("memory", memory).units;
  }
  mine.share =
      options.node_store_memory != 0 ? options.node_store_memory / workers : static_cast<std::uint64_t>(memory / 2);
  if (options.store_memory == 0 && !c.stands_by && rank.net.board().held_by(static_cast<int>(rank.rank)) != nullptr)
    mine.lends = mine.share;
  const base::visible_devices seen = base::find_devices(variable);
  mine.devices = seen.list;
  mine.alone = seen.alone;
  mine.gpus = options.gpus;
  return mine;
}

/// The settings of rank 0 that hold for all.
MANTA_DECL void write_settings(wire::buffer& out, const engine_options& of_rank_0) {
  wire::put(out, of_rank_0.seed);
  wire::put(out, of_rank_0.recovery);
  wire::put(out, of_rank_0.watchdog_ns);
  wire::put(out, of_rank_0.journal.folder);
  wire::put(out, of_rank_0.end_time != 0 ? of_rank_0.end_time : base::end_of_job());
  wire::put(out, of_rank_0.end_margin);
  wire::put(out, of_rank_0.outputs.trace);
  wire::put(out, of_rank_0.outputs.trace_bytes);
}
MANTA_DECL void read_settings(wire::source& in, engine_options& options) {
  in.get(options.seed);
  in.get(options.recovery);
  in.get(options.watchdog_ns);
  in.get(options.journal.folder);
  in.get(options.end_time);
  in.get(options.end_margin);
  in.get(options.outputs.trace);
  in.get(options.outputs.trace_bytes);
}

/// Collective. What all ranks have; the settings of rank 0 replace this rank's. Throws on all ranks if one of them has
/// found a mistake in its settings.
MANTA_DECL base::array<claim> exchange_claims(const rank_stores& rank, const claim& mine, engine_options& options) {
  wire::buffer bytes;
  mine.write(bytes);
  if (options.mistake.empty()) options.mistake = mixed_modes();
  wire::put(bytes, options.mistake);
  if (rank.rank == 0) write_settings(bytes, options);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::vector<std::string> parts = net::all_gather(rank.net.comm(), text);
  base::array<claim> claims(rank.size);
  for (std::size_t r = 0; r < rank.size; ++r) {
    wire::source in(reinterpret_cast<const std::byte*>(parts[r].data()), parts[r].size());
    claims[r].read(in);
    const std::string mistake = in.get<std::string>();
    if (!mistake.empty()) throw error(mistake);
    if (r == 0) read_settings(in, options);
  }
  return claims;
}

/// Ranks of one node may use each other's memory for values as long as its owner does not.
MANTA_DECL void lend_memory(rank_stores& rank, const base::array<claim>& claims) {
  const auto held_by = [&](std::uint32_t r) { return rank.net.board().held_by(static_cast<int>(r)); };
  rank.ledger.lend(*held_by(rank.rank));
  for (std::uint32_t r = 0; r < rank.size; ++r) {
    if (r == rank.rank || held_by(r) == nullptr || claims[r].lends == 0) continue;
    rank.ledger.borrow_from(r, *held_by(r), claims[r].lends);
  }
}

MANTA_DECL void share_settings(rank_stores& rank, engine_options& options) {
  appoint_spares(rank, options);
  const claim mine = claim_of(rank, options);
  constexpr std::uint64_t any_number = ~std::uint64_t{0};
  const std::uint64_t limit = options.store_memory != 0 ? options.store_memory : mine.share;
  const auto variable = [](const char* name) -> const char* { return std::getenv(name); };
  rank.ledger.set_limits(limit != 0 ? limit : any_number,
                         options.spill_folder.empty() ? base::spill_folder(variable) : options.spill_folder);
  const base::array<claim> all = exchange_claims(rank, mine, options);
  rank.seed = options.seed;
  base::array<base::list<std::uint32_t>> on_node(static_cast<std::size_t>(rank.net.topology().nodes()));
  const auto node_of = [&](std::uint32_t r) { return static_cast<std::size_t>(all[r].offered.node); };
  for (std::uint32_t r = 0; r < rank.size; ++r) on_node[node_of(r)].push_back(r);
  for (std::uint32_t r = 0; r < rank.size; ++r) {
    const std::string& devices = all[r].devices;
    graph::capacity its = all[r].offered;
    its.gpus = devices_of(all, on_node[node_of(r)], r);
    rank.world.set(r, its);
    if (!rank.members.has_spares()) continue;
    rank.sees.push_back(all[r].alone ? 0 : base::hash_bytes(devices.data(), devices.size(), 1));
  }
  if (mine.lends != 0) lend_memory(rank, all);
}

MANTA_DECL void open_journal(rank_parts& all, const engine_options& options) {
  if (options.journal.folder.empty()) return;
  std::uint64_t program = all.rank.rank == 0 ? journaling::digest_of_program(all.rank.seed) : 0;
  net::check(MPI_Bcast(&program, 1, MPI_UINT64_T, 0, all.rank.net.comm()), "MPI_Bcast");
  std::string mistake;
  try {
    all.values.journaling.open(options.journal.folder, program, all.rank.rank, options.journal.least);
    if (all.values.journaling.is_open()) all.homes.named.keep_all_until_end();
  } catch (const error& e) {
    mistake = e.what();
  }
  for (const std::string& each : net::all_gather(all.rank.net.comm(), mistake)) {
    if (each.empty()) continue;
    all.values.journaling.close();
    throw error(each);
  }
  all.homes.home.keep_records_above(0);
}

MANTA_DECL void connect_lifelines(rank_parts& all, const engine_options& options) {
  if (all.rank.size == 1 || !options.recovery) return;
  all.rank.lifeline = new net::lifeline(all.rank.net, options.heartbeat_ns);
  if (all.rank.lifeline->is_up()) {
    all.rank.members.set_recovers();
    if (!all.values.journaling.is_open()) all.homes.home.keep_records_above(sizeof(std::uint64_t) + 1);
    net::print_mpi_warnings_here();
    struct sigaction pipe {};  // MPI may write to a connection whose other end has died
    if (::sigaction(SIGPIPE, nullptr, &pipe) == 0 && pipe.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
    return;
  }
  if (all.rank.rank == 0) {
    std::fprintf(stderr, "manta: %s, so the death of a rank will not be noticed, and the program may hang then%s; %s\n",
                 all.rank.lifeline->why_not().c_str(),
                 all.rank.members.has_spares() ? ", and the ranks that stand by never run anything" : "",
                 all.rank.lifeline->remedy().c_str());
  }
  delete std::exchange(all.rank.lifeline, nullptr);
}

}  // namespace manta::exec
