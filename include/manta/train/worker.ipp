// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of worker.hpp.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "manta/base/hash.hpp"
#include "manta/base/number.hpp"
#include "manta/error.hpp"
#include "manta/nn/random.hpp"
#include "manta/options.hpp"
#include "manta/run.hpp"
#include "manta/train/worker.hpp"

namespace manta::train::detail {

/// The part of [begin, end) that belongs to member `i` of `n`: parts differ by one at most.
inline range share_of(std::uint64_t begin, std::uint64_t end, int i, int n) {
  const auto at = [&](int k) {
    return begin + (end - begin) * static_cast<std::uint64_t>(k) / static_cast<std::uint64_t>(n);
  };
  return {at(i), at(i + 1)};
}

/// What f throws, as a text; empty: nothing.
template <class F>
std::string problem_of(F&& f) {
  try {
    f();
    return {};
  } catch (const std::exception& e) {
    return *e.what() == '\0' ? "an exception without a text" : e.what();
  }
}

/// The learners of teams that a death has ended, by training. MPI may still write to their arrays, which are never
/// freed. The next worker on this rank takes the data out of its learner.
inline std::map<std::uint64_t, std::unique_ptr<learner>>& abandoned_learners() {
  static auto* const all = new std::map<std::uint64_t, std::unique_ptr<learner>>;
  return *all;
}

MANTA_DECL worker::worker(team members, const learner_name& what, const options& o, std::uint64_t training)
    : team_(members),
      exchange_(members, o.bucket_bytes, o.exchange),
      options_(o),
      learner_(make_learner(what)),
      seed_(o.seed),
      training_(training) {
  if (training_ == 0) return;
  forget_survivor(training_);
  if (const auto before = abandoned_learners().extract(training_)) {
    learner_->take_data(*before.mapped());
    (void)before.mapped().release();
  }
}

MANTA_DECL worker::~worker() {
  (void)problem_of([&] {
    if (training_ != 0 && has_trained_ && team_.size() > 1 && !team_.is_whole()) leave_survivor(training_, reached());
  });
  if (!exchange_.is_abandoned()) return;
  for (const bool training : {true, false}) learner_->plan(training, {});
  learner* const abandoned = learner_.release();  // never freed
  if (training_ == 0) return;
  std::unique_ptr<learner>& kept = abandoned_learners()[training_];
  (void)kept.release();
  kept.reset(abandoned);
}

MANTA_DECL per_rank<int> worker::open() {
  exchange_.throw_together(problem_of([&] { learner_->open(seed_); }));

  const double size = static_cast<double>(learner_->size(true));
  const double mark = static_cast<double>(base::hash_text(learner_->description()) >> 24U);  // exact in a double
  double all[4] = {mark, mark * mark, size, size * size};
  exchange_.sum(all);
  const double n = team_.size();
  // By Cauchy and Schwarz these are equal only where all members have one value.
  const auto differ = [&](double sum, double squares) {
    return std::abs(squares * n - sum * sum) > 1e-12 * squares * n;
  };
  const std::string& recipe = learner_->description();
  if (differ(all[0], all[1]))
    throw error("manta: train: the workers' recipes make different models; here it is " + recipe +
                ". What model() gives may depend on the recipe's members alone");
  if (differ(all[2], all[3]))
    throw error("manta: train: the workers' training data differ in size; here there are " +
                std::to_string(learner_->size(true)) +
                " samples. Each worker reads all of them, and trains with a share of each batch");
  if (learner_->size(true) == 0) throw error("manta: train: the recipe's training_data() has no samples");
  if (learner_->size(true) < static_cast<std::uint64_t>(options_.batch))
    throw error("manta: train: a batch of " + std::to_string(options_.batch) +
                " samples is larger than the training data, which have " + std::to_string(learner_->size(true)) +
                "; choose a smaller batch");
  learner_->share(exchange_);
  return rank();
}

MANTA_DECL pass_result worker::train(std::uint64_t steps, const pass_result& before) {
  const std::uint64_t size = learner_->size(true), batch = static_cast<std::uint64_t>(options_.batch);
  const std::uint64_t last = options_.drop_last ? size / batch * batch : size;
  if (sample_ == 0) make_order();
  plan_reading(last);
  has_trained_ = true;
  is_agreed_ = false;
  pass_ = before;
  met_ = {};
  last_complete_ = std::chrono::steady_clock::now();
  while (steps-- > 0 && sample_ < last) {
    const std::uint64_t end = std::min(sample_ + batch, last);
    options_.average_every > 0 ? local_step(end) : step(end);
  }
  share_sums();
  pass_.left = last - std::min(last, sample_);
  if (pass_.left == 0) {
    agree();
    ++epoch_;
    sample_ = 0;
  }
  pass_.epoch = epoch_;
  pass_.step = step_;
  pass_.rate = learner_->rate();
  return pass_;
}

inline void worker::count_step(std::uint64_t end) {
  ++step_;
  sample_ = end;
}

inline void worker::share_sums() {
  if (options_.average_every > 0) pass_.all.add(group_.over_all(exchange_, std::exchange(unshared_, {}), {}));
}

inline survivor worker::reached() {
  if (!is_agreed_ && options_.average_every > 0) return met_;
  if (is_in_step_) learner_->go_back_to_mark();
  return {state_here(), pass_, last_complete_, 0};
}

/// What differs between the members since they last agreed: what local steps have made, and the errors of rounding that
/// each carries on, which a state does not have.
inline void worker::agree() {
  if (is_agreed_) return;
  if (local_steps_ > 0) meet();
  exchange_.forget();
  is_agreed_ = true;
}

inline void worker::plan_reading(std::uint64_t last) {
  if (std::exchange(is_planned_, true) || !learner_->reads_ahead(true)) return;
  std::vector<std::vector<std::uint64_t>> parts;
  for (std::uint64_t at = sample_; at < last;) {
    const std::uint64_t end = std::min(at + static_cast<std::uint64_t>(options_.batch), last);
    const range share = share_of(at, end, team_.rank(), team_.size());
    for (int part = 0; part < options_.accumulate; ++part) {
      const auto [from, to] = share_of(share.first, share.second, part, options_.accumulate);
      const auto numbers = std::span<const std::uint64_t>(order_).subspan(from, to - from);
      if (!numbers.empty()) parts.emplace_back(numbers.begin(), numbers.end());
    }
    at = end;
  }
  learner_->plan(true, std::move(parts));
}

inline void worker::make_order() {
  is_planned_ = false;
  order_.resize(learner_->size(true));
  std::iota(order_.begin(), order_.end(), std::uint64_t(0));
  if (!options_.shuffle) return;
  const nn::random numbers(seed_, epoch_, 1);
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[numbers.bits(i) % i]);
}

