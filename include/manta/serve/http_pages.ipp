// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a server says of itself: the protocol's health and metadata, the status page and what it is fed with, metrics,
// the routes as OpenAPI, and files from a folder.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <array>
#include <cstdlib>

#include <cstdio>
#include <ctime>

#include "manta/serve/html.hpp"
#include "manta/serve/http_server.hpp"

namespace manta::serve::detail {

/// NAME[/versions/V]. Null, and the answer that says why, if there is none.
MANTA_DECL endpoint* http_server::find_model(std::string name, reply& problem) const {
  std::string version = "1";
  if (const std::size_t at = name.find("/versions/"); at != std::string::npos) {
    version = name.substr(at + 10);
    name.resize(at);
  }
  for (const auto& each : routes_) {
    if (each->options.name != name) continue;
    if (version == "1") return each.get();
    problem = failure(404, "the model \"" + shown(name) + "\" has the version 1 alone");
    return nullptr;
  }
  problem = failure(404, "there is no model \"" + shown(name) + "\"");
  return nullptr;
}

/// A page that each server has, whatever its routes are.
struct http_server::own_page {
  std::string_view path;
  reply (*answer)(http_server&);
};

MANTA_DECL const http_server::own_page* http_server::find_own_page(std::string_view path) {
  static constexpr const char* html = "text/html; charset=utf-8";
  static constexpr std::array<own_page, 5> all{{
      {"/status", [](http_server&) { return reply{200, std::string(status_page), html}; }},
      {"/docs", [](http_server&) { return reply{200, std::string(docs_page), html}; }},
      {"/api/status", [](http_server& s) { return reply{200, s.status()}; }},
      {"/openapi.json", [](http_server& s) { return reply{200, s.openapi()}; }},
      {"/metrics", [](http_server& s) { return reply{200, s.metrics(), "text/plain; version=0.0.4; charset=utf-8"}; }},
  }};
  const auto* const found = std::find_if(all.begin(), all.end(), [&](const own_page& p) { return p.path == path; });
  return found == all.end() ? nullptr : found;
}

/// Can no route have this path? Clients and people find the same there on each server.
MANTA_DECL bool http_server::is_own_path(std::string_view path) {
  return path == "/v2" || path.starts_with("/v2/") || find_own_page(path) != nullptr;
}

/// What no route takes.
MANTA_DECL reply http_server::page(const std::string& path, bool get) {
  if (!get) return failure(404, "there is no " + shown(path) + "; GET /openapi.json lists what there is");
  if (const own_page* const own = find_own_page(path == "/" ? "/status" : path)) return own->answer(*this);
  if (path == "/v2" || path == "/v2/")
    return {200, R"({"name":"manta","version":"0.1.0","extensions":["binary_tensor_data"]})"};
  if (path == "/v2/health/live") return {200, R"({"live":true})"};
  if (path == "/v2/health/ready")
    return {draining_.empty() ? 200 : 503,
            draining_.empty() ? R"({"live":true,"ready":true})" : R"({"live":true,"ready":false})"};
  constexpr std::string_view models = "/v2/models/";
  if (path.starts_with(models)) return model(path.substr(models.size()));
  return failure(404, "there is no " + shown(path) + "; GET /openapi.json lists what there is");
}

/// NAME[/versions/V][/ready]
MANTA_DECL reply http_server::model(std::string name) const {
  const bool ready = name.ends_with("/ready");
  if (ready) name.resize(name.size() - 6);
  reply problem;
  if (constexpr std::string_view infer = "/infer"; name.ends_with(infer)) {
    if (find_model(name.substr(0, name.size() - infer.size()), problem) == nullptr) return problem;
    problem = failure(405, "/v2/models/" + shown(name) + " is called by POST");
    problem.header.emplace_back("Allow", "POST");
    return problem;
  }
  const endpoint* const at = find_model(name, problem);
  if (at == nullptr) return problem;
  const std::string its = to_json(at->options.name);
  if (ready) return {200, R"({"name":)" + its + R"(,"ready":)" + (draining_.empty() ? "true}" : "false}")};
  return {200, R"({"name":)" + its + R"(,"versions":["1"],"platform":"manta_cpp","inputs":)" +
                   describe_tensors(at->inputs) + R"(,"outputs":)" + describe_tensors(at->outputs) + "}"};
}

MANTA_DECL std::string http_server::status() const {
  std::string text = R"({"url":)" + to_json(url()) + R"(,"seconds":)" +
                     to_json(static_cast<double>(clock_ns() - started_) * 1e-9) + R"(,"connections":)" +
                     to_json(connections_.size()) + R"(,"refused":)" + to_json(refused_) + R"(,"draining":)" +
                     to_json(!draining_.empty()) + R"(,"routes":[)";
  bool first = true;
  for (const auto& each : routes_) {
    const auto found = figures_.find(each.get());
    const figures its = found != figures_.end() ? found->second : figures();
    text += std::exchange(first, false) ? "" : ",";
    text += R"({"path":)" + to_json(each->path) + R"(,"name":)" + to_json(each->options.name) + R"(,"under_way":)" +
            to_json(its.under_way) + R"(,"answered":)" + to_json(its.count) + R"(,"mean_seconds":)" +
            to_json(its.count == 0 ? 0 : its.seconds / static_cast<double>(its.count));
    const auto quantile = [&](double q) {
      std::uint64_t seen = 0;
      for (std::size_t i = 0; i < its.within.size(); ++i) {
        seen += its.within[i];
        if (its.count != 0 && static_cast<double>(seen) >= q * static_cast<double>(its.count))
          return figures::bounds[std::min(i, figures::bounds.size() - 1)];
      }
      return 0.;
    };
    text += R"(,"p50_at_most":)" + to_json(quantile(.5)) + R"(,"p99_at_most":)" + to_json(quantile(.99)) +
            R"(,"answers":{)";
    bool first_code = true;
    for (const auto& [code, count] : its.answers)
      text += (std::exchange(first_code, false) ? "\"" : ",\"") + std::to_string(code) + "\":" + std::to_string(count);
    text += "}";
    if (each->status) text += R"(,"deployment":)" + each->status();
    text += "}";
  }
  return text + "]}";
}

MANTA_DECL std::string http_server::metrics() const {
  const auto number = [](double v) { return to_json(v); };
  std::string text =
      "# HELP manta_http_connections Open connections.\n# TYPE manta_http_connections gauge\nmanta_http_connections " +
      std::to_string(connections_.size()) +
      "\n# HELP manta_http_refused_total Requests refused before they reached a route.\n# TYPE "
      "manta_http_refused_total counter\nmanta_http_refused_total " +
      std::to_string(refused_) +
      "\n# HELP manta_http_requests_under_way Requests that a route works on.\n# TYPE manta_http_requests_under_way "
      "gauge\n";
  const auto label = [](const endpoint* at) { return "{route=" + to_json(at->path); };
  for (const auto& [at, its] : figures_)
    text += "manta_http_requests_under_way" + label(at) + "} " + std::to_string(its.under_way) + "\n";
  text += "# HELP manta_http_answers_total Answers, by route and status.\n# TYPE manta_http_answers_total counter\n";
  for (const auto& [at, its] : figures_) {
    for (const auto& [code, count] : its.answers)
      text += "manta_http_answers_total" + label(at) + ",code=\"" + std::to_string(code) + "\"} " +
              std::to_string(count) + "\n";
  }
  text +=
      "# HELP manta_http_answer_seconds From the whole request to its answer.\n# TYPE manta_http_answer_seconds "
      "histogram\n";
  for (const auto& [at, its] : figures_) {
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < its.within.size(); ++i) {
      seen += its.within[i];
      const std::string bound = i < figures::bounds.size() ? number(figures::bounds[i]) : "+Inf";
      text += "manta_http_answer_seconds_bucket" + label(at) + ",le=\"" + bound + "\"} " + std::to_string(seen) + "\n";
    }
    text += "manta_http_answer_seconds_sum" + label(at) + "} " + number(its.seconds) + "\n";
    text += "manta_http_answer_seconds_count" + label(at) + "} " + std::to_string(its.count) + "\n";
  }
  return text;
}

