// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a server of HTTP knows of a route: how a request becomes a call, and what its values are. The templates here are
// the thin layer between the types of a function and the server, which sees texts and futures alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "manta/actor_handle.hpp"
#include "manta/base/text.hpp"
#include "manta/serve/arguments.hpp"
#include "manta/serve/call.hpp"
#include "manta/serve/infer.hpp"
#include "manta/signature.hpp"

namespace manta::serve {

/// How a route is called.
struct route_options {
  std::string name = {};  ///< name of the model in /v2/models/NAME; by default the deployment's, else the path
  /// Names of the parameters, in a path such as "/items/{id}", in a query, in a body that is an object, and as
  /// tensors; input0, ..
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};  ///< names of the results as tensors; output0, ..
  /// Methods of HTTP. Empty: POST; also GET where a request needs no body, because the function has no parameters, or
  /// all of them are named by the path or by `inputs`.
  std::vector<std::string> methods = {};
  std::string summary = {};      ///< a line about the route, for /docs and /openapi.json
  std::string description = {};  ///< longer description of the route
  std::string example = {};      ///< a body in JSON that a person may begin with
};

namespace detail {

class router;

/// A value that a route takes.
struct route_value {
  std::string name, schema;
  bool is_in_path = false;
  bool is_optional = false;
};

/// A route.
struct endpoint {
  std::string path;
  route_options options;
  actor<router> deployment = {};  ///< deployment whose handle the route was given; empty for other routes
  std::string deployment_name = {};
  bool streams = false, takes_request = false, answers_bytes = false;
  bool may_get = false;  ///< no request needs a body
  std::vector<route_value> values;
  std::string output_schema;
  std::vector<tensor_type> inputs, outputs;  ///< empty: the values are no tensors
  /// Notes how many numbers a row of the only input and a row of the only output has; 0: any number.
  MANTA_DECL void set_sizes(std::int64_t input, std::int64_t output);
  /// Throws json_error if the request does not fit.
  std::function<std::unique_ptr<call>(const incoming&)> start;
  /// Null if the values are no tensors. `version`: the version that has to answer; 0: any.
  std::function<std::unique_ptr<call>(infer_request, const std::string& model, int version)> infer;
};

template <class T>
struct answer_type {
  using type = T;
};
template <class T>
struct answer_type<future<T>> {
  using type = T;
};
template <class T>
struct answer_type<stream<T>> {
  using type = T;
};
template <class R>
  requires(requires { typename R::stream_value; })
struct answer_type<R> {
  using type = typename R::stream_value;
};
template <class F, class... P>
using answer_of = typename answer_type<std::remove_cvref_t<std::invoke_result_t<F&, P...>>>::type;

/// Names the values that have no name yet; throws if the path names one that is none.
MANTA_DECL void name_values(endpoint& e, bool were_named);

template <class T>
route_value describe_value() {
  return {"", json_schema<T>(), false, output::detail::is_optional<T>};
}

/// Whether rows of tensors can be given to F: all values are tensors, and F has a way for many rows.
template <class F, class... P>
constexpr bool takes_rows() {
  if constexpr (sizeof...(P) > 0 && (is_tensor<P> && ...) && requires { &F::many; }) {
    using answer = answer_of<F, P...>;
    if constexpr (!std::is_void_v<answer>) return are_tensors<answer>;
  }
  return false;
}

/// `f` takes the parameters, and gives a future, a stream or a value. `f.many`, if there is such a function, takes many
/// rows of them, and gives futures of answered_rows.
template <class F, class... P>
endpoint make_endpoint(std::string path, F f, route_options options) {
  using result = std::remove_cvref_t<std::invoke_result_t<F&, P...>>;
  using answer = answer_of<F, P...>;
  endpoint e;
  e.path = std::move(path);
  e.options = std::move(options);
  e.streams = requires(result r) { r.upcoming(); };
  e.takes_request = (std::is_same_v<P, request> || ...);
  e.answers_bytes = std::is_same_v<answer, response>;
  [[maybe_unused]] const auto add = [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, request>) e.values.push_back(describe_value<T>());
  };
  (add(std::type_identity<P>()), ...);
  name_values(e, e.options.inputs.size() >= e.values.size());
  if constexpr (!std::is_same_v<answer, response>) e.output_schema = json_schema<answer>();
  e.start = [f, names = e.options.inputs](const incoming& in) mutable {
    return call_for(std::apply(f, read_arguments<P...>(in, names)));
  };
  if constexpr (takes_rows<F, P...>()) {
    for (std::size_t i = e.options.outputs.size(); i < tensor_count<answer>; ++i)
      e.options.outputs.push_back(base::text("output{}", i));
    std::size_t i = 0;
    (e.inputs.push_back(tensor_type_of<P>(e.options.inputs[i++])), ...);
    e.outputs = tensor_types<answer>(e.options.outputs);
    e.infer = [f, inputs = e.inputs, outputs = e.options.outputs](infer_request asked, const std::string& model,
                                                                  int version) -> std::unique_ptr<call> {
      check_rows(asked, inputs);
      auto rows = read_rows<P...>(asked, inputs);
      asked.inputs.clear();
      return std::make_unique<infer_call<answer>>(f.many(std::move(rows), version), std::move(asked), model_name{model},
                                                  outputs);
    };
  }
  return e;
}

}  // namespace detail
}  // namespace manta::serve

#ifndef MANTA_COMPILED
#include "manta/serve/endpoint.ipp"
#endif
