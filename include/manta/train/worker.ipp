// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "manta/base/demangle.hpp"
#include "manta/base/hash.hpp"
#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/options.hpp"
#include "manta/run.hpp"
#include "manta/train/opening.hpp"
#include "manta/train/step_check.hpp"
#include "manta/train/worker.hpp"

namespace manta::train::detail {

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
      order_(o, members.rank(), members.size()),
      pass_(exchange_, *learner_),
      local_(o.average_every),
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
  let_go_of_shared_data(*learner_);
  learner* const abandoned = learner_.release();  // never freed
  if (training_ == 0) return;
  std::unique_ptr<learner>& kept = abandoned_learners()[training_];
  (void)kept.release();
  kept.reset(abandoned);
}

MANTA_DECL per_rank<opened> worker::open(const shared_data& shared) {
  std::vector<double> sampling;
  const std::string problem = problem_of([&] {
    learner_->open(seed_);
    read_data(*learner_, shared);
    sampling = learner_->sampling_weights();
  });
  const std::uint64_t digest = base::hash_bytes(sampling.data(), sampling.size() * sizeof(double));
  agree_to_open(exchange_, *learner_, options_, digest, problem);
  order_.draw_by(sampling);
  learner_->parameters().visit([this](auto p) { exchange_.broadcast(p.data(), p.size_bytes()); });
  sizes_[0] = learner_->size(true);
  sizes_[1] = learner_->size(false);
  if (learner_->sums_over_workers()) order_.run_shares_whole();
  told_ = learner_->told();
  told_.emplace_back("number of samples of the training data", base::text("{}", sizes_[0]));
  told_.emplace_back("number of samples of the validation data", base::text("{}", sizes_[1]));
  told_.emplace_back("batch", base::text("{}", options_.batch));
  opened mine{rank(), {}, {}, {}};
  if (team_.rank() == 0) mine = {rank(), learner_->optimizer_kind(), told_, {}};
  if (const samples* const data = learner_->shareable(true); data && team_.rank() == 0) mine.columns = data->columns();
  return mine;
}

// ---- a call of train ----

MANTA_DECL pass_result worker::train(std::uint64_t steps, const pass_result& before) {
  if (!has_order_) make_order();
  if (learner_->reads_ahead(true)) exchange_.throw_together(problem_of([&] { plan_reading(); }));
  has_trained_ = true;
  is_agreed_ = false;
  result_ = before;
  local_.met = {};
  last_complete_ = std::chrono::steady_clock::now();
  const std::uint64_t first_step = at_.step, last = order_.last();
  while (steps-- > 0 && at_.sample < last) {
    const range batch{at_.sample, order_.end_of_batch(at_.sample)};
    local_.are_made() ? local_step(batch) : step(batch);
  }
  if (local_.are_made()) result_.all.add(group_.over_all(exchange_, local_.take_sums(), {}));
  result_.left = last - std::min(last, at_.sample);
  if (result_.left == 0) {
    agree();
    ++at_.epoch;
    at_.sample = 0;
    has_order_ = false;
  }
  check_parameters(first_step);
  result_.epoch = at_.epoch, result_.step = at_.step, result_.rate = learner_->rate();
  return result_;
}

inline void worker::make_order() {
  order_.make(seed_, at_.epoch, sizes_[0]);
  has_order_ = true;
  is_planned_ = false;
}

inline void worker::plan_reading() {
  if (!std::exchange(is_planned_, true)) learner_->plan(true, order_.reading_plan(at_.sample));
}

inline void worker::start_step(const range& batch) {
  const double epoch =
      static_cast<double>(at_.epoch) + static_cast<double>(at_.sample) / static_cast<double>(sizes_[0]);
  if (const auto rate = learner_->recipe_rate(epoch)) learner_->rate(*rate);
  learner_->follow_momentum(epoch);
  learner_->will_take(order_.next_share(batch));
}

inline std::vector<sample_part> worker::parts_of(const range& batch) const {
  std::vector<sample_part> parts;
  const range share = order_.share(batch);
  for (int i = 0; i < order_.parts(); ++i) parts.push_back(order_.part(share, i));
  return parts;
}

inline nn::pass worker::pass_of(const range& batch) const {
  return {.training = true, .seed = seed_, .step = at_.step, .is_rest = order_.is_rest(batch)};
}

inline double worker::weight_of(std::span<const std::uint64_t> samples) {
  const double weight = learner_->weight(samples);
  if (weight > 0 && base::is_finite(weight)) return weight;
  throw error(
      base::text("manta: train: the loss gives the samples of {} the weight {} together; a mean needs a weight "
                 "above 0: look at the weights of the classes and of the samples",
                 place_of_step(), weight));
}

