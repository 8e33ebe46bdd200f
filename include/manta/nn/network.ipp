// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/layer.ipp"
#include "manta/nn/network.hpp"
#include "manta/nn/summary.hpp"

namespace manta::nn {

template <class T>
network<T>::network(const shape& in, std::vector<spec> layers) : in_(in), specs_(std::move(layers)) {
  for (int extent : in.extents()) {
    if (extent < 1)
      throw error("manta: nn: a network's input cannot have the shape " + in.text() +
                  ": each extent has to be positive");
  }
  try {
    layers_ = detail::chain<T>(in, specs_, "the network");
  } catch (const error& e) {
    throw error(std::string("manta: nn: ") + e.what());
  }
  parameters_.assign(layers_.size(), T(0));
  gradients_.assign(layers_.size(), T(0));
  buffers_.assign(size_of(layers_.buffer_arrays()), T(0));
  layers_.bind(parameters_.data(), gradients_.data(), buffers_.data());
  initialise(0);
  is_fresh_ = true;
}

template <class T>
network<T>::network(const network& other)
    : in_(other.in_),
      specs_(other.specs_),
      layers_(other.layers_),
      parameters_(other.parameters_),
      gradients_(other.gradients_),
      buffers_(other.buffers_),
      frozen_ranges_(other.frozen_ranges_),
      frozen_(other.frozen_),
      is_fresh_(other.is_fresh_),
      pass_(other.pass_) {
  layers_.bind(parameters_.data(), gradients_.data(), buffers_.data());
}

template <class T>
network<T>& network<T>::operator=(const network& other) {
  if (this != &other) *this = network(other);
  return *this;
}

template <class T>
network<T>::network() = default;
template <class T>
network<T>::network(network&&) noexcept = default;
template <class T>
network<T>& network<T>::operator=(network&&) noexcept = default;
template <class T>
network<T>::~network() = default;

template <class T>
void network<T>::initialise(std::uint64_t seed) {
  is_fresh_ = false;
  layers_.initialise(random(seed));
}

namespace detail {
template <class T>
void check_input(const network<T>& net, const matrix<T>& x) {
  const shape& in = net.input_shape();
  if (x.rows() != in.size())
    throw error(base::text(
        "manta: nn: the network {} takes columns of {} numbers ({}), and got a matrix of {} x {}; data are features x "
        "samples, one column a sample",
        net.describe(), in.size(), in.text(), x.rows(), x.cols()));
}
}  // namespace detail

template <class T>
const matrix<T>& network<T>::forward(const matrix<T>& x) {
  detail::check_input(*this, x);
  x_ = x;
  layers_.forward(x_, y_, pass_);
  return y_;
}

template <class T>
const matrix<T>& network<T>::forward(const matrix<T>& x, matrix<T>& state, std::span<const unsigned char> resets) {
  detail::check_input(*this, x);
  const auto columns = std::to_string(x.cols());
  if (state.rows() != state_size() || state.cols() == 0 || x.cols() % state.cols() != 0)
    throw error(base::text(
        "manta: nn: the network {} got {} columns and a state of {} x {}; the state has to be {} x samples, and the "
        "columns are whole steps of all samples",
        describe(), columns, state.rows(), state.cols(), state_size()));
  if (!resets.empty() && resets.size() != static_cast<std::size_t>(x.cols()))
    throw error(base::text("manta: nn: forward got {} columns and {} resets; there has to be one for each column",
                           columns, resets.size()));
  layers_.carry({&state, 0, resets});
  forward(x);
  layers_.carry({});
  return y_;
}

template <class T>
void network<T>::run_back(const matrix<T>& dy, const gradients_ready* ready, matrix<T>* dx) {
  if (dy.rows() != y_.rows() || dy.cols() != y_.cols())
    throw error(
        base::text("manta: nn: backward of the network {} got a gradient of {} x {}; the last forward gave {} x {}",
                   describe(), dy.rows(), dy.cols(), y_.rows(), y_.cols()));
  layers_.backward(x_, y_, dy, dx, ready);
}

template <class T>
std::string network<T>::describe() const {
  std::string s = in_.text();
  for (const spec& l : specs_) s += " -> " + l.text();
  return s + " -> " + output_shape().text();
}

template <class T>
std::string network<T>::summary() const {
  std::vector<summary_row> rows{{"input", in_.text(), 0, 0, 0}};
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const layer<T>& its = *layers_.layers()[i];
    const std::size_t parameters = size_of(its.arrays());
    const std::size_t bytes = sizeof(T) * (parameters + size_of(its.buffer_arrays()));
    rows.push_back(
        {base::text("{}  {}", i, specs_[i].text()), its.output_shape().text(), parameters, bytes, its.flops()});
  }
  return summary_table(std::move(rows));
}

namespace detail {
/// With the place of each, one after the other.
inline std::vector<named_array> placed(std::vector<parameter_array> arrays) {
  std::vector<named_array> all;
  std::size_t begin = 0;
  for (parameter_array& a : arrays) {
    const auto size = static_cast<std::size_t>(a.extents.size());
    all.push_back({std::move(a.name), std::move(a.extents), begin});
    begin += size;
  }
  return all;
}
}  // namespace detail

template <class T>
std::vector<named_array> network<T>::buffer_arrays() const {
  return detail::placed(layers_.buffer_arrays());
}
template <class T>
std::vector<named_array> network<T>::arrays() const {
  std::vector<named_array> all = detail::placed(layers_.arrays());
  for (std::size_t i = 0; i < frozen_.size(); ++i) all[i].frozen = frozen_[i] != 0;
  return all;
}

template <class T>
void network<T>::set_frozen(const std::string& pattern, bool frozen) {
  const std::vector<named_array> all = arrays();
  std::vector<unsigned char> marks(all.size());
  bool is_found = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_meant = matches(pattern, all[i].name);
    marks[i] = is_meant ? frozen : all[i].frozen;
    is_found = is_found || is_meant;
  }
  if (!is_found)
    throw error("manta: nn: no array of the network " + describe() + " has a name like '" + pattern +
                "'; the arrays are " + detail::names_of(all));
  keep_frozen(std::move(marks));
}

template <class T>
void network<T>::keep_frozen(std::vector<unsigned char> frozen) {
  if (!frozen.empty() && frozen.size() != layers_.arrays().size())
    throw error(base::text("manta: nn: the data of the network {} are damaged: {} marks of frozen arrays instead of {}",
                           describe(), frozen.size(), layers_.arrays().size()));
  if (std::ranges::none_of(frozen, [](unsigned char mark) { return mark != 0; })) frozen.clear();
  frozen_ = std::move(frozen);
  frozen_ranges_.clear();
  for (const named_array& a : arrays()) {
    if (a.frozen) frozen_ranges_.emplace_back(a.begin, a.begin + static_cast<std::size_t>(a.extents.size()));
  }
  layers_.freeze(frozen_ranges_);
  zero_gradients();
}

template <class T>
void network<T>::take(const std::vector<T>& parameters, const std::vector<T>& buffers) {
  if (parameters.size() != parameters_.size() || buffers.size() != buffers_.size())
    throw error(base::text("manta: nn: the data of the network {} are damaged: {} parameters instead of {}", describe(),
                           parameters.size(), parameters_.size()));
  is_fresh_ = false;
  std::copy(parameters.begin(), parameters.end(), parameters_.begin());
  std::copy(buffers.begin(), buffers.end(), buffers_.begin());
}

}  // namespace manta::nn
