// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "manta/base/text.hpp"
#include "manta/output/json_builder.hpp"
#include "manta/output/metrics.hpp"
#include "manta/run.hpp"
#include "manta/serve/http_metrics.hpp"

namespace manta::serve::detail {

using output::json_builder;
using output::label;
using output::metrics_writer;

// --- JSON

inline void add_route_status(json_builder& out, const route& each, const std::vector<deployment_report>& deployments) {
  const endpoint& at = *each.at;
  const figures& its = each.its;
  out.begin('{').member("path", at.path).member("methods", each.methods()).member("name", at.options.name);
  out.member("under_way", its.under_way).member("answered", its.count);
  out.member("mean_seconds", its.count == 0 ? 0 : its.seconds / static_cast<double>(its.count));
  out.member("p50_at_most", its.quantile(.5)).member("p99_at_most", its.quantile(.99));
  out.key("answers").begin('{');
  for (const auto& [code, count] : its.answers) out.member(std::to_string(code), count);
  out.end('}');
  for (const deployment_report& d : deployments) {
    if (std::find(d.paths.begin(), d.paths.end(), at.path) == d.paths.end()) continue;
    if (d.its) out.key("deployment").json(to_json(*d.its));
    if (d.age > 0) out.member("age_seconds", d.age);
    if (!d.problem.empty()) out.member("problem", d.problem);
  }
  out.end('}');
}

MANTA_DECL std::string status_text(const route_table& routes, const server_state& server,
                                   const std::vector<deployment_report>& deployments,
                                   const std::vector<std::string>& others) {
  json_builder out;
  out.begin('{').member("url", server.url).member("seconds", server.seconds);
  out.member("connections", server.connections).member("refused", server.refused);
  out.member("draining", server.draining);
  out.key("servers").begin('[').json(server_text(routes, server));
  for (const std::string& each : others) out.json(each);
  out.end(']');
  out.key("other_answers").begin('{');
  for (const auto& [code, count] : server.other_answers) out.member(std::to_string(code), count);
  out.end('}').key("routes").begin('[');
  for (const auto& each : routes.all()) add_route_status(out, *each, deployments);
  out.end(']').end('}');
  return std::move(out.text());
}

MANTA_DECL std::string server_text(const route_table& routes, const server_state& server) {
  std::uint64_t answered = 0, under_way = 0;
  for (const auto& each : routes.all()) {
    answered += each->its.count;
    under_way += each->its.under_way;
  }
  json_builder out;
  out.begin('{').member("url", server.url).member("rank", manta::rank()).member("seconds", server.seconds);
  out.member("connections", server.connections).member("refused", server.refused).member("answered", answered);
  out.member("under_way", under_way).member("draining", server.draining).end('}');
  return std::move(out.text());
}

// --- Prometheus

inline void add_route_metrics(metrics_writer& out, const route_table& routes, const server_state& server) {
  out.family("manta_http_requests_under_way", "gauge", "Requests that a route works on.");
  for (const auto& each : routes.all()) out.sample(label("route", each->at->path), each->its.under_way);
  out.family("manta_http_answers_total", "counter", "Answers, by route and status; an empty route: of none.");
  for (const auto& each : routes.all()) {
    for (const auto& [code, count] : each->its.answers)
      out.sample(label("route", each->at->path) + "," + label("code", std::to_string(code)), count);
  }
  for (const auto& [code, count] : server.other_answers)
    out.sample(label("route", "") + "," + label("code", std::to_string(code)), count);
  out.family("manta_http_answer_seconds", "histogram", "From the whole request to its answer.");
  for (const auto& each : routes.all()) {
    const figures& its = each->its;
    const std::string route = label("route", each->at->path);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < its.within.size(); ++i) {
      seen += its.within[i];
      const std::string bound = i < figures::bounds.size() ? to_json(figures::bounds[i]) : "+Inf";
      out.sample(route + "," + label("le", bound), seen, "_bucket");
    }
    out.sample(route, its.seconds, "_sum");
    out.sample(route, its.count, "_count");
  }
}

struct deployment_metric {
  const char *name, *type, *help;
  double (*of)(const serve::status&);
};

inline void add_deployment_metrics(metrics_writer& out, const std::vector<deployment_report>& deployments) {
  using status = serve::status;
  static constexpr deployment_metric all[] = {
      {"ready", "gauge", "1: a request would be answered now.", [](const status& s) { return s.ready ? 1. : 0.; }},
      {"version", "gauge", "Number of the version.", [](const status& s) { return double(s.version); }},
      {"replicas", "gauge", "Replicas that are ready.", [](const status& s) { return double(s.replicas); }},
      {"replicas_starting", "gauge", "Replicas that are being made.",
       [](const status& s) { return double(s.starting); }},
      {"replicas_wanted", "gauge", "Replicas that there should be.", [](const status& s) { return double(s.wanted); }},
      {"queue", "gauge", "Requests that wait for a replica.", [](const status& s) { return double(s.queued); }},
      {"running", "gauge", "Requests that replicas have.", [](const status& s) { return double(s.running); }},
      {"served_total", "counter", "Answers.", [](const status& s) { return double(s.served); }},
      {"failed_total", "counter", "Requests that failed.", [](const status& s) { return double(s.failed); }},
      {"retried_total", "counter", "Requests that ran again.", [](const status& s) { return double(s.retried); }},
      {"refused_total", "counter", "Requests for which the queue was full.",
       [](const status& s) { return double(s.refused); }},
      {"expired_total", "counter", "Requests that waited past their deadlines.",
       [](const status& s) { return double(s.expired); }},
      {"cancelled_total", "counter", "Requests that nobody wanted any more.",
       [](const status& s) { return double(s.cancelled); }},
      {"overdue_total", "counter", "Requests whose calls ran too long.",
       [](const status& s) { return double(s.overdue); }},
      {"batches_total", "counter", "Calls of replicas.", [](const status& s) { return double(s.batches); }},
      {"p50_seconds", "gauge", "Median time from arrival to answer.", [](const status& s) { return 1e-3 * s.p50_ms; }},
      {"p99_seconds", "gauge", "99th percentile of that time.", [](const status& s) { return 1e-3 * s.p99_ms; }}};
  out.family("manta_deployment_up", "gauge", "1: the deployment's queue has answered; else its figures are its last.");
  for (const deployment_report& d : deployments) out.sample(label("deployment", d.name), d.problem.empty() ? 1 : 0);
  out.family("manta_deployment_age_seconds", "gauge", "Time since the deployment's queue has said its figures.");
  for (const deployment_report& d : deployments) {
    if (d.its) out.sample(label("deployment", d.name), d.age);
  }
  for (const deployment_metric& metric : all) {
    const std::string name = base::text("manta_deployment_{}", metric.name);
    out.family(name, metric.type, metric.help);
    for (const deployment_report& d : deployments) {
      if (d.its) out.sample(label("deployment", d.name), metric.of(*d.its));
    }
  }
}

MANTA_DECL std::string metrics_text(const route_table& routes, const server_state& server,
                                    const std::vector<deployment_report>& deployments) {
  metrics_writer out;
  out.family("manta_http_connections", "gauge", "Open connections.");
  out.sample("", server.connections);
  out.family("manta_http_refused_total", "counter", "Requests refused before they reached a route.");
  out.sample("", server.refused);
  add_route_metrics(out, routes, server);
  add_deployment_metrics(out, deployments);
  return std::move(out.text());
}

}  // namespace manta::serve::detail
