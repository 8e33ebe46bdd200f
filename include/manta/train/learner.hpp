// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A learner: a recipe at work on one rank, without its types. The compiled core knows learners alone; learner_of.hpp
// makes one of a recipe.
#pragma once

#include <cereal/types/string.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "manta/nn/loss.hpp"
#include "manta/nn/module.hpp"
#include "manta/nn/spec.hpp"
#include "manta/train/number_array.hpp"
#include "manta/train/pass.hpp"
#include "manta/train/samples.hpp"
#include "manta/train/state.hpp"

namespace manta::train::detail {

/// What of a saved learner another one takes.
enum class taken {
  all,      ///< the model and the optimiser
  moments,  ///< the model, and of the optimiser what it has kept; its settings stay
  model,    ///< the model alone
};

class learner;

/// For as long as it lives, the parameters are their means over the steps, where the optimiser keeps such.
class averaged_parameters {
 public:
  MANTA_DECL explicit averaged_parameters(learner& l);
  averaged_parameters(const averaged_parameters&) = delete;
  averaged_parameters& operator=(const averaged_parameters&) = delete;
  MANTA_DECL ~averaged_parameters();

 private:
  learner& learner_;
};

class learner {
 public:
  virtual ~learner() = default;
  /// Seconds that taking samples has taken, since the learner was made.
  [[nodiscard]] double reading_seconds() const { return reading_seconds_; }
  /// Makes model and optimiser. A fresh network is initialised by the seed.
  virtual void open(std::uint64_t seed) = 0;
  /// Makes the training data or the validation data, unless they are there.
  virtual void read(bool training) = 0;
  /// Before read: takes the data of another learner of the same recipe, instead of reading them again.
  virtual void take_data(learner& before) = 0;
  /// The data, if they are train::samples, which workers can share; else null.
  virtual samples* shareable(bool training) = 0;
  /// Says that what was written to shareable() are the data.
  virtual void has_data(bool training) = 0;
  [[nodiscard]] virtual std::uint64_t size(bool training) const = 0;
  /// The extents of a sample, where data and model know them; else without dimensions.
  [[nodiscard]] virtual nn::shape extents_of_data() const = 0;
  [[nodiscard]] virtual nn::shape extents_of_model() const = 0;
  /// A digest of the numbers of this sample.
  [[nodiscard]] virtual std::uint64_t digest(bool training, std::uint64_t sample) = 0;
  /// What is not finite in one of these samples of the training data, in words; "" if everything is.
  [[nodiscard]] virtual std::string find_odd_number(std::span<const std::uint64_t> which) = 0;

  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual std::string optimizer_kind() const = 0;
  /// What the recipe says of optimiser, loss and its own members.
  [[nodiscard]] virtual told_settings told() const = 0;
  /// What is wrong with network and loss together, in words; "" if nothing is.
  [[nodiscard]] virtual std::string mismatch() const = 0;

  [[nodiscard]] virtual number_array parameters() = 0;
  [[nodiscard]] virtual number_array gradients() = 0;
  /// Running means; empty where the model has none.
  [[nodiscard]] virtual number_array buffers() = 0;
  /// The optimiser's moments, where it shows them.
  [[nodiscard]] virtual number_array moments() = 0;
  /// The name of the array in which parameters()[at] lies; "" where the model has no names.
  [[nodiscard]] virtual std::string array_at(std::size_t at) const = 0;

  /// Whether tasks read the data ahead (read_ahead.hpp), for which plan() says what this worker takes next.
  [[nodiscard]] virtual bool reads_ahead(bool training) const = 0;
  virtual void plan(bool training, std::vector<std::vector<std::uint64_t>> parts) = 0;
  /// These samples of the training data are the next that this worker takes: data that lie in files read ahead.
  virtual void will_take(std::span<const std::uint64_t> which) = 0;
  /// How often each sample of the training data is drawn, compared with the others; empty: each comes once an epoch.
  /// Throws unless there is a weight for each sample, none is below 0, and one is above.
  [[nodiscard]] virtual std::vector<double> sampling_weights() = 0;
  /// The weight of these samples of the training data in the loss.
  [[nodiscard]] virtual double weight(std::span<const std::uint64_t> which) = 0;
  /// Forward, and what the samples gave. The gradient of the sum of the losses / divisor is kept for `backward`.
  virtual sums forward(bool training, std::span<const std::uint64_t> which, const nn::pass& p, double divisor) = 0;
  /// After forward. Calls `ready`, unless it is empty, for parts of the gradients as they become final.
  virtual void backward(const nn::gradients_ready& ready) = 0;
  /// Whether the model takes sums over all workers in its passes.
  [[nodiscard]] virtual bool sums_over_workers() const = 0;
  /// Takes part in these sums without samples, in forward and then in backward, and calls `ready` for all gradients.
  virtual void pass_without_samples(const nn::pass& p, const nn::gradients_ready& ready) = 0;
  /// The optimiser's step.
  virtual void update() = 0;
  /// Where the optimiser keeps means of the parameters over the steps: exchanges them with the parameters.
  virtual void swap_averages() = 0;

  [[nodiscard]] virtual double rate() const = 0;
  virtual void rate(double r) = 0;
  /// What the recipe says, if it does.
  [[nodiscard]] virtual std::optional<double> recipe_rate(double epoch) const = 0;
  /// Sets the momentum that the recipe says, if it does.
  virtual void follow_momentum(double epoch) = 0;

  [[nodiscard]] virtual std::string save() const = 0;
  /// Throws, and changes nothing, if the bytes cannot be read.
  virtual void load(const std::string& bytes, taken what) = 0;
  [[nodiscard]] virtual std::string model() const = 0;

 protected:
  double reading_seconds_ = 0;
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

/// Throws unless these weights can be those of a sampling of `size` samples.
MANTA_DECL void check_sampling(std::span<const double> weights, std::size_t size);
/// The text of a mistake in one sample, which names the sample by its number in the data.
MANTA_DECL std::string text_of(const nn::sample_error& e, bool training, std::span<const std::uint64_t> which);
/// The first number that is not finite, as in "the number 3 of sample 17 of the training data is NaN"; "" if all are.
MANTA_DECL std::string odd_number_in(const batch<float>& b, std::span<const std::uint64_t> which);
MANTA_DECL std::string odd_number_in(const batch<double>& b, std::span<const std::uint64_t> which);
MANTA_DECL std::uint64_t digest_of(const batch<float>& b);
MANTA_DECL std::uint64_t digest_of(const batch<double>& b);
/// What is wrong with these layers before this loss: softmax, or sigmoid, before a loss that has it.
MANTA_DECL std::string mismatch_of(const std::vector<nn::spec>& layers, const nn::loss& l);

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/learner.ipp"
#endif
