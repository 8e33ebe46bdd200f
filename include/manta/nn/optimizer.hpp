// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Optimisers: values that change parameters by their gradients and keep what they need from step to step. Each has
// `step(parameters, gradients)` for float and double, a rate that can be set, and can be sent and saved.
//
//   nn::adam optimizer({.rate = 1e-3f});
//   optimizer.step(net);
#pragma once

#include <cereal/types/vector.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/base/unknown_options.hpp"
#include "manta/nn/parameter_groups.hpp"
#include "manta/nn/parameter_span.hpp"
#include "manta/nn/source.hpp"

namespace manta::nn {

struct sgd_options {
  double rate = 1e-2;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;                   ///< added to the gradient, times the parameter
  double ema = 0;                            ///< as adam's
  std::vector<parameter_group> groups = {};  ///< as adam's
};
struct adam_options {
  double rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;    ///< added to the root of the corrected second moment, as in the paper and in PyTorch
  double weight_decay = 0;  ///< adam: added to the gradient; adamw: taken off the parameter, times the rate
  /// Above 0: means of the parameters over the steps are kept (optimizer::averages). In each step the mean keeps this
  /// part of itself, at first less: at most (1 + t) / (10 + t) in step t, as TensorFlow's ExponentialMovingAverage.
  double ema = 0;
  std::vector<parameter_group> groups = {};  ///< parameters with a rate or a decay of their own, by their names
};
struct rmsprop_options {
  double rate = 1e-2;
  double alpha = 0.99;
  double epsilon = 1e-8;
  double momentum = 0;
  double weight_decay = 0;
  double ema = 0;                            ///< as adam's
  std::vector<parameter_group> groups = {};  ///< as adam's
};

struct lbfgs_options {
  double rate = 1;   ///< factor of each step but the first, whose length is at most the rate
  int history = 10;  ///< steps from which the curvature is known; twice as many numbers are kept for each parameter
  double weight_decay = 0;                   ///< added to the gradient, times the parameter
  std::vector<parameter_group> groups = {};  ///< as adam's
};

/// Any of the optimisers below, as a value: plain numbers, so that a recipe may give one of them by its type
/// or by this.
class optimizer {
 public:
  /// none: to be assigned to.
  enum class kind { none, sgd, adam, adamw, rmsprop, lbfgs };

  // These are compiled once in the compiled mode: each unit that has an optimiser would make the lists of it anew.
  MANTA_DECL optimizer();
  MANTA_DECL optimizer(const optimizer&);
  MANTA_DECL optimizer(optimizer&&) noexcept;
  MANTA_DECL optimizer& operator=(const optimizer&);
  MANTA_DECL optimizer& operator=(optimizer&&) noexcept;
  MANTA_DECL ~optimizer();

  /// Changes the parameters of a network, or of another module (module.hpp). Frozen arrays stay as they are. Throws if
  /// there are groups and one of them has no array of the network, or if it is another network than in the step before.
  template <class Module>
  void step(Module&& m) {
    constexpr bool is_module = requires { m.parameters(), m.gradients(); };
    static_assert(is_module,
                  "manta: nn: an optimiser steps by a network, optimizer.step(net), or by parameters and gradients: "
                  "optimizer.step(net.parameters(), net.gradients())");
    if constexpr (is_module) {
      if constexpr (requires(std::vector<named_array> all) { all = m.arrays(); }) {
        if (!groups_.empty() || m.has_frozen())
          return step_in(m.parameters(), m.gradients(), detail::ranges_of(groups_, m.arrays(), decay_, name()));
      }
      step(m.parameters(), m.gradients());
    }
  }
  /// Changes parameters that lie anywhere. Both spans have to be of equal length, the same from step to step; else
  /// throws, as it does if there are groups, which need names. Frozen arrays stay as they are where the parameters are
  /// what network::parameters() gives, which knows them.
  MANTA_DECL void step(parameter_span<float> parameters, std::span<const float> gradients);
  MANTA_DECL void step(parameter_span<double> parameters, std::span<const double> gradients);
  MANTA_DECL void step(std::span<float> parameters, std::span<const float> gradients);
  MANTA_DECL void step(std::span<double> parameters, std::span<const double> gradients);
  template <class None = void>
  void step() {
    static_assert(!std::is_void_v<None>, "manta: nn: an optimiser knows no network: optimizer.step(net)");
  }
  template <class T>
  void step(std::span<T>, parameter_span<T>) = delete;  // manta: parameters first: step(parameters, gradients)

