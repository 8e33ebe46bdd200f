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
//     // Optional: the rate from here on; 2.5 is the middle of the third epoch.
//     double learning_rate(double epoch) const;
//     template <class Archive> void serialize(Archive& archive) { archive(CEREAL_NVP(rate)); }
//   };
//
// A learner is a recipe at work on one rank, without its types. The compiled core knows learners alone.
#pragma once

#include <algorithm>
#include <cereal/archives/binary.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "manta/error.hpp"
#include "manta/nn/loss.hpp"
#include "manta/nn/module.hpp"
#include "manta/nn/optimizer.hpp"
#include "manta/output/bytes.hpp"
#include "manta/train/augment.hpp"
#include "manta/train/exchange.hpp"
#include "manta/train/pass.hpp"
#include "manta/train/samples.hpp"

namespace manta::train {

template <class R>
concept recipe = requires(const R r) {
  { r.model() } -> nn::module;
  r.optimizer();
  r.loss();
  r.training_data();
};

namespace detail {

/// Refuses what is no recipe, in one sentence that names what is missing.
template <class R>
constexpr bool require_recipe() {
  constexpr bool has_model = requires(const R r) {
    { r.model() } -> nn::module;
  };
  static_assert(
      has_model,
      "manta: train: a recipe needs model() const, which gives an nn::network or another class with the members "
      "of the concept nn::module");
  constexpr bool has_optimizer = requires(const R r) { r.optimizer(); };
  static_assert(has_optimizer,
                "manta: train: a recipe needs optimizer() const, which gives nn::adam, nn::sgd or another optimiser");
  constexpr bool has_loss = requires(const R r) { r.loss(); };
  static_assert(
      has_loss,
      "manta: train: a recipe needs loss() const, which gives nn::loss: nn::cross_entropy(), nn::mse() or another one");
  constexpr bool has_data = requires(const R r) { r.training_data(); };
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
  return has_model && has_optimizer && has_loss && has_data && is_sent && is_made;
}

/// The type of the recipe's model; void if it has none.
template <class R>
struct model_of {
  using type = void;
};
template <recipe R>
struct model_of<R> {
  using type = std::remove_cvref_t<decltype(std::declval<const R&>().model())>;
};

class learner {
 public:
  virtual ~learner() = default;
  /// Makes model, optimiser and data. A fresh network is initialised by the seed.
  virtual void open(std::uint64_t seed) = 0;
  /// Before open: takes the data of another learner of the same recipe, instead of reading them again.
  virtual void take_data(learner& before) = 0;
  [[nodiscard]] virtual std::uint64_t size(bool training) const = 0;
  [[nodiscard]] virtual std::string description() const = 0;
  /// Collective: all get the first member's parameters.
  virtual void share(exchange& e) = 0;
  /// Collective: parameters, buffers (running means), and the optimiser's moments, where it shows them, become their
  /// means over the members.
  virtual void average(exchange& e) = 0;
  /// The buffers' numbers, for sums over the members.
  virtual void append_buffers(std::vector<double>& to) = 0;
  /// The buffers become these sums / members.
  virtual void set_buffers(std::span<const double> sums, int members) = 0;
  /// Buffers are those at the last mark again: a step that was begun and cannot be made has changed them.
  virtual void mark() = 0;
  virtual void go_back_to_mark() = 0;

  /// Whether tasks read the data ahead (read_ahead.hpp), for which plan() says what this worker takes next.
  [[nodiscard]] virtual bool reads_ahead(bool training) const = 0;
  virtual void plan(bool training, std::vector<std::vector<std::uint64_t>> parts) = 0;
  /// These samples of the training data are the next that this worker takes: data that lie in files read ahead.
  virtual void will_take(std::span<const std::uint64_t> which) = 0;
  /// The weight of these samples of the training data in the loss.
  [[nodiscard]] virtual double weight(std::span<const std::uint64_t> which) = 0;
  /// Forward, and what the samples gave. The gradient of the sum of the losses / divisor is kept for `backward`.
  virtual sums forward(bool training, std::span<const std::uint64_t> which, const nn::pass& p, double divisor) = 0;
  virtual void zero_gradients() = 0;
  virtual void begin(exchange& e) = 0;
  /// After forward; of a worker without samples: says that all gradients are final.
  virtual void backward(exchange* e, bool has_samples) = 0;
  /// The optimiser's step. clip: the largest norm of the gradients, or 0.
  virtual void update(double clip) = 0;

