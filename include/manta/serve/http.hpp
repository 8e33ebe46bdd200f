// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Opt-in: deployments, functions and lambdas behind HTTP.
//
//   manta::serve::http http({.port = 8000});               // on this machine alone, unless told otherwise
//   http.route("/predict", fashion);                       // a deployment: JSON in, JSON out
//   http.run();                                            // until SIGINT, SIGTERM or the end of the allocation
//
// A deployment with one parameter takes the body as its value, one with several an array in their order or an object;
// the answer is the result. It is also a model of the Open Inference Protocol, version 2: POST /v2/models/NAME/infer. A
// stream is answered in lines of JSON as its values come, or as server-sent events for a client that accepts
// text/event-stream. GET / and /status show a page for people, /metrics has the figures in Prometheus' text format,
// /openapi.json the routes and /docs a page to try them.
//
// The server works while its rank runs nothing else: it has its turns between tasks. Give models that take long ranks
// of their own.
#pragma once

#include "manta/base/config.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "manta/async.hpp"
#include "manta/serve/endpoint.hpp"
#include "manta/serve/http_error.hpp"
#include "manta/serve/http_options.hpp"
#include "manta/serve/source_http.hpp"
#include "manta/serve/status.hpp"

namespace manta::serve {

namespace detail {
class http_server;

template <class H>
struct handle_signature : std::false_type {};
template <template <class> class H, class R, class... P>
struct handle_signature<H<R(P...)>> : std::true_type {
  using parameters = manta::detail::list<P...>;
};
template <class F>
  requires(manta::detail::callable_type<F>)
struct handle_signature<F> : std::true_type {
  using parameters = typename manta::detail::signature<F>::parameters;
};
template <class F>
struct not_callable {
  static_assert(!std::is_same_v<F, F>,
                "manta: http.route takes a deployment, or a function object with one call operator that gives a "
                "future, a stream or a value");
};
template <class F>
struct function_by_value {
  static_assert(!std::is_same_v<F, F>,
                "manta: a function is given to http.route as a template argument, so that each request is a task on "
                "any rank: http.route<f>(\"/path\") instead of http.route(\"/path\", f)");
};

template <class F, class... P>
inline constexpr bool gives_value = [] {
  using R = std::remove_cvref_t<std::invoke_result_t<F&, P...>>;
  return !manta::detail::is_future<R> && !requires(R r) { r.upcoming(); };
}();

/// Calls a deployment.
template <class H, class... P>
struct deployment_caller {
  H handle;
  auto operator()(P&&... p) const { return handle(std::move(p)...); }
  auto many(std::vector<std::tuple<P...>> rows, int version) const requires(requires(H h) { h.many(rows, 0); })  //
  {
    return std::vector{handle.many(std::move(rows), version)};
  }
};

/// Answers rows of tensors, in a task.
template <auto F, class Type, class R, class... P>
answered_rows<R> answer_rows(std::vector<std::tuple<P...>> rows) {
  answered_rows<R> all;
  for (auto& row : rows) {
    all.rows.push_back(std::apply([](P&... p) { return F(std::move(p)...); }, row));
  }
  return all;
}
/// The number of rows that one task takes, so that all ranks have some of them.
MANTA_DECL std::size_t rows_of_a_task(std::size_t rows);

/// Calls a function in a task.
template <auto F, class... P>
struct function_caller {
  using result = std::remove_cvref_t<std::invoke_result_t<decltype(F), P...>>;
  auto operator()(P&&... p) const { return async<F>(std::move(p)...); }
  auto many(std::vector<std::tuple<P...>> rows, int) const
      requires(!std::is_void_v<result> && !manta::detail::is_generator<result>)  //
  {
    std::vector<future<answered_rows<result>>> slices;
    const std::size_t each = rows_of_a_task(rows.size());
    for (std::size_t at = 0; at < rows.size(); at += each) {
      const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(at);
      const auto end = rows.begin() + static_cast<std::ptrdiff_t>(std::min(at + each, rows.size()));
      slices.push_back(async<&answer_rows<F, decltype(F), result, P...>>(
          std::vector<std::tuple<P...>>(std::make_move_iterator(begin), std::make_move_iterator(end))));
    }
    return slices;
  }
};

/// Calls a lambda without captures in a task.
template <class L, class... P>
struct lambda_caller {
  L lambda;
  auto operator()(P&&... p) const { return async(lambda, std::move(p)...); }
};

/// Calls a function object here, in the server's loop.
template <class F, class... P>
struct object_caller {
  F f;
  decltype(auto) operator()(P&&... p) { return f(std::move(p)...); }
};
}  // namespace detail

/// A server. Used by the thread that runs tasks, on any rank; several may be there. Destroying it
/// closes all connections.
class http {
 public:
  /// Listens, and answers from run() on. Throws manta::error if the place is taken or must not be used.
  MANTA_DECL explicit http(http_options options = {});
  http(const http&) = delete;
  http& operator=(const http&) = delete;
  MANTA_DECL ~http();

