// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "manta/base/text.hpp"
#include "manta/tune/wilcoxon_stopping.hpp"

namespace manta::tune {

namespace detail {
/// Twice the ranks of the differences that are not zero, which are whole numbers also where sizes are equal.
struct doubled_ranks {
  std::vector<std::size_t> all;
  std::size_t sum = 0, positive = 0;  ///< the sum of all, and that of the positive differences
};

inline doubled_ranks doubled_ranks_of(std::vector<double> differences) {
  std::sort(differences.begin(), differences.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  doubled_ranks ranks;
  for (std::size_t i = 0, end = 0; i < differences.size(); i = end) {
    const double size = std::abs(differences[i]);
    while (end < differences.size() && !(size < std::abs(differences[end]))) ++end;
    for (std::size_t k = i; k < end && size > 0; ++k) {
      ranks.all.push_back(i + 1 + end);
      ranks.sum += i + 1 + end;
      ranks.positive += differences[k] > 0 ? i + 1 + end : 0;
    }
  }
  return ranks;
}

/// The probability of a sum at least as large, by the probabilities of all sums.
inline double exact_tail(const doubled_ranks& ranks) {
  std::vector<double> probability(ranks.sum + 1, 0);
  probability[0] = 1;
  std::size_t largest = 0;
  for (const std::size_t rank : ranks.all) {
    largest += rank;
    for (std::size_t s = largest + 1; s-- > 0;)
      probability[s] = (probability[s] + (s >= rank ? probability[s - rank] : 0)) / 2;
  }
  const auto from = probability.begin() + static_cast<std::ptrdiff_t>(ranks.positive);
  return std::accumulate(std::make_reverse_iterator(probability.end()), std::make_reverse_iterator(from), 0.0);
}

inline double normal_tail(const doubled_ranks& ranks) {
  double squares = 0;
  for (const std::size_t rank : ranks.all) squares += static_cast<double>(rank) * static_cast<double>(rank);
  const double above_mean = static_cast<double>(ranks.positive) - static_cast<double>(ranks.sum) / 2;
  return normal_cdf(-above_mean / std::sqrt(squares / 4));
}
}  // namespace detail

MANTA_DECL double signed_rank_p(const std::vector<double>& differences) {
  constexpr std::size_t largest_exact = 54 * 55;  // the sum of the doubled ranks of 54 differences
  const detail::doubled_ranks ranks = detail::doubled_ranks_of(differences);
  return ranks.sum <= largest_exact ? detail::exact_tail(ranks) : detail::normal_tail(ranks);
}

MANTA_DECL wilcoxon_stopping::wilcoxon_stopping(options o) : options_(o) {
  if (is_nan(o.p) || o.p < 0 || o.p > 1 || o.startup == 0)
    throw error("manta: wilcoxon_stopping needs 0 <= p <= 1 and startup >= 1");
}

MANTA_DECL std::vector<double> wilcoxon_stopping::differences(const series& of) const {
  std::vector<double> all;
  for (const auto& [at, loss] : of.losses) {
    const auto other = best_.losses.find(at);
    if (other != best_.losses.end()) all.push_back(loss - other->second);
  }
  return all;
}

MANTA_DECL verdict wilcoxon_stopping::report(trial_number t, double at, double loss) {
  series& own = running_.at(t);
  if (!own.losses.emplace(at, loss).second) return verdict::go_on();  // a retried trial comes by again
  own.sum += loss;
  if (best_.losses.empty()) return verdict::go_on();
  (best_.losses.contains(at) ? has_compared_ : has_missed_) = true;
  const std::vector<double> worse_by = differences(own);
  // A trial that is the best one by its mean goes on, whatever the test says about single pairs.
  if (worse_by.size() < options_.startup || own.mean() <= best_.mean()) return verdict::go_on();
  const double p = signed_rank_p(worse_by);
  if (!(p < options_.p)) return verdict::go_on();
  const std::string why =
      base::text("at {}: worse than trial {}, the best complete one, at {} common points (p = {}): mean loss {} and {}",
                 detail::number_text(at), best_trial_, worse_by.size(), detail::number_text(p),
                 detail::number_text(own.mean()), detail::number_text(best_.mean()));
  running_.erase(t);
  return verdict::stop(why);
}

MANTA_DECL void wilcoxon_stopping::complete(trial_number t) {
  series& own = running_.at(t);
  if (own.losses.empty() || (!best_.losses.empty() && own.mean() >= best_.mean())) return;
  best_ = std::move(own);
  best_trial_ = t;
}

MANTA_DECL std::string wilcoxon_stopping::remark(double longest) const {
  if (longest <= 0 || has_compared_ || !has_missed_) return {};
  return "wilcoxon_stopping: no trial has reported at a point of the best one, so none was compared; let all trials "
         "report at the same points, or give .clock the metric with the number of the seed, fold or instance";
}

}  // namespace manta::tune