  [[nodiscard]] virtual double rate() const = 0;
  virtual void rate(double r) = 0;
  /// What the recipe says, if it does.
  [[nodiscard]] virtual std::optional<double> recipe_rate(double epoch) const = 0;

  [[nodiscard]] virtual std::string save() const = 0;
  /// `own_settings`: see worker::restore.
  virtual void load(const std::string& bytes, bool own_settings) = 0;
  [[nodiscard]] virtual std::string model() const = 0;
};

/// Learners travel as a number that is the same on all ranks, and the bytes of their recipe.
struct learner_name {
  std::uint32_t number = 0;
  std::string type, bytes;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(number, type, bytes);
  }
};
/// To be called before main.
MANTA_DECL std::uint32_t register_learner(const char* type, std::unique_ptr<learner> (*make)(const std::string& bytes));
/// Throws if this rank's program does not have it.
MANTA_DECL std::unique_ptr<learner> make_learner(const learner_name& what);

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
  static learner_name name(const R& r) { return {number, typeid(R).name(), output::pack(r)}; }

  explicit learner_of(const std::string& bytes) { output::unpack(bytes, recipe_); }

  void open(std::uint64_t seed) override {
    model_ = recipe_.model();
    if constexpr (requires { model_.is_fresh(); }) {
      if (model_.is_fresh()) model_.initialise(seed);
    }
    optimizer_ = recipe_.optimizer();
    loss_ = recipe_.loss();
    if (!has_data_) training_ = recipe_.training_data();
    if constexpr (validates) {
      if (!has_data_) validation_ = recipe_.validation_data();
    }
    has_data_ = true;
    if (size(true) > 0) {
      const std::uint64_t first = 0;
      training_.take(std::span(&first, 1), batch_);
      if (batch_.has_labels) labels_per_sample_ = static_cast<double>(std::max<std::size_t>(1, batch_.labels.size()));
    }
  }
  void take_data(learner& before) override {
    auto& other = static_cast<learner_of&>(before);
    training_ = std::move(other.training_);
    if constexpr (validates) validation_ = std::move(other.validation_);
    has_data_ = std::exchange(other.has_data_, false);
  }
  [[nodiscard]] std::uint64_t size(bool training) const override {
    if constexpr (validates) return training ? training_.size() : validation_.size();
    return training ? training_.size() : 0;
  }
  [[nodiscard]] std::string description() const override {
    const std::string numbers = std::is_same_v<scalar, double> ? ", in double" : "";
    if constexpr (requires { model_.describe(); }) return model_.describe() + numbers;
    return "a module of " + std::to_string(std::as_const(model_).parameters().size()) + " parameters" + numbers;
  }
  void share(exchange& e) override { e.broadcast(model_.parameters().data(), model_.parameters().size_bytes()); }

  void average(exchange& e) override {
    if constexpr (has_buffers) e.average(model_.buffers());
    e.average(model_.parameters());
    if constexpr (requires { e.average(optimizer_.template moments<scalar>()); })
      e.average(optimizer_.template moments<scalar>());
  }

