// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The state of a trial as bytes: how far it was and what it saved, by cereal.
// Between ranks it travels through the object store, from where it was made to
// where it is needed; on disk it is a file that is replaced at once or not at all.
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <istream>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "manta/tune/source.hpp"


namespace manta::tune {

namespace detail {
/// Writes at the end of a string.
class string_sink : public std::streambuf {
 public:
  explicit string_sink(std::string& out) : out_(out) {}

 protected:
  MANTA_DECL int_type overflow(int_type c) override;
  MANTA_DECL std::streamsize xsputn(const char* text, std::streamsize n) override;

 private:
  std::string& out_;
};
/// Reads where the bytes lie.
class view_source : public std::streambuf {
 public:
  MANTA_DECL explicit view_source(std::string_view bytes);
};
}  // namespace detail

struct checkpoint {
  std::uint64_t iteration = 0;  ///< reports made before it
  double seconds = 0;           ///< run time before it
  std::string state;

  /// Replaces the state by these values.
  template <class... T>
  void pack(const T&... values) {
    state.clear();
    detail::string_sink sink(state);
    std::ostream stream(&sink);
    cereal::BinaryOutputArchive archive(stream);
    archive(values...);
  }
  /// Fills the values, which must be of the types that were packed, in their order.
  template <class... T>
  void unpack(T&... values) const {
    detail::view_source source(state);
    std::istream stream(&source);
    cereal::BinaryInputArchive archive(stream);
    archive(values...);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(iteration, seconds, state);
  }

  MANTA_DECL void write(const std::string& path) const;
  /// Throws if the file is not there or damaged.
  MANTA_DECL static checkpoint read(const std::string& path);

 private:
  static constexpr std::uint32_t magic = 0x314b434dU;  // MCK1
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/checkpoint.ipp"
#endif
