// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Waits that a readable descriptor ends (manta/watcher.hpp). A rank that has something to do looks at the descriptors
// between its other work; a rank that sleeps is woken by them.
#pragma once

#include <poll.h>

#include "manta/exec/engine.hpp"

namespace manta::exec {

/// Ends the waits whose descriptors are readable; true if there is one.
MANTA_DECL bool engine::check_descriptors() {
  bool any = false;
  for (wait_record* record : waits_) {
    if (record->descriptor < 0) continue;
    pollfd look{record->descriptor, POLLIN, 0};
    if (!record->readable && ::poll(&look, 1, 0) == 0) continue;
    record->readable = any = true;
    wake(*record);
  }
  return any;
}

/// As net_.sleep, but a descriptor that becomes readable ends it too.
MANTA_DECL void engine::sleep_beside_descriptors(std::int64_t ns) {
  if (check_descriptors()) return;
  if (net_.can_be_woken()) {
    if (bell_ == nullptr) bell_.reset(new descriptor_bell(&rouse_helper, this));
    bool armed = true;
    for (const wait_record* record : waits_)
      armed = armed && (record->descriptor < 0 || bell_->arm(record->descriptor));
    return net_.sleep(armed ? ns : std::min<std::int64_t>(ns, 1'000'000));
  }
  base::list<pollfd> all;
  for (const wait_record* record : waits_) {
    if (record->descriptor >= 0) all.push_back({record->descriptor, POLLIN, 0});
  }
  const timespec length{ns / 1'000'000'000, ns % 1'000'000'000};
  ::ppoll(all.data(), static_cast<nfds_t>(all.size()), &length, nullptr);
}

MANTA_DECL void engine::forget_descriptor(int descriptor) {
  if (bell_ != nullptr) bell_->disarm(descriptor);
}

}  // namespace manta::exec
