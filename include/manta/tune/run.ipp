// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of run.hpp.
#pragma once

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "manta/tune/conductor.hpp"
#include "manta/tune/run.hpp"

namespace manta::tune {

namespace detail {

/// As people write it, where the compiler's library can say so.
MANTA_DECL std::string readable_name(const body_name& what) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(what.mangled.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : what.mangled;
}

MANTA_DECL results run_experiment(const space& where, const experiment& e, const body_name& what, bool gang) {
  if (!gang && e.ranks > 1) {
    throw error("manta: tune: .ranks is for gangs: have the function take manta::team first (a class: in setup), or leave it out");
  }
  if (gang && e.isolate) {
    throw error("manta: tune: .isolate is not for gangs, for a child process has no MPI; leave it out");
  }
  study s(where, e, readable_name(what));
  if (!s.continued().empty()) std::fprintf(stderr, "%s: %s\n", e.name.c_str(), s.continued().c_str());
  if (!s.finished()) conductor(s, what, gang).run();
  if (s.is_broken()) {
    std::fprintf(stderr, "%s: %s; the experiment has stopped there, and %zu trials are kept\n", e.name.c_str(), s.stopping().c_str(), s.trials().size());
  }
  return results(s);
}

}  // namespace detail

}  // namespace manta::tune
