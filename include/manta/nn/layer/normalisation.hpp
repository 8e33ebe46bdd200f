// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Numbers brought to mean 0 and variance 1, then scaled and shifted by parameters: over a batch, or over each sample.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "manta/error.hpp"
#include "manta/nn/checks.hpp"
#include "manta/nn/layer.hpp"

namespace manta::nn::detail {

/// Parameters: a weight and a bias for each channel or feature.
template <class T>
class normalisation_layer : public layer<T> {
 public:
  normalisation_layer(const spec& s, const shape& in, shape weights)
      : layer<T>(in, in), weights_(std::move(weights)), count_(weights_.size()), epsilon_(s.option("epsilon", 1e-5)) {
    check_layer_option(epsilon_ >= 0, "epsilon", epsilon_, "at least 0");
  }

  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    return {{"weight", weights_}, {"bias", weights_}};
  }
  void bind(T* parameters, T* gradients, T*) override { p_ = parameters, g_ = gradients; }
  void initialise(const random&) override {
    vector(p_, count_).setOnes();
    vector(p_ + count_, count_).setZero();
  }

 protected:
  using vector = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
  [[nodiscard]] vector weight() const { return {p_, count_}; }
  [[nodiscard]] vector bias() const { return {p_ + count_, count_}; }

  shape weights_;
  int count_;
  double epsilon_;
  T *p_ = nullptr, *g_ = nullptr;
};

/// Ioffe, Szegedy, 2015. A channel has the mean and variance of all its numbers in the batch; in use, those that were
/// met in training, of which it keeps a running mean.
template <class T>
class batch_norm_layer final : public normalisation_layer<T> {
 public:
  batch_norm_layer(const spec& s, const shape& in)
      : normalisation_layer<T>(s, in, shape{in.dimensions() == 2 ? in[1] : in[0]}),
        width_(in.dimensions() > 2 ? in.size() / in[0] : 1),
        momentum_(s.option("momentum", 0.1)),
        all_workers_(s.option("all_workers", 0) != 0) {
    if (in.dimensions() > 4) throw error("it needs features, a sequence, an image or a volume");
    check_layer_option(momentum_ > 0 && momentum_ <= 1, "the momentum", momentum_, "above 0 and at most 1");
    scale_.resize(channels()), shift_.resize(channels()), factor_.resize(channels());
    mean_.resize(channels()), deviation_.resize(channels());
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<batch_norm_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> buffer_arrays() const override {
    return {{"running_mean", this->weights_}, {"running_var", this->weights_}};
  }
  void bind(T* parameters, T* gradients, T* buffers) override {
    normalisation_layer<T>::bind(parameters, gradients, buffers);
    running_ = buffers;
  }
  void initialise(const random& numbers) override {
    normalisation_layer<T>::initialise(numbers);
    vector(running_, channels()).setZero();
    vector(running_ + channels(), channels()).setOnes();
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass& p) override {
    sum_ = all_workers_ ? p.sum_over_workers : nullptr;
    y.resize(x.rows(), x.cols());
    own_count_ = static_cast<double>(x.size() / channels());
    if (p.training) sums(x, x);
    if (p.training && sums_[2 * channels()] < 2 && !p.is_rest)
      throw error(
          "manta: nn: batch_norm has no variance of a single number: a worker's share of a batch needs two samples, "
          "so take larger batches or fewer workers, or batch_norm({.all_workers = true})");
    take_statistics(p.training);
    scale_ = this->weight() / deviation_;
    shift_ = this->bias() - mean_ * scale_;
    each(x.cols(),
         [&](Eigen::Index at, Eigen::Index n, auto c) { part(y, at, n) = part(x, at, n) * c(scale_) + c(shift_); });
  }

  /// With the statistics of all workers the gradients are those of a mean over all samples, given that each worker's
  /// loss is the mean over its own: a worker's sums count as much as it has samples.
  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    const double own = trained_ ? own_count_ : 1;
    sums(dy, x, false);
    auto sum = sums_.head(channels()), product = sums_.segment(channels(), channels());
    // The gradient by (x - mean) / deviation instead of by x.
    product = (product - sum * mean_.template cast<double>()) / deviation_.template cast<double>();
    vector(this->g_, channels()) += product.template cast<T>();
    vector(this->g_ + channels(), channels()) += sum.template cast<T>();
    if (!dx) return;
    dx->resize(x.rows(), x.cols());
    factor_.setZero(), shift_.setZero();
    if (trained_) {
      if (sum_) {
        sums_ *= own;
        sum_({sums_.data(), static_cast<std::size_t>(2 * channels())});
        sums_ /= own;
      }
      // dx = scale (dy - mean(dy) - xhat mean(dy xhat))
      factor_ = -scale_ * (product / count_).template cast<T>() / deviation_;
      shift_ = -scale_ * (sum / count_).template cast<T>() - factor_ * mean_;
    }
    each(x.cols(), [&](Eigen::Index at, Eigen::Index n, auto c) {
      part(*dx, at, n) = part(dy, at, n) * c(scale_) + part(x, at, n) * c(factor_) + c(shift_);
    });
  }

  [[nodiscard]] bool sums_over_workers() const override { return all_workers_; }
  void forward_without_samples(const pass& p) override {
    sum_ = all_workers_ ? p.sum_over_workers : nullptr;
    trained_ = false;
    if (!sum_ || !p.training) return;
    sums_.setZero(2 * channels() + 1);
    sum_({sums_.data(), static_cast<std::size_t>(sums_.size())});
    take_statistics(true);
  }
  void backward_without_samples(bool wants_dx, const gradients_ready* ready) override {
    if (wants_dx && trained_ && sum_) {
      sums_.setZero(2 * channels() + 1);
      sum_({sums_.data(), static_cast<std::size_t>(2 * channels())});
    }
    layer<T>::backward_without_samples(wants_dx, ready);
  }

