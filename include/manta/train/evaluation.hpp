// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Predictions and evaluations of any data, by tasks on all ranks.
//
//   nn::matrix<float> y = train::predict(net, test);        // outputs x samples
//   train::summary s = trainer.evaluate(test);              // loss and metrics, as trainer.validate() gives them
//
// The model works on the same 256 samples at a time whatever the number of ranks, so the result is the same bits.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/async.hpp"
#include "manta/error.hpp"
#include "manta/future.hpp"
#include "manta/run.hpp"
#include "manta/train/batch_sums.hpp"
#include "manta/train/pass.hpp"
#include "manta/train/recipe.hpp"
#include "manta/train/samples.hpp"
#include "manta/train/summary.hpp"

namespace manta::train {

namespace detail {

/// Makes predictions from here on: no dropout, and batch norm as it was met in training.
template <class Model>
Model in_use(Model m) {
  if constexpr (nn::module<Model>) nn::set_mode(m, {.training = false});
  return m;
}

inline constexpr std::size_t samples_at_once = 256;

/// Gives the samples to `use(batch)`, some at a time, in their order.
template <class T, class Use>
void in_batches(const samples& data, Use use) {
  batch<T> b;
  std::vector<std::uint64_t> which;
  for (std::size_t at = 0; at < data.size(); at += samples_at_once) {
    which.resize(std::min(samples_at_once, data.size() - at));
    std::iota(which.begin(), which.end(), at);
    data.take(which, b);
    use(b);
  }
}

/// The data in parts for tasks, of which each rank gets some.
MANTA_DECL std::vector<samples> parts_for_tasks(const samples& data);

template <class Model>
nn::matrix<typename Model::scalar> predict_part(const Model& model, const samples& part) {
  using T = typename Model::scalar;
  Model its = in_use(model);
  nn::matrix<T> all;
  Eigen::Index at = 0;
  in_batches<T>(part, [&](const batch<T>& b) {
    const nn::matrix<T>& y = its.forward(b.x);
    if (at == 0) all.resize(y.rows(), static_cast<Eigen::Index>(part.size()));
    all.middleCols(at, y.cols()) = y;
    at += y.cols();
  });
  return all;
}

/// What the recipe says of each batch.
template <class Recipe, class Model>
std::vector<sums> evaluate_part(const Recipe& recipe, const Model& model, const samples& part) {
  using T = typename Model::scalar;
  Model its = in_use(model);
  const auto loss = recipe.loss();
  nn::matrix<T> unused;
  std::vector<sums> all;
  in_batches<T>(part, [&](const batch<T>& b) {
    const nn::matrix<T>& y = its.forward(b.x);
    all.push_back(sums_of<T>(recipe, loss, y, b, unused, 1));
  });
  return all;
}

/// The result of a task on a part; what it threw is one sentence.
template <class T>
T result_of(future<T> part) {
  try {
    return std::move(part).get();
  } catch (const task_failed& e) {
    throw error(e.details().what);
  }
}

template <class Model, class X>
constexpr bool is_predictable = [] {
  if constexpr (requires { typename Model::scalar; })
    return std::is_convertible_v<const X&, const nn::matrix<typename Model::scalar>&> ||
           std::is_convertible_v<const X&, samples>;
  return false;
}();

}  // namespace detail

/// What the model gives for each sample: outputs x samples, in their order. Waits. Throws manta::error with the model's
/// text if it does not take these samples.
template <nn::module Model>
nn::matrix<typename Model::scalar> predict(const Model& model, const samples& data) {
  using T = typename Model::scalar;
  const future<Model> its = put(model);
  std::vector<future<nn::matrix<T>>> parts;
  for (const samples& part : detail::parts_for_tasks(data))
    parts.push_back(async<&detail::predict_part<Model>>(its, part));
  nn::matrix<T> all;
  Eigen::Index at = 0;
  for (future<nn::matrix<T>>& each : parts) {
    const nn::matrix<T> y = detail::result_of(std::move(each));
    if (at == 0) all.resize(y.rows(), static_cast<Eigen::Index>(data.size()));
    all.middleCols(at, y.cols()) = y;
    at += y.cols();
  }
  return all;
}
/// Predictions for samples without targets: features x samples.
template <nn::module Model>
nn::matrix<typename Model::scalar> predict(const Model& model, const nn::matrix<typename Model::scalar>& x) {
  return predict(model, samples(x, std::vector<int>(static_cast<std::size_t>(x.cols()), 0)));
}

template <class Model, class X, class... Others>
  requires(sizeof...(Others) > 0 || !detail::is_predictable<Model, X>)
void predict(  // manta: train: predict takes samples, or a matrix of the network's type, features x samples
    const Model&, const X&, const Others&...) = delete;

/// The mean of the recipe's loss over the samples, and its metrics. Waits. Throws manta::error with the text of what
/// does not fit, and if the samples have the weight 0 together.
template <recipe Recipe, nn::module Model>
summary evaluate(const Recipe& r, const Model& model, const samples& data) {
  const auto begin = std::chrono::steady_clock::now();
  const future<Recipe> its = put(r);
  const future<Model> trained = put(model);
  std::vector<future<std::vector<detail::sums>>> parts;
  for (const samples& part : detail::parts_for_tasks(data))
    parts.push_back(async<&detail::evaluate_part<Recipe, Model>>(its, trained, part));
  detail::pass_result all;
  for (future<std::vector<detail::sums>>& each : parts) {
    for (const detail::sums& s : detail::result_of(std::move(each))) all.all.add(s);
  }
  return detail::mean_of(all, detail::seconds_since(begin));
}
template <class... Others>
  requires(sizeof...(Others) != 3)
void evaluate(const Others&...) = delete;  // manta: train: evaluate(recipe, net, samples), or trainer.evaluate(samples)

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/evaluation.ipp"
#endif
