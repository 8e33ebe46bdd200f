// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The warden: a process beside each rank of the farm that ends the lines when the rank has died, of whatever. So no
// command goes on unseen, and a later start may run it again.
#pragma once

#include <sys/types.h>

#include <string>

namespace farm::warden {

/// Starts the warden; once, at the begin of main, while this process has one thread and little memory. Without a warden,
/// as when there are too many processes, lines may outlive a rank that is killed.
void start();

/// The variable `NAME=value` by which the warden recognises what a line has started, in whatever process group.
const std::string& mark();

/// The process group of a line has begun or has ended. It costs no system call.
void begin(pid_t group);
void end(pid_t group);

/// The rank ends as it should, and no line runs: the warden ends as well.
void dismiss();

}  // namespace farm::warden
