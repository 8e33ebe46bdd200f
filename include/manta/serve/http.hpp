// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Opt-in: deployments, functions and lambdas behind HTTP, on libevent (link with -levent).
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
}  // namespace detail

/// A server. Used by the thread that runs tasks, on any rank; several may be there. Destroying it closes all
/// connections.
class http {
 public:
  /// Listens, and answers from run() on. Throws manta::error if the place is taken or must not be used.
  MANTA_DECL explicit http(http_options options = {});
  http(const http&) = delete;
  http& operator=(const http&) = delete;
  MANTA_DECL ~http();

  /// POST to `path` calls `handle`: a deployment, or anything that gives a future, a manta::stream or a value. One
  /// without parameters can be had by GET, too. Paths begin with "/"; each once, and none of the server's own: /status,
  /// /docs, /api/status, /openapi.json, /metrics and those under /v2.
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

  template <class H, class... P>
  void add(const std::string& path, H handle, route_options options, manta::detail::list<P...>) {
    if constexpr (requires { bool(handle.valid()); }) {
      if (!handle.valid()) detail::refuse_empty_handle("manta: http.route: the handle for " + path);
    }
    if constexpr (requires { std::string(handle.name()); }) {
      if (options.name.empty()) options.name = handle.name();
    }
    auto f = [handle](typename stored_as<P>::type&&... p) { return handle(std::move(p)...); };
    auto e = std::make_unique<detail::endpoint>(
        detail::make_endpoint<decltype(f), typename stored_as<P>::type...>(path, f, std::move(options)));
    detail::add_infer<decltype(f), typename stored_as<P>::type...>(*e, f);
    if constexpr (requires { std::string(handle.name()); }) e->deployment = handle.name();
    if constexpr (requires { to_json(handle.status()); }) {
      e->status = [handle] { return to_json(handle.status()); };
    }
    add_endpoint(std::move(e));
  }
  template <auto F, class... P>
  void add_function(const std::string& path, route_options options, manta::detail::list<P...> parameters) {
    add(
        path, [](typename stored_as<P>::type&&... p) { return async<F>(std::move(p)...); }, std::move(options),
        parameters);
  }

  std::unique_ptr<detail::http_server> server_;
};

}  // namespace manta::serve

#ifndef MANTA_COMPILED
#include "manta/serve/http.ipp"
#endif
