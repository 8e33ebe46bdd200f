// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A deployment: a function or the method of a class behind a queue, run by replicas on any ranks.
//
//   auto fashion = serve::deploy<serve::batched<&classifier::predict>>({.name = "fashion", .max_batch = 32}, "model");
//   int label = fashion(picture).get();
//
//   struct rule { serve::deployment<int(image)> inner; int apply(image); };
//   auto rules = serve::deploy<&rule::apply>({.name = "rules"}, fashion);
#pragma once

#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/manta.hpp"
#include "manta/serve/answers.hpp"
#include "manta/serve/handle_parts.hpp"
#include "manta/serve/router.hpp"
#include "manta/serve/weighted_turns.hpp"

namespace manta::serve {

template <class Signature>
class deployment;

namespace detail {

/// What is kept of an argument: texts as std::string, futures as their values.
template <class T>
struct kept_type {
  using type = std::conditional_t<std::is_convertible_v<T, const char*>, std::string, std::remove_cvref_t<T>>;
};
template <class T>
struct kept_type<future<T>> {
  using type = T;
};
template <class T>
using kept = typename kept_type<std::remove_cvref_t<T>>::type;

template <class T>
future<kept<T>> keep(T&& value) {
  if constexpr (std::is_same_v<std::remove_cvref_t<T>, future<kept<T>>>) {
    return std::forward<T>(value);
  } else {
    return put(kept<T>(std::forward<T>(value)));
  }
}

}  // namespace detail

namespace detail {

/// What a handle does whatever its requests are.
class deployment_handle {
 public:
  /// False for an empty handle. Does not say whether the deployment lives.
  [[nodiscard]] bool valid() const { return its_.router.valid(); }
  [[nodiscard]] const std::string& name() const { return its_.name; }
  /// Replicas, queue, latencies; waits.
  [[nodiscard]] serve::status status() const { return detail::status_of(router()); }
  /// Takes no more requests (they throw unavailable), and waits until all are answered, for `.drain_time` at most.
  void drain() const { detail::drain(router()); }
  /// Asks the replicas for their health (`bool healthy() const` of the class), and replaces those that are not well or
  /// do not answer in time; waits for the answers.
  void check() const { detail::check(router()); }

  /// Calls `reconfigure(value)` of the deployed class on each replica; replicas that are made later get the last value
  /// too. Waits until all have it. Throws manta::error if the class has no such method for exactly this type, or what
  /// it threw; the settings then stay as they were. A canary gets the value after the present version; if only the
  /// canary refuses it, this throws too, and says so. An update and a canary begin without settings.
  template <class Value>
  void reconfigure(const Value& value) const {
    using kept = detail::kept<Value>;
    const kept& given = value;  // a text becomes one
    detail::reconfigure(router(), its_.name, {typeid(kept).name(), output::pack(given)});
  }

  /// A new version of the same function or class, from arguments of the types that it was deployed
  /// with; see serve::update.
  //  (One template, not two: of two, the compiler says for each why a misspelt option does not fit.)
  template <class First = update_options, class... C>
  void update(First&& options = {}, C&&... arguments) const {  // manta: d.update({.weight = ..}, arguments..)
    if constexpr (std::is_same_v<std::remove_cvref_t<First>, update_options>) {
      update_with(options.weight, std::forward<C>(arguments)...);
    } else {
      update_with(1, std::forward<First>(options), std::forward<C>(arguments)...);
    }
  }
  /// Gives the canary this part of the requests, from 0 to 1. This and the next two throw manta::error if
  /// there is none.
  void canary(double weight) const { detail::weigh_canary(router(), its_.name, weight); }
  /// The canary becomes the version, with as many replicas as the old one has; waits until all are ready and the old
  /// ones have answered what they had. If one cannot start, nothing changes, and this throws.
  void promote() const { detail::promote(router(), its_.name); }
  /// The canary gets no more requests; waits until it has answered those that it had.
  void rollback() const { detail::rollback(router(), its_.name); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(its_.name, its_.router, its_.options, its_.sizes);
  }
  /// What it consists of, without the types of requests.
  [[nodiscard]] const handle_parts& parts() const { return its_; }
  /// For metadata: a handle that serve::find returns does not know them.
  [[nodiscard]] const detail::value_sizes& sizes() const { return its_.sizes; }
  void set_sizes(const detail::value_sizes& sizes) { its_.sizes = sizes; }
  /// Throws if the handle is empty.
  [[nodiscard]] const actor<detail::router>& router() const {
    if (!its_.router.valid()) detail::refuse_empty_handle("manta: serve: the handle of a deployment");
    return its_.router;
  }

