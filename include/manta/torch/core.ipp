// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of net.hpp and core.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "manta/base/hash.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/torch/core.hpp"
#include "manta/torch/headers.hpp"

namespace manta {

namespace detail {

/// At its first operation on a thread, libtorch sets the number of OpenMP's threads. Here it does so before a task has
/// one of its own.
inline const int torch_threads_at_start = at::get_num_threads();

/// Runs f, and gives errors of libtorch one sentence instead of a backtrace of C++.
template <class F>
auto call_torch(const std::string& what, F&& f) {
  try {
    return f();
  } catch (const error&) {
    throw;
  } catch (const c10::Error& e) {
    throw error("manta: torch: " + what + ": " + e.what_without_backtrace());
  } catch (const std::runtime_error& e) {  // from the interpreter of TorchScript, with the lines of the script
    throw error("manta: torch: " + what + ": " + e.what());
  }
}

inline torch::jit::Module read_script(const std::string& bytes, const std::string& path) {
  std::istringstream in(bytes, std::ios::binary);
  return call_torch("the file " + path + " cannot be read as TorchScript, which torch.jit.script(net).save(..) writes",
                    [&] { return torch::jit::load(in, at::kCPU); });
}

class torch_script_net final : public torch_net {
 public:
  explicit torch_script_net(const torch_script& s) : module_(read_script(s.bytes(), s.path())) {}

  at::Tensor forward(const at::Tensor& x) override {
    const c10::IValue y = module_.forward({x});
    if (!y.isTensor())
      throw error("manta: torch: forward of a TorchScript file has to give one tensor, and gave a " + y.tagKind());
    return y.toTensor();
  }
  named parameters() override { return list(module_.named_parameters()); }
  named buffers() override { return list(module_.named_buffers()); }
  void train(bool on) override { module_.train(on); }
  void save(const std::string& path) override { module_.save(path); }

 private:
  template <class List>
  static named list(const List& tensors) {
    named all;
    for (const auto& t : tensors) all.emplace_back(t.name, t.value);
    return all;
  }
  torch::jit::Module module_;
};

/// Tensors that look at one array.
struct torch_arena {
  struct place {
    std::string name;
    at::Tensor tensor;
    std::int64_t begin;
  };
  std::vector<place> places;
  at::Tensor array;

  void add(const std::string& name, const at::Tensor& t) {
    places.push_back({name, t, places.empty() ? 0 : places.back().begin + places.back().tensor.numel()});
  }
  [[nodiscard]] std::int64_t size() const {
    return places.empty() ? 0 : places.back().begin + places.back().tensor.numel();
  }
  [[nodiscard]] at::Tensor part(const at::Tensor& of, const place& p) const {
    return of.narrow(0, p.begin, p.tensor.numel()).view(p.tensor.sizes());
  }
  /// Copies the tensors' numbers to a new array, and lets them look there.
  void gather(at::ScalarType type) {
    array = torch::zeros({size()}, type);
    for (place& p : places) {
      const at::Tensor mine = part(array, p);
      mine.copy_(p.tensor.detach());
      p.tensor.set_data(mine);
    }
  }
  [[nodiscard]] torch_array numbers() const {
    return {array.defined() ? array.data_ptr() : nullptr, static_cast<std::size_t>(size())};
  }
};

/// While it lives, libtorch computes in a type of fewer bits what gains by it.
class autocast_scope {
 public:
  explicit autocast_scope(bool on) : on_(on), was_on_(at::autocast::is_cpu_enabled()) {
    if (!on_) return;
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(true);
    at::autocast::increment_nesting();
  }
  ~autocast_scope() {
    if (!on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_cpu_enabled(was_on_);
  }
  autocast_scope(const autocast_scope&) = delete;
  autocast_scope& operator=(const autocast_scope&) = delete;

 private:
  bool on_, was_on_;
};

/// Tells while a backward pass goes on which part of the gradients is final: from the end of the array
/// to its beginning.
class torch_progress {
 public:
  explicit torch_progress(const torch_arena& parameters) : parameters_(parameters) {}

  void begin(std::function<void(std::int64_t, std::int64_t)> final_from) {
    final_ = std::move(final_from);
    is_final_.assign(parameters_.places.size(), false);
    open_ = is_final_.size();
    end_ = parameters_.size();
  }
  void is_final(std::size_t i) {
    if (!final_) return;
    is_final_[i] = true;
    while (open_ > 0 && is_final_[open_ - 1]) --open_;
    const std::int64_t begin = open_ < is_final_.size() ? parameters_.places[open_].begin : end_;
    report(begin);
  }
  /// What has not been final so far is not in the graph, or its order is another one.
  void finish() {
    report(0);
    final_ = nullptr;
  }
  void drop() { final_ = nullptr; }

 private:
  void report(std::int64_t begin) {
    if (begin >= end_) return;
    const std::int64_t end = std::exchange(end_, begin);
    final_(begin, end);
  }

