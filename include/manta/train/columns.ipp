// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/train/columns.hpp"

namespace manta::train {

namespace detail {
inline std::string joined(const std::vector<std::string>& words) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(words.size(), most); ++i) text += (i == 0 ? "" : ", ") + words[i];
  return text + (words.size() > most ? ", .." : "");
}

template <class T>
void normalise_by(const columns& c, std::span<T> sample) {
  if (c.mean.empty()) return;
  if (sample.size() != c.mean.size())
    throw error(base::text("manta: train: a sample of {} numbers cannot be normalised as one of {} columns",
                           sample.size(), c.mean.size()));
  for (std::size_t i = 0; i < sample.size(); ++i)
    sample[i] = (sample[i] - static_cast<T>(c.mean[i])) / static_cast<T>(c.deviation[i]);
}
}  // namespace detail

MANTA_DECL int columns::class_of(std::string_view word) const {
  const auto found = std::find(classes.begin(), classes.end(), word);
  if (found == classes.end())
    throw error(
        base::text("manta: train: there is no class \"{}\"; the classes are {}", word, detail::joined(classes)));
  return static_cast<int>(found - classes.begin());
}

MANTA_DECL const std::string& columns::word_of(int number) const {
  if (number < 0 || static_cast<std::size_t>(number) >= classes.size())
    throw error(
        base::text("manta: train: there is no word for the class {}; there are {} words", number, classes.size()));
  return classes[static_cast<std::size_t>(number)];
}

MANTA_DECL void columns::normalise(std::span<float> sample) const { detail::normalise_by(*this, sample); }
MANTA_DECL void columns::normalise(std::span<double> sample) const { detail::normalise_by(*this, sample); }

}  // namespace manta::train
