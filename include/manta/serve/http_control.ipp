// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/cancel.hpp"
#include "manta/output/json_builder.hpp"
#include "manta/serve/http_control.hpp"
#include "manta/serve/http_failures.hpp"
#include "manta/serve/http_routes.hpp"
#include "manta/serve/router.hpp"

namespace manta::serve::detail {

using output::json_builder;

inline constexpr std::string_view control_paths = "/api/deployments/";

MANTA_DECL bool is_control_path(std::string_view path) { return path.starts_with(control_paths); }

/// A change that a deployment's router makes.
class change_call final : public call {
 public:
  change_call(std::string name, std::string what, future<void> done)
      : name_(std::move(name)), what_(std::move(what)), done_(std::move(done)) {}
  any_future waits_for() override { return done_; }
  bool step(reply& answer, answer_form) override {
    try {
      done_.get();
    } catch (const task_failed& e) {  // such as a constructor's exception, or that there is no canary
      answer =
          failure(409, base::text("the deployment \"{}\": {}: {}", name_, what_, without_places(e.details().what)));
      return false;
    }
    json_builder out;
    out.begin('{').member("deployment", name_).member("done", what_).end('}');
    answer = {200, std::move(out.text())};
    return false;
  }
  void abandon() override { cancel(done_); }

 private:
  std::string name_, what_;
  future<void> done_;
};

/// The part of the requests that a body names: {"weight": 0.1}.
inline std::optional<double> weight_in(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return std::nullopt;
  const json_document document(body, "the body");
  const json_view root = document.root();
  if (!root.is_object()) throw json_error("the body: expected an object, such as {\"weight\": 0.1}");
  std::optional<double> weight;
  for (const auto& [key, value] : root.members()) {
    if (key != "weight") throw json_error(base::text("there is no member \"{}\"; there is weight", key));
    json_reader().read_at("weight", weight.emplace(), value);
  }
  return weight;
}

struct control_verb {
  std::string_view name;
  bool takes_weight, needs_weight;
  future<void> (*start)(const actor<router>& its, double weight);
};

inline const std::array<control_verb, 6>& control_verbs() {
  static const std::array<control_verb, 6> all{{
      {"update", true, false, [](const actor<router>& r, double w) { return async<&router::update_again>(r, w); }},
      {"canary", true, true, [](const actor<router>& r, double w) { return async<&router::weigh>(r, w); }},
      {"promote", false, false, [](const actor<router>& r, double) { return async<&router::promote>(r); }},
      {"rollback", false, false, [](const actor<router>& r, double) { return async<&router::rollback>(r); }},
      {"check", false, false, [](const actor<router>& r, double) { return async<&router::check>(r); }},
      {"drain", false, false, [](const actor<router>& r, double) { return async<&router::drain>(r); }},
  }};
  return all;
}

inline std::unique_ptr<call> refused_change(int status, const std::string& why) {
  return std::make_unique<done_call>(failure(status, why));
}

MANTA_DECL std::unique_ptr<call> control_call(const route_table& routes, std::string_view path, std::string_view body,
                                              bool may_change) {
  path.remove_prefix(control_paths.size());
  const std::size_t slash = path.rfind('/');
  const std::string name(path.substr(0, slash));
  const std::string_view what = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  const auto& verbs = control_verbs();
  const auto* const verb = std::find_if(verbs.begin(), verbs.end(), [&](const auto& v) { return v.name == what; });
  if (verb == verbs.end())
    return refused_change(404, "what a deployment does is update, canary, promote, rollback, check or drain");
  if (!may_change)
    return refused_change(403, "changes need a server with a .token, or on a Unix socket: others could make them too");
  for (const auto& each : routes.all()) {
    if (!each->at->deployment.valid() || each->at->deployment_name != name) continue;
    const std::optional<double> weight = weight_in(body);
    if (weight && !verb->takes_weight) throw json_error(base::text("{} takes no weight", what));
    if (!weight && verb->needs_weight) throw json_error(R"(weight is missing: {"weight": 0.1})");
    return std::make_unique<change_call>(name, std::string(what),
                                         verb->start(each->at->deployment, weight.value_or(1.0)));
  }
  return refused_change(404, base::text("no route leads to a deployment \"{}\"", shown(name)));
}

}  // namespace manta::serve::detail
