// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Population-based bandits (Parker-Holder, Nguyen, Roberts, NeurIPS 2020): PBT
// whose new configurations are chosen and not perturbed. A Gaussian process learns
// how much an interval of training improves the loss, by configuration, loss and
// time, where what is long ago counts less; the next configuration is where the
// upper bound of that is highest. Good for small populations; numbers with
// bounds only.
#pragma once

#include <Eigen/Cholesky>  // not found? Install libeigen3-dev, add -I/usr/include/eigen3 (pkg-config --cflags eigen3)
#include <Eigen/Core>

#include "manta/tune/cube.hpp"
#include "manta/tune/gaussian_process.hpp"
#include "manta/tune/pbt.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/source_eigen.hpp"

namespace manta::tune {

struct pb2_options {
  double interval = 10;
  double quantile = 0.25;
  bool synchronous = false;
  std::vector<std::string> mutate = {};  ///< empty: all that are searched
  std::size_t rows = 100;                ///< intervals of all trials that are learned from: the newest ones
};

namespace detail {

/// A Gaussian process with a squared-exponential kernel over the columns of its data, times (1
/// - forgetting)^(|t - t'| / 2).
class drifting_process {
 public:
  struct data {
    Eigen::MatrixXd x;  ///< a column for each row of the table
    Eigen::VectorXd t, y;
  };

  /// Length, noise and forgetting by the best likelihood among those it has and some random ones.
  MANTA_DECL void fit(const data& d, random& r);
  MANTA_DECL Eigen::MatrixXd gram(const data& d) const;
  MANTA_DECL Eigen::MatrixXd kernel(const Eigen::MatrixXd& x, const Eigen::VectorXd& t, const Eigen::MatrixXd& x2,
                                    const Eigen::VectorXd& t2) const;

 private:
  Eigen::MatrixXd kernel(const Eigen::ArrayXXd& distances, const Eigen::ArrayXXd& ages) const;
  static Eigen::ArrayXXd age_differences(const Eigen::VectorXd& t, const Eigen::VectorXd& t2);

  double length_ = 0.5, noise_ = 1e-2, forgetting_ = 0.05;
};

}  // namespace detail

class pb2 {
 public:
  using options = pb2_options;
  pb2() : pb2(options{}) {}
  MANTA_DECL explicit pb2(options o);

  MANTA_DECL void begin(const space& where, std::uint64_t seed, std::size_t trials);
  void resize(std::size_t trials) { population_.resize(trials); }
  MANTA_DECL void add(trial_number t, const config& c);
  MANTA_DECL verdict report(trial_number t, double at, double loss);
  MANTA_DECL void remove(trial_number t);
  MANTA_DECL action next(bool may_add);
  double silent_until(trial_number t) const { return population_.silent_until(t); }
  std::string nothing_kept() { return population_.nothing_kept(); }
  std::string remark(double longest) const { return longest > 0 ? "" : population_.remark("pb2"); }

 private:
  struct member {
    config current;
    double at = 0, loss = 0;
    bool known = false;  ///< the loss
  };
  /// The start of an interval of training, and how much the loss fell per unit of time.
  struct row {
    double at;
    trial_number trial;
    double before;
    std::vector<double> u;
    double gain;
  };

  void become(trial_number t, const exploit& e);
  /// Adds a row of the table, and forgets the oldest one if there are too many.
  void learn(row its);

  detail::population::explorer explorer();
  config explore(trial_number t, const config& from, random& r);

  /// Maps times and losses of the table to about 0 to 1, and makes columns of the process's data.
  struct scales {
    double first = 0, last = 0;  ///< times of the rows
    double low = 0, high = 0;    ///< losses of the rows
    double interval = 1;
    double time(double at) const { return (at - first) / interval; }
    void fill(Eigen::Ref<Eigen::VectorXd> column, double at, double before, const std::vector<double>& u) const;
  };
  scales scales_of_rows() const;
  /// The table as data of the process, with gains of mean 0 and deviation 1.
  detail::drifting_process::data data_of_rows(const scales& s) const;
  /// Data of the rows and of the other members that train now, at the end of their next interval. Their gains will be
  /// known then, so the uncertainty there is small.
  detail::drifting_process::data with_members(const detail::drifting_process::data& rows, const scales& s,
                                              trial_number t, double next, double loss) const;

  /// The configuration with the highest upper bound of the gain, for a trial that goes on from where the source is.
  /// Only points for which `may` holds are chosen; nothing if it holds for none.
  std::vector<double> choose(trial_number t, const config& from,
                             const std::function<bool(const std::vector<double>&)>& may, random& r);

  options options_;
  detail::population population_;
  space space_;
  std::vector<parameter> axes_;
  std::map<trial_number, member> members_;
  std::vector<row>
      rows_;  ///< ordered by time and trial: the order in which reports come must not change what is learned
  detail::drifting_process process_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/pb2.ipp"
#endif
