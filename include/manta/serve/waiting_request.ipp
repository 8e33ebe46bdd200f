// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/serve/waiting_request.hpp"

namespace manta::serve::detail {

MANTA_DECL bool is_wanted(const dispatcher::batch& b) {
  return std::any_of(b.requests.begin(), b.requests.end(),
                     [](queued_request* r) { return !r->caller.stop_requested(); });
}

MANTA_DECL call_end finish_call(const any_future& call, const dispatcher::batch& b, const batch_terms& terms) {
  call_end end = wait_for_call(
      call, terms.limit, [&] { return is_wanted(b); }, terms.given_up);
  if (end == call_end::unwanted && terms.is_isolated) {
    end = wait_for_call(
        call, terms.limit, [] { return true; }, terms.given_up);
    if (end == call_end::answered) return call_end::unwanted;
  }
  return end == call_end::answered || cancel_call(call) ? end : call_end::answered;
}

}  // namespace manta::serve::detail
