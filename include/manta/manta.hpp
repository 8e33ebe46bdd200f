// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// All headers for tasks, futures and actors. Programs include eigen.hpp, own.hpp, process.hpp, program.hpp,
// progress.hpp and the headers of the libraries themselves.
#pragma once

#include "manta/base/config.hpp"

// These headers come first, so that compilers list few headers above the messages of these about mistakes.
#include "manta/wire/traits.hpp"
//
#include "manta/call/future_range.hpp"
//
#include "manta/future.hpp"
//
#include "manta/call/requirements.hpp"
//
#include "manta/call/task_requirements.hpp"
//
#include "manta/async.hpp"
//
#include "manta/runtime.hpp"

#include "manta/actor.hpp"
#include "manta/actor_pool.hpp"
#include "manta/algorithm.hpp"
#include "manta/async.hpp"
#include "manta/cancel.hpp"
#include "manta/capacity.hpp"
#include "manta/error.hpp"
#include "manta/future.hpp"
#include "manta/isolate.hpp"
#include "manta/memory.hpp"
#include "manta/promise.hpp"
#include "manta/queue.hpp"
#include "manta/reservation.hpp"
#include "manta/run.hpp"
#include "manta/runtime.hpp"
#include "manta/stream.hpp"
#include "manta/team.hpp"
#include "manta/this_task.hpp"
#include "manta/wait.hpp"
#include "manta/watcher.hpp"