inline void worker::step(const range& batch) {
  is_in_step_ = true;
  double divisor = 1;
  mark();
  pass_.begin();
  pass_.attempt([&] {
    if (!late_problem_.empty()) throw error(late_problem_);
    start_step(batch);
    divisor = weight_of(order_.samples(batch));
  });
  const sums mine = pass_.run(parts_of(batch), pass_of(batch), divisor);
  numbers_ = {mine.loss / divisor, pass_.has_problem() ? 1. : 0., late_problem_.empty() ? 0. : 1.};
  const std::size_t before = numbers_.size();
  learner_->buffers().visit([this](auto b) { numbers_.insert(numbers_.end(), b.begin(), b.end()); });
  const sums all = group_.over_all(exchange_, mine, numbers_);
  pass_.clock().exchanged();
  if (numbers_[1] > 0) {
    go_back_to_mark();
    numbers_[2] > 0 ? recover(pass_.problem()) : exchange_.throw_together(pass_.problem());
  }
  const double loss = numbers_[0];
  if (const std::string wrong = what_is_not_finite(loss); !wrong.empty()) refuse_step(wrong, order_.samples(batch));
  learner_->buffers().visit([&](auto b) {
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = static_cast<std::remove_cvref_t<decltype(b[i])>>(numbers_[before + i] / team_.size());
  });
  double norm = 0;
  std::string wrong;
  late_problem_ = problem_of([&] { wrong = make_step(*learner_, options_.clip, norm); });
  if (!wrong.empty()) refuse_step(base::text("{} in {}", wrong, place_of_step()), order_.samples(batch));
  if (team_.size() == 1 && !late_problem_.empty()) recover(late_problem_);
  last_loss_ = loss;
  result_.all.add(all);
  pass_.clock().add_to(result_.took, *learner_, norm);
  count_step(batch);
  is_in_step_ = false;
  last_complete_ = std::chrono::steady_clock::now();
}

inline void worker::refuse_step(const std::string& what, std::span<const std::uint64_t> samples) {
  go_back_to_mark();
  throw error(base::text("manta: train: {}; the step was not made. {}", what, remedy_for_odd(*learner_, samples)));
}

inline void worker::count_step(const range& batch) {
  ++at_.step;
  at_.sample = batch.second;
}

inline void worker::local_step(const range& batch) {
  sums mine;
  mark();
  local_.attempt([&] {
    pass_.begin();
    start_step(batch);
    const auto share = order_.samples(order_.share(batch));
    const double divisor = share.empty() ? 1 : weight_of(share);
    mine = pass_.run_alone(parts_of(batch), pass_of(batch), divisor);
    const double loss = mine.loss / divisor;
    if (const std::string wrong = what_is_not_finite(loss); !wrong.empty()) refuse_step(wrong, share);
    double norm = 0;  // a step is made also without samples: all count the same steps
    const std::string wrong = make_step(*learner_, options_.clip, norm);
    if (!wrong.empty()) refuse_step(base::text("{} in {}", wrong, place_of_step()), share);
    if (!share.empty()) last_loss_ = loss;
    pass_.clock().add_to(result_.took, *learner_, norm);
  });
  if (local_.has_problem()) go_back_to_mark();
  count_step(batch);
  if (local_.count(mine)) step_clock::exchange(result_.took, [this] { meet(); });
}

inline std::string worker::place_of_step() const {
  return base::text("step {}, which is batch {} of epoch {}", at_.step,
                    at_.sample / static_cast<std::uint64_t>(options_.batch), at_.epoch);
}

inline std::string worker::what_is_not_finite(double loss) {
  const std::string before = last_loss_ ? base::text(" (before it was {})", *last_loss_) : "";
  if (!base::is_finite(loss))
    return base::text("the loss became {} in {}{}", kind_of_odd(loss), place_of_step(), before);
  const auto odd = std::find_if_not(numbers_.begin(), numbers_.end(), [](double x) { return base::is_finite(x); });
  if (!local_.are_made() && odd != numbers_.end())
    return base::text("a running mean of batch norm became {} in {}", kind_of_odd(*odd), place_of_step());
  const std::string gradient = odd_gradient(*learner_);
  return gradient.empty() ? "" : base::text("the loss is {}, but its {} in {}", loss, gradient, place_of_step());
}

inline void worker::check_parameters(std::uint64_t first_step) {
  if (are_finite(learner_->parameters())) return;
  throw error(
      base::text("manta: train: parameters became infinite or NaN in one of the steps {} to {}, which were made. "
                 "Go on from a checkpoint with a smaller rate, or clip the gradients",
                 first_step, at_.step - 1));
}

// ---- what the members hold in common ----

inline void worker::mark() {
  learner_->buffers().visit([this](auto b) { marked_.assign(b.begin(), b.end()); });
}
inline void worker::go_back_to_mark() {
  learner_->buffers().visit([this](auto b) {
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::remove_cvref_t<decltype(b[i])>>(marked_[i]);
  });
}

inline void worker::recover(std::string problem) {
  late_problem_.clear();
  const int from = exchange_.first_of(problem.empty()) % team_.size();
  std::string all = team_.rank() == from ? learner_->save() : "";
  exchange_.broadcast(all, from);
  learner_->load(all, taken::all);
  exchange_.throw_together(problem);
}