/// In backward, nn counts a worker's sums by its samples, as if its loss were a mean over those. Here it is its part of
/// the whole batch's mean, so that the factor is taken out of the sum.
inline void worker::sum_statistics(std::span<double> numbers) {
  const double factor = samples_in_backward_ > 0 ? static_cast<double>(samples_in_backward_) : 1;
  for (double& x : numbers) x /= factor;
  exchange_.sum(numbers);
  for (double& x : numbers) x *= factor;
}

inline std::span<const std::uint64_t> worker::start_step(std::uint64_t end) {
  const double size = static_cast<double>(learner_->size(true));
  if (const auto rate = learner_->recipe_rate(static_cast<double>(epoch_) + static_cast<double>(sample_) / size))
    learner_->rate(*rate);
  learner_->mark();
  learner_->zero_gradients();
  const std::span<const std::uint64_t> order(order_);
  const range next =
      share_of(end, std::min<std::uint64_t>(end + (end - sample_), order.size()), team_.rank(), team_.size());
  learner_->will_take(order.subspan(next.first, next.second - next.first));
  return order.subspan(sample_, end - sample_);
}

/// Throws if the loss is not finite.
inline void worker::check_loss(double loss) const {
  if (base::is_finite(loss)) return;
  const std::string before = last_loss_ ? " (before it was " + std::to_string(*last_loss_) + ")" : "";
  throw error("manta: train: the loss became " + std::string(base::is_nan(loss) ? "NaN" : "infinite") + " in step " +
              std::to_string(step_) + ", which is batch " +
              std::to_string(sample_ / static_cast<std::uint64_t>(options_.batch)) + " of epoch " +
              std::to_string(epoch_) + before +
              "; the step was not made. Look whether the batch's samples are finite, try a smaller rate, or clip the "
              "gradients");
}

