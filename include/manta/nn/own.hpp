// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A module of the program's own (module.hpp) as a layer of a network, or as all of it:
//
//   struct my_layer { my_layer(int inputs, int outputs, double slope); .. };    // satisfies nn::module<my_layer>
//   nn::network<float> net(nn::shape{784}, nn::own<my_layer>(32, 0.1), nn::linear(10));
//
// The network keeps the parameters and gradients in its own arrays, and copies them to and from the module. Whatever
// else the module keeps is not sent or saved.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "manta/base/text.hpp"
#include "manta/nn/layer.hpp"
#include "manta/own.hpp"

namespace manta::nn {

namespace detail {

/// A module of whatever class.
template <class T>
class any_module {
 public:
  virtual ~any_module() = default;
  [[nodiscard]] virtual std::unique_ptr<any_module> clone() const = 0;
  [[nodiscard]] virtual std::span<T> parameters() = 0;
  [[nodiscard]] virtual std::span<T> gradients() = 0;
  /// Draws the parameters, where the class has a member for it.
  virtual void initialise(std::uint64_t seed) = 0;
  virtual void mode(const pass& p) = 0;
  [[nodiscard]] virtual bool sums_over_workers() const = 0;
  virtual void forward_without_samples() = 0;
  virtual void backward_without_samples() = 0;
  [[nodiscard]] virtual int state_size() const = 0;
  virtual void forward(const matrix<T>& x, matrix<T>& y) = 0;
  virtual void forward(const matrix<T>& x, matrix<T>& y, matrix<T>& state, std::span<const unsigned char> resets) = 0;
  virtual void backward(const matrix<T>& dy) = 0;
  /// Throws manta::error where the class has no member for it.
  virtual void backward_to_input(const matrix<T>& dy, matrix<T>& dx) = 0;
};

template <class T, module M>
class module_of final : public any_module<T> {
  static_assert(std::is_copy_constructible_v<M>, "manta: nn: a module that is a layer has to be copyable");

 public:
  template <class... Args>
    requires(std::is_constructible_v<M, Args...>)
  explicit module_of(Args&&... arguments) : m_(std::forward<Args>(arguments)...) {}
  module_of(const module_of&) = default;
  [[nodiscard]] std::unique_ptr<any_module<T>> clone() const override { return std::make_unique<module_of>(*this); }

  [[nodiscard]] std::span<T> parameters() override { return m_.parameters(); }
  [[nodiscard]] std::span<T> gradients() override { return m_.gradients(); }
  void initialise(std::uint64_t seed) override {
    if constexpr (requires { m_.initialise(seed); }) m_.initialise(seed);
  }
  void mode(const pass& p) override {
    if (sums_over_workers() || !p.sum_over_workers) return set_mode(m_, p);
    pass alone = p;
    alone.sum_over_workers = nullptr;
    set_mode(m_, alone);
  }
  [[nodiscard]] bool sums_over_workers() const override { return nn::sums_over_workers(m_); }
  void forward_without_samples() override {
    if constexpr (requires { m_.forward_without_samples(); }) m_.forward_without_samples();
  }
  void backward_without_samples() override {
    if constexpr (requires(const gradients_ready& ready) { m_.backward_without_samples(ready); })
      m_.backward_without_samples([](std::size_t, std::size_t) {});
  }
  [[nodiscard]] int state_size() const override {
    if constexpr (has_state) {
      return m_.state_size();
    } else {
      return 0;
    }
  }
  void forward(const matrix<T>& x, matrix<T>& y) override { y = m_.forward(x); }
  void forward(const matrix<T>& x, matrix<T>& y, matrix<T>& state, std::span<const unsigned char> resets) override {
    if constexpr (has_state) y = m_.forward(x, state, resets);
  }
  void backward(const matrix<T>& dy) override { m_.backward(dy); }
  void backward_to_input(const matrix<T>& dy, matrix<T>& dx) override {
    if constexpr (requires { matrix<T>(m_.backward_to_input(dy)); }) {
      dx = m_.backward_to_input(dy);
    } else {
      throw error("manta: nn: what stands before the module " + base::demangle(typeid(M).name()) +
                  " needs the gradient of the loss by the module's input; give the class a member backward_to_input("
                  "dy), which returns it");
    }
  }

