// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// From what a program gives to http.route to an endpoint: a deployment's handle, a function, or a function object.
#pragma once

#include "manta/base/config.hpp"

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "manta/async.hpp"
#include "manta/serve/endpoint.hpp"
#include "manta/serve/handle_parts.hpp"
#include "manta/serve/source_http.hpp"
#include "manta/serve/status.hpp"

namespace manta::serve {

namespace detail {
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
template <bool Right>
struct route_options_last {
  static_assert(Right,
                "manta: options come last, as serve::route_options: http.route<f>(\"/path\", {.name = ..}) for a "
                "function, http.route(\"/path\", handle, {.name = ..}) for a deployment");
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

template <class... P, class F>
auto caller_of(F f) {
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
std::unique_ptr<endpoint> endpoint_of(const std::string& path, F f, route_options options, manta::detail::list<P...>) {
  return std::make_unique<endpoint>(make_endpoint<F, P...>(path, std::move(f), std::move(options)));
}

/// A function, whose requests are tasks.
template <auto F, class Type = decltype(F)>
struct function_handle {};

template <auto F, class Type, class... P>
std::unique_ptr<endpoint> endpoint_for_types(const std::string& path, function_handle<F, Type>, route_options options,
                                             manta::detail::list<P...>) {
  return endpoint_of(path, function_caller<F, typename stored_as<P>::type...>{}, std::move(options),
                     manta::detail::list<typename stored_as<P>::type...>());
}
template <class H, class... P>
std::unique_ptr<endpoint> endpoint_for_types(const std::string& path, H handle, route_options options,
                                             manta::detail::list<P...>) {
  using types = manta::detail::list<typename stored_as<P>::type...>;
  if constexpr (requires { handle.router(); }) {
    if (!handle.valid()) refuse_empty_handle("manta: http.route: the handle for " + path);
    if (options.name.empty()) options.name = handle.name();
    const actor<router> its = handle.router();
    const std::string name = handle.name();
    const auto sizes = handle.sizes();
    auto e = endpoint_of(path, deployment_caller<H, typename stored_as<P>::type...>{std::move(handle)},
                         std::move(options), types());
    e->deployment = its;
    e->deployment_name = name;
    e->set_sizes(sizes.request, sizes.answer);
    return e;
  } else {
    return endpoint_of(path, caller_of<typename stored_as<P>::type...>(std::move(handle)), std::move(options), types());
  }
}

/// The types of a handle's parameters.
template <class H>
struct parameters_of {
  using type = typename handle_signature<H>::parameters;
};
template <auto F, class Type>
struct parameters_of<function_handle<F, Type>> {
  using type = typename manta::detail::signature<Type>::parameters;
};

template <class H>
std::unique_ptr<endpoint> endpoint_for(const std::string& path, H handle, route_options options) {
  return endpoint_for_types(path, std::move(handle), std::move(options), typename parameters_of<H>::type());
}

// --- for servers on other ranks

/// Whether a handle can be sent: a deployment's, a function, or a lambda without captures.
template <class H>
inline constexpr bool can_be_sent = requires(const H& h) {
  h.router();
}
|| (std::is_empty_v<H> && std::is_default_constructible_v<H>);

/// Makes an endpoint for a type of handle. `parts`: of a deployment's handle; without elements for functions.
using endpoint_maker = std::unique_ptr<endpoint> (*)(const std::string& path, route_options,
                                                     const std::vector<handle_parts>& parts);
/// To be called before main. `type`: as typeid names it.
MANTA_DECL bool register_endpoint_maker(const char* type, endpoint_maker make);
/// Throws if two files of the program have different types of this name.
MANTA_DECL endpoint_maker find_endpoint_maker(const std::string& type);

template <class H>
std::unique_ptr<endpoint> endpoint_from_parts(const std::string& path, route_options options,
                                              const std::vector<handle_parts>& parts) {
  if constexpr (requires(const H& h) { h.parts(); }) {
    return endpoint_for(path, H(parts.front()), std::move(options));
  } else {
    return endpoint_for(path, H(), std::move(options));
  }
}
template <class H>
inline const bool has_maker = register_endpoint_maker(typeid(H).name(), &endpoint_from_parts<H>);

template <class H>
std::vector<handle_parts> parts_of(const H& handle) {
  if constexpr (requires { handle.parts(); }) return {handle.parts()};
  return {};
}
}  // namespace detail

}  // namespace manta::serve

#ifndef MANTA_COMPILED
#include "manta/serve/http_handle.ipp"
#endif
