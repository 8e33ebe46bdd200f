// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Data-parallel training in a loop of one's own, inside a gang: each member runs its part of a batch, and all get
// the mean gradient.
//
//   double run(manta::team team, settings s) {
//     nn::network<float> net(...);
//     train::data_parallel ddp(team, net);         // all get the first member's parameters
//     for (...) {
//       auto [loss, dy] = nn::cross_entropy(ddp.forward(x), labels);
//       ddp.backward(dy);                          // net.gradients(): the mean over the members
//       optimizer.step(net.parameters(), net.gradients());
//     }
//   }
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/nn/module.hpp"
#include "manta/train/exchange.hpp"

namespace manta::train {

struct data_parallel_options {
  wire exchange = wire::as_is;                       ///< train::bfloat16: gradients travel in half the bytes
  std::size_t bucket_bytes = std::size_t(1) << 20U;  ///< gradients are exchanged in parts of at most this size
};

/// Refers to the module, which has to live longer. All members make the same calls in the same order; the loop's own
/// MPI calls on the team's communicator may stand between them. Under manta-run a call throws rank_lost once a member's
/// rank has died; let it leave the task, which is then started again on ranks that live. A loop that waits in MPI calls
/// of its own is not saved so: its ranks end with the dead one.
template <nn::module Module>
class data_parallel {
 public:
  using scalar = typename Module::scalar;

  /// Collective: sets the parameters to those of the first member. Throws if the members' modules differ in size.
  data_parallel(const team& members, Module& net, const data_parallel_options& o = {})
      : members_(members), net_(net), exchange_(members, o.bucket_bytes, o.exchange) {
    const std::vector<std::uint64_t> sizes = exchange_.gather(std::uint64_t{net.parameters().size()});
    const auto other = std::find_if(sizes.begin(), sizes.end(), [&](std::uint64_t n) { return n != sizes[0]; });
    if (other != sizes.end())
      throw error(
          base::text("manta: train: the members' modules have different numbers of parameters: the first one has "
                     "{}, and member {} has {}",
                     sizes[0], other - sizes.begin(), *other));
    exchange_.broadcast(net.parameters().data(), net.parameters().size_bytes());
  }

  template <class First, class... Others>
    requires(!std::is_convertible_v<const First&, team>)
  explicit data_parallel(  // manta: train: data_parallel(team, net): the team is the first parameter of a gang task
      const First&, const Others&...) = delete;

  data_parallel(const data_parallel&) = delete;
  data_parallel& operator=(const data_parallel&) = delete;
  /// After a member's death MPI may still write to the module's arrays: they are moved out of it, and stay for good.
  ~data_parallel() {
    if (exchange_.is_abandoned()) (void)new Module(std::move(net_));
  }

  const nn::matrix<scalar>& forward(const nn::matrix<scalar>& x) { return net_.forward(x); }

  /// Collective. dy: the gradient of this member's mean loss. Sets the module's gradients to the mean over the members,
  /// which is the gradient of the mean loss of all where their batches are of one size. Parts are exchanged while the
  /// backward pass goes on, or after it where that is quicker.
  void backward(const nn::matrix<scalar>& dy) {
    const std::span<scalar> gradients = net_.gradients();
    std::fill(gradients.begin(), gradients.end(), scalar(0));
    exchange_.begin(gradients);
    nn::backward(net_, dy, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) gradients[i] /= static_cast<scalar>(members_.size());
      exchange_.ready(first, last);
    });
    exchange_.finish();
  }

 private:
  team members_;
  Module& net_;
  exchange exchange_;
};

template <nn::module Module>
data_parallel(const team&, Module&, const data_parallel_options& = {}) -> data_parallel<Module>;
// For the sentence above: what other arguments seem to mean.
template <nn::module Module, class... Others>
data_parallel(const Module&, const Others&...) -> data_parallel<Module>;
template <class First, nn::module Module>
  requires(!std::is_convertible_v<const First&, team> && !nn::module<First>)
data_parallel(const First&, const Module&)
->data_parallel<Module>;

}  // namespace manta::train
