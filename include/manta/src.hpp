// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The one source of a program in the compiled mode (base/config.hpp): define MANTA_COMPILED for all units of the
// program and compile a source that contains
//
//   #include <manta/src.hpp>
//
// This source holds the engine and all libraries whose dependencies are installed. Let it contain nothing else, so that
// it is compiled only once: with Eigen that takes minutes and 4 GB of memory. Where this is too much, define
// MANTA_SOURCES_APART, and compile as further sources, with that macro too, the src*.cpp in the folders of the
// libraries that the program uses.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/src.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#include "manta/manta.hpp"

#include "manta/actor.ipp"
#include "manta/call/handle.ipp"
#include "manta/call/input.ipp"
#include "manta/call/pool_members.ipp"
#include "manta/call/task_kinds.ipp"
#include "manta/capacity.ipp"
#include "manta/exec/engine.ipp"
#include "manta/memory.ipp"
#include "manta/options.ipp"
#include "manta/output/src.hpp"
#include "manta/process.ipp"
#include "manta/program.ipp"
#include "manta/progress.ipp"
#include "manta/report/src.hpp"
#include "manta/reservation.ipp"
#include "manta/run.ipp"
#include "manta/run_viewer.ipp"
#include "manta/runtime.ipp"
#include "manta/statistics.ipp"
#include "manta/stream.ipp"
#include "manta/task_options.ipp"
#include "manta/watcher.ipp"

#ifndef MANTA_SOURCES_APART  // by a build that compiles the sources of the libraries beside this one
#include "manta/nn/src.hpp"
#include "manta/output/src_json.hpp"
#include "manta/rl/src.hpp"
#include "manta/rl/src_offline.hpp"
#include "manta/serve/src.hpp"
#include "manta/serve/src_http.hpp"
#include "manta/serve/src_json.hpp"
#include "manta/train/src.hpp"
#include "manta/tune/src.hpp"
#endif
