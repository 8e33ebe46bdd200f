// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/weights.hpp"
#include "manta/output/append_file.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/offline/episode_npz.hpp"

namespace manta::rl::detail {

inline constexpr const char* episode_arrays[] = {"observations", "actions", "rewards", "terminations", "truncations"};

inline const nn::stored_array* find_array(const std::vector<nn::stored_array>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &nn::stored_array::name);
  return found == all.end() ? nullptr : &*found;
}

MANTA_DECL read_file open_episode_npz(const std::string& path) {
  read_file read;
  read.arrays = nn::read_arrays(path);
  for (const char* name : episode_arrays) {
    const nn::stored_array* const a = find_array(read.arrays, name);
    if (a != nullptr && !a->extents.empty()) continue;
    std::string names;
    for (const nn::stored_array& there : read.arrays) names += (names.empty() ? "" : ", ") + there.name;
    throw error(
        base::text("manta: rl: {} has no array \"{}\"; it has {}. Episodes are observations, actions, rewards, "
                   "terminations and truncations",
                   path, name, names.empty() ? "none" : names));
  }
  if (const nn::stored_array* const e = find_array(read.arrays, "environment")) {
    try {
      output::unpack(e->bytes, read.environment);
    } catch (const std::exception& problem) {
      throw error(base::text("manta: rl: {}: the array \"environment\" cannot be read: {}", path, problem.what()));
    }
  }
  return read;
}

/// The rows of an array, a column for each.
class array_rows {
 public:
  array_rows(const std::string& path, const nn::stored_array& a) : path_(path), name_(a.name) {
    rows_ = static_cast<std::size_t>(a.extents.front());
    for (std::size_t d = 1; d < a.extents.size(); ++d) each_ *= static_cast<std::size_t>(a.extents[d]);
    numbers_.resize(rows_ * each_);
    nn::detail::convert(a, numbers_.data());
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] double number(std::size_t row) const { return numbers_[row * each_]; }
  /// Throws unless each row has as many numbers.
  void require(int wanted, const std::string& of) const {
    if (each_ == static_cast<std::size_t>(wanted)) return;
    throw error(base::text("manta: rl: {}, episode 0, step 0: a row of \"{}\" has {} numbers; {} has {}", path_, name_,
                           each_, of, wanted));
  }
  /// Some rows as columns.
  template <class T>
  [[nodiscard]] nn::matrix<T> columns(std::size_t begin, std::size_t count) const {
    nn::matrix<T> m(static_cast<Eigen::Index>(each_), static_cast<Eigen::Index>(count));
    const double* from = numbers_.data() + begin * each_;
    std::transform(from, from + each_ * count, m.data(), [](double x) { return static_cast<T>(x); });
    return m;
  }

 private:
  std::string path_, name_;
  std::size_t rows_ = 0, each_ = 1;
  std::vector<double> numbers_;
};

/// Where the episodes of a file end: the numbers of their last steps. The last one may have been cut off.
class episode_ends {
 public:
  episode_ends(const std::string& path, std::vector<const array_rows*> by_step, const array_rows& terminations,
               const array_rows& truncations)
      : path_(path) {
    for (const array_rows* a : by_step) steps_ = std::max(steps_, a->rows());
    const std::size_t known = std::min(terminations.rows(), truncations.rows());
    for (std::size_t t = 0; t < known; ++t) {
      if (terminations.number(t) != 0 || truncations.number(t) != 0) last_.push_back(t);
    }
    for (const array_rows* a : by_step) {
      if (a->rows() < steps_)
        bad(a->rows(),
            base::text("the array \"{}\" ends here, with {} rows; others have {}", a->name(), a->rows(), steps_));
    }
    if (steps_ > 0 && (last_.empty() || last_.back() + 1 < steps_)) last_.push_back(steps_ - 1);
  }
  [[nodiscard]] const std::vector<std::size_t>& last() const { return last_; }
  /// Throws unless there is one observation more than steps in each episode.
  void require_observations(std::size_t found) const {
    const std::size_t wanted = steps_ + last_.size();
    if (found == wanted) return;
    std::size_t episode = 0;
    while (episode + 1 < last_.size() && last_[episode] + episode + 2 <= found) ++episode;
    const std::size_t begin = (episode == 0 ? 0 : last_[episode - 1] + 1) + episode;
    throw error(base::text(
        "manta: rl: {}, episode {}, step {}: there are {} observations for {} steps in {} episodes; "
        "there have to be {}, one more than steps in each",
        path_, episode, std::min(found, wanted) - std::min(found, begin), found, steps_, last_.size(), wanted));
  }

 private:
  [[noreturn]] void bad(std::size_t step, const std::string& what) const {
    const auto episode = static_cast<std::size_t>(std::ranges::lower_bound(last_, step) - last_.begin());
    throw error(base::text("manta: rl: {}, episode {}, step {}: {}", path_, episode,
                           step - (episode == 0 ? 0 : last_[episode - 1] + 1), what));
  }
  std::string path_;
  std::size_t steps_ = 0;
  std::vector<std::size_t> last_;
};

