// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The parameters of a network as a span that knows which of them are frozen, so that an optimiser that gets parameters
// and gradients alone leaves these as they are.
#pragma once

#include <cstddef>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "manta/nn/source.hpp"

namespace manta::nn {

template <class T>
class parameter_span : public std::span<T> {
 public:
  using frozen_ranges = std::vector<std::pair<std::size_t, std::size_t>>;  ///< first number, and one after the last

  /// `frozen`, in their order, has to live as long as the span.
  parameter_span(std::span<T> all, const frozen_ranges& frozen) : std::span<T>(all), frozen_(&frozen) {}
  [[nodiscard]] const frozen_ranges& frozen() const { return *frozen_; }

 private:
  const frozen_ranges* frozen_;
};

}  // namespace manta::nn

template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<manta::nn::parameter_span<T>> = true;
template <class T>
inline constexpr bool std::ranges::enable_view<manta::nn::parameter_span<T>> = true;
