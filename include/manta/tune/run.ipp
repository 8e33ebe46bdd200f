// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>

#include "manta/tune/conductor.hpp"
#include "manta/tune/run.hpp"

namespace manta::tune {

namespace detail {

MANTA_DECL results run_experiment(const space& where, const experiment& e, const body_name& what, bool gang) {
  if (!gang && e.ranks > 1) {
    throw error(
        "manta: tune: .ranks is for gangs: have the function take manta::team first (a class: in setup), or leave it "
        "out");
  }
  if (gang && e.isolate) {
    throw error("manta: tune: .isolate is not for gangs, for a child process has no MPI; leave it out");
  }
  if (gang && e.repeats > 1) {
    throw error(
        "manta: tune: .repeats is not for gangs; let the function run several seeds, and report their mean, which "
        "tune::mean_of gives");
  }
  study s(where, e, name_of(what));
  if (!s.continued().empty()) std::fprintf(stderr, "%s: %s\n", e.name.c_str(), s.continued().c_str());
  const auto remark = [&] {
    for (const std::string& line : s.remarks()) std::fprintf(stderr, "%s: %s\n", e.name.c_str(), line.c_str());
  };
  if (!s.finished()) {
    if (s.trials().empty()) remark();
    conductor(s, what, gang).run();
    if (s.stopping().empty()) remark();
  }
  if (s.is_broken()) {
    std::fprintf(stderr, "%s: %s; the experiment has stopped there, and its trials are kept\n", e.name.c_str(),
                 s.stopping().c_str());
  }
  return results(s);
}

}  // namespace detail

}  // namespace manta::tune
