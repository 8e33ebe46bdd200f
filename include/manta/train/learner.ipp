// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "manta/base/demangle.hpp"
#include "manta/base/hash.hpp"
#include "manta/base/text.hpp"
#include "manta/call/class_table.hpp"
#include "manta/nn/checks.hpp"
#include "manta/train/learner.hpp"

namespace manta::train::detail {

using learner_maker = std::unique_ptr<learner> (*)(const std::string& bytes);

inline manta::detail::class_table<learner_maker>& learner_makers() {
  static manta::detail::class_table<learner_maker> all;
  return all;
}

MANTA_DECL std::uint32_t register_learner(const char* type,
                                          std::unique_ptr<learner> (*make)(const std::string& bytes)) {
  return learner_makers().add(type, make);
}

MANTA_DECL averaged_parameters::averaged_parameters(learner& l) : learner_(l) { learner_.swap_averages(); }
MANTA_DECL averaged_parameters::~averaged_parameters() { learner_.swap_averages(); }

MANTA_DECL std::unique_ptr<learner> make_learner(const learner_name& what) {
  const auto words = [&] { return "the recipe " + base::demangle(what.type.c_str()); };
  return learner_makers().at(words, what.type, what.number)(what.bytes);
}

MANTA_DECL void check_sampling(std::span<const double> weights, std::size_t size) {
  if (weights.size() != size)
    throw error(
        base::text("manta: train: sampling_weights() gives {} weights, and there are {} samples of the training "
                   "data; each needs one",
                   weights.size(), size));
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (!(weights[i] >= 0) || !base::is_finite(weights[i]))
      throw error(base::text("manta: train: sampling_weights() gives sample {} the weight {}; it has to be at least 0",
                             i, weights[i]));
    sum += weights[i];
  }
  if (!(sum > 0) || !base::is_finite(sum))
    throw error(
        base::text("manta: train: the weights of sampling_weights() add up to {}; the sum has to be above 0", sum));
}

inline std::string name_of_sample(bool training, std::uint64_t number) {
  return base::text("sample {} of the {} data", number, training ? "training" : "validation");
}

MANTA_DECL std::string text_of(const nn::sample_error& e, bool training, std::span<const std::uint64_t> which) {
  if (e.sample() >= which.size()) return e.what();
  return e.text_for(name_of_sample(training, which[e.sample()]));
}

template <class T>
std::string odd_number(const nn::matrix<T>& m, std::span<const std::uint64_t> which, const char* where) {
  const std::span<const T> numbers(m.data(), static_cast<std::size_t>(m.size()));
  if (nn::all_finite(numbers)) return "";
  std::size_t at = 0;
  while (nn::all_finite(numbers.subspan(at, 1))) ++at;
  const std::size_t rows = static_cast<std::size_t>(m.rows()), column = at / rows;
  return base::text("number {} of {}{} is {}", at % rows, where,
                    column < which.size() ? name_of_sample(true, which[column]) : "a sample",
                    base::is_nan(static_cast<double>(numbers[at])) ? "NaN" : "infinite");
}
template <class T>
std::string odd_number_of(const batch<T>& b, std::span<const std::uint64_t> which) {
  const std::string inputs = odd_number(b.x, which, "");
  if (!inputs.empty() || b.has_labels) return inputs;
  return odd_number(b.y, which, "the targets of ");
}
MANTA_DECL std::string odd_number_in(const batch<float>& b, std::span<const std::uint64_t> which) {
  return odd_number_of(b, which);
}
MANTA_DECL std::string odd_number_in(const batch<double>& b, std::span<const std::uint64_t> which) {
  return odd_number_of(b, which);
}

template <class T>
std::uint64_t digest_of_batch(const batch<T>& b) {
  const auto of = [](const auto& array, std::uint64_t seed) {
    return base::hash_bytes(array.data(), static_cast<std::size_t>(array.size()) * sizeof(*array.data()), seed);
  };
  const std::uint64_t x = of(b.weights, of(b.x, static_cast<std::uint64_t>(b.x.rows())));
  return b.has_labels ? of(b.labels, x) : of(b.y, x);
}
MANTA_DECL std::uint64_t digest_of(const batch<float>& b) { return digest_of_batch(b); }
MANTA_DECL std::uint64_t digest_of(const batch<double>& b) { return digest_of_batch(b); }

MANTA_DECL std::string mismatch_of(const std::vector<nn::spec>& layers, const nn::loss& l) {
  if (layers.empty()) return "";
  const nn::spec& last = layers.back();
  if (last.kind == "sequential") return mismatch_of(last.parts, l);
  const bool is_twice = (last.kind == "softmax" && l.name() == "cross_entropy") ||
                        (last.kind == "sigmoid" && l.name() == "binary_cross_entropy");
  if (!is_twice) return "";
  return base::text(
      "the network ends with {}, and the loss {} has it already, as its outputs are logits: take the "
      "layer away, and apply it to predictions where probabilities are wanted",
      last.text(), l.name());
}

}  // namespace manta::train::detail
