// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which checkpoints of an experiment stay on disk. It knows every file, whose it
// is, how good the trial was then, and who would go on from it; it decides which
// ones may go, and touches none of them.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "manta/tune/math.hpp"
#include "manta/tune/searcher.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

class checkpoint_files {
 public:
  struct entry {
    trial_number owner = 0;  ///< the trial that made it
    std::uint64_t iteration = 0;
    double score = infinity;  ///< smaller is better
    std::size_t bytes = 0;    ///< bytes of all members of a gang together
    int users = 0;            ///< trials that would go on from it
  };
  /// The value of a trial's files when bytes must be freed.
  struct worth {
    bool ended = false;
    double loss = infinity;
    bool best = false;  ///< whether it is the best of the experiment's checkpoints, which stays
  };

  bool contains(const std::string& file) const { return files_.contains(file); }
  std::size_t bytes() const { return bytes_; }

  MANTA_DECL void add(const std::string& file, trial_number owner, std::uint64_t iteration, std::size_t bytes);
  /// Notes what the trial reported at that iteration, as the options compare it.
  MANTA_DECL void score(trial_number owner, std::uint64_t iteration, double score);
  /// Counts the trials that would continue from the file: `by` more of them.
  MANTA_DECL void use(const std::string& file, int by);
  MANTA_DECL void forget(const std::string& file);
  /// The best file that the trial made; null if there is none.
  MANTA_DECL const std::pair<const std::string, entry>* best_of(trial_number owner) const;

  /// Forgets the files that need not be kept any more, and returns them with their trials. Of each trial these are all
  /// but the last `keep` (0: none) and the `keep_best` best ones; then, while there are more bytes than the budget,
  /// the files that are worth least. Files from which a trial would continue stay. `worth_of(trial)` returns the value
  /// of a trial's files.
  template <class Worth>
  std::vector<std::pair<std::string, trial_number>> take_surplus(std::size_t keep, std::size_t keep_best,
                                                                 std::size_t budget, Worth&& worth_of) {
    std::vector<std::pair<std::string, trial_number>> surplus;
    if (changed_.empty()) return surplus;
    for (const trial_number t : std::exchange(changed_, {})) {
      const auto of = of_.find(t);
      if (of == of_.end() || keep == 0) continue;
      const std::vector<std::string>& all = of->second;
      std::vector<std::string> ranked(all.rbegin(), all.rend());
      std::stable_sort(ranked.begin(), ranked.end(),
                       [&](const auto& a, const auto& b) { return files_.at(a).score < files_.at(b).score; });
      for (std::size_t i = keep_best; i < ranked.size(); ++i) {
        const bool is_old = std::find(all.end() - static_cast<std::ptrdiff_t>(std::min(keep, all.size())), all.end(),
                                      ranked[i]) == all.end();
        if (is_old && files_.at(ranked[i]).users == 0) surplus.emplace_back(ranked[i], t);
      }
    }
    for (const auto& each : surplus) forget(each.first);
    if (budget > 0 && bytes_ > budget) take_worst(surplus, budget, worth_of);
    return surplus;
  }

 private:
  template <class Worth>
  void take_worst(std::vector<std::pair<std::string, trial_number>>& surplus, std::size_t budget, Worth& worth_of) {
    struct candidate {
      bool runs, best_of_trial;
      double gain;
      std::uint64_t iteration;
      trial_number owner;
      std::string file;
      auto key() const { return std::tuple(runs, best_of_trial, gain, iteration); }
    };
    std::vector<candidate> candidates;
    for (const auto& [t, all] : of_) {
      const worth w = worth_of(t);
      const auto* const best = best_of(t);
      for (const std::string& file : all) {
        const entry& e = files_.at(file);
        const bool is_best = &e == &best->second;
        if (e.users == 0 && !(w.best && is_best))
          candidates.push_back({!w.ended, is_best, -w.loss, e.iteration, t, file});
      }
    }
    std::sort(candidates.begin(), candidates.end(),
              [](const candidate& a, const candidate& b) { return a.key() < b.key(); });
    for (const candidate& c : candidates) {
      if (bytes_ <= budget) return;
      forget(c.file);
      surplus.emplace_back(c.file, c.owner);
    }
  }

  std::unordered_map<std::string, entry> files_;
  std::map<trial_number, std::vector<std::string>> of_;  ///< files by trial, in the order in which they were made
  std::set<trial_number> changed_;
  std::size_t bytes_ = 0;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/checkpoint_files.ipp"
#endif
