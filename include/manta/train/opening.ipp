// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "manta/base/hash.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/run.hpp"
#include "manta/train/opening.hpp"
#include "manta/train/problem.hpp"

namespace manta::train::detail {

/// What one member has, as numbers that MPI can gather.
struct opened_facts {
  std::uint64_t rank = 0, model = 0;
  std::uint64_t sampling = 0;                           ///< a digest of the weights by which samples are drawn
  std::array<std::uint64_t, 2> sizes{};                 ///< sizes of the training data and of the validation data
  std::array<std::array<std::uint64_t, 2>, 2> ends{};   ///< digests of the first and the last sample of each
  std::array<std::array<std::uint64_t, 2>, 2> again{};  ///< the same, taken once more: data may vary by themselves
};

/// A digest of the first sample and one of the last.
inline std::array<std::uint64_t, 2> digests_of(learner& l, bool training) {
  const std::uint64_t size = l.size(training);
  if (size == 0) return {};
  const std::uint64_t first = l.digest(training, 0);
  return {first, size == 1 ? first : l.digest(training, size - 1)};
}

inline std::string name_of_data(std::size_t which) { return which == 0 ? "training" : "validation"; }

/// The member whose fact differs from the first one's; the number of members if all are equal.
template <class Fact>
std::size_t first_that_differs(const std::vector<opened_facts>& all, Fact&& fact) {
  return static_cast<std::size_t>(
      std::find_if(all.begin(), all.end(), [&](const opened_facts& f) { return fact(f) != fact(all[0]); }) -
      all.begin());
}

inline void compare_models(const std::vector<opened_facts>& all, const std::string& own) {
  const std::size_t other = first_that_differs(all, [](const opened_facts& f) { return f.model; });
  if (other < all.size())
    throw error(
        base::text("manta: train: the workers' recipes make different models: the one on rank {} is not that on "
                   "rank {}; here it is {}. What model() gives may depend on the recipe's members alone",
                   all[other].rank, all[0].rank, own));
}

inline void compare_sampling(const std::vector<opened_facts>& all) {
  const std::size_t other = first_that_differs(all, [](const opened_facts& f) { return f.sampling; });
  if (other < all.size())
    throw error(
        base::text("manta: train: what sampling_weights() gives on rank {} differs from that on rank {}; it may depend "
                   "on the data and the recipe's members alone",
                   all[other].rank, all[0].rank));
}

inline void compare_sizes(const std::vector<opened_facts>& all, std::size_t which) {
  const std::size_t other = first_that_differs(all, [&](const opened_facts& f) { return f.sizes[which]; });
  if (other < all.size())
    throw error(
        base::text("manta: train: the workers' {} data differ in size: rank {} has {} samples, and rank {} {}. "
                   "Each worker reads all of them, and {}",
                   name_of_data(which), all[0].rank, all[0].sizes[which], all[other].rank, all[other].sizes[which],
                   which == 0 ? "trains with a share of each batch" : "validates a share of them"));
}

inline void compare_ends(const std::vector<opened_facts>& all, std::size_t which) {
  for (std::size_t end = 0; end < 2; ++end) {
    const auto digest = [&](const opened_facts& f) { return f.ends[which][end]; };
    if (std::ranges::any_of(all, [&](const opened_facts& f) { return digest(f) != f.again[which][end]; })) continue;
    const std::size_t other = first_that_differs(all, digest);
    if (other < all.size())
      throw error(base::text(
          "manta: train: the workers' {} data differ: the {} sample on rank {} is not that on rank {}. Each worker "
          "reads all of them, in one order; what the data are may depend on the recipe's members alone",
          name_of_data(which), end == 0 ? "first" : "last", all[other].rank, all[0].rank));
  }
}

/// Throws where tables say other things of their columns: the same number of a class would mean two words.
inline void compare_columns(learner& l) {
  const samples *const training = l.shareable(true), *const validation = l.shareable(false);
  if (!training || !validation || l.size(false) == 0) return;
  const columns t = training->columns(), v = validation->columns();
  const std::string remedy = "; give read_csv of the validation data .like = the columns() of the training data";
  if (t.classes != v.classes)
    throw error(base::text(
        "manta: train: the classes of the training data are {}, and those of the validation data {}{}",
        t.classes.empty() ? "numbers" : joined(t.classes), v.classes.empty() ? "numbers" : joined(v.classes), remedy));
  if (t.inputs != v.inputs && !t.inputs.empty() && !v.inputs.empty())
    throw error(
        base::text("manta: train: the inputs of the training data are {}, and those of the validation data {}{}",
                   joined(t.inputs), joined(v.inputs), remedy));
  if (t.mean != v.mean || t.deviation != v.deviation)
    throw error(base::text("manta: train: the training data {}, and the validation data {}{}",
                           t.mean.empty() ? "are not normalised" : "are normalised by their own statistics",
                           v.mean.empty() ? "are not" : "by others", remedy));
}

/// Throws unless the data suit the model and the options. All members have the same of both.
inline void check_data(learner& l, const options& o) {
  const std::uint64_t size = l.size(true);
  if (size == 0) throw error("manta: train: the recipe's training_data() has no samples");
  if (size < static_cast<std::uint64_t>(o.batch))
    throw error(base::text(
        "manta: train: a batch of {} samples is larger than the training data, which have {}; choose a smaller batch",
        o.batch, size));
  if (o.average_every > 0 && l.sums_over_workers())
    throw error(
        "manta: train: .average_every makes steps without the other workers, so a layer like batch_norm({.all_workers "
        "= true}) cannot have the statistics of the whole batch: use batch_norm(), or leave .average_every away");
  if (l.optimizer_kind() == "lbfgs" && (size != static_cast<std::uint64_t>(o.batch) || o.average_every > 0))
    throw error(
        base::text("manta: train: L-BFGS compares the gradients of neighbouring steps, which have to be of the same "
                   "samples and of all workers: set .batch = {}, the number of samples, and leave .average_every away",
                   size));
  compare_columns(l);
  const std::string mismatch = l.mismatch();
  if (!mismatch.empty()) throw error("manta: train: " + mismatch);

  const auto without_ones = [](const nn::shape& s) {
    std::vector<int> extents = s.extents();
    std::erase(extents, 1);
    return extents;
  };
  const nn::shape data = l.extents_of_data(), model = l.extents_of_model();
  const std::vector<int> of_data = without_ones(data), of_model = without_ones(model);
  if (of_data.size() < 2 || of_model.size() < 2 || of_data == of_model || data.size() != model.size()) return;
  const bool is_nhwc = data.dimensions() == 3 && model == nn::shape{data[2], data[0], data[1]};
  throw error(base::text(
      "manta: train: the samples of the training data are {}, and the network takes {}{}", data.text(), model.text(),
      is_nhwc ? ": channels come first. Give the reader .layout = train::nhwc, which turns pictures of "
                "height x width x channels"
              : "; both have to have one order"));
}

MANTA_DECL void agree_to_open(exchange& e, learner& l, const options& o, std::uint64_t sampling,
                              const std::string& problem) {
  e.throw_together(problem);
  opened_facts own;
  own.sampling = sampling;
  e.throw_together(problem_of([&] {
    own.rank = static_cast<std::uint64_t>(manta::rank());
    own.model = base::hash_text(l.description());
    for (const std::size_t which : {0U, 1U}) {
      own.sizes[which] = l.size(which == 0);
      own.ends[which] = own.again[which] = digests_of(l, which == 0);
    }
  }));
  std::vector<opened_facts> all = e.gather(own);
  compare_models(all, l.description());
  for (const std::size_t which : {0U, 1U}) {
    compare_sizes(all, which);
    const bool differ = first_that_differs(all, [&](const opened_facts& f) { return f.ends[which]; }) < all.size();
    if (!differ) continue;
    e.throw_together(problem_of([&] { own.again[which] = digests_of(l, which == 0); }));
    all = e.gather(own);
    compare_ends(all, which);
  }
  compare_sampling(all);
  check_data(l, o);
}

}  // namespace manta::train::detail