inline void worker::step(std::uint64_t end) {
  is_in_step_ = true;
  const double divisor = learner_->weight(start_step(end));
  const range share = share_of(sample_, end, team_.rank(), team_.size());
  nn::pass pass{.training = true, .seed = seed_, .step = step_, .samples = {}};
  // Batch norm over all workers needs all of them: where one has no samples, each takes its own statistics.
  if (end - sample_ >= static_cast<std::uint64_t>(team_.size()) * static_cast<std::uint64_t>(options_.accumulate))
    pass.sum_over_workers = [this](std::span<double> numbers) { sum_statistics(numbers); };
  learner_->begin(exchange_);
  sums mine;
  const std::string problem = problem_of([&] { mine = forward_and_back(share, pass, divisor, &exchange_); });
  exchange_.finish();
  numbers_ = {mine.loss / divisor, problem.empty() ? 0. : 1.};
  learner_->append_buffers(numbers_);
  const sums all = group_.over_all(exchange_, mine, numbers_);
  const double loss = numbers_[0];
  if (numbers_[1] > 0 || !base::is_finite(loss)) learner_->go_back_to_mark();
  if (numbers_[1] > 0) exchange_.throw_together(problem);
  check_loss(loss);
  learner_->set_buffers(std::span<const double>(numbers_).subspan(2), team_.size());
  learner_->update(options_.clip);
  last_loss_ = loss;
  pass_.all.add(all);
  count_step(end);
  is_in_step_ = false;
  last_complete_ = std::chrono::steady_clock::now();
}

inline void worker::local_step(std::uint64_t end) {
  const std::span<const std::uint64_t> whole = start_step(end);
  const range share = share_of(sample_, end, team_.rank(), team_.size());
  sums mine;
  if (problem_.empty()) {
    problem_ = problem_of([&] {
      const double divisor = learner_->weight(whole.subspan(share.first - sample_, share.second - share.first));
      const nn::pass pass{.training = true, .seed = seed_, .step = step_, .samples = {}};
      mine = forward_and_back(share, pass, divisor, nullptr);
      if (mine.samples > 0) check_loss(mine.loss / divisor);
      learner_->update(options_.clip);  // also without samples: all count the same steps
      if (mine.samples > 0) last_loss_ = mine.loss / divisor;
    });
  }
  if (!problem_.empty()) learner_->go_back_to_mark();
  unshared_.add(mine);
  count_step(end);
  if (++local_steps_ == options_.average_every) meet();
}

/// A worker that had a problem made no step since. Then all take the first one's state, and throw.
inline void worker::meet() {
  local_steps_ = 0;
  double problems[1] = {problem_.empty() ? 0. : 1.};
  pass_.all.add(group_.over_all(exchange_, std::exchange(unshared_, {}), problems));
  if (problems[0] == 0) {
    learner_->average(exchange_);
    if (manta::detail::launcher_recovers()) met_ = {state_here(), pass_, std::chrono::steady_clock::now(), 0};
    return;
  }
  std::string all = team_.rank() == 0 ? learner_->save() : "";
  exchange_.broadcast(all);
  learner_->load(all, false);
  exchange_.throw_together(std::exchange(problem_, {}));
}

