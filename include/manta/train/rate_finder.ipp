// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/train/rate_finder.hpp"
#include "manta/train/trainer.hpp"

namespace manta::train::detail {

inline void check_search(const rate_search& s) {
  const auto refuse = [](const std::string& what) { throw error("manta: train: find_rate: " + what); };
  if (!(s.least > 0 && s.most > s.least))
    refuse(base::text(".least is {} and .most {}; rates above 0 are needed, of which .most is the larger one", s.least,
                      s.most));
  if (s.steps < 2) refuse(base::text(".steps is {}; at least two are needed", s.steps));
  if (!(s.stop >= 0)) refuse(base::text(".stop is {}; it is a factor, or 0", s.stop));
}

MANTA_DECL double steepest_fall(const rate_curve& c) {
  const std::size_t n = c.smoothed.size(), first = n > 13 ? 10 : 0, last = n > 13 ? n - 1 : n;
  double steepest = 0, rate = n == 0 ? 0 : c.rates[first];
  for (std::size_t i = first; i < last; ++i) {
    // Differences to both sides, as numpy.gradient takes them.
    const std::size_t before = i == first ? i : i - 1, after = i + 1 == last ? i : i + 1;
    if (after == before) continue;
    const double slope = (c.smoothed[after] - c.smoothed[before]) / static_cast<double>(after - before);
    if (slope < steepest) steepest = slope, rate = c.rates[i];
  }
  return rate;
}

/// A step with this rate, whose loss is added to the curve. False if it could not be made after others were: numbers
/// were not finite.
inline bool try_rate(any_trainer& trainer, double rate, rate_curve& c) {
  try {
    trainer.rate(rate);
    c.losses.push_back(trainer.train(1).loss);
    c.rates.push_back(rate);
    return true;
  } catch (const rank_lost&) {
    throw;
  } catch (const cancelled&) {
    throw;
  } catch (const error&) {
    if (c.rates.empty()) throw;
    return false;
  }
}

MANTA_DECL rate_curve find_rate(any_trainer& trainer, const rate_search& search) {
  check_search(search);
  const state before = trainer.state();
  rate_curve c;
  constexpr double kept = 0.98;
  double mean = 0, smallest = 0;
  for (int i = 0; i < search.steps; ++i) {
    const double part = static_cast<double>(i) / (search.steps - 1);
    if (!try_rate(trainer, search.least * std::pow(search.most / search.least, part), c)) break;
    mean = kept * mean + (1 - kept) * c.losses.back();
    c.smoothed.push_back(mean / (1 - std::pow(kept, i + 1)));
    smallest = i == 0 ? c.smoothed.back() : std::min(smallest, c.smoothed.back());
    if (search.stop > 0 && smallest > 0 && c.smoothed.back() > search.stop * smallest) break;
  }
  trainer.restore(before, settings::checkpoint);
  c.suggested = steepest_fall(c);
  return c;
}

}  // namespace manta::train::detail
