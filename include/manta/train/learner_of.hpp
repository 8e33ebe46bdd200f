// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The learner of a recipe: all that is compiled anew for each recipe.
#pragma once

#include <algorithm>
#include <cereal/types/map.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/train/augment.hpp"
#include "manta/train/batch_sums.hpp"
#include "manta/train/learner.hpp"
#include "manta/train/recipe.hpp"
#include "manta/train/recipe_bytes.hpp"
#include "manta/train/told.hpp"

namespace manta::train::detail {

struct no_data {};
/// The validation data of a recipe that has some.
template <class R>
auto validation_data_of(const R& r) {
  if constexpr (requires { r.validation_data(); }) {
    return r.validation_data();
  } else {
    return no_data();
  }
}

template <class Data>
inline constexpr bool can_plan = requires(Data& d, std::vector<std::vector<std::uint64_t>> parts) {
  d.plan(parts);
};

template <recipe R>
class learner_of final : public learner {
  using module_type = typename model_of<R>::type;
  using scalar = typename module_type::scalar;
  static constexpr bool validates = requires(const R& r) { r.validation_data(); };
  static constexpr bool has_buffers = requires(module_type & m) {
    { m.buffers() } -> std::convertible_to<std::span<scalar>>;
  };

 public:
  static learner_name name(std::string bytes) { return {number, typeid(R).name(), std::move(bytes)}; }

  explicit learner_of(const std::string& bytes) { read_recipe(bytes, recipe_); }

  void open(std::uint64_t seed) override {
    model_ = recipe_.model();
    if constexpr (requires { model_.is_fresh(); }) {
      if (model_.is_fresh()) model_.initialise(seed);
    }
    optimizer_ = recipe_.optimizer();
    loss_ = recipe_.loss();
  }
  void read(bool training) override {
    if (training && !has_training_) training_ = recipe_.training_data();
    if constexpr (validates) {
      if (!training && !has_validation_) validation_ = recipe_.validation_data();
    }
    has_data(training);
  }
  void take_data(learner& before) override {
    auto& other = static_cast<learner_of&>(before);
    training_ = std::move(other.training_);
    validation_ = std::move(other.validation_);
    has_training_ = std::exchange(other.has_training_, false);
    has_validation_ = std::exchange(other.has_validation_, false);
  }
  samples* shareable(bool training) override {
    if constexpr (std::is_same_v<decltype(training_), samples>) {
      if (training) return &training_;
    }
    if constexpr (std::is_same_v<decltype(validation_), samples>) {
      if (!training) return &validation_;
    }
    return nullptr;
  }
  void has_data(bool training) override { (training ? has_training_ : has_validation_) = true; }
  [[nodiscard]] std::uint64_t size(bool training) const override {
    if constexpr (validates) return training ? training_.size() : validation_.size();
    return training ? training_.size() : 0;
  }
  [[nodiscard]] nn::shape extents_of_data() const override {
    if constexpr (requires {
                    { training_.extents() } -> std::convertible_to<nn::shape>;
                  })
      return training_.extents();
    return {};
  }
  [[nodiscard]] nn::shape extents_of_model() const override {
    if constexpr (requires {
                    { model_.input_shape() } -> std::convertible_to<nn::shape>;
                  })
      return model_.input_shape();
    return {};
  }
  [[nodiscard]] std::uint64_t digest(bool training, std::uint64_t sample) override {
    take(training, {&sample, 1});
    if (training) has_weights_ = has_weights_ || !batch_.weights.empty();
    if (training && batch_.has_labels)
      labels_per_sample_ = static_cast<double>(std::max<std::size_t>(1, batch_.labels.size()));
    return digest_of(batch_);
  }
  [[nodiscard]] std::string find_odd_number(std::span<const std::uint64_t> which) override {
    training_.take(which, batch_);
    return odd_number_in(batch_, which);
  }

