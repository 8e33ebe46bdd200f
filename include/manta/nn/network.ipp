// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of network.hpp.
#pragma once

#include <algorithm>

#include "manta/error.hpp"
#include "manta/nn/layer.ipp"
#include "manta/nn/network.hpp"

namespace manta::nn {

template <class T>
network<T>::network(const shape& in, std::vector<spec> layers) : in_(in), specs_(std::move(layers)) {
  for (int extent : in.extents()) {
    if (extent < 1)
      throw error("manta: nn: a network's input cannot have the shape " + in.text() +
                  ": each extent has to be positive");
  }
  shape now = in;
  for (const spec& s : specs_) {
    try {
      layers_.push_back(make_layer<T>(s, now));
    } catch (const error& e) {
      throw error("manta: nn: layer " + std::to_string(layers_.size()) + " of the network, " + s.text() +
                  ", gets an input of shape " + now.text() + ": " + e.what());
    }
    now = layers_.back()->output_shape();
  }
  begins_ = {0};
  for (const auto& l : layers_) {
    std::size_t n = 0;
    for (const parameter_array& a : l->arrays()) n += static_cast<std::size_t>(a.extents.size());
    begins_.push_back(begins_.back() + n);
  }
  parameters_.assign(begins_.back(), T(0));
  gradients_.assign(begins_.back(), T(0));
  bind();
  initialise(0);
  is_fresh_ = true;
}

template <class T>
network<T>::network(const network& other)
    : in_(other.in_),
      specs_(other.specs_),
      begins_(other.begins_),
      parameters_(other.parameters_),
      gradients_(other.gradients_),
      is_fresh_(other.is_fresh_),
      pass_(other.pass_) {
  for (const auto& l : other.layers_) layers_.push_back(l->clone());
  bind();
}

template <class T>
network<T>& network<T>::operator=(const network& other) {
  if (this != &other) *this = network(other);
  return *this;
}

template <class T>
void network<T>::bind() {
  for (std::size_t i = 0; i < layers_.size(); ++i)
    layers_[i]->bind(parameters_.data() + begins_[i], gradients_.data() + begins_[i]);
  values_.resize(layers_.size() + 1);
  gradients_by_value_.resize(layers_.size());
}

template <class T>
void network<T>::initialise(std::uint64_t seed) {
  is_fresh_ = false;
  for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i]->initialise(random(seed, i));
}

template <class T>
const matrix<T>& network<T>::forward(const matrix<T>& x) {
  if (x.rows() != in_.size()) {
    throw error("manta: nn: the network " + describe() + " takes columns of " + std::to_string(in_.size()) +
                " numbers (" + in_.text() + "), and got a matrix of " + std::to_string(x.rows()) + " x " +
                std::to_string(x.cols()) + "; data are features x samples, one column a sample");
  }
  if (layers_.empty()) return values_.resize(1), values_[0] = x;
  values_[0] = x;
  for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i]->forward(values_[i], values_[i + 1], pass_);
  return values_.back();
}

template <class T>
void network<T>::run_back(const matrix<T>& dy, const gradients_ready* ready, matrix<T>* dx) {
  if (values_.empty() || dy.rows() != values_.back().rows() || dy.cols() != values_.back().cols()) {
    throw error("manta: nn: backward of the network " + describe() + " got a gradient of " + std::to_string(dy.rows()) +
                " x " + std::to_string(dy.cols()) + "; the last forward gave " +
                (values_.empty()
                     ? "nothing"
                     : std::to_string(values_.back().rows()) + " x " + std::to_string(values_.back().cols())));
  }
  const matrix<T>* above = &dy;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    // Nobody asks for the gradients below the first layer that has parameters, but for the caller's sake.
    matrix<T>* below = begins_[i] > 0 ? &gradients_by_value_[i] : dx ? (i > 0 ? &gradients_by_value_[i] : dx) : nullptr;
    layers_[i]->backward(values_[i], values_[i + 1], *above, below);
    if (ready && begins_[i + 1] > begins_[i]) (*ready)(begins_[i], begins_[i + 1]);
    if (!below) break;
    above = below;
  }
  if (dx && layers_.empty()) *dx = dy;
}

template <class T>
std::string network<T>::describe() const {
  std::string s = in_.text();
  for (const spec& l : specs_) s += " -> " + l.text();
  return s + " -> " + output_shape().text();
}

template <class T>
std::vector<typename network<T>::array> network<T>::arrays() const {
  std::vector<array> all;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    std::size_t begin = begins_[i];
    for (const parameter_array& a : layers_[i]->arrays()) {
      all.push_back({std::to_string(i) + "." + a.name, a.extents, begin});
      begin += static_cast<std::size_t>(a.extents.size());
    }
  }
  return all;
}

template <class T>
std::vector<T> network<T>::all_buffers() const {
  std::vector<T> all;
  for (const auto& l : layers_) {
    const std::span<T> b = l->buffers();
    all.insert(all.end(), b.begin(), b.end());
  }
  return all;
}

template <class T>
void network<T>::take(const std::vector<T>& parameters, const std::vector<T>& buffers) {
  if (parameters.size() != parameters_.size() || buffers.size() != all_buffers().size())
    throw error("manta: nn: the data of the network " + describe() + " are damaged: " +
                std::to_string(parameters.size()) + " parameters instead of " + std::to_string(parameters_.size()));
  is_fresh_ = false;
  std::copy(parameters.begin(), parameters.end(), parameters_.begin());
  auto from = buffers.begin();
  for (const auto& l : layers_) {
    for (T& b : l->buffers()) b = *from++;
  }
}

}  // namespace manta::nn
