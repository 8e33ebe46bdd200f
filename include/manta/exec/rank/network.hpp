// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The network by which the ranks speak with each other: that of MPI. A test that
// defines MANTA_NETWORK as the name of a header gets all parts of a rank over the
// class `manta::exec::network` of that header instead, such as several ranks in
// one process (tests/support/loopback_network.hpp).
#pragma once

#ifdef MANTA_NETWORK
#include MANTA_NETWORK
#else
#include "manta/net/network.hpp"

namespace manta::exec {

using network = net::network;

}  // namespace manta::exec
#endif