inline sums worker::forward_and_back(const range& share, nn::pass pass, double divisor, exchange* e) {
  sums mine;
  samples_in_backward_ = 0;
  for (int part = 0; part < options_.accumulate; ++part) {
    const auto [from, to] = share_of(share.first, share.second, part, options_.accumulate);
    const bool is_last = part + 1 == options_.accumulate;
    pass.samples = std::span<const std::uint64_t>(order_).subspan(from, to - from);
    if (from < to) mine.add(learner_->forward(true, pass.samples, pass, divisor));
    samples_in_backward_ = to - from;
    if (from < to || is_last) learner_->backward(is_last ? e : nullptr, from < to);
    samples_in_backward_ = 0;
  }
  return mine;
}

MANTA_DECL per_rank<pass_result> worker::validate() {
  has_trained_ = false;
  agree();
  pass_result result;
  const auto [first, last] = share_of(0, learner_->size(false), team_.rank(), team_.size());
  if (learner_->size(false) == 0)
    throw error("manta: train: the recipe has no validation_data(), or it has no samples");
  const std::uint64_t piece = static_cast<std::uint64_t>(std::max(1, options_.batch));
  std::vector<std::vector<std::uint64_t>> parts;
  for (std::uint64_t at = first; at < last; at += piece) {
    parts.emplace_back(std::min(piece, last - at));
    std::iota(parts.back().begin(), parts.back().end(), at);
  }
  if (learner_->reads_ahead(false)) learner_->plan(false, parts);
  for (const std::vector<std::uint64_t>& which : parts) {
    result.all.add(
        learner_->forward(false, which, {.training = false, .seed = seed_, .step = step_, .samples = which}, 1));
  }
  result.epoch = epoch_;
  result.step = step_;
  result.rate = learner_->rate();
  return result;
}

MANTA_DECL pass_result worker::validate_together() {
  pass_result result;
  exchange_.throw_together(problem_of([&] { result = joined(validate()); }));
  result.all = group_.over_all(exchange_, result.all, {});
  return result;
}

MANTA_DECL pass_result worker::glance() {
  const bool validates = learner_->size(false) > 0;
  std::vector<std::uint64_t> first(std::min(learner_->size(!validates), static_cast<std::uint64_t>(options_.batch)));
  std::iota(first.begin(), first.end(), std::uint64_t(0));
  pass_result r;
  r.all = learner_->forward(!validates, first, {.training = false, .seed = seed_, .step = step_, .samples = first}, 1);
  return r;
}

MANTA_DECL state worker::save() {
  agree();
  return state_here();
}
inline state worker::state_here() const {
  return {learner_->description(), seed_, epoch_, sample_, step_, learner_->save(), {}};
}

MANTA_DECL void worker::restore(const state& s, bool own_settings) {
  if (s.model != learner_->description())
    throw error("manta: train: the checkpoint is of the network " + s.model + "; the recipe's is " +
                learner_->description() + ". Nothing was changed");
  try {
    learner_->load(s.learner, own_settings);
  } catch (const std::exception& e) {
    throw error(std::string("manta: train: the checkpoint cannot be read: ") + e.what() + ". Nothing was changed");
  }
  seed_ = s.seed;
  epoch_ = s.epoch;
  sample_ = s.sample;
  step_ = s.step;
  problem_.clear();
  local_steps_ = 0;
  make_order();
  unshared_ = {};
  exchange_.forget();
  is_agreed_ = true;
  has_trained_ = false;
  last_loss_.reset();
}

MANTA_DECL std::string worker::model() {
  has_trained_ = false;
  agree();
  return learner_->model();
}

MANTA_DECL void worker::rate(double r) {
  has_trained_ = false;
  learner_->rate(r);
}

MANTA_DECL team alone() { return team(net::team_place{MPI_COMM_NULL, 0, 1, 0}); }

}  // namespace manta::train::detail
