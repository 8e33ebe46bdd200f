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
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "manta/base/number.hpp"
#include "manta/manta.hpp"
#include "manta/serve/router.hpp"

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

/// Waits; throws the sentence of the innermost error, of a constructor or of `reconfigure`.
template <class F>
void wait_for_start(const F& started, const std::string& name, const char* what) {
  try {
    started.get();
  } catch (const task_failed& e) {
    if (e.details().type == "manta::unschedulable") throw unschedulable(e.details().what);
    throw error("manta: serve: the deployment '" + name + "' " + what + ": " + e.details().what);
  }
}

}  // namespace detail

/// A handle: callable on any rank, can be copied and sent. The deployment ends with its last handle.
template <class R, class... A>
class deployment<R(A...)> {
 public:
  using signature = R(A...);

  deployment() = default;
  deployment(std::string name, actor<detail::router<R(A...)>> r) : name_(std::move(name)), router_(std::move(r)) {}

  /// One request: a future of its answer. Futures throw overloaded if the queue is full, what the deployment's own code
  /// threw, or replica_died if the replica died and the deployment is not idempotent.
  future<R> operator()(const A&... arguments) const {
    return async<&detail::router<R(A...)>::call>(router_, options_, arguments...);
  }
  /// Arguments may be futures.
  template <class... T>
  requires(sizeof...(T) == sizeof...(A) && sizeof...(T) > 0) future<R>
  operator()(T&&... arguments) const {
    return async<&detail::router<R(A...)>::call>(router_, options_, std::forward<T>(arguments)...);
  }

  /// The same deployment, called with a priority or a deadline.
  [[nodiscard]] deployment with(const call_options& o) const {
    deployment d = *this;
    d.options_ = o;
    return d;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Replicas, queue, latencies; waits.
  [[nodiscard]] serve::status status() const { return async<&detail::router<R(A...)>::status>(router_).get(); }
  /// Takes no more requests (they throw unavailable), and waits until all are answered.
  void drain() const { async<&detail::router<R(A...)>::drain>(router_).get(); }
  /// Asks the replicas for their health (`bool healthy() const` of the class), and replaces those that are not well;
  /// waits.
  void check() const { async<&detail::router<R(A...)>::check>(router_).get(); }

  /// Calls `reconfigure(value)` of the deployed class on each replica; replicas that are made later get the last value
  /// too. Waits until all have it. Throws manta::error if the class has no such method for exactly this type, or what
  /// it threw; the settings then stay as they were. An update begins without settings.
  template <class Value>
  void reconfigure(const Value& value) const {
    using kept = detail::kept<Value>;
    const kept& given = value;  // a text becomes one
    detail::settings s{typeid(kept).name(), output::pack(given)};
    detail::wait_for_start(async<&detail::router<R(A...)>::reconfigure>(router_, std::move(s)), name_,
                           "keeps its settings");
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(name_, router_, options_);
  }
  [[nodiscard]] const actor<detail::router<R(A...)>>& router() const { return router_; }

 private:
  std::string name_;
  actor<detail::router<R(A...)>> router_;
  call_options options_;
};

namespace detail {

template <class T>
future<kept<T>> keep(T&& value) {
  if constexpr (std::is_same_v<std::remove_cvref_t<T>, future<kept<T>>>) {
    return std::forward<T>(value);
  } else {
    return put(kept<T>(std::forward<T>(value)));
  }
}

template <class Target>
using signature = typename signature_of<typename Target::result, typename Target::arguments>::type;

/// As the replicas want it: two batches each, so that none waits for the router between two; else four single requests.
inline options completed(options o, bool is_batched) {
  if (o.max_ongoing == 0) o.max_ongoing = is_batched ? 2 : 4;
  if (!is_batched) o.max_batch = 1;
  return o;
}

/// For models whose answers depend on the request alone.
inline options pure(options o) {
  o.idempotent = true;
  return o;
}

}  // namespace detail

/// Starts a deployment and waits until its replicas are ready. The arguments are those of the class's constructor (or
/// of the aggregate), values or futures; each travels once to a node. Throws manta::error with the constructor's text,
/// or unschedulable if no rank fits.
template <auto F, class... C>
auto deploy(const options& o, C&&... arguments) {
  using target = typename detail::target_of<F>::type;
  using signature = detail::signature<target>;
  using router = detail::router<signature>;
  const options all = detail::completed(o, target::is_batched);
  const dispatcher checked(all);  // throws here, not on the router's rank
  actor<router> r =
      spawn<router>({.name = all.name.empty() ? "" : "serve/" + all.name, .rank = 0, .concurrency = 1 << 20}, all);
  detail::wait_for_start(
      async<&router::template open<target, detail::kept<C>...>>(
          r, detail::kept_arguments<detail::kept<C>...>{{detail::keep(std::forward<C>(arguments))...}}),
      all.name, "cannot start");
  return deployment<signature>(all.name, std::move(r));
}

/// A new version of a running deployment, of another function, class or arguments with the same request and answer.
/// Starts the new replicas, then stops the old ones: no request fails or sees both versions. If a new one cannot start,
/// the old version stays, and this throws.
template <auto F, class Signature, class... C>
void update(const deployment<Signature>& d, C&&... arguments) {
  using target = typename detail::target_of<F>::type;
  static_assert(
      std::is_same_v<detail::signature<target>, Signature>,
      "manta: serve: a new version has to take the same requests and give the same answers as the deployment");
  detail::wait_for_start(
      async<&detail::router<Signature>::template update<target, detail::kept<C>...>>(
          d.router(), detail::kept_arguments<detail::kept<C>...>{{detail::keep(std::forward<C>(arguments))...}}),
      d.name(), "keeps its version, for the new one cannot start");
}

/// The deployment of this name, on any rank. Throws if there is none; the signature has to be the one it was deployed
/// with.
template <class Signature>
deployment<Signature> find(const std::string& name) {
  return {name, find_actor<detail::router<Signature>>("serve/" + name)};
}

namespace detail {
template <class Signature>
struct split;
template <class R, class... A>
struct split<R(A...)> {
  std::vector<std::pair<deployment<R(A...)>, double>> parts;
  double total = 0;
  std::uint64_t count = 0;