/// What differs between the members since they last agreed: what local steps have made, the errors of rounding that
/// each carries on, which a state does not have, and a step that one of them could not make.
inline void worker::agree() {
  if (is_agreed_) return;
  if (!local_.have_met()) meet();
  if (exchange_.first_of(!late_problem_.empty()) < team_.size()) recover(late_problem_);
  exchange_.forget();
  is_agreed_ = true;
}

inline void worker::meet() {
  const std::string problem = local_.meet();
  double problems[1] = {problem.empty() ? 0. : 1.};
  result_.all.add(group_.over_all(exchange_, local_.take_sums(), problems));
  if (problems[0] > 0) recover(problem);
  for (const number_array& each : {learner_->buffers(), learner_->parameters(), learner_->moments()}) {
    each.visit([this](auto numbers) {
      if (!numbers.empty()) exchange_.average(numbers);
    });
  }
  if (manta::detail::launcher_recovers()) local_.met = {state_here(), result_, std::chrono::steady_clock::now(), 0};
}

inline survivor worker::reached() {
  if (!is_agreed_ && local_.are_made()) return local_.met;
  if (is_in_step_) go_back_to_mark();
  return {state_here(), result_, last_complete_, 0};
}

// ---- validation ----

MANTA_DECL per_rank<pass_result> worker::validate() {
  has_trained_ = false;
  agree();
  const auto [first, last] = share_of(0, sizes_[1], team_.rank(), team_.size());
  if (sizes_[1] == 0) throw error("manta: train: the recipe has no validation_data(), or it has no samples");
  const std::uint64_t piece = static_cast<std::uint64_t>(std::max(1, options_.batch));
  std::vector<std::vector<std::uint64_t>> parts;
  for (std::uint64_t at = first; at < last; at += piece) {
    parts.emplace_back(std::min(piece, last - at));
    std::iota(parts.back().begin(), parts.back().end(), at);
  }
  if (learner_->reads_ahead(false)) learner_->plan(false, parts);
  const averaged_parameters averaged(*learner_);
  pass_result result;
  result.epoch = at_.epoch, result.step = at_.step, result.rate = learner_->rate();
  for (const std::vector<std::uint64_t>& which : parts) {
    const nn::pass pass{.training = false, .seed = seed_, .step = at_.step, .samples = which};
    result.all.add(learner_->forward(false, which, pass, 1));
  }
  return result;
}

MANTA_DECL pass_result worker::validate_together() {
  pass_result result;
  exchange_.throw_together(problem_of([&] { result = joined(validate()); }));
  result.all = group_.over_all(exchange_, result.all, {});
  return result;
}

MANTA_DECL pass_result worker::glance() {
  const bool validates = sizes_[1] > 0;
  std::vector<std::uint64_t> first(std::min(sizes_[validates ? 1 : 0], static_cast<std::uint64_t>(options_.batch)));
  std::iota(first.begin(), first.end(), std::uint64_t(0));
  const nn::pass pass{.training = false, .seed = seed_, .step = at_.step, .samples = first};
  pass_result r;
  r.all = learner_->forward(!validates, first, pass, 1);
  return r;
}

// ---- states ----

MANTA_DECL state worker::save() {
  agree();
  return state_here();
}
inline state worker::state_here() const {
  state s;
  s.model = learner_->description();
  s.optimizer = learner_->optimizer_kind();
  s.told = told_;
  s.seed = seed_;
  s.epoch = at_.epoch;
  s.sample = at_.sample;
  s.size = sizes_[0];
  s.step = at_.step;
  s.learner = learner_->save();
  if (const samples* const data = learner_->shareable(true)) s.columns = data->columns();
  return s;
}

MANTA_DECL void worker::restore(const state& s, taken what) {
  if (s.model != learner_->description())
    throw error(base::text("manta: train: the checkpoint is of the network {}; the recipe's is {}. Nothing was changed",
                           s.model, learner_->description()));
  if (s.optimizer != learner_->optimizer_kind()) {
    if (what == taken::all)
      throw error(base::text("manta: train: the checkpoint's optimiser is {}, and the recipe's {}. Nothing was changed",
                             base::demangle(s.optimizer.c_str()), base::demangle(learner_->optimizer_kind().c_str())));
    what = taken::model;
  }
  try {
    learner_->load(s.learner, what);
  } catch (const std::exception& e) {
    throw error(base::text("manta: train: the checkpoint cannot be read: {}. Nothing was changed", e.what()));
  }
  seed_ = s.seed;
  at_ = {s.epoch, s.size == sizes_[0] ? s.sample : 0, s.step};  // the places of other data are others
  local_.forget();
  late_problem_.clear();
  make_order();
  exchange_.forget();
  is_agreed_ = true;
  has_trained_ = false;
  last_loss_.reset();
}

MANTA_DECL std::string worker::model() {
  has_trained_ = false;
  agree();
  const averaged_parameters averaged(*learner_);
  return learner_->model();
}

MANTA_DECL void worker::rate(double r) {
  has_trained_ = false;
  learner_->rate(r);
}

MANTA_DECL team alone() { return team(net::team_place{MPI_COMM_NULL, 0, 1, 0}); }

}  // namespace manta::train::detail
