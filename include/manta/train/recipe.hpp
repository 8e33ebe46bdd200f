// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A recipe: what is trained, in one serialisable class.
//
//   struct fashion {
//     float rate = 1e-3f;
//     nn::network<float> model() const;             // any nn::module
//     nn::adam optimizer() const;
//     nn::loss loss() const;
//     train::samples training_data() const;         // or a class of your own with size() and take(numbers, batch)
//     train::samples validation_data() const;       // optional
//     // Optional: changes one sample of the training data before each use (augment.hpp).
//     void augment(std::span<float> sample, train::draws& random) const;
//     // Optional: means over the samples of y.
//     std::map<std::string, double> metrics(const nn::matrix<float>& y, const nn::targets<float>& t) const;
//     // Optional: how often each sample of the training data is drawn, compared with the others (weighting.hpp).
//     std::vector<double> sampling_weights(const train::samples& data) const;
//     // Optional: the rate from here on; 2.5 is the middle of the third epoch.
//     double learning_rate(double epoch) const;
//     // Optional: the optimiser's momentum from here on, or Adam's beta1, as of nn::one_cycle_momentum.
//     double momentum(double epoch) const;
//     template <class Archive> void serialize(Archive& archive) { archive(CEREAL_NVP(rate)); }
//   };
#pragma once

#include <cereal/archives/binary.hpp>
#include <concepts>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "manta/nn/module.hpp"
#include "manta/train/samples.hpp"
#include "manta/train/source.hpp"

