// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Layers in a row: what a network, sequential and residual consist of.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/layer.hpp"

namespace manta::nn::detail {

template <class T>
class chain {
 public:
  using range = parameter_range_in_layer;

  chain() = default;
  /// Throws where a layer does not suit its input; `where` names the row in the text.
  chain(const shape& in, const std::vector<spec>& specs, const std::string& where) : in_(in) {
    for (const spec& s : specs) {
      const shape now = output_shape();
      try {
        layers_.push_back(make_layer<T>(s.kind == "tied_linear" ? tied(s, specs) : s, now));
      } catch (const error& e) {
        throw error(base::text("layer {} of {}, {}, gets an input of shape {}: {}", layers_.size(), where, s.text(),
                               now.text(), e.what()));
      }
    }
    begins_ = {0};
    for (const auto& l : layers_) begins_.push_back(begins_.back() + size_of(l->arrays()));
    values_.resize(layers_.size());
    gradients_.resize(layers_.size());
    freeze({});
  }
  chain(const chain& other)
      : in_(other.in_),
        begins_(other.begins_),
        ties_(other.ties_),
        frozen_(other.frozen_),
        trains_before_(other.trains_before_) {
    for (const auto& l : other.layers_) layers_.push_back(l->clone());
    values_.resize(layers_.size());
    gradients_.resize(layers_.size());
  }
  chain(chain&&) noexcept = default;
  chain& operator=(const chain&) = delete;
  chain& operator=(chain&&) noexcept = default;
  ~chain() = default;

  [[nodiscard]] bool empty() const { return layers_.empty(); }
  [[nodiscard]] const shape& output_shape() const { return layers_.empty() ? in_ : layers_.back()->output_shape(); }
  /// The number of parameters.
  [[nodiscard]] std::size_t size() const { return begins_.back(); }

  [[nodiscard]] double flops() const {
    double all = 0;
    for (const auto& l : layers_) all += l->flops();
    return all;
  }
  [[nodiscard]] const std::vector<std::unique_ptr<layer<T>>>& layers() const { return layers_; }

  /// Names begin with the layer's number.
  [[nodiscard]] std::vector<parameter_array> arrays() const { return named(&layer<T>::arrays); }
  [[nodiscard]] std::vector<parameter_array> buffer_arrays() const { return named(&layer<T>::buffer_arrays); }

