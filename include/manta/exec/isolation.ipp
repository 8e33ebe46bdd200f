// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Where child processes come into the engine: the zygote is started, and a child begins its work.
#pragma once

#include "manta/base/zygote.hpp"
#include "manta/exec/engine.hpp"
#include "manta/exec/isolation/child_side.hpp"

namespace manta::exec {

MANTA_DECL void engine::prepare_isolation(bool before_mpi) {
  if (base::zygote::is_wanted)
    base::zygote::of_process().start(&engine::serve_rank, !before_mpi);  // else the first task says why
}

[[noreturn]] MANTA_DECL void engine::serve_rank(int socket, base::child_page& page) {
  role_ = role::none;  // a fork of the rank in the middle of a run has these
  current_ = nullptr;
  child_side side(socket, page);
  isolated_ = &side.view();
  side.serve();
}

}  // namespace manta::exec