namespace manta::train {

class draws;  // augment.hpp

template <class R>
concept recipe = requires(const R r) {
  { r.model() } -> nn::module;
  r.optimizer();
  r.loss();
  r.training_data();
};

namespace detail {

/// The type of the recipe's model; void if it has none.
template <class R>
struct model_of {
  using type = void;
};
template <recipe R>
struct model_of<R> {
  using type = std::remove_cvref_t<decltype(std::declval<const R&>().model())>;
};

template <class Data, class T>
concept data_for = requires(Data& d, std::span<const std::uint64_t> numbers, batch<T>& to) {
  { d.size() } -> std::convertible_to<std::size_t>;
  d.take(numbers, to);
};
template <class Loss, class T>
concept loss_for = requires(const Loss& l, const nn::matrix<T>& y, const nn::targets<T>& t, nn::matrix<T>& dy) {
  { l.over(y, t, dy, 1.0) } -> std::convertible_to<double>;
  { l.template weight<T>(t) } -> std::convertible_to<double>;
};
template <class Optimizer, class T>
concept optimizer_for = requires(Optimizer& o, std::span<T> parameters, std::span<const T> gradients) {
  o.step(parameters, gradients);
};

template <class Pointer>
concept member_function = std::is_member_function_pointer_v<Pointer>;

/// Refuses a member that has the name of an optional part of a recipe and cannot be called as that: it would be left
/// out without a word.
template <recipe R>
constexpr bool require_optional_parts() {
  using number = typename model_of<R>::type::scalar;
  constexpr bool validation = !requires {
    { &R::validation_data } -> member_function;
  }
  || requires(const R& r) { r.validation_data(); };
  static_assert(validation, "manta: train: validation_data() of a recipe has no parameters, and is const");
  constexpr bool augment = !requires {
    { &R::augment } -> member_function;
  }
  || requires(const R& r, std::span<number> sample, draws& random) { r.augment(sample, random); };
  static_assert(augment,
                "manta: train: augment(sample, random) const of a recipe takes std::span<float> (double for a model of "
                "doubles) and train::draws&");
  constexpr bool metrics = !requires {
    { &R::metrics } -> member_function;
  }
  || requires(const R& r, const nn::matrix<number>& y, const nn::targets<number>& t) {
    { r.metrics(y, t) } -> std::ranges::range;
  };
  static_assert(metrics,
                "manta: train: metrics(y, targets) const of a recipe takes const nn::matrix<float>& and const "
                "nn::targets<float>& (double for a model of doubles), and gives std::map<std::string, double>");
  constexpr bool rate = !requires {
    { &R::learning_rate } -> member_function;
  }
  || requires(const R& r) { r.learning_rate(1.); };
  static_assert(rate, "manta: train: learning_rate(double epoch) const of a recipe gives the rate from here on");
  constexpr bool momentum = !requires {
    { &R::momentum } -> member_function;
  }
  || requires(const R& r) { r.momentum(1.); };
  static_assert(momentum, "manta: train: momentum(double epoch) const of a recipe gives the momentum from here on");
  return validation && augment && metrics && rate && momentum;
}

/// Refuses parts of a recipe that do not suit the model, in one sentence each.
template <recipe R>
constexpr bool require_parts() {
  using number = typename model_of<R>::type::scalar;
  constexpr bool data = data_for<std::remove_cvref_t<decltype(std::declval<const R&>().training_data())>, number>;
  static_assert(
      data,
      "manta: train: training_data() gives train::samples, or a class with size() and take(numbers, to), which "
      "takes std::span<const std::uint64_t> and train::batch<float>& (batch<double> for a model of doubles)");
  constexpr bool validation = [] {
    if constexpr (requires(const R& r) { r.validation_data(); })
      return data_for<std::remove_cvref_t<decltype(std::declval<const R&>().validation_data())>, number>;
    return true;
  }();
  static_assert(
      validation,
      "manta: train: validation_data() gives train::samples, or a class with size() and take(numbers, to), as "
      "training_data()");
  constexpr bool loss = loss_for<std::remove_cvref_t<decltype(std::declval<const R&>().loss())>, number>;
  static_assert(loss,
                "manta: train: loss() gives nn::loss (nn::cross_entropy(), nn::mse(), ..), or a class with the members "
                "over(y, targets, dy, divisor) const and weight<T>(targets) const that nn/loss.hpp describes");
  constexpr bool optimizer = optimizer_for<std::remove_cvref_t<decltype(std::declval<const R&>().optimizer())>, number>;
  static_assert(
      optimizer,
      "manta: train: optimizer() gives nn::adam, nn::sgd or another optimiser with step(parameters, gradients)");
  return data && validation && loss && optimizer;
}

/// Refuses what is no recipe, in one sentence that names what is missing.
template <class R>
constexpr bool require_recipe() {
  static_assert(
      !nn::module<R>,
      "manta: train: a trainer takes a recipe, a class with model(), optimizer(), loss() and training_data(), "
      "and not the network");
  // One sentence at a time: what comes after a mistake is not asked for.
  constexpr bool has_model = nn::module<R> || requires(const R r) {
    { r.model() } -> nn::module;
  };
  static_assert(
      has_model,
      "manta: train: a recipe needs model() const, which gives an nn::network or another class with the members "
      "of the concept nn::module");
  constexpr bool has_optimizer = !has_model || nn::module<R> || requires(const R r) { r.optimizer(); };
  static_assert(has_optimizer,
                "manta: train: a recipe needs optimizer() const, which gives nn::adam, nn::sgd or another optimiser");
  constexpr bool has_loss = !has_model || !has_optimizer || nn::module<R> || requires(const R r) { r.loss(); };
  static_assert(
      has_loss,
      "manta: train: a recipe needs loss() const, which gives nn::loss: nn::cross_entropy(), nn::mse() or another one");
  constexpr bool has_data = !has_model || !has_optimizer || !has_loss || nn::module<R> || requires(const R r) {
    r.training_data();
  };
  static_assert(has_data, "manta: train: a recipe needs training_data() const, which gives train::samples");
  constexpr bool is_sent =
      std::is_empty_v<R> || (cereal::traits::is_output_serializable<R, cereal::BinaryOutputArchive>::value &&
                             cereal::traits::is_input_serializable<R, cereal::BinaryInputArchive>::value);
  static_assert(is_sent,
                "manta: train: a recipe is sent to the workers: give it a serialize() function that names its members "
                "with CEREAL_NVP(member), and include the <cereal/types/...> headers of their types");
  constexpr bool is_made = std::is_default_constructible_v<R>;
  static_assert(is_made,
                "manta: train: a recipe needs a default constructor: a worker reads the recipe into a new one");
  if constexpr (!nn::module<R> && has_model && has_optimizer && has_loss && has_data && is_sent && is_made)
    return require_parts<R>() && require_optional_parts<R>();
  return false;
}

}  // namespace detail

}  // namespace manta::train