  void bind(T* parameters, T* gradients, T* buffers) {
    bound_ = gradients;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      layers_[i]->bind(parameters + begins_[i], gradients + begins_[i], buffers);
      buffers += size_of(layers_[i]->buffer_arrays());
    }
    for (const auto& [i, source] : ties_)
      layers_[i]->bind_tied(parameters + begins_[source], gradients + begins_[source]);
  }
  void initialise(const random& numbers) {
    for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i]->initialise(random(numbers.bits(0), i));
  }

  /// These ranges of the parameters, in their order, are not trained: their gradients stay 0.
  void freeze(const std::vector<range>& all) {
    frozen_.assign(layers_.size(), {});
    trains_before_.assign(layers_.size(), false);
    bool trains = false;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      frozen_layer& its = frozen_[i];
      std::vector<range> in_layer;
      std::size_t count = 0;
      for (const range& r : all) {
        if (r.first < begins_[i] || r.first >= begins_[i + 1]) continue;
        its.ranges.push_back(r);
        in_layer.emplace_back(r.first - begins_[i], r.second - begins_[i]);
        count += r.second - r.first;
      }
      layers_[i]->freeze(in_layer);
      its.is_whole = count > 0 && count == begins_[i + 1] - begins_[i];
      trains_before_[i] = trains;
      trains = trains || count < begins_[i + 1] - begins_[i];
    }
    for (const auto& [i, source] : ties_) {
      const auto is_source = [begin = begins_[source]](const range& r) { return r.first == begin; };
      layers_[i]->freeze_tied(std::ranges::any_of(all, is_source));
    }
  }

  [[nodiscard]] int state_size() const {
    int size = 0;
    for (const auto& l : layers_) size += l->state_size();
    return size;
  }
  void carry(const carried<T>& c) {
    carried<T> part = c;
    for (const auto& l : layers_) {
      if (l->state_size() > 0) l->carry(part);
      part.first_row += l->state_size();
    }
  }

  void lengths(std::span<const int> all) {
    for (const auto& l : layers_) l->lengths(all);
  }
  void check_lengths(int length) const {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      layers_[i]->check_lengths(length);
      const shape& out = layers_[i]->output_shape();
      if (out.dimensions() == 2 && out[0] != length)
        throw error(
            base::text("its layer {} makes {} positions of {}, and `masked` knows the words of the latter alone: "
                       "keep their number by .stride = 1 and .padding, or put the layer behind `masked`",
                       i, out[0], length));
    }
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass& p) {
    if (layers_.empty()) y = x;
    pass own = p;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (layers_[i]->draws()) own.seed = random(p.seed, i).bits(0);
      own.training = p.training && !frozen_[i].is_whole;
      layers_[i]->forward(i == 0 ? x : values_[i - 1], i + 1 == layers_.size() ? y : values_[i], own);
    }
  }

  /// Calls `ready`, if there is one, for parts of the gradients. Leaves out what is asked for neither by parameters nor
  /// by the caller.
  void backward(const matrix<T>& x, const matrix<T>& y, const matrix<T>& dy, matrix<T>* dx,
                const gradients_ready* ready) {
    if (layers_.empty() && dx) *dx = dy;
    const matrix<T>* above = &dy;
    std::size_t i = layers_.size();
    while (i > 0 && above) {
      --i;
      matrix<T>* below = !asks_below(i, dx) ? nullptr : i == 0 ? dx : &gradients_[i];
      const matrix<T>& from = i == 0 ? x : values_[i - 1];
      const matrix<T>& to = i + 1 == layers_.size() ? y : values_[i];
      if (ready && layers_[i]->has_parts() && frozen_[i].ranges.empty()) {
        layers_[i]->backward_in_parts(
            from, to, *above, below,
            [ready, first = begins_[i]](std::size_t begin, std::size_t end) { (*ready)(first + begin, first + end); });
      } else {
        layers_[i]->backward(from, to, *above, below);
        for (const auto& [begin, end] : frozen_[i].ranges) std::fill(bound_ + begin, bound_ + end, T(0));
        if (ready && begins_[i + 1] > begins_[i]) (*ready)(begins_[i], begins_[i + 1]);
      }
      above = below;
    }
    if (ready && begins_[i] > 0) (*ready)(0, begins_[i]);
  }

  [[nodiscard]] bool sums_over_workers() const {
    return std::ranges::any_of(layers_, [](const auto& l) { return l->sums_over_workers(); });
  }
  void forward_without_samples(const pass& p) {
    pass own = p;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      own.training = p.training && !frozen_[i].is_whole;
      layers_[i]->forward_without_samples(own);
    }
  }
  /// Runs through the layers that `backward` runs through.
  void backward_without_samples(bool wants_dx, const gradients_ready* ready) {
    bool is_asked = true;
    std::size_t i = layers_.size();
    while (i > 0 && is_asked) {
      --i;
      is_asked = asks_below(i, wants_dx);
      if (ready && frozen_[i].ranges.empty()) {
        const gradients_ready shifted = [ready, first = begins_[i]](std::size_t begin, std::size_t end) {
          (*ready)(first + begin, first + end);
        };
        layers_[i]->backward_without_samples(is_asked, &shifted);
      } else {
        layers_[i]->backward_without_samples(is_asked, nullptr);
        if (ready && begins_[i + 1] > begins_[i]) (*ready)(begins_[i], begins_[i + 1]);
      }
    }
    if (ready && begins_[i] > 0) (*ready)(0, begins_[i]);
  }

 private:
  /// The spec of a layer with the weights of a layer before it, to which rows and columns of these are added.
  spec tied(spec s, const std::vector<spec>& specs) {
    const auto source = static_cast<std::size_t>(s.sizes[0]);
    const bool is_before = s.sizes[0] >= 0 && source < layers_.size();
    if (!is_before || (specs[source].kind != "linear" && specs[source].kind != "embedding"))
      throw error(
          base::text("layer {} is no linear and no embedding before it, whose weights it could have", s.sizes[0]));
    ties_.emplace_back(layers_.size(), source);
    const shape weights = layers_[source]->arrays()[0].extents;
    s.sizes.insert(s.sizes.end(), {weights[0], weights[1]});
    return s;
  }
  struct frozen_layer {
    std::vector<range> ranges;
    bool is_whole = false;
  };
  /// Whether backward asks layer i for the gradient by its input.
  [[nodiscard]] bool asks_below(std::size_t i, bool wants_dx) const { return wants_dx || trains_before_[i]; }
  [[nodiscard]] std::vector<parameter_array> named(std::vector<parameter_array> (layer<T>::*which)() const) const {
    std::vector<parameter_array> all;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      for (parameter_array& a : (*layers_[i].*which)())
        all.push_back({base::text("{}.{}", i, a.name), std::move(a.extents)});
    }
    return all;
  }

  shape in_;
  std::vector<std::unique_ptr<layer<T>>> layers_;
  std::vector<std::size_t> begins_{0};                     ///< where each layer's parameters begin; one more at the end
  std::vector<std::pair<std::size_t, std::size_t>> ties_;  ///< layers with the weights of another one, and that one
  std::vector<matrix<T>> values_;                          ///< the results of the layers but the last
  std::vector<matrix<T>> gradients_;  ///< gradients of the loss, by each layer's input but the first's
  std::vector<frozen_layer> frozen_;  ///< frozen parts of each layer
  std::vector<bool> trains_before_;   ///< whether a layer before this one has parameters that are trained
  T* bound_ = nullptr;                ///< the gradients
};

