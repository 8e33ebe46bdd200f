// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cstring>
#include <span>

#include "manta/async.hpp"
#include "manta/run.hpp"
#include "manta/train/shared_data.hpp"
#include "manta/view.hpp"

namespace manta::train::detail {

using shared_sizes = std::array<std::uint64_t, 2>;
inline constexpr std::size_t shared_begin = 64;  // where the parts begin
static_assert(sizeof(shared_sizes) <= shared_begin);

/// The block of a recipe: what a task of the trainer runs.
inline shared_block read_block(const learner_name& what) {
  const std::unique_ptr<learner> l = make_learner(what);
  const std::uint64_t questions = manta::detail::place_questions;
  const auto begin = std::chrono::steady_clock::now();
  shared_sizes sizes{};
  std::size_t all = shared_begin;
  for (const bool training : {true, false}) {
    if (!l->shareable(training)) continue;
    l->read(training);
    all += sizes[training ? 0 : 1] = l->shareable(training)->write_shared(nullptr);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const bool pays = all >= least_shared_bytes || seconds.count() >= least_shared_seconds;
  if (!pays || manta::detail::place_questions != questions) return {};
  shared_block block(all);
  std::memcpy(block.data(), &sizes, sizeof sizes);
  unsigned char* at = block.data() + shared_begin;
  for (const bool training : {true, false}) {
    if (sizes[training ? 0 : 1] == 0) continue;
    samples* const data = l->shareable(training);
    at += data->write_shared(at);
    *data = samples();
  }
  return block;
}

MANTA_DECL shared_data start_reading(const learner_name& what) {
  const std::unique_ptr<learner> l = make_learner(what);
  if (!l->shareable(true) && !l->shareable(false)) return {};
  return {async<read_block>({.name = "train: data"}, what)};
}

/// Marks the owner of shared samples.
struct block_owner {
  future<shared_block> block;
};

MANTA_DECL void read_data(learner& l, const shared_data& shared) {
  const auto owner = std::make_shared<const block_owner>(shared.block);
  const std::span<const unsigned char> block =
      shared.block.valid() ? view(owner->block) : std::span<const unsigned char>();
  shared_sizes sizes{};
  if (!block.empty()) std::memcpy(&sizes, block.data(), sizeof sizes);
  std::size_t at = shared_begin;
  for (const bool training : {true, false}) {
    const std::size_t size = sizes[training ? 0 : 1];
    if (size > 0) {
      *l.shareable(training) = samples::share(block.subspan(at, size), owner);
      l.has_data(training);
      at += size;
    } else {
      l.read(training);
    }
  }
}

MANTA_DECL void let_go_of_shared_data(learner& l) {
  for (const bool training : {true, false}) {
    samples* const data = l.shareable(training);
    if (data && data->is_shared()) *data = samples();
  }
}

}  // namespace manta::train::detail