  const torch_arena& parameters_;
  std::function<void(std::int64_t, std::int64_t)> final_;
  std::vector<bool> is_final_;
  std::size_t open_ = 0;  ///< all parameters from this one on are final
  std::int64_t end_ = 0;  ///< all numbers from this one on were reported
};

class torch_progress_hook final : public torch::autograd::FunctionPostHook {
 public:
  torch_progress_hook(torch_progress& progress, std::size_t parameter) : progress_(progress), parameter_(parameter) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    progress_.is_final(parameter_);
    return outputs;
  }

 private:
  torch_progress& progress_;
  std::size_t parameter_;
};

struct torch_core::parts {
  torch_origin origin;
  at::ScalarType type = at::kFloat;
  std::unique_ptr<torch_net> net;
  torch_arena parameters, buffers;
  std::vector<at::Tensor> counts;
  at::Tensor gradients;
  torch_progress progress{parameters};
  /// libtorch keeps the ends of its graph, where the hooks are, by weak references.
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators;
  nn::pass pass;
  bool has_mode = false;
  at::Tensor output, shown;  ///< results of the last forward; contiguous, as the caller sees it

  void open();
  void add_hooks();
  void look_again();
  [[nodiscard]] std::string name() const {
    return origin.from_class ? origin.from_class.name() : "the TorchScript file " + origin.from_script.path();
  }
};

inline void torch_core::parts::open() {
  net = origin.from_class ? call_torch("the constructor of " + name(), [&] { return origin.from_class.make(); })
                          : std::make_unique<torch_script_net>(origin.from_script);
  std::set<const void*> seen;  // a tensor that two layers share has two names
  const auto is_new = [&](const at::Tensor& t) { return t.defined() && seen.insert(t.unsafeGetTensorImpl()).second; };
  parameters.places.clear(), buffers.places.clear(), counts.clear(), accumulators.clear();
  const torch_net::named given = net->parameters(), more = net->buffers();
  for (const auto& [what, tensor] : given) {
    if (is_new(tensor)) (tensor.requires_grad() ? parameters : buffers).add(what, tensor);
  }
  for (const auto& [what, tensor] : more) {
    if (!is_new(tensor)) continue;
    if (tensor.is_floating_point()) {
      buffers.add(what, tensor);
    } else {
      counts.push_back(tensor);
    }
  }
  call_torch("the parameters of " + name(), [&] {
    parameters.gather(type);
    buffers.gather(type);
    gradients = torch::zeros({parameters.size()}, type);
    look_again();
    add_hooks();
  });
  output = shown = at::Tensor();
  net->train(pass.training);
}

inline void torch_core::parts::add_hooks() {
  for (std::size_t i = 0; i < parameters.places.size(); ++i) {
    accumulators.push_back(torch::autograd::impl::grad_accumulator(parameters.places[i].tensor));
    accumulators.back()->add_post_hook(std::make_unique<torch_progress_hook>(progress, i));
  }
}

/// Lets the gradients of all parameters lie in the one array, also after code of the network's own has taken them away.
inline void torch_core::parts::look_again() {
  for (auto& p : parameters.places) {
    at::Tensor& g = p.tensor.mutable_grad();
    const at::Tensor mine = parameters.part(gradients, p);
    if (g.defined() && g.data_ptr() == mine.data_ptr()) continue;
    if (g.defined()) mine.copy_(g);
    g = mine;
  }
}

MANTA_DECL torch_core::torch_core(const torch_origin& origin, bool is_double) : parts_(std::make_unique<parts>()) {
  const torch_options& o = origin.options;
  if (o.autocast == torch_autocast::float16)
    throw error(
        "manta: torch: .autocast = float16: on processors libtorch has autocast to bfloat16 alone; use "
        "manta::torch_autocast::bfloat16");
  if (o.autocast != torch_autocast::none && is_double)
    throw error("manta: torch: .autocast is for networks of float: use torch_module<float>");
  int exponent = 0;
  if (!(o.loss_scale > 0) || std::frexp(o.loss_scale, &exponent) != 0.5)
    throw error(base::text(
        "manta: torch: .loss_scale is {}; it has to be a power of two, such as 1024, so that dividing by it is exact",
        o.loss_scale));
  parts_->origin = origin;
  parts_->type = is_double ? at::kDouble : at::kFloat;
  if (!origin.from_class && origin.from_script.bytes().empty())
    throw error("manta: torch: a torch_module needs a class, manta::own<net>(..), or a file, manta::torch_script(..)");
  parts_->open();
}
MANTA_DECL torch_core::~torch_core() = default;

MANTA_DECL const torch_origin& torch_core::origin() const { return parts_->origin; }
MANTA_DECL torch_array torch_core::parameters() const { return parts_->parameters.numbers(); }
MANTA_DECL torch_array torch_core::gradients() const {
  return {parts_->gradients.data_ptr(), static_cast<std::size_t>(parts_->gradients.numel())};
}
MANTA_DECL torch_array torch_core::buffers() const { return parts_->buffers.numbers(); }

MANTA_DECL std::vector<std::int64_t> torch_core::counts() const {
  std::vector<std::int64_t> all;
  for (const at::Tensor& t : parts_->counts) {
    const at::Tensor numbers = t.to(at::kLong).contiguous();
    all.insert(all.end(), numbers.data_ptr<std::int64_t>(), numbers.data_ptr<std::int64_t>() + numbers.numel());
  }
  return all;
}
MANTA_DECL void torch_core::counts(const std::vector<std::int64_t>& numbers) {
  auto at = numbers.begin();
  for (at::Tensor& t : parts_->counts) {
    if (numbers.end() - at < t.numel())
      throw error("manta: torch: fewer numbers were saved than the buffers of " + describe() + " have");
    const std::vector<std::int64_t> mine(at, at + t.numel());
    t.copy_(torch::tensor(mine, at::kLong).view(t.sizes()));
    at += t.numel();
  }
}

MANTA_DECL std::string torch_core::describe() const {
  std::ostringstream text;
  text << parts_->name() << ':';
  for (const auto& p : parts_->parameters.places) text << ' ' << p.name << p.tensor.sizes();
  return text.str();
}

MANTA_DECL void torch_core::save(const std::string& path) const {
  call_torch("the file " + path + " cannot be written", [&] { parts_->net->save(path); });
}

MANTA_DECL void torch_core::initialise(std::uint64_t seed) {
  if (!parts_->origin.from_class) return;
  torch::manual_seed(seed);
  parts_->open();
}

MANTA_DECL void torch_core::mode(const nn::pass& p) {
  parts& m = *parts_;
  if (p.training != m.pass.training) m.net->train(p.training);
  m.pass = p;
  m.pass.sum_over_workers = nullptr;
  m.has_mode = true;
}

MANTA_DECL torch_matrix torch_core::forward(const torch_matrix& x) {
  parts& m = *parts_;
  std::vector<std::int64_t> extents{x.columns};
  const std::vector<std::int64_t>& sample = m.origin.options.input;
  std::int64_t numbers = sample.empty() ? x.rows : 1;
  for (const std::int64_t n : sample) numbers *= n;
  if (numbers != x.rows)
    throw error(base::text("manta: torch: {} got samples of {} numbers; torch_options::input says {}", m.name(), x.rows,
                           numbers));
  if (sample.empty()) extents.push_back(x.rows);
  extents.insert(extents.end(), sample.begin(), sample.end());

  const torch::AutoGradMode with_graph(m.pass.training);
  if (m.pass.training && m.has_mode) {
    const std::uint64_t first = m.pass.samples.empty() ? 0 : m.pass.samples.front();
    torch::manual_seed(base::mix(base::mix(m.pass.seed, m.pass.step), first));
  }
  call_torch("forward of " + m.name(), [&] {
    {
      const autocast_scope cast(m.origin.options.autocast == torch_autocast::bfloat16);
      const at::Tensor samples = torch::from_blob(const_cast<void*>(x.data), extents, m.type);
      m.output = m.net->forward(m.pass.training ? samples.clone() : samples);  // backward may need x, which is not ours
    }
    if (m.output.dim() == 0 || m.output.size(0) != x.columns)
      throw error(
          base::text("manta: torch: forward of {} has to give a tensor whose first extent is that of the {} samples",
                     m.name(), x.columns));
    m.output = m.output.to(m.type).reshape({x.columns, -1});
    m.shown = m.output.detach().contiguous();
  });
  return {m.shown.data_ptr(), m.shown.size(1), m.shown.size(0)};
}

MANTA_DECL void torch_core::backward(const torch_matrix& dy, const nn::gradients_ready* ready) {
  parts& m = *parts_;
  if (!m.output.defined()) throw error("manta: torch: backward comes after forward");
  if (m.parameters.places.empty())
    throw error("manta: torch: " + m.name() + " has no parameters that can be trained; was the file frozen?");
  if (!m.output.requires_grad())
    throw error("manta: torch: backward of " + m.name() +
                ": the last forward was no training pass (mode), or the output does not depend on the parameters");
  if (dy.rows != m.output.size(1) || dy.columns != m.output.size(0))
    throw error(base::text("manta: torch: backward got a gradient of {} x {}; the output is of {} x {}", dy.rows,
                           dy.columns, m.output.size(1), m.output.size(0)));
  m.look_again();
  const double scale = m.origin.options.loss_scale;
  at::Tensor gradient = torch::from_blob(const_cast<void*>(dy.data), {dy.columns, dy.rows}, m.type);
  if (scale != 1) gradient = gradient * scale, m.gradients.mul_(scale);
  m.progress.begin([&](std::int64_t first, std::int64_t last) {
    if (scale != 1) m.gradients.narrow(0, first, last - first).mul_(1 / scale);
    if (ready) (*ready)(static_cast<std::size_t>(first), static_cast<std::size_t>(last));
  });
  try {
    call_torch("backward of " + m.name(), [&] { m.output.backward(gradient); });
  } catch (...) {
    m.progress.drop();
    throw;
  }
  m.output = at::Tensor();
  m.progress.finish();
}

}  // namespace detail

MANTA_DECL torch_script::torch_script(const std::string& path) : path_(path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  if (in) bytes << in.rdbuf();
  if (!in) throw error("manta: torch: the file " + path + " cannot be read; is it there?");
  bytes_ = std::move(bytes).str();
  (void)detail::read_script(bytes_, path_);
}

}  // namespace manta