 protected:
  deployment_handle() = default;
  explicit deployment_handle(handle_parts its) : its_(std::move(its)) {}

  template <class... C>
  void update_with(double weight, C&&... arguments) const {
    detail::wait_for_start(
        async<&detail::router::update_alike<detail::kept<C>...>>(
            router(), weight,
            detail::kept_arguments<detail::kept<C>...>{{detail::keep(std::forward<C>(arguments))...}}),
        its_.name, "keeps its version");
  }

  handle_parts its_;
};

}  // namespace detail

/// A handle: callable on any rank, can be copied and sent. The deployment ends with its last handle.
template <class R, class... A>
class deployment<R(A...)> : public detail::deployment_handle {
 public:
  using signature = R(A...);

  /// An empty handle, which may only be assigned to.
  deployment() = default;
  deployment(std::string name, actor<detail::router> r) : deployment_handle({std::move(name), std::move(r)}) {}
  explicit deployment(detail::handle_parts its) : deployment_handle(std::move(its)) {}

  /// One request: a future of its answer. Futures throw overloaded if the queue is full, request_failed if the
  /// deployment's own code threw (or what it threw, if that type is one of rethrow_as), timed_out if the call ran for
  /// longer than `.timeout`, or replica_died if the replica died and the deployment is not idempotent.
  future<R> operator()(const A&... arguments) const {
    return async<&detail::router::call<R, A...>>(router(), detail::type_tag<R>(), its_.options, arguments...);
  }
  /// Arguments may be futures.
  template <class... T>
    requires(sizeof...(T) == sizeof...(A) && sizeof...(T) > 0)
  future<R>
  operator()(T&&... arguments) const {
    return async<&detail::router::call<R, A...>>(router(), detail::type_tag<R>(), its_.options,
                                                 std::forward<T>(arguments)...);
  }

  /// The answer itself, for a deployed method that asks another deployment: waits as future::get does. When nobody
  /// wants the answer of this method any more, takes the request back and throws cancelled.
  R ask(const A&... arguments) const {
    future<R> answer = (*this)(arguments...);
    const auto caller = this_task::get_stop_token();
    detail::wait_while_wanted(answer, caller);
    return std::move(answer).get();
  }

  /// Many requests as one, which counts once in the queue and fails as a whole: its rows go to the replicas in slices,
  /// those of a batched method in slices of `.max_batch`. The answers have the order of the rows. `version`: that has
  /// to answer; 0: the present one or its canary.
  [[nodiscard]] future<detail::answered_rows<R>> many(std::vector<std::tuple<A...>> rows, int version = 0) const {
    call_options o = its_.options;
    if (version != 0) o.version = version;
    return async<&detail::router::call_rows<R, A...>>(router(), detail::type_tag<R>(), router(), o, std::move(rows));
  }

  /// A handle of this deployment whose calls have a priority or a deadline.
  [[nodiscard]] deployment with(const call_options& o) const {
    deployment d = *this;
    d.its_.options = o;
    return d;
  }
};

/// A handle of a deployed generator, whose answers come one after the other.
template <class T, class... A>
class deployment<generator<T>(A...)> : public detail::deployment_handle {
 public:
  using signature = generator<T>(A...);

