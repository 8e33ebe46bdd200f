// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/base/version.hpp"
#include "manta/output/json_builder.hpp"
#include "manta/serve/openapi.hpp"

namespace manta::serve::detail {

using output::json_builder;

inline std::string small_letters(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return text;
}

/// An answer that says what was wrong.
inline void add_failure(json_builder& out, int status, std::string_view what) {
  out.key(std::to_string(status)).begin('{').member("description", std::string(what));
  out.key("content").begin('{').key("application/json").begin('{').key("schema").begin('{');
  out.member("$ref", "#/components/schemas/error").end('}').end('}').end('}').end('}');
}

inline void add_failures(json_builder& out, bool needs_token) {
  add_failure(out, 400, "The values do not fit: the text names the field, what was expected and what came.");
  if (needs_token) add_failure(out, 401, "The token is missing or wrong.");
  add_failure(out, 405, "The route has other methods.");
  add_failure(out, 413, "The body is too long.");
  add_failure(out, 500, "The function has thrown: its text.");
  add_failure(out, 503, "The queue is full, or the server is about to end. Try again after Retry-After seconds.");
  add_failure(out, 504, "No answer has come in time.");
}

/// A value in the path or in the query.
inline void add_parameter(json_builder& out, const route_value& v) {
  out.begin('{').member("name", v.name).member("in", v.is_in_path ? "path" : "query");
  out.member("required", v.is_in_path || !v.is_optional).key("schema").json(v.schema).end('}');
}

/// The schema of the body of a route: of one value its own, of several an object.
inline std::string body_schema(const std::vector<const route_value*>& values, bool of_one) {
  if (of_one) return values.front()->schema;
  json_builder out;
  out.begin('{').member("type", "object").key("properties").begin('{');
  for (const route_value* const v : values) out.key(v->name).json(v->schema);
  out.end('}').key("required").begin('[');
  for (const route_value* const v : values) {
    if (!v->is_optional) out.value(v->name);
  }
  out.end(']').end('}');
  return std::move(out.text());
}

inline void add_body(json_builder& out, const endpoint& at) {
  std::vector<const route_value*> in_body;
  for (const route_value& v : at.values) {
    if (!v.is_in_path) in_body.push_back(&v);
  }
  if (in_body.empty() && !at.takes_request) return;
  out.key("requestBody").begin('{').member("required", !at.takes_request || !in_body.empty()).key("content").begin('{');
  if (in_body.empty()) {
    out.key("application/octet-stream").begin('{').end('}');
  } else {
    out.key("application/json").begin('{').key("schema").json(body_schema(in_body, in_body.size() == 1));
    if (!at.options.example.empty()) out.key("example").json(at.options.example);
    out.end('}');
  }
  out.end('}').end('}');
}

inline void add_result(json_builder& out, const endpoint& at) {
  out.key("200").begin('{').member("description", at.streams ? "The values, a line or an event each." : "The result.");
  if (!at.answers_bytes) {
    out.key("content").begin('{');
    for (const char* const type : {"application/json", "application/x-ndjson", "text/event-stream"}) {
      if (at.streams == (std::string_view(type) == "application/json")) continue;
      out.key(type).begin('{').key("schema").json(at.output_schema).end('}');
    }
    out.end('}');
  }
  out.end('}');
}

inline std::string summary_of(const route& r) {
  const endpoint& at = *r.at;
  if (!at.options.summary.empty()) return at.options.summary;
  return at.deployment.valid() ? base::text("The deployment {}", at.options.name) : base::text("Calls {}", at.path);
}

/// Names of operations, each once.
class operation_ids {
 public:
  std::string of(std::string name) {
    for (char& c : name) c = c == '/' || c == '{' || c == '}' || c == ' ' ? '_' : c;
    while (name.empty() || std::find(taken_.begin(), taken_.end(), name) != taken_.end()) name += '_';
    taken_.push_back(name);
    return name;
  }

