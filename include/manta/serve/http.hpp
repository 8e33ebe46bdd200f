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
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/async.hpp"
#include "manta/serve/http_error.hpp"
#include "manta/serve/http_handle.hpp"
#include "manta/serve/http_options.hpp"
#include "manta/serve/source_http.hpp"
#include "manta/serve/status.hpp"

namespace manta::serve {

namespace detail {
class http_server;
class http_peers;
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
  ///
  /// http.route<f>("/path", options): each request is a task.
  //  (One template, not two: of two, the compiler says for each why an option without a field does not fit.)
  template <auto F = nullptr, class Handle = route_options, class Options = route_options>
  void route(const std::string& path, Handle&& handle = {}, const Options& options = {}) {  // manta: see route_options
    using H = std::decay_t<Handle>;
    constexpr bool is_function = !std::is_same_v<decltype(F), std::nullptr_t>;
    (void)detail::route_options_last<is_function ? std::is_same_v<H, route_options>
                                                 : std::is_same_v<Options, route_options>>();
    if constexpr (is_function) {
      if constexpr (std::is_same_v<H, route_options>) add(path, detail::function_handle<F>(), handle);
    } else if constexpr (!detail::handle_signature<H>::value) {
      (void)detail::not_callable<H>();
    } else if constexpr (std::is_same_v<Options, route_options>) {
      add(path, H(std::forward<Handle>(handle)), options);
    }
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

  template <class H>
  void add(const std::string& path, H handle, const route_options& options) {
    add_endpoint(detail::endpoint_for(path, handle, options));
    if (!has_peers()) return;
    if constexpr (detail::can_be_sent<H>) {
      (void)detail::has_maker<H>;
      add_to_peers(path, options, typeid(H).name(), detail::parts_of(handle));
    } else {
      refuse_to_send(path);
    }
  }
  MANTA_DECL bool has_peers() const;
  MANTA_DECL void add_to_peers(const std::string& path, const route_options& o, const char* type,
                               std::vector<detail::handle_parts> parts);
  [[noreturn]] MANTA_DECL static void refuse_to_send(const std::string& path);
  MANTA_DECL void begin();
  MANTA_DECL void end();

  std::unique_ptr<detail::http_server> server_;
  std::unique_ptr<detail::http_peers> peers_;  ///< null without http_options::ranks
};

}  // namespace manta::serve

#ifndef MANTA_COMPILED
#include "manta/serve/http.ipp"
#endif