  [[nodiscard]] double rate() const { return rate_; }
  /// Schedules call this; what was kept stays. Throws if the rate is negative or not finite.
  MANTA_DECL void rate(double r);
  /// Adam's beta1, or the momentum of the others.
  [[nodiscard]] double momentum() const { return momentum_; }
  /// Schedules call this; what was kept stays. Throws unless the momentum is above 0 and below 1, and if the optimiser
  /// was made without one.
  MANTA_DECL void momentum(double m);
  /// Goes on from what another optimiser of this kind has kept, with the settings of its own. A moment that the other
  /// one has not kept begins at zero.
  MANTA_DECL void take_moments(const optimizer& other);
  /// Becomes the saved one, or takes its moments alone and keeps the settings of its own.
  void resume(const optimizer& saved, bool own_settings) {
    if (own_settings) {
      take_moments(saved);
    } else {
      *this = saved;
    }
  }
  /// What is kept for parameters of this type, as one array; empty before the first step. Adam keeps two numbers for
  /// each parameter, RMSProp one, SGD none; momentum is one more for the latter two, and so are means (.ema). L-BFGS
  /// keeps 2 + 2 history.
  template <class T>
  [[nodiscard]] std::span<T> moments() {
    if constexpr (std::is_same_v<T, float>) {
      return floats_;
    } else {
      return doubles_;
    }
  }
  /// With .ema: the means of the parameters over the steps, in the order of the parameters; empty before the first
  /// step, and without .ema.
  template <class T>
  [[nodiscard]] std::span<T> averages() {
    const std::span<T> all = moments<T>();
    return ema_ == 0 || all.empty() ? std::span<T>() : all.last(static_cast<std::size_t>(size_));
  }
  /// The steps that were made.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// The kind: "adam".
  [[nodiscard]] MANTA_DECL std::string name() const;
  /// Whether one of these optimisers has this name.
  [[nodiscard]] MANTA_DECL static bool is_named(const std::string& name);
  /// All settings, as the options have them: {{"rate", 0.001}, {"beta1", 0.9}, ..}.
  [[nodiscard]] MANTA_DECL std::vector<std::pair<std::string, double>> settings() const;

  bool operator==(const optimizer&) const = default;
  template <class Archive>
  void serialize(Archive& archive);

 protected:
  MANTA_DECL optimizer(kind k, const sgd_options& o);
  MANTA_DECL optimizer(kind k, const adam_options& o);
  MANTA_DECL optimizer(kind k, const rmsprop_options& o);
  MANTA_DECL optimizer(kind k, const lbfgs_options& o);

 private:
  [[nodiscard]] bool keeps_squares() const { return kind_ != kind::sgd && kind_ != kind::lbfgs; }
  [[nodiscard]] bool keeps_first() const { return kind_ == kind::adam || kind_ == kind::adamw || momentum_ != 0; }
  /// Numbers that are kept for each parameter.
  [[nodiscard]] std::size_t arrays() const {
    return std::size_t{keeps_squares()} + std::size_t{keeps_first()} + std::size_t{ema_ != 0} +
           (kind_ == kind::lbfgs ? 2 + 2 * history_ : 0);
  }
  MANTA_DECL void step_in(std::span<float> parameters, std::span<const float> gradients,
                          const std::vector<detail::parameter_range>& ranges);
  MANTA_DECL void step_in(std::span<double> parameters, std::span<const double> gradients,
                          const std::vector<detail::parameter_range>& ranges);
  template <class T>
  void move(std::span<T> p, std::span<const T> g, std::vector<T>& kept,
            const std::vector<detail::parameter_range>* ranges);
  template <class T>
  void move_range(std::span<T> p, std::span<const T> g, std::vector<T>& kept, const detail::parameter_range& r) const;
  template <class T>
  void average(std::span<const T> p, std::span<T> means) const;
  template <class T>
  void take_kept(const optimizer& other, const std::vector<T>& from, std::vector<T>& to) const;

