// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Layers as the nodes of a graph (nn/graph.hpp), which run in the order in which they were added, and back.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/nn/graph_shapes.hpp"
#include "manta/nn/layer/chain.hpp"

namespace manta::nn::detail {

template <class T>
class graph_layer final : public layer<T> {
 public:
  graph_layer(const spec& s, const shape& in) : graph_layer(nodes_of(s), s.parts.back(), in) {
    if (inputs_ != in.size())
      throw error(base::text("its inputs have {} numbers together; there have to be {}", inputs_, in.size()));
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<graph_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override { return named(&chain<T>::arrays); }
  [[nodiscard]] std::vector<parameter_array> buffer_arrays() const override { return named(&chain<T>::buffer_arrays); }
  [[nodiscard]] double flops() const override {
    double all = 0;
    for (const node& n : nodes_) all += n.is_layer() ? n.layers.flops() : n.extents.size();
    return all;
  }
  void bind(T* parameters, T* gradients, T* buffers) override {
    for (node& n : nodes_) {
      n.layers.bind(parameters + n.begin, gradients + n.begin, buffers);
      buffers += size_of(n.layers.buffer_arrays());
    }
  }
  [[nodiscard]] bool draws() const override { return true; }
  void initialise(const random& numbers) override {
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].layers.initialise(random(numbers.bits(i)));
  }
  void lengths(std::span<const int> all) override {
    for (node& n : nodes_) n.layers.lengths(all);
  }
  void check_lengths(int length) const override {
    for (const node& n : nodes_) n.layers.check_lengths(length);
  }
  void freeze(const std::vector<parameter_range_in_layer>& all) override {
    for (node& n : nodes_) n.layers.freeze(part_of(all, n.begin, n.begin + n.layers.size()));
  }
  [[nodiscard]] int state_size() const override {
    int size = 0;
    for (const node& n : nodes_) size += n.layers.state_size();
    return size;
  }
  void carry(const carried<T>& c) override {
    carried<T> its = c;
    for (node& n : nodes_) {
      n.layers.carry(its);
      its.first_row += n.layers.state_size();
    }
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass& p) override {
    pass own = p;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      node& n = nodes_[i];
      own.seed = random(p.seed, i).bits(0);
      if (n.is_layer()) {
        n.layers.forward(nodes_[n.from[0]].y, n.y, own);
      } else if (n.kind == "input") {
        n.y = x.middleRows(n.first_row, n.extents.size());
      } else if (n.kind == "sum") {
        n.y = nodes_[n.from[0]].y;
        for (std::size_t k = 1; k < n.from.size(); ++k) n.y += nodes_[n.from[k]].y;
      } else {
        join(n);
      }
    }
    y.resize(this->output_shape().size(), x.cols());
    Eigen::Index row = 0;
    for (const std::size_t o : outputs_) {
      y.middleRows(row, nodes_[o].y.rows()) = nodes_[o].y;
      row += nodes_[o].y.rows();
    }
  }

  void backward(const matrix<T>&, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    run_back(dy, dx, nullptr);
  }
  [[nodiscard]] bool has_parts() const override { return size() > 0; }
  void backward_in_parts(const matrix<T>&, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx,
                         const gradients_ready& ready) override {
    run_back(dy, dx, &ready);
  }