  [[nodiscard]] std::string description() const override {
    const std::string numbers = std::is_same_v<scalar, double> ? ", in double" : "";
    if constexpr (requires { model_.describe(); }) return model_.describe() + numbers;
    return base::text("a module of {} parameters{}", std::as_const(model_).parameters().size(), numbers);
  }
  [[nodiscard]] std::string optimizer_kind() const override {
    if constexpr (requires {
                    { optimizer_.name() } -> std::convertible_to<std::string>;
                  })
      return optimizer_.name();
    return typeid(optimizer_).name();
  }
  [[nodiscard]] told_settings told() const override { return told_by(recipe_); }
  [[nodiscard]] std::string mismatch() const override {
    if constexpr (requires { mismatch_of(model_.specs(), loss_); }) return mismatch_of(model_.specs(), loss_);
    return "";
  }

  [[nodiscard]] number_array parameters() override { return model_.parameters(); }
  [[nodiscard]] number_array gradients() override { return model_.gradients(); }
  [[nodiscard]] number_array buffers() override {
    if constexpr (has_buffers) return std::span<scalar>(model_.buffers());
    return {};
  }
  [[nodiscard]] number_array moments() override {
    if constexpr (requires {
                    { optimizer_.template moments<scalar>() } -> std::convertible_to<std::span<scalar>>;
                  })
      return std::span<scalar>(optimizer_.template moments<scalar>());
    return {};
  }
  [[nodiscard]] std::string array_at(std::size_t at) const override {
    std::string name;
    if constexpr (requires { model_.arrays()[0].begin; }) {
      for (const auto& a : model_.arrays()) {
        if (a.begin <= at) name = a.name;
      }
    }
    return name;
  }

  [[nodiscard]] bool reads_ahead(bool training) const override {
    return training ? can_plan<decltype(training_)> : can_plan<decltype(validation_)>;
  }
  void plan(bool training, std::vector<std::vector<std::uint64_t>> parts) override {
    if constexpr (can_plan<decltype(training_)>) {
      if (training) training_.plan(std::move(parts));
    }
    if constexpr (can_plan<decltype(validation_)>) {
      if (!training) validation_.plan(std::move(parts));
    }
  }
  void will_take(std::span<const std::uint64_t> which) override {
    if constexpr (requires { training_.will_take(which); }) training_.will_take(which);
  }

  std::vector<double> sampling_weights() override {
    std::vector<double> all;
    if constexpr (requires { recipe_.sampling_weights(training_); }) {
      for (const auto w : recipe_.sampling_weights(training_)) all.push_back(static_cast<double>(w));
      check_sampling(all, training_.size());
    }
    return all;
  }
  double weight(std::span<const std::uint64_t> which) override {
    if constexpr (requires { loss_.is_weighted(); }) {
      if (!loss_.is_weighted() && !has_weights_) return static_cast<double>(which.size()) * labels_per_sample_;
    }
    if constexpr (requires { training_.take_targets(which, batch_); }) {
      training_.take_targets(which, batch_);
    } else {
      training_.take(which, batch_);
    }
    return loss_.template weight<scalar>(batch_.targets());
  }

  sums forward(bool training, std::span<const std::uint64_t> which, const nn::pass& p, double divisor) override {
    take(training, which);
    try {
      return forward_taken(training, p, divisor);
    } catch (const nn::sample_error& e) {
      throw error(text_of(e, training, which));
    }
  }
  void backward(const nn::gradients_ready& ready) override {
    if (ready) {
      nn::backward(model_, dy_, ready);
    } else {
      model_.backward(dy_);
    }
  }
  [[nodiscard]] bool sums_over_workers() const override { return nn::sums_over_workers(model_); }
  void pass_without_samples(const nn::pass& p, const nn::gradients_ready& ready) override {
    if constexpr (requires {
                    model_.forward_without_samples();
                    model_.backward_without_samples(ready);
                  }) {
      nn::set_mode(model_, p);
      model_.forward_without_samples();
      model_.backward_without_samples(ready);
    } else {
      ready(0, model_.gradients().size());
    }
  }
  void update() override {
    if constexpr (requires { optimizer_.step(model_); }) {
      optimizer_.step(model_);
    } else {
      optimizer_.step(model_.parameters(), model_.gradients());
    }
  }
  void swap_averages() override {
    if constexpr (requires { optimizer_.template averages<scalar>(); }) {
      const std::span<scalar> averages = optimizer_.template averages<scalar>();
      std::ranges::swap_ranges(averages, model_.parameters().first(averages.size()));
    }
  }