MANTA_DECL std::string http_server::openapi() const {
  std::string text = R"({"openapi":"3.1.0","info":{"title":"manta","version":"0.1.0"},"paths":{)";
  bool first = true;
  const std::string error =
      R"({"description":"what was wrong","content":{"application/json":{"schema":)"
      R"({"type":"object","properties":{"error":{"type":"string"}},"required":["error"]}}}})";
  for (const auto& each : routes_) {
    text += std::exchange(first, false) ? "" : ",";
    text += to_json(each->path) + R"(:{"post":{"operationId":)" + to_json(each->path.substr(1)) + ",";
    if (each->parameters > 0)
      text +=
          R"("requestBody":{"required":true,"content":{"application/json":{"schema":)" + each->input_schema + "}}},";
    const std::string type = each->streams ? "application/x-ndjson" : "application/json";
    text += R"("responses":{"200":{"description":"the result","content":{")" + type + R"(":{"schema":)" +
            each->output_schema + R"(}}},"400":)" + error + R"(,"500":)" + error + R"(,"503":)" + error + "}}}";
  }
  return text + "}}";
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

/// Sends a file of the folder `files`, and nothing outside it, links included. False if there is no such file.
MANTA_DECL bool http_server::send_file(evhttp_request* request, const std::string& path) {
  if (options_.files.empty()) return false;
  const auto real = [](const std::string& name) {
    char* const found = ::realpath(name.c_str(), nullptr);
    const std::string result = found != nullptr ? found : "";
    std::free(found);
    return result;
  };
  const std::string folder = real(options_.files),
                    wanted = real(options_.files + path + (path.ends_with('/') ? "index.html" : ""));
  if (folder.empty() || !wanted.starts_with(folder + "/")) return false;
  const int file = ::open(wanted.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat its {};
  if (file < 0 || ::fstat(file, &its) != 0 || !S_ISREG(its.st_mode)) {
    if (file >= 0) ::close(file);
    return false;
  }
  if (its.st_size > 0) {
    ::evbuffer_add_file(::evhttp_request_get_output_buffer(request), file, 0, its.st_size);
  } else {
    ::close(file);
  }
  send(request, {200, "", type_of_file(wanted)});
  return true;
}

}  // namespace manta::serve::detail