/// The ranges that lie in [begin, end), counted from `begin`.
inline std::vector<parameter_range_in_layer> part_of(const std::vector<parameter_range_in_layer>& all,
                                                     std::size_t begin, std::size_t end) {
  std::vector<parameter_range_in_layer> part;
  for (const auto& [first, last] : all) {
    if (first >= begin && first < end) part.emplace_back(first - begin, last - begin);
  }
  return part;
}

/// A layer that does what its chain does.
template <class T>
class chain_layer : public layer<T> {
 public:
  [[nodiscard]] std::vector<parameter_array> arrays() const override { return chain_.arrays(); }
  [[nodiscard]] double flops() const override { return chain_.flops(); }
  [[nodiscard]] std::vector<parameter_array> buffer_arrays() const override { return chain_.buffer_arrays(); }
  void bind(T* parameters, T* gradients, T* buffers) override { chain_.bind(parameters, gradients, buffers); }
  void initialise(const random& numbers) override { chain_.initialise(numbers); }
  [[nodiscard]] bool draws() const override { return true; }
  void freeze(const std::vector<parameter_range_in_layer>& all) override { chain_.freeze(all); }

  void forward(const matrix<T>& x, matrix<T>& y, const pass& p) override { chain_.forward(x, y, p); }
  void backward(const matrix<T>& x, const matrix<T>& y, const matrix<T>& dy, matrix<T>* dx) override {
    chain_.backward(x, y, dy, dx, nullptr);
  }
  [[nodiscard]] bool sums_over_workers() const override { return chain_.sums_over_workers(); }
  void forward_without_samples(const pass& p) override { chain_.forward_without_samples(p); }
  void backward_without_samples(bool wants_dx, const gradients_ready* ready) override {
    chain_.backward_without_samples(wants_dx, ready);
  }
  [[nodiscard]] bool has_parts() const override { return chain_.size() > 0; }
  void backward_in_parts(const matrix<T>& x, const matrix<T>& y, const matrix<T>& dy, matrix<T>* dx,
                         const gradients_ready& ready) override {
    chain_.backward(x, y, dy, dx, &ready);
  }

 protected:
  chain_layer(chain<T> c, const shape& in) : layer<T>(in, c.output_shape()), chain_(std::move(c)) {}

  chain<T> chain_;
};

