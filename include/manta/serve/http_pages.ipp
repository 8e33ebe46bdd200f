// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of http_pages.hpp.
#pragma once

#include <event2/buffer.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "manta/serve/html.hpp"
#include "manta/serve/http_pages.hpp"
#include "manta/serve/http_routes.hpp"

namespace manta::serve::detail {

inline std::string status_text(const route_table& routes, const server_state& server) {
  std::string text = R"({"url":)" + to_json(server.url) + R"(,"seconds":)" + to_json(server.seconds) +
                     R"(,"connections":)" + to_json(server.connections) + R"(,"refused":)" + to_json(server.refused) +
                     R"(,"draining":)" + to_json(server.draining) + R"(,"routes":[)";
  bool first = true;
  for (const auto& each : routes.all()) {
    const endpoint& at = *each->at;
    const figures& its = each->its;
    text += std::exchange(first, false) ? "" : ",";
    text += R"({"path":)" + to_json(at.path) + R"(,"name":)" + to_json(at.options.name) + R"(,"under_way":)" +
            to_json(its.under_way) + R"(,"answered":)" + to_json(its.count) + R"(,"mean_seconds":)" +
            to_json(its.count == 0 ? 0 : its.seconds / static_cast<double>(its.count));
    text += R"(,"p50_at_most":)" + to_json(its.quantile(.5)) + R"(,"p99_at_most":)" + to_json(its.quantile(.99)) +
            R"(,"answers":{)";
    bool first_code = true;
    for (const auto& [code, count] : its.answers)
      text += (std::exchange(first_code, false) ? "\"" : ",\"") + std::to_string(code) + "\":" + std::to_string(count);
    text += "}";
    if (at.status) text += R"(,"deployment":)" + at.status();
    text += "}";
  }
  return text + "]}";
}

inline std::string metrics_text(const route_table& routes, const server_state& server) {
  const auto number = [](double v) { return to_json(v); };
  std::string text =
      "# HELP manta_http_connections Open connections.\n# TYPE manta_http_connections gauge\nmanta_http_connections " +
      std::to_string(server.connections) +
      "\n# HELP manta_http_refused_total Requests refused before they reached a route.\n# TYPE "
      "manta_http_refused_total counter\nmanta_http_refused_total " +
      std::to_string(server.refused) +
      "\n# HELP manta_http_requests_under_way Requests that a route works on.\n# TYPE manta_http_requests_under_way "
      "gauge\n";
  const auto label = [](const route& r) { return "{route=" + to_json(r.at->path); };
  for (const auto& each : routes.all())
    text += "manta_http_requests_under_way" + label(*each) + "} " + std::to_string(each->its.under_way) + "\n";
  text += "# HELP manta_http_answers_total Answers, by route and status.\n# TYPE manta_http_answers_total counter\n";
  for (const auto& each : routes.all()) {
    for (const auto& [code, count] : each->its.answers)
      text += "manta_http_answers_total" + label(*each) + ",code=\"" + std::to_string(code) + "\"} " +
              std::to_string(count) + "\n";
  }
  text +=
      "# HELP manta_http_answer_seconds From the whole request to its answer.\n# TYPE manta_http_answer_seconds "
      "histogram\n";
  for (const auto& each : routes.all()) {
    const figures& its = each->its;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < its.within.size(); ++i) {
      seen += its.within[i];
      const std::string bound = i < figures::bounds.size() ? number(figures::bounds[i]) : "+Inf";
      text +=
          "manta_http_answer_seconds_bucket" + label(*each) + ",le=\"" + bound + "\"} " + std::to_string(seen) + "\n";
    }
    text += "manta_http_answer_seconds_sum" + label(*each) + "} " + number(its.seconds) + "\n";
    text += "manta_http_answer_seconds_count" + label(*each) + "} " + std::to_string(its.count) + "\n";
  }
  return text;
}

inline std::string openapi_text(const route_table& routes) {
  std::string text = R"({"openapi":"3.1.0","info":{"title":"manta","version":"0.1.0"},"paths":{)";
  bool first = true;
  const std::string error = R"({"description":"what was wrong","content":{"application/json":{"schema":)"
                            R"({"type":"object","properties":{"error":{"type":"string"}},"required":["error"]}}}})";
  for (const auto& each : routes.all()) {
    const endpoint& at = *each->at;
    text += std::exchange(first, false) ? "" : ",";
    text += to_json(at.path) + R"(:{"post":{"operationId":)" + to_json(at.path.substr(1)) + ",";
    if (at.parameters > 0)
      text += R"("requestBody":{"required":true,"content":{"application/json":{"schema":)" + at.input_schema + "}}},";
    const std::string type = at.streams ? "application/x-ndjson" : "application/json";
    text += R"("responses":{"200":{"description":"the result","content":{")" + type + R"(":{"schema":)" +
            at.output_schema + R"(}}},"400":)" + error + R"(,"500":)" + error + R"(,"503":)" + error + "}}}";
  }
  return text + "}}";
}

/// A page that each server has, whatever its routes are.
struct own_page {
  std::string_view path;
  reply (*answer)(const route_table&, const server_state&);
};