  /// POST to `path` calls `handle`: a deployment, or a function object that gives a future, a manta::stream or a value.
  /// One without parameters can be had by GET, too; see route_options::methods. A segment of the path may be the name
  /// of a parameter in braces: "/items/{id}". Paths begin with "/"; each once for a method, and none of the server's
  /// own: /status, /docs, /api/status, /openapi.json, /metrics and those under /v2.
  ///
  /// A lambda without captures that gives a value runs as a task, on any rank. One with captures is called in the
  /// server's loop: nobody else is answered before it returns.
  template <class Handle>
  void route(const std::string& path, Handle handle, route_options options = {}) {
    using H = std::decay_t<Handle>;
    if constexpr (detail::handle_signature<H>::value) {
      add(path, std::move(handle), std::move(options), typename detail::handle_signature<H>::parameters{});
    } else {
      (void)detail::not_callable<H>();
    }
  }
  /// Each request is a task: http.route<f>("/path").
  template <auto F>
  void route(const std::string& path, route_options options = {}) {
    add_function<F>(path, std::move(options), typename manta::detail::signature<decltype(F)>::parameters{});
  }

  /// Answers this status when a call throws exactly this type: http.answer<no_such_item>(404). The client reads the
  /// text of the exception.
  template <class Exception>
  void answer(int status) {
    add_status(typeid(Exception).name(), status);
  }

  /// Serves until SIGINT, SIGTERM, the end of the allocation or stop(); then takes no more, answers what it has, and
  /// returns. Other tasks of this rank run meanwhile.
  MANTA_DECL void run();
  /// Serves for that long at most; false if the server has come to its end meanwhile. To be called again and again
  /// where something else is to be done beside it.
  template <class Rep, class Period>
  bool run_for(std::chrono::duration<Rep, Period> d) {
    return run_for_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(d));
  }
  /// Lets run() drain and return. May be called by what a route calls on this rank.
  MANTA_DECL void stop();
  /// The port; 0 for a Unix socket.
  MANTA_DECL int port() const;
  /// As an address for a browser, or "unix:PATH".
  MANTA_DECL std::string url() const;

 private:
  MANTA_DECL void add_endpoint(std::unique_ptr<detail::endpoint> e);
  MANTA_DECL bool run_for_ns(std::chrono::nanoseconds time);

  MANTA_DECL void add_status(const char* type, int status);

  template <class H, class... P>
  void add(const std::string& path, H handle, route_options options, manta::detail::list<P...>) {
    using namespace detail;
    if constexpr (requires { handle.router(); }) {
      if (!handle.valid()) refuse_empty_handle("manta: http.route: the handle for " + path);
      if (options.name.empty()) options.name = handle.name();
      const actor<router> its = handle.router();
      const std::string name = handle.name();
      const auto sizes = handle.sizes();
      auto e = endpoint_of(path, deployment_caller<H, typename stored_as<P>::type...>{std::move(handle)},
                           std::move(options), manta::detail::list<typename stored_as<P>::type...>());
      e->deployment = its;
      e->deployment_name = name;
      e->set_sizes(sizes.request, sizes.answer);
      add_endpoint(std::move(e));
    } else {
      add_endpoint(endpoint_of(path, caller_of<typename stored_as<P>::type...>(std::move(handle)), std::move(options),
                               manta::detail::list<typename stored_as<P>::type...>()));
    }
  }
  template <class... P, class F>
  static auto caller_of(F f) {
    using namespace detail;
    if constexpr (!gives_value<F, P...>) {
      return object_caller<F, P...>{std::move(f)};
    } else if constexpr (std::is_pointer_v<F>) {
      (void)function_by_value<F>();
      return object_caller<F, P...>{std::move(f)};
    } else if constexpr (std::is_empty_v<F>) {
      return lambda_caller<F, P...>{std::move(f)};
    } else {
      return object_caller<F, P...>{std::move(f)};
    }
  }
  template <class F, class... P>
  static std::unique_ptr<detail::endpoint> endpoint_of(const std::string& path, F f, route_options options,
                                                       manta::detail::list<P...>) {
    return std::make_unique<detail::endpoint>(detail::make_endpoint<F, P...>(path, std::move(f), std::move(options)));
  }
  template <auto F, class... P>
  void add_function(const std::string& path, route_options options, manta::detail::list<P...>) {
    add_endpoint(endpoint_of(path, detail::function_caller<F, typename stored_as<P>::type...>{}, std::move(options),
                             manta::detail::list<typename stored_as<P>::type...>()));
  }

  std::unique_ptr<detail::http_server> server_;
};

}  // namespace manta::serve

#ifndef MANTA_COMPILED
#include "manta/serve/http.ipp"
#endif
