// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the large values on each rank take.
#pragma once

#include "manta/memory.hpp"

namespace manta {

MANTA_DECL std::vector<rank_memory> memory() {
  exec::engine& e = exec::engine::here("memory");
  const exec::engine::guard g(e);
  const std::vector<wire::buffer> told = e.questions().memory_of_all();
  std::vector<rank_memory> all(told.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    rank_memory& m = all[r];
    m.rank = static_cast<int>(r);
    m.node = e.world()[r].node;
    if (told[r].empty()) {
      m.node = -1;
      continue;
    }
    wire::source in(told[r].data(), told[r].size());
    for (std::uint64_t* number :
         {&m.objects, &m.large, &m.bytes, &m.in_memory, &m.shared, &m.kept, &m.spilled, &m.dropped, &m.budget}) {
      in.get(*number);
    }
    m.largest.resize(in.get<std::size_t>());
    for (rank_memory::value& v : m.largest) {
      in.get(v.bytes);
      in.get(v.made_by);
      in.get(v.owner);
      in.get(v.copy);
    }
  }
  return all;
}

}  // namespace manta