  kind kind_ = kind::none;
  double rate_ = 0, momentum_ = 0, beta2_ = 0, epsilon_ = 0, decay_ = 0;
  bool nesterov_ = false;
  double ema_ = 0;
  std::vector<parameter_group> groups_;
  std::size_t history_ = 0;  ///< number of pairs that L-BFGS keeps, at most
  std::uint64_t pairs_ = 0;  ///< number of pairs that L-BFGS has met
  std::uint64_t steps_ = 0;
  std::uint64_t size_ = 0;       ///< number of parameters; 0 before the first step
  std::uint64_t averaged_ = 0;   ///< steps over which the means of the parameters go
  std::vector<float> floats_;    ///< kept for float parameters: all squares' means, then gradients', then parameters'
  std::vector<double> doubles_;  ///< kept for double parameters, in the same order
};

template <class Archive>
void optimizer::serialize(Archive& archive) {
  archive(kind_, rate_, momentum_, beta2_, epsilon_, decay_, nesterov_, ema_, groups_, steps_, size_, averaged_,
          floats_, doubles_);
  if (kind_ == kind::lbfgs) archive(history_, pairs_);
}
#ifdef MANTA_COMPILED
extern template void optimizer::serialize(cereal::BinaryOutputArchive&);
extern template void optimizer::serialize(cereal::BinaryInputArchive&);
#endif

/// An optimiser of one kind. What users of other libraries write first is refused in one sentence each.
template <optimizer::kind Kind, class Options>
struct optimizer_of : optimizer {
  explicit optimizer_of(const Options& options = {}) : optimizer(Kind, options) {}
  template <class Number>
    requires(std::is_arithmetic_v<Number>)
  explicit optimizer_of(Number) {
    static_assert(sizeof(Number) == 0, "manta: nn: the options of an optimiser have names: nn::adam({.rate = 0.01})");
  }
  template <std::size_t N>
  explicit optimizer_of(base::unknown_options<N>) = delete;  // manta: no such option of this optimiser (.rate, ..)
  template <class Parameters, class Other = Options>
  optimizer_of(const Parameters&, const Other&) {
    static_assert(
        sizeof(Other) == 0,
        "manta: nn: an optimiser is made from its options alone, nn::adam({.rate = 0.01}), and gets the network "
        "in each step: optimizer.step(net)");
  }
};

/// v = momentum v + g; p -= rate v, or rate (g + momentum v) with nesterov, as PyTorch's.
using sgd = optimizer_of<optimizer::kind::sgd, sgd_options>;
/// Kingma, Ba, 2015.
using adam = optimizer_of<optimizer::kind::adam, adam_options>;
/// Adam with decoupled weight decay (Loshchilov, Hutter, 2019).
using adamw = optimizer_of<optimizer::kind::adamw, adam_options>;
/// Tieleman, Hinton, 2012; not centred.
using rmsprop = optimizer_of<optimizer::kind::rmsprop, rmsprop_options>;
/// Limited-memory BFGS (Nocedal, 1980), for smooth losses of all samples at once: each step is one gradient, with the
/// rate as its length, as PyTorch's LBFGS(max_iter=1) without a line search. A step that knows no positive curvature
/// leaves the history as it is.
using lbfgs = optimizer_of<optimizer::kind::lbfgs, lbfgs_options>;

/// Scales the gradients so that their norm is at most `limit`, and returns the norm that they had. Several arrays
/// count as one.
MANTA_DECL double clip_norm(std::span<float> gradients, double limit);
MANTA_DECL double clip_norm(std::span<double> gradients, double limit);
MANTA_DECL double clip_norm(std::span<const std::span<float>> arrays, double limit);

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/optimizer.ipp"
#endif
