// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// report.html: a page of manta/output with the best trial, the value of every trial, learning curves, what matters,
// parallel coordinates, slices and contours of parameters, other metrics, the schedule of ranks, and the table of all
// trials. While the experiment runs it is written anew every few seconds, says that it still runs, and reloads itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "manta/output/page.hpp"
#include "manta/tune/output/output.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

namespace detail {
struct use_of_ranks;
}

class html_report {
 public:
  struct options {
    std::size_t most_curves = 200;      ///< trials whose curves are drawn: the best 20, and a sample of the others
    std::size_t most_stretches = 8000;  ///< stretches of the schedule that are drawn: the last ones
  };
  html_report() = default;
  explicit html_report(options o) : options_(o) {}

  void begin(const output_context& c) { context_ = c; }
  void opened(int rank, double now) { places_.push_back({now, infinity, rank}); }
  MANTA_DECL void closed(int rank, double now);
  /// Writes the page if the last one is a few seconds old, and so seldom that it takes less than a hundredth
  /// of the time.
  MANTA_DECL void refresh(const std::vector<trial_record>& all);
  MANTA_DECL void finish(const std::vector<trial_record>& all, const std::string& why);

  /// `why` it ended; empty: it still runs.
  MANTA_DECL std::string page(const std::vector<trial_record>& all, const std::string& why) const;

 private:
  using clock = std::chrono::steady_clock;

  double metric(double loss) const { return context_.maximised ? -loss : loss; }
  /// Names of parameters: those of the space, in its order; if it is defined by running, as they came.
  std::vector<std::string> parameters_of(const std::vector<trial_record>& all) const;
  std::vector<std::string> metrics_of(const std::vector<trial_record>& all) const;
  void head(output::page& p, const std::vector<trial_record>& all, const detail::use_of_ranks& use,
            const std::string& why) const;
  void rows(std::string& out, const std::vector<trial_record>& all) const;
  void curves(std::string& out, const std::vector<trial_record>& all) const;
  void schedule(std::string& out, const std::vector<trial_record>& all) const;
  void importance(std::string& out, const std::vector<trial_record>& all, bool has_ended) const;

  options options_;
  output_context context_;
  std::vector<stretch> places_;  ///< where and when trials may run
  clock::time_point next_ = clock::time_point::min();
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/output/html.ipp"
#endif
