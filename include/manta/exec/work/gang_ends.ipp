// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/exec/work/gang_ends.hpp"
#include "manta/wire/bytes.hpp"
#include "manta/wire/function_table.hpp"

namespace manta::exec {

MANTA_DECL bool gang_ends::gang_end::has_ended(rank_id member) const {
  for (const std::uint32_t each : ended) {
    if (each == member) return true;
  }
  return false;
}

MANTA_DECL gang_ends::~gang_ends() {
  base::list<gang_end*> all;
  ends_.for_each([&](gang_end& end) { all.push_back(&end); });
  for (gang_end* const end : all) finish(*end);
}

MANTA_DECL gang_ends::gang_end& gang_ends::of(std::uint64_t gang, std::size_t size) {
  if (gang_end* const known = ends_.find(gang)) return *known;
  auto* const end = new gang_end;
  end->gang = gang;
  // The end of another member may come before this rank's own part begins, so whichever is first makes the record.
  end->missing = size;
  ends_.set(gang, end);
  return *end;
}

MANTA_DECL base::list<gang_ends::gang_end*> gang_ends::with_member(rank_id member) const {
  base::list<gang_end*> found;
  ends_.for_each([&](gang_end& end) {
    // Before the leader's part begins, nothing is known of the members; it asks for deaths itself when it begins
    // (gangs::run_part).
    if (end.leader == nullptr || end.missing == 0) return;
    for (const std::uint32_t each : end.leader->gang->ranks) {
      if (each == member) found.push_back(&end);
    }
  });
  return found;
}

MANTA_DECL void gang_ends::add_part(gang_end& end, std::uint32_t place, wire::buffer&& bytes) {
  end.parts = new gang_end::part{place, std::move(bytes), end.parts};
}

MANTA_DECL bool gang_ends::note_ended(gang_end& end, rank_id member, std::int64_t now_ns) {
  if (!end.has_ended(member)) {  // else the rank has died after its part had ended
    --end.missing;
    end.ended.push_back(member);
  }
  // From this time on gang_guard counts how long the other members take.
  if (end.why != nullptr && end.failed_ns == 0) end.failed_ns = now_ns;
  if (end.missing == 0) complete_.push_back(&end);
  return end.leader != nullptr && end.why != nullptr && !std::exchange(end.told, true);
}

MANTA_DECL gang_ends::gang_end& gang_ends::take_complete() {
  gang_end& end = *complete_.back();
  complete_.pop_back();
  return end;
}

MANTA_DECL void gang_ends::finish(gang_end& end) {
  ends_.erase(end.gang);
  delete end.value;
  while (end.parts != nullptr) delete std::exchange(end.parts, end.parts->next);
  delete &end;
}

MANTA_DECL std::uint64_t gang_ends::arrivals(std::uint64_t gang) const {
  const std::uint64_t* const count = meetings_.find(gang);
  return count == nullptr ? 0 : *count;
}

MANTA_DECL void gang_ends::merge_parts(gang_end& end) {
  if (end.value->form != graph::form::box) return;
  const wire::type_entry& type = wire::type_at(end.value->type);
  if (type.merge == nullptr) return;
  // The parts are listed as they came; the result must not depend on that, so they are merged by member.
  for (std::uint32_t member = 1; member < end.leader->gang->ranks.size(); ++member) {
    for (const gang_end::part* p = end.parts; p != nullptr; p = p->next) {
      if (p->member != member) continue;
      wire::source in(p->bytes.data(), p->bytes.size());
      void* const value = type.read(in);
      type.merge(end.value->box, value);
      type.destroy(value);
    }
  }
}

}  // namespace manta::exec
