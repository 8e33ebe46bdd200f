// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/base/version.hpp"
#include "manta/output/json_builder.hpp"
#include "manta/serve/html.hpp"
#include "manta/serve/http_control.hpp"
#include "manta/serve/http_metrics.hpp"
#include "manta/serve/http_pages.hpp"
#include "manta/serve/http_routes.hpp"
#include "manta/serve/openapi.hpp"
#include "manta/serve/status_call.hpp"

namespace manta::serve::detail {

using output::json_builder;

using made_page = std::unique_ptr<call>;

inline made_page page_of(reply answer) { return std::make_unique<done_call>(std::move(answer)); }

/// A page that each server has, whatever its routes are.
struct own_page {
  std::string_view path;
  bool is_open = false;  ///< whether it is open to programs that watch the server, which have no token
  bool is_for_people = false;
  made_page (*make)(const route_table&, const server_state&) = nullptr;
};

// --- health

inline made_page make_live(const route_table&, const server_state&) { return page_of({200, R"({"live":true})"}); }

/// Ready is a server all of whose deployments would answer.
inline made_page make_ready(const route_table& routes, const server_state& server) {
  const bool draining = server.draining;
  return std::make_unique<status_call>(routes, nullptr, [draining](const std::vector<deployment_report>& deployments) {
    json_builder out;
    out.begin('{').member("live", true);
    bool ready = !draining;
    for (const deployment_report& d : deployments) ready = ready && d.is_ready();
    out.member("ready", ready);
    if (!ready && !draining) {
      out.key("problems").begin('{');
      for (const deployment_report& d : deployments) {
        if (d.is_ready()) continue;
        out.member(d.name, d.why().empty() ? "it is not ready" : without_places(d.why()));
      }
      out.end('}');
    }
    out.end('}');
    return reply{ready ? 200 : 503, std::move(out.text())};
  });
}

inline made_page make_model_ready(const route_table& routes, const server_state& server, const route& at) {
  const std::string name = at.at->options.name;
  const bool draining = server.draining;
  return std::make_unique<status_call>(routes, &at,
                                       [draining, name](const std::vector<deployment_report>& deployments) {
                                         bool ready = !draining;
                                         std::string why;
                                         for (const deployment_report& d : deployments) {
                                           ready = ready && d.is_ready();
                                           why = d.why();
                                         }
                                         json_builder out;
                                         out.begin('{').member("name", name).member("ready", ready);
                                         if (!ready && !why.empty()) out.member("error", without_places(why));
                                         out.end('}');
                                         return reply{ready ? 200 : 503, std::move(out.text())};
                                       });
}

// --- models

inline made_page make_metadata(const route_table& routes, const found_model& found) {
  const route* const at = found.at;
  const int asked = found.version;
  if (at->at->inputs.empty()) {
    return page_of(failure(
        404, base::text("the values of \"{}\" are no tensors: POST JSON to {}", at->at->options.name, at->at->path)));
  }
  return std::make_unique<status_call>(routes, at, [at, asked](const std::vector<deployment_report>& deployments) {
    const endpoint& its = *at->at;
    std::vector<std::string> versions;
    for (const deployment_report& d : deployments) {
      if (!d.its) return failure(503, d.problem);
      for (const version_status& v : d.its->versions) versions.push_back(std::to_string(v.version));
    }
    if (versions.empty()) versions.emplace_back("1");
    if (asked != 0 && std::find(versions.begin(), versions.end(), std::to_string(asked)) == versions.end()) {
      return failure(404, base::text("the model \"{}\" has no version {}; there is {}", its.options.name, asked,
                                     to_json(versions)));
    }
    json_builder out;
    out.begin('{').member("name", its.options.name).key("versions").json(to_json(versions));
    out.member("platform", "manta_cpp");
    out.key("inputs").json(describe_tensors(its.inputs)).key("outputs").json(describe_tensors(its.outputs)).end('}');
    return reply{200, std::move(out.text())};
  });
}

/// NAME[/versions/V][/ready]
inline made_page make_model_page(const route_table& routes, const server_state& server, std::string name) {
  const bool ready = name.ends_with("/ready");
  if (ready) name.resize(name.size() - 6);
  constexpr std::string_view infer = "/infer";
  const bool infers = name.ends_with(infer);
  const found_model found = routes.find_model(infers ? name.substr(0, name.size() - infer.size()) : name);
  if (found.at == nullptr) return page_of(found.problem);
  if (infers) {
    reply refused = failure(405, base::text("/v2/models/{} is called by POST", shown(name)));
    refused.header.emplace_back("Allow", "POST");
    return page_of(std::move(refused));
  }
  return ready ? make_model_ready(routes, server, *found.at) : make_metadata(routes, found);
}

// --- all pages

inline made_page html_page(std::string_view text) {
  return page_of({200, std::string(text), "text/html; charset=utf-8"});
}

inline made_page make_status(const route_table& routes, const server_state& server) {
  auto asked = std::make_unique<status_call>(routes, nullptr, nullptr);
  if (server.ask_others) asked->ask_others(server.ask_others());
  asked->set_writer([&routes, server, its = asked.get()](const auto& deployments) {
    return reply{200, status_text(routes, server, deployments, its->others())};
  });
  return asked;
}
inline made_page make_metrics(const route_table& routes, const server_state& server) {
  return std::make_unique<status_call>(routes, nullptr, [&routes, server](const auto& deployments) {
    return reply{200, metrics_text(routes, server, deployments), "text/plain; version=0.0.4; charset=utf-8"};
  });
}
inline made_page make_openapi(const route_table& routes, const server_state& server) {
  return page_of({200, openapi_text(routes, server)});
}
inline made_page make_server(const route_table&, const server_state&) {
  json_builder out;
  out.begin('{').member("name", "manta").member("version", manta::version);
  out.key("extensions").begin('[').value("binary_tensor_data").end(']').end('}');
  return page_of({200, std::move(out.text())});
}

/// Null if it is none of those that each server has.
inline const own_page* find_own_page(std::string_view path) {
  static constexpr std::array<own_page, 9> all{{
      {"/status", false, true, [](const route_table&, const server_state&) { return html_page(status_page); }},
      {"/docs", false, true, [](const route_table&, const server_state&) { return html_page(docs_page); }},
      {"/api/status", false, false, &make_status},
      {"/openapi.json", false, false, &make_openapi},
      {"/metrics", true, false, &make_metrics},
      {"/v2", false, false, &make_server},
      {"/v2/", false, false, &make_server},
      {"/v2/health/live", true, false, &make_live},
      {"/v2/health/ready", true, false, &make_ready},
  }};
  const auto* const found = std::find_if(all.begin(), all.end(), [&](const own_page& p) { return p.path == path; });
  return found == all.end() ? nullptr : found;
}

MANTA_DECL bool is_own_path(std::string_view path) {
  return path == "/v2" || path.starts_with("/v2/") || is_control_path(path) || find_own_page(path) != nullptr;
}

MANTA_DECL bool is_own_page(std::string_view path) { return path == "/" || find_own_page(path) != nullptr; }

MANTA_DECL bool is_open_path(std::string_view path) {
  const own_page* const own = find_own_page(path);
  return own != nullptr ? own->is_open : path.starts_with("/v2/models/") && path.ends_with("/ready");
}

MANTA_DECL bool is_page_for_people(std::string_view path) {
  const own_page* const own = find_own_page(path);
  return path == "/" || (own != nullptr && own->is_for_people);
}

MANTA_DECL std::unique_ptr<call> server_page(const route_table& routes, const server_state& server,
                                             const std::string& path) {
  if (const own_page* const own = find_own_page(path == "/" ? "/status" : path)) return own->make(routes, server);
  constexpr std::string_view models = "/v2/models/";
  if (path.starts_with(models)) return make_model_page(routes, server, path.substr(models.size()));
  return page_of(failure(404, base::text("there is no {}; GET /openapi.json lists what there is", shown(path))));
}

}  // namespace manta::serve::detail