  /// An empty handle, which may only be assigned to.
  deployment() = default;
  deployment(std::string name, actor<detail::router> r) : deployment_handle({std::move(name), std::move(r)}) {}
  explicit deployment(detail::handle_parts its) : deployment_handle(std::move(its)) {}

  /// One request: its answers, which throw what the futures of other deployments throw. The request has its replica
  /// from the first value to the last, as a call does; other requests of the replica run between two values.
  answers<T> operator()(const A&... arguments) const {
    const detail::stream_key key = detail::new_stream_key(rank());
    auto request =
        async<&detail::router::stream<T, A...>>(router(), detail::type_tag<T>(), key, its_.options, arguments...);
    return {std::move(request), detail::ask_place(router(), key)};
  }

  /// A handle of this deployment whose calls have a priority or a deadline.
  [[nodiscard]] deployment with(const call_options& o) const {
    deployment d = *this;
    d.its_.options = o;
    return d;
  }
};

namespace detail {

/// As the replicas want it: several single requests each, so that none waits for the router between two. Of batches
/// the dispatcher decides.
inline options completed(options o, const target_kind& kind) {
  if (kind.is_stream && o.isolate)
    throw error("manta: serve: the deployment '" + o.name +
                "' gives its values as they come, which a child process cannot; leave .isolate out");
  if (kind.is_batched) return o;
  if (o.max_batch > 1 || o.wait.count() > 0) {
    throw error("manta: serve: the deployment '" + o.name +
                "': .max_batch and .wait are for functions from a vector of "
                "requests to a vector of answers, deployed as serve::batched<f>; this one takes one request a call");
  }
  if (o.max_ongoing == 0) o.max_ongoing = o.timeout.count() > 0 ? 1 : 4;
  return o;
}

template <class Arguments>
inline constexpr bool can_repeat = false;
template <class... A>
inline constexpr bool can_repeat<std::tuple<A...>> = (std::is_copy_constructible_v<A> && ...);

/// For models whose answers depend on the request alone.
inline options pure(options o) {
  o.idempotent = true;
  return o;
}

}  // namespace detail

namespace detail {
/// Says what to write instead.
template <class First>
struct options_first {
  static_assert(
      std::is_convertible_v<First, options>,
      "manta: serve: options come before the arguments of the constructor: deploy<&A::method>({.name = ..}, ..)");
};

template <auto F, class Type, class... C>
auto deploy_with(const options& o, C&&... arguments) {
  using target = typename detail::target_of<F>::type;
  static_assert(detail::can_make<typename target::class_type, detail::kept<C>...>(),
                "manta: serve: the arguments after the options go to the constructor of the deployed class, or to the "
                "members of an aggregate, and it has none for these");
  using signature = detail::signature<target>;
  if (o.idempotent && !detail::can_repeat<typename target::arguments>) {
    throw error("manta: serve: the deployment '" + o.name +
                "' cannot be .idempotent: its requests cannot be copied, so none can be sent twice");
  }
  const options all = detail::completed(o, detail::kind_of<target>);
  const dispatcher checked(all);  // throws here, not on the router's rank
  actor<detail::router> r = detail::start_router(all, typeid(signature).name());
  detail::wait_for_start(async<&detail::router::open<target, detail::kept<C>...>>(
                             r, detail::type_tag<target>(),
                             detail::kept_arguments<detail::kept<C>...>{{detail::keep(std::forward<C>(arguments))...}}),
                         all.name, "cannot start");
  return deployment<signature>(all.name, std::move(r));
}
}  // namespace detail

/// Starts a deployment and waits until its replicas are ready. The arguments after the options are those of the class's
/// constructor (or of the aggregate), values or futures; each travels once to a node. Throws manta::error with the
/// constructor's text, or unschedulable if no rank fits.
//  (Compilers show the line with the function's name when a call does not fit, so that line has the advice.)
template <auto F, class Type = decltype(F), class Options = options, class... C>
auto deploy(const Options& o = {}, C&&... arguments) {  // manta: deploy<f>(options), deploy<&A::method>(options, A's)
  (void)detail::options_first<Options>();
  if constexpr (std::is_convertible_v<Options, options>)
    return detail::deploy_with<F, Type>(static_cast<const options&>(o), std::forward<C>(arguments)...);
}

namespace detail {
template <auto F, class Type, class Signature, class... C>
void update_to(const deployment<Signature>& d, double weight, C&&... arguments) {
  using target = typename detail::target_of<F>::type;
  static_assert(
      std::is_same_v<detail::signature<target>, Signature>,
      "manta: serve: a new version has to take the same requests and give the same answers as the deployment");
  detail::wait_for_start(async<&detail::router::update<target, detail::kept<C>...>>(
                             d.router(), detail::type_tag<target>(), weight,
                             detail::kept_arguments<detail::kept<C>...>{{detail::keep(std::forward<C>(arguments))...}}),
                         d.name(), "keeps its version");
}
}  // namespace detail

/// A new version of a running deployment, of another function, class or arguments with the same request and answer.
/// Starts the new replicas, then stops the old ones: no request fails or sees both versions. If a new one cannot start,
/// the old version stays, and this throws. A canary that was there ends.
///
/// With `.weight` below 1 the new version is a canary: it gets that part of the requests, with that part of
/// the replicas, beside the old one, until deployment::promote or rollback, or the next update.
/// deployment::status shows both.
template <auto F, class Type = decltype(F), class Signature, class First = update_options, class... C>
void update(const deployment<Signature>& d, First&& options = {}, C&&... arguments) {
  if constexpr (std::is_same_v<std::remove_cvref_t<First>, update_options>) {
    detail::update_to<F, Type>(d, options.weight, std::forward<C>(arguments)...);
  } else {
    detail::update_to<F, Type>(d, 1, std::forward<First>(options), std::forward<C>(arguments)...);
  }
}

/// The deployment of this name, on any rank. Throws if there is none; the signature has to be the one it
/// was deployed with.
template <class Signature>
deployment<Signature> find(const std::string& name) {
  return {name, detail::find_router(name, typeid(Signature).name(), wire::type_name<Signature>())};
}

namespace detail {
template <class Signature>
struct split;
template <class R, class... A>
struct split<R(A...)> {
  std::vector<deployment<R(A...)>> parts;
  weighted_turns turns;

