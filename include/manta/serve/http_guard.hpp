// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Decides which clients may ask: those that name this server as their host, that have the token, and that are no pages
// of other sites.
// A browser lets any page send requests to any server, also to one on the same machine, and says in the fields Origin
// and Sec-Fetch-Site from where they come.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/serve/http_message.hpp"
#include "manta/serve/http_options.hpp"
#include "manta/serve/http_reply.hpp"
#include "manta/serve/http_target.hpp"

namespace manta::serve::detail {

/// Eight hexadecimal digits for each of these words, from the system's source of random numbers.
MANTA_DECL std::string random_digits(int words);

class http_guard {
 public:
  explicit http_guard(const http_options& options);

  /// The port is known when the server listens.
  void set_port(int port) { port_ = port; }
  /// Whether the client of this request must not ask; the answer says why. `is_open`: no token is needed. `is_page`: a
  /// page for people, to which other sites may lead by a link.
  [[nodiscard]] MANTA_DECL bool refuses(const http_message& request, const http_target& target, bool is_open,
                                        bool is_page, reply& answer) const;
  /// Whether pages of this origin may read answers (http_options::cors).
  [[nodiscard]] MANTA_DECL bool may_read(std::string_view origin) const;

 private:
  [[nodiscard]] bool is_known(const http_authority& host) const;
  [[nodiscard]] bool may_ask(std::string_view origin, std::string_view host) const;
  [[nodiscard]] bool has_token(const http_message& request, const http_target& target) const;
  [[nodiscard]] bool refuses_host(const http_message& request, const http_target& target, reply& answer) const;
  [[nodiscard]] bool refuses_site(const http_message& request, bool is_page, reply& answer) const;

  const http_options& options_;
  std::vector<std::string> own_names_;  ///< names of this machine, in small letters
  int port_ = 0;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_guard.ipp"
#endif
