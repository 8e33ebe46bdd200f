// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The state of a trial as bytes: how far it was and what it saved, by cereal.
// Between ranks it travels through the object store, from where it was made to
// where it is needed; on disk it is a file that is replaced at once or not at all.
#pragma once

#include <cereal/types/string.hpp>
#include <cstdint>
#include <string>

#include "manta/output/bytes.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

struct checkpoint {
  std::uint64_t iteration = 0;  ///< reports made before it
  double seconds = 0;           ///< run time before it
  std::string state;

  /// Replaces the state by these values.
  template <class... T>
  void pack(const T&... values) {
    state = manta::output::pack(values...);
  }
  /// Fills the values, which must be of the types that were packed, in their order.
  template <class... T>
  void unpack(T&... values) const {
    manta::output::unpack(state, values...);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(iteration, seconds, state);
  }

  MANTA_DECL void write(const std::string& path) const;
  /// Throws if the file is not there or damaged.
  MANTA_DECL static checkpoint read(const std::string& path);
  /// The file of a part of a checkpoint: of a member of a gang, or of a repeat. The first part has the name itself.
  MANTA_DECL static std::string part_of(const std::string& file, int part);

 private:
  static constexpr std::uint32_t magic = 0x314b434dU;  // MCK1
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/checkpoint.ipp"
#endif