  explicit split(std::vector<std::pair<deployment<R(A...)>, double>> p) : parts(std::move(p)) { check(); }
  void reconfigure(const std::vector<double>& weights) {
    if (weights.size() != parts.size())
      throw error("manta: serve::split: " + std::to_string(weights.size()) + " weights for " +
                  std::to_string(parts.size()) + " parts");
    auto next = parts;
    for (std::size_t i = 0; i < weights.size(); ++i) next[i].second = weights[i];
    split checked(std::move(next));  // throws, and nothing has changed
    parts.swap(checked.parts);
    total = checked.total;
  }
  R call(A... arguments) {
    // The golden ratio's multiples spread evenly, so that each part has its share of any long run of requests.
    double at = std::fmod(static_cast<double>(count++) * 0.6180339887498949, 1.0) * total;
    const deployment<R(A...)>* chosen = nullptr;
    for (const auto& [d, weight] : parts) {
      if (weight <= 0) continue;
      chosen = &d;
      if (at < weight) break;
      at -= weight;
    }
    const deployment<R(A...)> d = *chosen;  // the weights may change while it waits
    return d(arguments...).get();
  }

 private:
  void check() {
    for (const auto& [d, weight] : parts) {
      if (!(weight >= 0) || !base::is_finite(weight))
        throw error("manta: serve::split: the weight of '" + d.name() + "' is no number of at least 0");
      total += weight;
    }
    if (!(total > 0)) throw error("manta: serve::split needs a part with a weight above 0");
  }
};
}  // namespace detail

/// A deployment that gives each request to one of these, by their weights: for a canary, or for A and B. Its
/// `reconfigure(std::vector<double>{..})` changes the weights while it serves; a part with weight 0 gets none.
template <class Signature>
deployment<Signature> split(const options& o, std::vector<std::pair<deployment<Signature>, double>> parts) {
  options all = o;
  if (all.max_ongoing == 0) all.max_ongoing = 1000;
  return deploy<&detail::split<Signature>::call>(all, std::move(parts));
}

}  // namespace manta::serve