  explicit split(const std::vector<std::pair<deployment<R(A...)>, double>>& given) {
    std::vector<double> weights;
    for (const auto& [part, weight] : given) {
      parts.push_back(part);
      weights.push_back(weight);
    }
    reconfigure(weights);
  }
  void reconfigure(const std::vector<double>& weights) {
    if (weights.size() != parts.size())
      throw error(base::text("manta: serve::split: {} weights for {} parts", weights.size(), parts.size()));
    turns = weighted_turns(weights);  // throws, and nothing has changed
  }
  R call(A... arguments) {
    const deployment<R(A...)> chosen = parts[turns.next()];  // the weights may change while it waits
    return chosen.ask(arguments...);
  }
};
}  // namespace detail

/// A deployment that gives each request to one of these, by their weights: for a canary, or for A and B. Its
/// `reconfigure(std::vector<double>{..})` changes the weights while it serves; a part with weight 0 gets none.
template <class Signature>
deployment<Signature> split(const options& o, std::vector<std::pair<deployment<Signature>, double>> parts) {
  options all = o;
  if (all.max_ongoing == 0) all.max_ongoing = 1000;
  for (const auto& [part, weight] : parts) (void)part.router();  // throws here, not with the first request
  return deploy<&detail::split<Signature>::call>(all, std::move(parts));
}

}  // namespace manta::serve
