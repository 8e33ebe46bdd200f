// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The page of a run that goes on; see manta/dashboard.hpp.
#pragma once

#include <memory>
#include <string>

#include "manta/base/config.hpp"
#include "manta/serve/source_http.hpp"

namespace manta {

namespace serve::detail {
class dashboard_server;
}

struct dashboard_options {
  int port = 0;                       ///< 0: the system chooses one
  std::string address = "127.0.0.1";  ///< "0.0.0.0": from all networks
  /// Needed as ?token=TOKEN, or as `Authorization: Bearer TOKEN`. Empty: a random one, which stands in the address that
  /// is printed, because other users of this machine reach its ports too. "none": no token is needed.
  std::string token = {};
  bool quiet = false;  ///< does not say where it is
};

/// A page that shows the run. To be made in the driver, one at a time, and destroyed there.
class dashboard {
 public:
  /// Listens from now on. Throws manta::error if the port is taken, or another dashboard is there.
  MANTA_DECL explicit dashboard(dashboard_options options = {});
  MANTA_DECL ~dashboard();
  dashboard(const dashboard&) = delete;
  dashboard& operator=(const dashboard&) = delete;

  MANTA_DECL int port() const;
  /// The address for a browser, with the token.
  MANTA_DECL std::string url() const;

 private:
  std::unique_ptr<serve::detail::dashboard_server> server_;
};

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/serve/dashboard.ipp"
#endif
