// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Asks the deployments of a server's routes how they do, for a page that shows it. The server does not wait for them:
// of one that does not answer within a second, the page shows what it said last, and how long ago that was.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/serve/call.hpp"
#include "manta/serve/http_routes.hpp"
#include "manta/serve/status.hpp"

namespace manta::serve::detail {

/// What a deployment has said.
struct deployment_report {
  static constexpr double longest_age = 10;  ///< seconds after which nobody can rely on what it said

  std::string name;
  route* at;                              ///< the first of its routes
  std::vector<std::string> paths = {};    ///< paths of its routes
  std::optional<serve::status> its = {};  ///< nothing: it has not answered
  double age = 0;                         ///< seconds since it said that; 0: it has been asked just now
  std::string problem = {};               ///< why it has not answered now

  /// Whether it would answer a request, as far as is known.
  [[nodiscard]] bool is_ready() const { return its && its->ready && age < longest_age; }
  /// Why not; may be empty.
  [[nodiscard]] const std::string& why() const { return problem.empty() && its ? its->problem : problem; }
};

class status_call final : public call {
 public:
  /// `write` makes the answer. `only`: asks the deployment of this route alone.
  MANTA_DECL status_call(const route_table& routes, const route* only,
                         std::function<reply(const std::vector<deployment_report>&)> write);
  void set_writer(std::function<reply(const std::vector<deployment_report>&)> write) { write_ = std::move(write); }
  /// Waits for these, too.
  void ask_others(std::vector<future<std::string>> asked) { others_asked_ = std::move(asked); }
  /// What came of them.
  [[nodiscard]] const std::vector<std::string>& others() const { return others_; }

  MANTA_DECL any_future waits_for() override;
  MANTA_DECL bool step(reply& answer, answer_form form) override;
  [[nodiscard]] std::int64_t patience() const override { return 1'000'000'000; }
  MANTA_DECL bool answer_at_once(reply& answer) override;

 private:
  void take(std::size_t i);
  void take_last(std::size_t i);
  void take_other(const future<std::string>& from);

  std::vector<deployment_report> reports_;
  std::vector<future<serve::status>> asked_;
  std::size_t next_ = 0;
  std::vector<future<std::string>> others_asked_;
  std::vector<std::string> others_;
  std::size_t next_other_ = 0;
  std::function<reply(const std::vector<deployment_report>&)> write_;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/status_call.ipp"
#endif