/// Layers that count as one.
template <class T>
class sequential_layer final : public chain_layer<T> {
 public:
  sequential_layer(chain<T> c, const shape& in) : chain_layer<T>(std::move(c), in) {}
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<sequential_layer>(*this); }
  [[nodiscard]] int state_size() const override { return this->chain_.state_size(); }
  void carry(const carried<T>& c) override { this->chain_.carry(c); }
  void lengths(std::span<const int> all) override { this->chain_.lengths(all); }
  void check_lengths(int length) const override { this->chain_.check_lengths(length); }
};

/// y = main(x) + shortcut(x); without layers the shortcut is x itself (He et al., 2016).
template <class T>
class residual_layer final : public layer<T> {
 public:
  residual_layer(chain<T> main, chain<T> shortcut, const shape& in)
      : layer<T>(in, main.output_shape()), main_(std::move(main)), shortcut_(std::move(shortcut)) {
    if (main_.output_shape() != shortcut_.output_shape())
      throw error(base::text("its layers give {}, and the shortcut {}; both have to be alike",
                             main_.output_shape().text(), shortcut_.output_shape().text()));
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<residual_layer>(*this); }

  [[nodiscard]] double flops() const override {
    return main_.flops() + shortcut_.flops() + this->output_shape().size();
  }
  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    return both(main_.arrays(), shortcut_.arrays());
  }
  [[nodiscard]] std::vector<parameter_array> buffer_arrays() const override {
    return both(main_.buffer_arrays(), shortcut_.buffer_arrays());
  }
  void bind(T* parameters, T* gradients, T* buffers) override {
    main_.bind(parameters, gradients, buffers);
    shortcut_.bind(parameters + main_.size(), gradients + main_.size(), buffers + size_of(main_.buffer_arrays()));
  }
  [[nodiscard]] bool draws() const override { return true; }
  void initialise(const random& numbers) override {
    main_.initialise(random(numbers.bits(0)));
    shortcut_.initialise(random(numbers.bits(1)));
  }
  [[nodiscard]] int state_size() const override { return main_.state_size() + shortcut_.state_size(); }
  void carry(const carried<T>& c) override {
    main_.carry(c);
    carried<T> rest = c;
    rest.first_row += main_.state_size();
    shortcut_.carry(rest);
  }
  void lengths(std::span<const int> all) override {
    main_.lengths(all);
    shortcut_.lengths(all);
  }
  void check_lengths(int length) const override {
    main_.check_lengths(length);
    shortcut_.check_lengths(length);
  }
  void freeze(const std::vector<parameter_range_in_layer>& all) override {
    main_.freeze(part_of(all, 0, main_.size()));
    shortcut_.freeze(part_of(all, main_.size(), main_.size() + shortcut_.size()));
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass& p) override {
    pass own = p;
    own.seed = random(p.seed, 1).bits(0);
    main_.forward(x, main_y_, p);
    shortcut_.forward(x, shortcut_y_, own);
    y = main_y_ + shortcut_y_;
  }
  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    main_.backward(x, main_y_, dy, dx, nullptr);
    if (shortcut_.empty()) {
      if (dx) *dx += dy;
      return;
    }
    shortcut_.backward(x, shortcut_y_, dy, dx ? &shortcut_dx_ : nullptr, nullptr);
    if (dx) *dx += shortcut_dx_;
  }

  [[nodiscard]] bool sums_over_workers() const override {
    return main_.sums_over_workers() || shortcut_.sums_over_workers();
  }
  void forward_without_samples(const pass& p) override {
    main_.forward_without_samples(p);
    shortcut_.forward_without_samples(p);
  }
  void backward_without_samples(bool wants_dx, const gradients_ready* ready) override {
    main_.backward_without_samples(wants_dx, nullptr);
    shortcut_.backward_without_samples(wants_dx, nullptr);
    layer<T>::backward_without_samples(wants_dx, ready);
  }

 private:
  static std::vector<parameter_array> both(std::vector<parameter_array> main, std::vector<parameter_array> shortcut) {
    for (parameter_array& a : main) a.name = "main." + a.name;
    for (parameter_array& a : shortcut) main.push_back({"shortcut." + a.name, std::move(a.extents)});
    return main;
  }

  chain<T> main_, shortcut_;
  matrix<T> main_y_, shortcut_y_, shortcut_dx_;
};

}  // namespace manta::nn::detail