 private:
  std::vector<std::string> taken_;
};

inline void add_operation(json_builder& out, const route& r, const std::string& method, const server_state& server,
                          operation_ids& ids) {
  const endpoint& at = *r.at;
  const bool in_query = method == "GET" || method == "HEAD" || method == "DELETE";
  out.key(small_letters(method)).begin('{');
  // An id is the same for a route, whatever its method is, but for the method before it.
  const std::string of_path = at.path.substr(1);
  out.member("operationId", ids.of(method == "POST" ? of_path : small_letters(method) + " " + of_path))
      .member("summary", summary_of(r));
  if (!at.options.description.empty()) out.member("description", at.options.description);
  out.key("tags").begin('[').value(at.deployment.valid() ? "deployments" : "functions").end(']');
  out.key("parameters").begin('[');
  for (const route_value& v : at.values) {
    if (v.is_in_path || in_query) add_parameter(out, v);
  }
  if (at.takes_request) {  // what the function reads of the path is not known
    for (const std::string& segment : r.segments) {
      const std::string name =
          segment.size() > 2 && segment.front() == '{' ? segment.substr(1, segment.size() - 2) : "";
      const auto is_it = [&](const route_value& v) { return v.name == name; };
      if (!name.empty() && std::none_of(at.values.begin(), at.values.end(), is_it))
        add_parameter(out, {name, R"({"type":"string"})", true, false});
    }
  }
  out.end(']');
  if (!in_query) add_body(out, at);
  out.key("responses").begin('{');
  add_result(out, at);
  add_failures(out, server.needs_token);
  out.end('}').end('}');
}

/// Tensors of one row that fit a model.
inline std::string example_of(const endpoint& model) {
  json_builder out;
  out.begin('{').key("inputs").begin('[');
  for (const tensor_type& each : model.inputs) {
    std::vector<std::int64_t> shape = each.shape;
    std::size_t count = 1;
    for (std::int64_t& extent : shape) {
      if (extent < 0) extent = &extent == &shape.front() ? 1 : 3;
      count *= static_cast<std::size_t>(extent);
    }
    out.begin('{').member("name", each.name).key("shape").json(to_json(shape)).member("datatype", each.datatype);
    if (each.datatype == "BYTES") {
      out.key("data").json(to_json(std::vector<std::string>(count, "text")));
    } else if (each.datatype == "BOOL") {
      out.key("data").json(to_json(std::vector<bool>(count, true)));
    } else {
      out.key("data").json(to_json(std::vector<int>(count, 1)));
    }
    out.end('}');
  }
  out.end(']').end('}');
  return std::move(out.text());
}

/// The routes of the protocol for models.
inline void add_protocol(json_builder& out, const route_table& routes, const server_state& server, operation_ids& ids) {
  std::vector<std::string> names;
  std::string example;
  for (const auto& each : routes.all()) {
    if (each->at->inputs.empty()) continue;
    names.push_back(each->at->options.name);
    constexpr std::size_t long_example = 4000;
    if (example.empty() && (example = example_of(*each->at)).size() > long_example) example.clear();
  }
  std::sort(names.begin() + (names.empty() ? 0 : 1), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  json_builder schema;
  schema.begin('{').member("type", "string").key("enum").json(to_json(names)).end('}');
  const route_value model{"name", std::move(schema.text()), true, false};
  const auto get = [&](const char* path, const char* id, const char* summary, bool is_open, bool of_model) {
    out.key(path).begin('{').key("get").begin('{').member("operationId", ids.of(id)).member("summary", summary);
    out.key("tags").begin('[').value("protocol").end(']');
    if (is_open) out.key("security").begin('[').end(']');
    if (of_model) {
      out.key("parameters").begin('[');
      add_parameter(out, model);
      out.end(']');
    }
    out.key("responses").begin('{').key("200").begin('{').member("description", "It is.").end('}');
    add_failure(out, of_model ? 404 : 400, of_model ? "There is no such model." : "The request is none.");
    add_failure(out, 503, "Not now.");
    out.end('}').end('}').end('}');
  };
  get("/v2/health/live", "live", "The server lives", true, false);
  get("/v2/health/ready", "ready", "The server and all its deployments would answer", true, false);
  if (names.empty()) return;
  get("/v2/models/{name}", "model", "Names, types and shapes of a model's tensors", false, true);
  get("/v2/models/{name}/ready", "model_ready", "The model would answer", true, true);
  out.key("/v2/models/{name}/infer").begin('{').key("post").begin('{').member("operationId", ids.of("infer"));
  out.member("summary", "Tensors through a model (Open Inference Protocol)");
  out.key("tags").begin('[').value("protocol").end(']').key("parameters").begin('[');
  add_parameter(out, model);
  out.end(']').key("requestBody").begin('{').member("required", true).key("content").begin('{');
  out.key("application/json").begin('{').key("schema").begin('{').member("$ref", "#/components/schemas/infer_request");
  out.end('}');
  if (!example.empty()) out.key("example").json(example);
  out.end('}').end('}').end('}').key("responses").begin('{');
  out.key("200").begin('{').member("description", "The results.").key("content").begin('{').key("application/json");
  out.begin('{').key("schema").begin('{').member("$ref", "#/components/schemas/infer_answer");
  out.end('}').end('}').end('}').end('}');
  add_failure(out, 404, "There is no such model.");
  add_failures(out, server.needs_token);
  out.end('}').end('}').end('}');
}

inline constexpr std::string_view openapi_schemas =
    R"json({"error":{"type":"object","properties":{"error":{"type":"string"},"request_id":{"type":"string"}},)json"
    R"json("required":["error"]},"tensor":{"type":"object","properties":{"name":{"type":"string"},)json"
    R"json("shape":{"type":"array","items":{"type":"integer","minimum":0}},"datatype":{"enum":["BOOL","UINT8",)json"
    R"json("UINT16","UINT32","UINT64","INT8","INT16","INT32","INT64","FP16","FP32","FP64","BYTES"]},)json"
    R"json("parameters":{"type":"object"},"data":{"type":"array"}},"required":["name","shape","datatype"]},)json"
    R"json("infer_request":{"type":"object","properties":{"id":{"type":"string"},"parameters":{"type":"object"},)json"
    R"json("inputs":{"type":"array","items":{"$ref":"#/components/schemas/tensor"}},"outputs":{"type":"array",)json"
    R"json("items":{"type":"object","properties":{"name":{"type":"string"}}}}},"required":["inputs"]},)json"
    R"json("infer_answer":{"type":"object","properties":{"model_name":{"type":"string"},)json"
    R"json("model_version":{"type":"string"},"id":{"type":"string"},"outputs":{"type":"array",)json"
    R"json("items":{"$ref":"#/components/schemas/tensor"}}},"required":["model_name","outputs"]}})json";

MANTA_DECL std::string openapi_text(const route_table& routes, const server_state& server) {
  json_builder out;
  out.begin('{')
      .member("openapi", "3.1.0")
      .key("info")
      .begin('{')
      .member("title", "manta")
      .member("version", manta::version);
  out.member("description", "What this server answers. POST takes a JSON value; GET takes values in the address.");
  out.key("license").begin('{').member("name", "MIT").member("identifier", "MIT").end('}').end('}');
  out.key("servers").begin('[').begin('{').member("url", "/").end('}').end(']');
  out.key("security").begin('[');
  if (server.needs_token) out.begin('{').key("token").begin('[').end(']').end('}');
  out.end(']').key("tags").begin('[');
  for (const auto& [name, what] : {std::pair{"deployments", "Models behind a queue."},
                                   std::pair{"functions", "Functions; each request is a task."},
                                   std::pair{"protocol", "The Open Inference Protocol, version 2."}})
    out.begin('{').member("name", name).member("description", what).end('}');
  out.end(']').key("paths").begin('{');
  std::vector<std::string> done;
  operation_ids ids;
  for (const auto& each : routes.all()) {
    const std::string& path = each->at->path;
    if (std::find(done.begin(), done.end(), path) != done.end()) continue;
    done.push_back(path);
    out.key(path).begin('{');
    for (const auto& same : routes.all()) {
      if (same->at->path != path) continue;
      for (const std::string& method : all_methods(*same->at)) {
        if (method != "HEAD") add_operation(out, *same, method, server, ids);
      }
    }
    out.end('}');
  }
  add_protocol(out, routes, server, ids);
  out.end('}').key("components").begin('{').key("schemas").json(openapi_schemas);
  if (server.needs_token) {
    out.key("securitySchemes").begin('{').key("token").begin('{').member("type", "http").member("scheme", "bearer");
    out.end('}').end('}');
  }
  out.end('}').end('}');
  return std::move(out.text());
}

}  // namespace manta::serve::detail
