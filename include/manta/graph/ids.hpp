// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The numbers by which ranks, nodes, slots of actors, functions and types are named, here and on the wire, each as a
// type of its own. Plain numbers become ids, and ids become plain numbers. An id of one kind never becomes an id of
// another kind, so the compiler finds arguments in the wrong order. An id is passed as cheaply as a number. In nodes,
// tasks and messages, which are copied as they lie in memory, the same numbers are plain.
#pragma once

#include <cstdint>
#include <type_traits>

namespace manta::graph {

template <class Kind>
class id {
 public:
  id() = default;  ///< Not set, as a plain number without a value.
  constexpr id(std::uint32_t number) : number_(number) {}
  constexpr operator std::uint32_t() const { return number_; }
  constexpr std::uint32_t number() const { return number_; }

 private:
  std::uint32_t number_;
};

template <class A, class B>
  requires(!std::is_same_v<A, B>)
bool operator==(id<A>, id<B>) = delete;  ///< Two ids of different kinds are neither equal nor different.

using rank_id = id<struct kind_of_ranks>;          ///< A rank of the world.
using node_index = id<struct kind_of_nodes>;       ///< A node in the table of one rank.
using slot_index = id<struct kind_of_slots>;       ///< An actor among those that live on one rank.
using function_id = id<struct kind_of_functions>;  ///< A function in the table of the program.
using type_id = id<struct kind_of_types>;          ///< A type of values in the table of the program.

/// No node, slot, function or type; no rank.
inline constexpr std::uint32_t no_index = 0xffffffff;

}  // namespace manta::graph