  [[nodiscard]] bool sums_over_workers() const override {
    return std::ranges::any_of(nodes_, [](const node& n) { return n.layers.sums_over_workers(); });
  }
  void forward_without_samples(const pass& p) override {
    for (node& n : nodes_) n.layers.forward_without_samples(p);
  }
  void backward_without_samples(bool wants_dx, const gradients_ready* ready) override {
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      node& n = nodes_[i];
      if (!n.is_layer()) continue;
      const gradients_ready its = shifted(n, ready);
      n.layers.backward_without_samples(wants_dx || nodes_[n.from[0]].trains, ready ? &its : nullptr);
    }
  }

 private:
  struct node {
    std::string kind;  ///< "input", "concat", "sum"; else the name of a node of layers
    std::vector<std::size_t> from = {};
    chain<T> layers = {};
    shape extents = {};
    std::size_t begin = 0;       ///< where its parameters begin
    Eigen::Index first_row = 0;  ///< first row of an input, in x
    bool trains = false;         ///< it, or a node before it, has parameters
    bool has_gradient = false;   ///< dy has been set in the backward pass under way
    matrix<T> y = {}, dy = {}, part = {};
    [[nodiscard]] bool is_layer() const { return is_named(kind); }
  };

  graph_layer(std::vector<node> nodes, const spec& outputs, const shape& in)
      : layer<T>(in, shape_of(nodes, outputs)), nodes_(std::move(nodes)) {
    for (const int o : outputs.sizes) outputs_.push_back(static_cast<std::size_t>(o));
    for (node& n : nodes_) {
      if (n.kind != "input") continue;
      n.first_row = inputs_;
      inputs_ += n.extents.size();
    }
  }

  static std::vector<node> nodes_of(const spec& s) {
    std::vector<node> all;
    std::vector<shape> shapes;
    std::size_t begin = 0;
    check_graph(s);
    for (std::size_t i = 0; i + 1 < s.parts.size(); ++i) {
      const spec& one = s.parts[i];
      node n{.kind = one.kind, .begin = begin};
      if (n.is_layer()) {
        n.from = {static_cast<std::size_t>(one.sizes[0])};
        n.layers = chain<T>(shapes[n.from[0]], one.parts, "the node '" + one.kind + "'");
        n.extents = n.layers.output_shape();
      } else {
        if (one.kind != "input") n.from.assign(one.sizes.begin(), one.sizes.end());
        n.extents = joined_shape(one, shapes);
      }
      n.trains = n.layers.size() > 0;
      for (const std::size_t f : n.from) n.trains = n.trains || all[f].trains;
      begin += n.layers.size();
      shapes.push_back(n.extents);
      all.push_back(std::move(n));
    }
    return all;
  }
  /// Several outputs are one vector.
  static shape shape_of(const std::vector<node>& nodes, const spec& outputs) {
    if (outputs.sizes.size() == 1) return nodes[static_cast<std::size_t>(outputs.sizes[0])].extents;
    int size = 0;
    for (const int o : outputs.sizes) size += nodes[static_cast<std::size_t>(o)].extents.size();
    return shape{size};
  }

  [[nodiscard]] std::size_t size() const { return nodes_.back().begin + nodes_.back().layers.size(); }

  /// The numbers of a matrix that belong together: those of a position of a sequence, or of a sample.
  static Eigen::Map<matrix<T>> columns(matrix<T>& m, const shape& extents) {
    const Eigen::Index rows = extents.dimensions() == 2 ? extents[1] : extents.size();
    return {m.data(), rows, m.size() / rows};
  }
  void join(node& n) {
    n.y.resize(n.extents.size(), nodes_[n.from[0]].y.cols());
    auto to = columns(n.y, n.extents);
    Eigen::Index row = 0;
    for (const std::size_t f : n.from) {
      const auto part = columns(nodes_[f].y, nodes_[f].extents);
      to.middleRows(row, part.rows()) = part;
      row += part.rows();
    }
  }
  void divide(node& n, bool wants_dx) {
    const auto all = columns(n.dy, n.extents);
    Eigen::Index row = 0;
    for (const std::size_t f : n.from) {
      node& to = nodes_[f];
      const Eigen::Index rows = columns(to.y, to.extents).rows();
      if (wants_dx || to.trains) {
        n.part.resize(to.y.rows(), to.y.cols());
        columns(n.part, to.extents) = all.middleRows(row, rows);
        add(to, n.part);
      }
      row += rows;
    }
  }
  static void add(node& to, const matrix<T>& gradient) {
    if (std::exchange(to.has_gradient, true)) {
      to.dy += gradient;
    } else {
      to.dy = gradient;
    }
  }

  static gradients_ready shifted(const node& n, const gradients_ready* ready) {
    if (!ready) return {};
    return [ready, begin = n.begin](std::size_t first, std::size_t last) { (*ready)(begin + first, begin + last); };
  }
  void run_back(const matrix<T>& dy, matrix<T>* dx, const gradients_ready* ready) {
    for (node& n : nodes_) n.has_gradient = false;
    Eigen::Index row = 0;
    for (const std::size_t o : outputs_) {
      add(nodes_[o], dy.middleRows(row, nodes_[o].y.rows()));
      row += nodes_[o].y.rows();
    }
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      node& n = nodes_[i];
      if (!n.has_gradient) continue;
      if (n.is_layer()) {
        node& from = nodes_[n.from[0]];
        const bool asks = dx || from.trains, is_first = asks && !from.has_gradient;
        const gradients_ready its = shifted(n, ready);
        matrix<T>* const to = !asks ? nullptr : is_first ? &from.dy : &n.part;
        n.layers.backward(from.y, n.y, n.dy, to, ready ? &its : nullptr);
        if (asks && !is_first) from.dy += n.part;
        from.has_gradient = from.has_gradient || asks;
      } else if (n.kind == "sum") {
        for (const std::size_t f : n.from) {
          if (dx || nodes_[f].trains) add(nodes_[f], n.dy);
        }
      } else if (n.kind == "concat") {
        divide(n, dx);
      }
    }
    if (!dx) return;
    dx->resize(inputs_, dy.cols());
    for (const node& n : nodes_) {
      if (n.kind == "input") dx->middleRows(n.first_row, n.extents.size()) = n.dy;
    }
  }

  [[nodiscard]] std::vector<parameter_array> named(std::vector<parameter_array> (chain<T>::*which)() const) const {
    std::vector<parameter_array> all;
    for (const node& n : nodes_) {
      for (parameter_array& a : (n.layers.*which)()) {
        // A node is one layer: its number in the chain says nothing.
        all.push_back({n.kind + a.name.substr(a.name.find('.')), std::move(a.extents)});
      }
    }
    return all;
  }

  std::vector<node> nodes_;
  std::vector<std::size_t> outputs_;
  Eigen::Index inputs_ = 0;  ///< numbers of all inputs
};

}  // namespace manta::nn::detail
