// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values as bytes in memory, by cereal's binary archive.
//
//   std::string bytes = output::pack(net, optimizer);
//   output::unpack(bytes, net, optimizer);             // of the same types, in the same order
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <istream>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "manta/output/source.hpp"

namespace manta::output {

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

template <class... T>
std::string pack(const T&... values) {
  std::string bytes;
  detail::string_sink sink(bytes);
  std::ostream stream(&sink);
  cereal::BinaryOutputArchive archive(stream);
  archive(values...);
  return bytes;
}

/// Fills the values. Throws cereal::Exception if there are too few bytes.
template <class... T>
void unpack(std::string_view bytes, T&... values) {
  detail::view_source source(bytes);
  std::istream stream(&source);
  cereal::BinaryInputArchive archive(stream);
  archive(values...);
}

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/bytes.ipp"
#endif
