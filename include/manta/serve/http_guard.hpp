// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which clients may ask, and what is not taken for a request. libevent is lenient where a proxy in front may read a
// message in another way (its issue 1860): two lengths, a length and a coding, codings other than "chunked". Such a
// request is refused and its connection closed, so that nothing behind it on the connection is ever taken for another
// request.
#pragma once

#include <event2/http.h>

#include <string>

#include "manta/base/config.hpp"
#include "manta/serve/http_options.hpp"
#include "manta/serve/http_reply.hpp"

namespace manta::serve::detail {

/// Refuses a request, with the answer that says why, if its client must not ask or if it is none.
MANTA_DECL bool refuse_request(const http_options& options, evhttp_request* request, reply& answer);
/// A header field of the request; empty if it has none of this name.
MANTA_DECL std::string header_of(evhttp_request* request, const char* name);

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_guard.ipp"
#endif