  [[nodiscard]] double rate() const override {
    if constexpr (requires { optimizer_.rate(); }) return static_cast<double>(optimizer_.rate());
    return 0;
  }
  void rate(double r) override {
    if constexpr (requires { optimizer_.rate(r); }) {
      optimizer_.rate(r);
    } else {
      throw error("manta: train: the recipe's optimizer has no rate(double), so its rate cannot be changed");
    }
  }
  [[nodiscard]] std::optional<double> recipe_rate(double epoch) const override {
    if constexpr (requires { recipe_.learning_rate(epoch); }) return static_cast<double>(recipe_.learning_rate(epoch));
    return std::nullopt;
  }

  void follow_momentum(double epoch) override {
    if constexpr (requires { recipe_.momentum(epoch); }) {
      static_assert(
          requires { optimizer_.momentum(1.); },
          "manta: train: the recipe has momentum(epoch), and its optimizer no member momentum(double), which nn::sgd, "
          "nn::adam and others have");
      optimizer_.momentum(static_cast<double>(recipe_.momentum(epoch)));
    }
  }

  [[nodiscard]] std::string save() const override { return output::pack(model_, optimizer_); }
  void load(const std::string& bytes, taken what) override {
    // Into copies first: what cannot be read changes nothing.
    module_type m = model_;
    auto o = optimizer_;
    output::unpack(bytes, m, o);
    if constexpr (requires { m.freeze_as(model_); }) m.freeze_as(model_);
    model_ = std::move(m);
    if (what == taken::model) return;
    if constexpr (requires { optimizer_.take_moments(o); }) {
      if (what == taken::moments) return optimizer_.take_moments(o);
    }
    const double own_rate = rate();
    optimizer_ = std::move(o);
    if (what == taken::moments) rate(own_rate);
  }
  [[nodiscard]] std::string model() const override { return output::pack(model_); }

 private:
  static inline const std::uint32_t number = register_learner(
      typeid(R).name(),
      [](const std::string& bytes) -> std::unique_ptr<learner> { return std::make_unique<learner_of>(bytes); });

  void take(bool training, std::span<const std::uint64_t> which) {
    const auto begin = std::chrono::steady_clock::now();
    if constexpr (validates) {
      training ? training_.take(which, batch_) : validation_.take(which, batch_);
    } else {
      training_.take(which, batch_);
    }
    reading_seconds_ += seconds_since(begin);
  }
  sums forward_taken(bool training, const nn::pass& p, double divisor) {
    if (training) augment(p);
    nn::set_mode(model_, p);
    const nn::matrix<scalar>& y = model_.forward(batch_.x);
    return sums_of<scalar>(recipe_, loss_, y, batch_, dy_, divisor);
  }
  /// What is drawn for a sample follows from its number and that of the step, not from who takes it.
  void augment(const nn::pass& p) {
    if constexpr (requires(std::span<scalar> sample, draws & d) { recipe_.augment(sample, d); }) {
      for (std::size_t i = 0; i < p.samples.size(); ++i) {
        draws d(p.seed, p.step, p.samples[i]);
        auto column = batch_.x.col(static_cast<Eigen::Index>(i));
        recipe_.augment(std::span<scalar>(column.data(), static_cast<std::size_t>(column.size())), d);
      }
    }
  }

  R recipe_{};
  module_type model_;
  std::remove_cvref_t<decltype(std::declval<const R&>().optimizer())> optimizer_;
  std::remove_cvref_t<decltype(std::declval<const R&>().loss())> loss_;
  std::remove_cvref_t<decltype(std::declval<const R&>().training_data())> training_;
  decltype(validation_data_of(std::declval<const R&>())) validation_;
  bool has_training_ = false, has_validation_ = false;
  batch<scalar> batch_;
  bool has_weights_ = false;      ///< samples of the training data have weights of their own
  double labels_per_sample_ = 1;  ///< more where a sample is a sequence with a class for each position
  nn::matrix<scalar> dy_;
};

}  // namespace manta::train::detail