 private:
  static constexpr bool has_state = requires(M m, const matrix<T>& x, matrix<T>& s, std::span<const unsigned char> r) {
    m.forward(x, s, r);
    m.state_size();
  };
  M m_;
};

}  // namespace detail

/// A module's class: objects are constructed from the numbers of inputs and of outputs, and the program's arguments.
template <class T>
using own_module = own_class<detail::any_module<T>, int, int>;

namespace detail {
template <class T>
spec own_spec(int outputs, const own_module<T>& m) {
  spec s{"own", {outputs}, {}, {}};
  s.own = m.value();
  return s;
}
}  // namespace detail

/// A layer whose objects are M(inputs, outputs, arguments..). Members that are used where M has them:
/// initialise(seed), without which the parameters begin as the constructor leaves them; mode(const pass&);
/// backward_to_input(dy), which a layer needs that stands behind others; forward(x, state, resets) and state_size(),
/// as network has them, for a memory.
template <module M, class... Args>
spec own(int outputs, const Args&... arguments) {
  return detail::own_spec<typename M::scalar>(outputs, manta::own<M>(arguments...));
}

namespace detail {

template <class T>
class own_layer final : public layer<T> {
 public:
  own_layer(const spec& s, const shape& in)
      : layer<T>(in, shape{s.sizes[0]}), name_(s.own.name), module_(own_module<T>(s.own).make(in.size(), s.sizes[0])) {
    if (module_->parameters().size() != module_->gradients().size())
      throw error(base::text("it has {} parameters and {} gradients; there have to be as many",
                             module_->parameters().size(), module_->gradients().size()));
  }
  own_layer(const own_layer& other) : layer<T>(other), name_(other.name_), module_(other.module_->clone()) {}
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<own_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    const auto size = static_cast<int>(module_->parameters().size());
    if (size == 0) return {};
    return {{"parameters", shape{size}}};
  }
  void bind(T* parameters, T* gradients, T*) override { p_ = parameters, g_ = gradients; }
  void initialise(const random& numbers) override {
    module_->initialise(numbers.bits(0));
    const std::span<T> own = module_->parameters();
    std::copy(own.begin(), own.end(), p_);
  }

  [[nodiscard]] int state_size() const override { return module_->state_size(); }
  void carry(const carried<T>& c) override { carried_ = c; }

  [[nodiscard]] bool sums_over_workers() const override { return module_->sums_over_workers(); }
  void forward_without_samples(const pass& p) override {
    if (!module_->sums_over_workers()) return;
    module_->mode(p);
    module_->forward_without_samples();
  }
  void backward_without_samples(bool wants_dx, const gradients_ready* ready) override {
    if (module_->sums_over_workers()) module_->backward_without_samples();
    layer<T>::backward_without_samples(wants_dx, ready);
  }

  [[nodiscard]] bool draws() const override { return true; }
  void forward(const matrix<T>& x, matrix<T>& y, const pass& p) override {
    const std::span<T> own = module_->parameters();
    std::copy(p_, p_ + own.size(), own.begin());
    module_->mode(p);
    if (carried_.state) {
      state_ = carried_.state->middleRows(carried_.first_row, state_size());
      module_->forward(x, y, state_, carried_.resets);
      carried_.state->middleRows(carried_.first_row, state_size()) = state_;
    } else {
      module_->forward(x, y);
    }
    if (y.rows() != this->output_shape().size() || y.cols() != x.cols())
      throw error(base::text(
          "manta: nn: forward of the module {} gave a matrix of {} x {} for {} columns; it has to have {} rows, and a "
          "column for each",
          name_, y.rows(), y.cols(), x.cols(), this->output_shape().size()));
  }
  void backward(const matrix<T>&, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    const std::span<T> own = module_->gradients();
    std::fill(own.begin(), own.end(), T(0));
    if (dx) {
      module_->backward_to_input(dy, *dx);
    } else {
      module_->backward(dy);
    }
    for (std::size_t i = 0; i < own.size(); ++i) g_[i] += own[i];
  }

 private:
  std::string name_;  ///< name for messages
  std::unique_ptr<any_module<T>> module_;
  carried<T> carried_;
  matrix<T> state_;
  T *p_ = nullptr, *g_ = nullptr;
};

}  // namespace detail

}  // namespace manta::nn

template <class T, class M>
struct manta::detail::standing_for<manta::nn::detail::any_module<T>, M> {
  static_assert(manta::nn::module<M>,
                "manta: nn: a module needs scalar, forward(x), backward(dy), parameters() and gradients(); see "
                "manta/nn/module.hpp");
  using type = manta::nn::detail::module_of<T, M>;
};