  void append_buffers(std::vector<double>& to) override {
    if constexpr (has_buffers) to.insert(to.end(), model_.buffers().begin(), model_.buffers().end());
  }
  void set_buffers(std::span<const double> sums, int members) override {
    if constexpr (has_buffers)
      std::transform(sums.begin(), sums.end(), model_.buffers().begin(),
                     [members](double sum) { return static_cast<scalar>(sum / members); });
  }
  void mark() override {
    if constexpr (has_buffers) marked_.assign(model_.buffers().begin(), model_.buffers().end());
  }
  void go_back_to_mark() override {
    if constexpr (has_buffers) std::copy(marked_.begin(), marked_.end(), model_.buffers().begin());
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

  double weight(std::span<const std::uint64_t> which) override {
    if constexpr (requires { loss_.is_weighted(); }) {
      if (!loss_.is_weighted()) return static_cast<double>(which.size()) * labels_per_sample_;
    }
    training_.take(which, batch_);
    return loss_.template weight<scalar>(batch_.targets());
  }

  sums forward(bool training, std::span<const std::uint64_t> which, const nn::pass& p, double divisor) override {
    if constexpr (validates) {
      training ? training_.take(which, batch_) : validation_.take(which, batch_);
    } else {
      training_.take(which, batch_);
    }
    if (training) augment(which, p);
    nn::set_mode(model_, p);
    const nn::matrix<scalar>& y = model_.forward(batch_.x);
    const nn::targets<scalar> targets = batch_.targets();
    sums s;
    s.samples = which.size();
    s.weight = loss_.template weight<scalar>(targets);
    s.loss = static_cast<double>(loss_.over(y, targets, dy_, divisor)) * divisor;
    if (targets.has_labels())
      s.metrics["accuracy"] = static_cast<double>(nn::correct(y, targets.labels())) / labels_per_sample_;
    if constexpr (requires { recipe_.metrics(y, targets); }) {
      for (const auto& [name, mean] : recipe_.metrics(y, targets))
        s.metrics[name] = static_cast<double>(mean) * static_cast<double>(s.samples);
    }
    return s;
  }
  void zero_gradients() override { std::fill(model_.gradients().begin(), model_.gradients().end(), scalar(0)); }
  void begin(exchange& e) override { e.begin(model_.gradients()); }
  void backward(exchange* e, bool has_samples) override {
    if (!has_samples) {
      if (e) e->ready(0, model_.gradients().size());
    } else if (e) {
      nn::backward(model_, dy_, [e](std::size_t first, std::size_t last) { e->ready(first, last); });
    } else {
      model_.backward(dy_);
    }
  }
  void update(double clip) override {
    if (clip > 0) nn::clip_norm(model_.gradients(), clip);
    optimizer_.step(model_.parameters(), model_.gradients());
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

  [[nodiscard]] std::string save() const override { return output::pack(model_, optimizer_); }
  void load(const std::string& bytes, bool own_settings) override {
    // Into copies first: what cannot be read changes nothing.
    module_type m = model_;
    auto o = optimizer_;
    output::unpack(bytes, m, o);
    model_ = std::move(m);
    if constexpr (requires { optimizer_.take_moments(o); }) {
      if (own_settings) return optimizer_.take_moments(o);
    }
    const double own_rate = rate();
    optimizer_ = std::move(o);
    if (own_settings) rate(own_rate);
  }
  [[nodiscard]] std::string model() const override { return output::pack(model_); }

 private:
  static inline const std::uint32_t number = register_learner(
      typeid(R).name(),
      [](const std::string& bytes) -> std::unique_ptr<learner> { return std::make_unique<learner_of>(bytes); });

  /// What is drawn for a sample follows from its number and that of the step, not from who takes it.
  void augment(std::span<const std::uint64_t> which, const nn::pass& p) {
    if constexpr (requires(std::span<scalar> sample, draws & d) { recipe_.augment(sample, d); }) {
      for (std::size_t i = 0; i < which.size(); ++i) {
        draws d(p.seed, p.step, which[i]);
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
  bool has_data_ = false;
  batch<scalar> batch_;
  double labels_per_sample_ = 1;  ///< more where a sample is a sequence with a class for each position
  nn::matrix<scalar> dy_;
  std::vector<scalar> marked_;
};

}  // namespace detail

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/learner.ipp"
#endif
