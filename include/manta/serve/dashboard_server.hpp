// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The server behind manta::dashboard. Other than that of serve::http it has a thread of its own, which does nothing but
// receive requests and send texts that rank 0 makes (run_viewer.hpp): it answers while the driver computes. It is made
// of the same parts.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/run_viewer.hpp"
#include "manta/serve/dashboard.hpp"
#include "manta/serve/http_connections.hpp"
#include "manta/serve/http_events.hpp"
#include "manta/serve/http_guard.hpp"
#include "manta/serve/http_listener.hpp"
#include "manta/serve/http_options.hpp"

namespace manta::serve::detail {

class dashboard_server final : public http_service {
 public:
  /// Listens, and starts the thread.
  explicit dashboard_server(const dashboard_options& options);
  ~dashboard_server() override;
  dashboard_server(const dashboard_server&) = delete;
  dashboard_server& operator=(const dashboard_server&) = delete;

  [[nodiscard]] int port() const { return listener_.port(); }
  [[nodiscard]] std::string url() const;

  bool admit(http_connection& c) override;
  void answer_request(http_connection& c) override;
  void answer_refusal(http_connection& c, const message_refusal& why) override;
  void part_left(http_connection&) override {}
  void client_left(http_connection& c) override;

 private:
  /// A request that waits for a text.
  struct waiting {
    http_connection* from;
    run_viewer::kind which;
    std::uint64_t known;  ///< the number of the text that was there when it came
    std::int64_t until;
  };
  /// A descriptor that only ends a wait.
  struct waker final : event_handler {
    void came(std::uint32_t) override {}
  };

  void work();  ///< The loop of the thread.
  void wait();  ///< Until something comes, or it is time to look.
  void answer_waiting();
  /// Answers with a text that rank 0 makes, as soon as it is there.
  void answer_by_text(http_connection& c, run_viewer::kind which);
  [[nodiscard]] reply reply_of(const run_viewer::version& text, run_viewer::kind which) const;

  const http_options options_;
  run_viewer viewer_;
  event_set events_;
  http_listener listener_{options_};
  http_guard guard_{options_};
  http_connections connections_{options_, *this, events_, listener_};
  std::vector<waiting> waiting_;
  waker ends_;
  int bell_ = -1;  // rings when the thread is to end
  std::atomic<bool> has_to_end_{false};
  std::thread thread_;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/dashboard_server.ipp"
#endif