MANTA_DECL std::vector<recorded_episode> episodes_of_arrays(const std::string& path,
                                                            const std::vector<nn::stored_array>& arrays,
                                                            const any_environment& e) {
  const auto rows_of = [&](const char* name) { return array_rows(path, *find_array(arrays, name)); };
  const array_rows observations = rows_of("observations"), actions = rows_of("actions"), rewards = rows_of("rewards"),
                   terminations = rows_of("terminations"), truncations = rows_of("truncations");
  std::vector<const array_rows*> by_step = {&actions, &rewards, &terminations, &truncations};
  std::vector<array_rows> more;
  for (const char* name : {"log_probabilities", "masks"}) {
    const bool is_wanted = name == std::string("log_probabilities") || e.mask_size() > 0;
    if (is_wanted && find_array(arrays, name) != nullptr) more.push_back(rows_of(name));
  }
  for (const array_rows& a : more) by_step.push_back(&a);
  observations.require(e.observations().size(), "an observation of " + e.observations().text());
  actions.require(e.actions().size(), "an action of " + e.actions().text());
  const episode_ends ends(path, by_step, terminations, truncations);
  ends.require_observations(observations.rows());
  std::vector<recorded_episode> all;
  std::size_t begin = 0;
  for (const std::size_t last : ends.last()) {
    const std::size_t steps = last + 1 - begin;
    recorded_episode r;
    r.observations = observations.columns<float>(begin + all.size(), steps + 1);
    r.actions = actions.columns<float>(begin, steps);
    for (std::size_t t = begin; t <= last; ++t) r.rewards.push_back(rewards.number(t));
    r.terminated = terminations.number(last) != 0;
    for (const array_rows& a : more) {
      if (a.name() == "masks") {
        r.masks = a.columns<unsigned char>(begin, steps);
      } else {
        for (std::size_t t = begin; t <= last; ++t) r.log_probabilities.push_back(static_cast<float>(a.number(t)));
      }
    }
    all.push_back(std::move(r));
    begin = last + 1;
  }
  return all;
}

/// An array that grows row by row, in the type in which Python has values of a space.
class written_array {
 public:
  written_array(std::string name, std::string type, std::vector<std::int64_t> shape_of_row)
      : array_{std::move(name), std::move(shape_of_row), std::move(type), {}, 0} {
    array_.extents.insert(array_.extents.begin(), 0);
  }
  /// An array of values of a space: whole numbers for choices, bytes for images, else floats.
  static written_array of(const std::string& name, const space& s) {
    if (s.as_discrete() != nullptr) return {name, "I64", {}};
    if (const multi_discrete* m = s.as_multi_discrete()) return {name, "I64", {std::ssize(m->n)}};
    if (const multi_binary* m = s.as_multi_binary()) return {name, "I8", {m->n}};
    const box* const b = s.as_box();
    if (b == nullptr || b->shape.empty()) return {name, "F32", {s.size()}};
    return {name, b->bytes ? "U8" : "F32", {b->shape.begin(), b->shape.end()}};
  }
  template <class T>
  void add(const T* row, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (array_.type == "I64") put<std::int64_t>(row[i]);
      if (array_.type == "I8") put<std::int8_t>(row[i]);
      if (array_.type == "U8" || array_.type == "BOOL") put<std::uint8_t>(row[i]);
      if (array_.type == "F32") put<float>(row[i]);
      if (array_.type == "F64") put<double>(row[i]);
    }
    ++array_.extents.front();
  }
  template <class T>
  void add(const nn::matrix<T>& columns) {
    for (Eigen::Index i = 0; i < columns.cols(); ++i)
      add(columns.col(i).data(), static_cast<std::size_t>(columns.rows()));
  }
  [[nodiscard]] const nn::stored_array& done() const { return array_; }

 private:
  template <class To, class From>
  void put(From number) {
    const auto x = static_cast<To>(number);
    array_.bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  nn::stored_array array_;
};

MANTA_DECL void write_episode_npz(const std::string& path, const any_environment& e,
                                  const std::vector<recorded_episode>& all) {
  written_array observations = written_array::of("observations", e.observations()),
                actions = written_array::of("actions", e.actions()), rewards("rewards", "F64", {}),
                terminations("terminations", "BOOL", {}), truncations("truncations", "BOOL", {}),
                log_probabilities("log_probabilities", "F32", {}), masks("masks", "U8", {e.mask_size()});
  const bool are_known =
      !all.empty() && std::ranges::none_of(all, [](const recorded_episode& r) { return r.log_probabilities.empty(); });
  for (const recorded_episode& r : all) {
    observations.add(r.observations);
    actions.add(r.actions);
    masks.add(r.masks);
    for (std::size_t t = 0; t < r.steps(); ++t) {
      const bool ends = t + 1 == r.steps();
      const unsigned char flags[] = {ends && r.terminated, ends && !r.terminated};
      rewards.add(&r.rewards[t], 1);
      terminations.add(flags, 1);
      truncations.add(flags + 1, 1);
      if (are_known) log_probabilities.add(&r.log_probabilities[t], 1);
    }
  }
  std::vector<nn::stored_array> arrays = {observations.done(), actions.done(), rewards.done(), terminations.done(),
                                          truncations.done()};
  if (are_known) arrays.push_back(log_probabilities.done());
  if (e.mask_size() > 0) arrays.push_back(masks.done());
  const std::string environment = output::pack(e);
  arrays.push_back({"environment", {std::ssize(environment)}, "U8", environment, 0});
  std::uint64_t bytes = 0;
  for (const nn::stored_array& a : arrays) bytes += a.bytes.size();
  if (bytes > 0xf000'0000U)
    throw error(
        base::text("manta: rl: {} would have {} bytes, and .npz holds 4 GB; give a name that does not end in "
                   ".npz, for manta's own file",
                   path, bytes));
  output::make_folder_of(path);
  nn::write_arrays(path, arrays);
}

}  // namespace manta::rl::detail