 private:
  using typename normalisation_layer<T>::vector;
  using array = Eigen::Array<T, Eigen::Dynamic, 1>;
  [[nodiscard]] int channels() const { return normalisation_layer<T>::count_; }

  /// Sets mean and deviation: in training to those that sums_ has, which also move the running ones; else, and where a
  /// single number has no variance, to the running ones.
  void take_statistics(bool training) {
    vector running_mean(running_, channels()), running_variance(running_ + channels(), channels());
    const double n = count_ = training ? sums_[2 * channels()] : 0;
    trained_ = n >= 2;
    if (!trained_) {
      mean_ = running_mean;
      deviation_ = (running_variance + static_cast<T>(this->epsilon_)).sqrt();
      return;
    }
    const auto m = sums_.head(channels()) / n;
    const auto variance = (sums_.segment(channels(), channels()) / n - m.square()).max(0);
    mean_ = m.template cast<T>();
    deviation_ = (variance + this->epsilon_).sqrt().template cast<T>();
    const T part = static_cast<T>(momentum_);
    running_mean += part * (mean_ - running_mean);
    running_variance += part * ((variance * n / (n - 1)).template cast<T>() - running_variance);
  }

  /// Calls f(at, n, c) for parts that lie one after the other: n numbers from `at` on, for which c picks what belongs
  /// to their channels from an array of channels: the plane of one channel, or one number of each channel.
  template <class Function>
  void each(Eigen::Index samples, Function f) const {
    const Eigen::Index rows = this->input_shape().size();
    if (width_ == 1) {
      for (Eigen::Index at = 0; at < samples * rows; at += channels())
        f(
            at, Eigen::Index{channels()}, [](auto& of_channels) -> auto& { return of_channels; });
      return;
    }
    for (Eigen::Index at = 0, end = samples * rows; at < end;) {
      for (int channel = 0; channel < channels(); ++channel, at += width_)
        f(at, Eigen::Index{width_}, [channel](const auto& of_channels) { return of_channels[channel]; });
    }
  }
  static auto part(const matrix<T>& m, Eigen::Index at, Eigen::Index n) {
    return Eigen::Map<const array>(m.data() + at, n);
  }
  static auto part(matrix<T>& m, Eigen::Index at, Eigen::Index n) { return Eigen::Map<array>(m.data() + at, n); }

  /// Per channel the sum of a and of a b, in double, and the count; over all workers in forward.
  void sums(const matrix<T>& a, const matrix<T>& b, bool over_workers = true) {
    sums_.setZero(2 * channels() + 1);
    sums_[2 * channels()] = own_count_;
    if (width_ == 1) {
      each(a.cols(), [&](Eigen::Index at, Eigen::Index n, auto) {
        sums_.head(n) += part(a, at, n).template cast<double>();
        sums_.segment(n, n) += (part(a, at, n).template cast<double>() * part(b, at, n).template cast<double>());
      });
    } else {
      for (Eigen::Index at = 0; at < a.size();) {
        for (int channel = 0; channel < channels(); ++channel, at += width_) {
          const auto first = part(a, at, width_).template cast<double>();
          sums_[channel] += first.sum();
          sums_[channels() + channel] += (first * part(b, at, width_).template cast<double>()).sum();
        }
      }
    }
    if (over_workers && sum_) sum_({sums_.data(), static_cast<std::size_t>(sums_.size())});
  }

  int width_;  ///< numbers of a channel in a sample that lie one after the other
  double momentum_;
  bool all_workers_;
  bool trained_ = true;               ///< the last forward took the statistics of its batch
  double own_count_ = 0, count_ = 0;  ///< numbers of a channel here, and of all workers
  std::function<void(std::span<double>)> sum_;
  T* running_ = nullptr;
  Eigen::ArrayXd sums_;
  array mean_, deviation_, scale_, shift_, factor_;
};

/// Ba, Kiros, Hinton, 2016: over a sample, or over each position of a sequence.
template <class T>
class layer_norm_layer final : public normalisation_layer<T> {
 public:
  layer_norm_layer(const spec& s, const shape& in)
      : normalisation_layer<T>(s, in, in.dimensions() == 2 ? shape{in[1]} : in) {}
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<layer_norm_layer>(*this); }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    const auto columns = positions(x, this->count_);
    const Eigen::Index n = columns.cols();
    y.resize(x.rows(), x.cols());
    normalised_.resize(this->count_, n);
    deviation_.resize(n);
    Eigen::Map<matrix<T>> result(y.data(), this->count_, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      auto z = normalised_.col(i).array();
      z = columns.col(i).array() - columns.col(i).mean();
      deviation_[i] = std::sqrt(z.square().mean() + static_cast<T>(this->epsilon_));
      z /= deviation_[i];
      result.col(i).array() = z * this->weight() + this->bias();
    }
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    const auto d = positions(dy, this->count_);
    vector dw(this->g_, this->count_), db(this->g_ + this->count_, this->count_);
    if (dx) dx->resize(x.rows(), x.cols());
    for (Eigen::Index i = 0; i < d.cols(); ++i) {
      const auto z = normalised_.col(i).array();
      dw += d.col(i).array() * z;
      db += d.col(i).array();
      if (!dx) continue;
      vector result(dx->data() + i * this->count_, this->count_);
      result = d.col(i).array() * this->weight();
      const T mean = result.mean(), product = (result * z).mean();
      result = (result - mean - z * product) / deviation_[i];
    }
  }

 private:
  using typename normalisation_layer<T>::vector;
  matrix<T> normalised_;
  Eigen::Array<T, Eigen::Dynamic, 1> deviation_;
};

}  // namespace manta::nn::detail
