// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the columns of a table are: the inputs' names, the words that are its classes, and the statistics by which
// its numbers were normalised. Samples have it from the reader, a trainer keeps it with its state, and a
// prediction needs it.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "manta/train/source.hpp"

namespace manta::train {

struct columns {
  std::vector<std::string> inputs = {};   ///< names of a sample's numbers, in their order; empty: they have no names
  std::vector<std::string> classes = {};  ///< the words that stand for the classes 0, 1, ..; empty: classes are numbers
  std::vector<float> mean = {}, deviation = {};  ///< inputs are (x - mean) / deviation; empty: they are x

  [[nodiscard]] bool empty() const { return inputs.empty() && classes.empty() && mean.empty(); }
  /// The class of this word. Throws, with all words, if there is none.
  [[nodiscard]] MANTA_DECL int class_of(std::string_view word) const;
  /// The word of a class. Throws if there is none.
  [[nodiscard]] MANTA_DECL const std::string& word_of(int number) const;
  /// Normalises a sample in place, as the data of the training were. Throws if it has another number of numbers.
  MANTA_DECL void normalise(std::span<float> sample) const;
  MANTA_DECL void normalise(std::span<double> sample) const;

  bool operator==(const columns&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(inputs, classes, mean, deviation);
  }
};

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/columns.ipp"
#endif
