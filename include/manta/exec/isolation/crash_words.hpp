// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a child process has ended, in words: the signal, the address, the functions in which it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "manta/base/child.hpp"
#include "manta/base/config.hpp"
#include "manta/base/containers.hpp"

namespace manta::exec {

/// The functions in which the process was: "; in f < g". Empty if it could not say so.
MANTA_DECL std::string describe_frames(const base::child_page& page);
/// What a child has written into its page about the signal that ends it; empty if nothing.
MANTA_DECL std::string describe_last_signal(const base::child_page& page);
/// How a process has ended, in words: by its status as waitpid gives it (-1: unknown), and by the signal that the
/// process has noted itself (0: none).
MANTA_DECL std::string describe_status(int status, int noted, const std::string& noted_in_words);
/// Gives up a child that does not answer any more. Returns how it has ended: "its process ended with ...".
MANTA_DECL std::string end_of_child(base::child* c);
/// The sizes of what the process had been given: "; it had 8 bytes of arguments, and inputs of 24 bytes".
MANTA_DECL std::string describe_sizes(std::size_t arguments, const base::list<std::uint64_t>& inputs);
/// Why a child was ended that has not called manta for `limit_ns`.
MANTA_DECL std::string describe_silence(std::int64_t limit_ns);

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/isolation/crash_words.ipp"
#endif
