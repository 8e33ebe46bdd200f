// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Several losses at once. One point dominates another if it is better in one loss and worse in none; the points that
// nobody dominates are the front.
#pragma once

#include <cstddef>
#include <vector>

#include "manta/tune/source.hpp"

namespace manta::tune {

/// The losses of one trial: smaller ones are better.
using loss_vector = std::vector<double>;

MANTA_DECL bool dominates(const loss_vector& a, const loss_vector& b);

/// The rank of each point: 0 for the front, 1 for the front of the others, and so on (Deb, Pratap, Agarwal, Meyarivan,
/// IEEE Transactions on Evolutionary Computation 6, 2002). Time: the square of their number.
MANTA_DECL std::vector<std::size_t> front_ranks(const std::vector<loss_vector>& points);

/// The distance to the neighbours, in each loss as a part of its range; infinite at the ends (the same paper).
MANTA_DECL std::vector<double> crowding_distances(const std::vector<loss_vector>& points);

/// The volume that the points dominate below the reference point (While, Bradstreet, Barone, IEEE Transactions on
/// Evolutionary Computation 16, 2012).
MANTA_DECL double hypervolume(const std::vector<loss_vector>& points, const loss_vector& reference);

/// The volume that only this point dominates, of each of them.
MANTA_DECL std::vector<double> hypervolume_shares(const std::vector<loss_vector>& points, const loss_vector& reference);

/// A reference point for these: a little worse than the worst in each loss.
MANTA_DECL loss_vector reference_of(const std::vector<loss_vector>& points);

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/front.ipp"
#endif
