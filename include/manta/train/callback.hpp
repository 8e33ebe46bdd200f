// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Functions of the program that trainer::fit calls, on the driver's rank, while no step is made. They may use the
// trainer: set its rate, save it, evaluate it.
//
//   trainer.fit({.epochs = 20, .callbacks = {
//       {.on_batch = [&](const train::summary& s) { trainer.rate(1e-3 / std::sqrt(1. + s.step)); }, .every = 10},
//       {.on_epoch = [](const train::epoch_result& e) { return e.validation["accuracy"] < 0.95; }}}});
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "manta/train/source.hpp"
#include "manta/train/summary.hpp"

namespace manta::train {

/// What one epoch gave.
struct epoch_result {
  summary training;
  summary validation;    ///< without samples where the recipe has no validation_data()
  bool is_best = false;  ///< better than all epochs before

  /// What early stopping looks at: of the validation where there is one.
  [[nodiscard]] const summary& watched() const { return validation.samples > 0 ? validation : training; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(training, validation, is_best);
  }
};

/// A function that may return false to end the training; one that returns nothing goes on.
template <class Argument>
class callback_on {
 public:
  callback_on() = default;
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, callback_on>)
  callback_on(F f) {  // NOLINT(google-explicit-constructor): a lambda is what users write
    constexpr bool is_callback = std::is_invocable_v<F&, Argument>;
    constexpr bool is_of_epochs = std::is_same_v<Argument, const epoch_result&>;
    static_assert(
        is_callback || !is_of_epochs,
        "manta: train: .on_epoch is a function that takes const train::epoch_result&, and returns nothing, or "
        "false to end the training");
    static_assert(
        is_callback || is_of_epochs,
        "manta: train: .on_batch is a function that takes const train::summary&, the epoch so far, and returns "
        "nothing, or false to end the training; .on_epoch_begin takes the epoch's number, std::uint64_t");
    if constexpr (!is_callback) {
    } else if constexpr (std::is_void_v<std::invoke_result_t<F&, Argument>>) {
      call_ = [f = std::move(f)](Argument a) mutable { return f(a), true; };
    } else {
      call_ = std::move(f);
    }
  }
  explicit operator bool() const { return static_cast<bool>(call_); }
  /// Whether the training goes on.
  bool operator()(Argument a) const { return !call_ || call_(a); }

 private:
  std::function<bool(Argument)> call_;
};

using epoch_callback = callback_on<const epoch_result&>;
using batch_callback = callback_on<const summary&>;

struct history;

/// Functions that belong together, as a callback of Keras. Each may be left out.
struct callback {
  /// Before each epoch that is begun, with its number from 0.
  callback_on<std::uint64_t> on_epoch_begin = {};
  /// After each batch whose step is a multiple of `every`, with the means over the epoch so far. If it ends the
  /// training, the epoch is not validated, and the checkpoint has it as far as it is.
  batch_callback on_batch = {};
  int every = 1;
  /// After each epoch and its validation.
  epoch_callback on_epoch = {};
  /// Once, when the training has ended. With .restore_best the trainer has the state after the best epoch by then.
  std::function<void(const history&)> on_end = {};
};

}  // namespace manta::train