/// Null if it is none of those that each server has.
inline const own_page* find_own_page(std::string_view path) {
  static constexpr const char* html = "text/html; charset=utf-8";
  static constexpr std::array<own_page, 5> all{{
      {"/status",
       [](const route_table&, const server_state&) {
         return reply{200, std::string(status_page), html};
       }},
      {"/docs",
       [](const route_table&, const server_state&) {
         return reply{200, std::string(docs_page), html};
       }},
      {"/api/status",
       [](const route_table& r, const server_state& s) {
         return reply{200, status_text(r, s)};
       }},
      {"/openapi.json",
       [](const route_table& r, const server_state&) {
         return reply{200, openapi_text(r)};
       }},
      {"/metrics",
       [](const route_table& r, const server_state& s) {
         return reply{200, metrics_text(r, s), "text/plain; version=0.0.4; charset=utf-8"};
       }},
  }};
  const auto* const found = std::find_if(all.begin(), all.end(), [&](const own_page& p) { return p.path == path; });
  return found == all.end() ? nullptr : found;
}

MANTA_DECL bool is_own_path(std::string_view path) {
  return path == "/v2" || path.starts_with("/v2/") || find_own_page(path) != nullptr;
}

/// NAME[/versions/V][/ready]
inline reply model_page(const route_table& routes, const server_state& server, std::string name) {
  const bool ready = name.ends_with("/ready");
  if (ready) name.resize(name.size() - 6);
  reply problem;
  if (constexpr std::string_view infer = "/infer"; name.ends_with(infer)) {
    if (routes.find_model(name.substr(0, name.size() - infer.size()), problem) == nullptr) return problem;
    problem = failure(405, "/v2/models/" + shown(name) + " is called by POST");
    problem.header.emplace_back("Allow", "POST");
    return problem;
  }
  const route* const found = routes.find_model(name, problem);
  if (found == nullptr) return problem;
  const endpoint* const at = found->at.get();
  const std::string its = to_json(at->options.name);
  if (ready) return {200, R"({"name":)" + its + R"(,"ready":)" + (server.draining ? "false}" : "true}")};
  return {200, R"({"name":)" + its + R"(,"versions":["1"],"platform":"manta_cpp","inputs":)" +
                   describe_tensors(at->inputs) + R"(,"outputs":)" + describe_tensors(at->outputs) + "}"};
}

MANTA_DECL reply server_page(const route_table& routes, const server_state& server, const std::string& path, bool get) {
  if (!get) return failure(404, "there is no " + shown(path) + "; GET /openapi.json lists what there is");
  if (const own_page* const own = find_own_page(path == "/" ? "/status" : path)) return own->answer(routes, server);
  if (path == "/v2" || path == "/v2/")
    return {200, R"({"name":"manta","version":"0.1.0","extensions":["binary_tensor_data"]})"};
  if (path == "/v2/health/live") return {200, R"({"live":true})"};
  if (path == "/v2/health/ready")
    return {server.draining ? 503 : 200,
            server.draining ? R"({"live":true,"ready":false})" : R"({"live":true,"ready":true})"};
  constexpr std::string_view models = "/v2/models/";
  if (path.starts_with(models)) return model_page(routes, server, path.substr(models.size()));
  return failure(404, "there is no " + shown(path) + "; GET /openapi.json lists what there is");
}

inline const char* type_of_file(const std::string& path) {
  const std::string_view end = std::string_view(path).substr(std::min(path.rfind('.'), path.size()));
  constexpr std::pair<const char*, const char*> known[] = {{".html", "text/html; charset=utf-8"},
                                                           {".js", "text/javascript; charset=utf-8"},
                                                           {".mjs", "text/javascript; charset=utf-8"},
                                                           {".css", "text/css; charset=utf-8"},
                                                           {".json", "application/json"},
                                                           {".png", "image/png"},
                                                           {".jpg", "image/jpeg"},
                                                           {".svg", "image/svg+xml"},
                                                           {".ico", "image/x-icon"},
                                                           {".txt", "text/plain; charset=utf-8"},
                                                           {".wasm", "application/wasm"},
                                                           {".csv", "text/csv; charset=utf-8"}};
  for (const auto& [suffix, type] : known) {
    if (end == suffix) return type;
  }
  return "application/octet-stream";
}

MANTA_DECL const char* add_file(evhttp_request* request, const std::string& folder, const std::string& path) {
  if (folder.empty()) return nullptr;
  const auto real = [](const std::string& name) {
    char* const found = ::realpath(name.c_str(), nullptr);
    const std::string result = found != nullptr ? found : "";
    std::free(found);
    return result;
  };
  const std::string top = real(folder), wanted = real(folder + path + (path.ends_with('/') ? "index.html" : ""));
  if (top.empty() || !wanted.starts_with(top + "/")) return nullptr;
  const int file = ::open(wanted.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat its {};
  if (file < 0 || ::fstat(file, &its) != 0 || !S_ISREG(its.st_mode)) {
    if (file >= 0) ::close(file);
    return nullptr;
  }
  if (its.st_size > 0) {
    ::evbuffer_add_file(::evhttp_request_get_output_buffer(request), file, 0, its.st_size);
  } else {
    ::close(file);
  }
  return type_of_file(wanted);
}

}  // namespace manta::serve::detail
