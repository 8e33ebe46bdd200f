// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of checkpoint.hpp.
#pragma once

#include <cerrno>
#include <cstring>
#include <fstream>

#include "manta/tune/append_file.hpp"
#include "manta/tune/checkpoint.hpp"
#include "manta/tune/crc32c.hpp"

namespace manta::tune {

namespace detail {

MANTA_DECL string_sink::int_type string_sink::overflow(int_type c) {
  out_ += traits_type::to_char_type(c);
  return c;
}

MANTA_DECL std::streamsize string_sink::xsputn(const char* text, std::streamsize n) {
  out_.append(text, static_cast<std::size_t>(n));
  return n;
}

MANTA_DECL view_source::view_source(std::string_view bytes) {
  char* const begin = const_cast<char*>(bytes.data());  // streambuf's get area is never written to
  setg(begin, begin, begin + bytes.size());
}

}  // namespace detail

MANTA_DECL void checkpoint::write(const std::string& path) const {
  std::string bytes;
  detail::string_sink sink(bytes);
  std::ostream stream(&sink);
  cereal::BinaryOutputArchive archive(stream);
  archive(magic, crc32c(state), *this);
  replace_file(path, bytes);
}

MANTA_DECL checkpoint checkpoint::read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw error("manta: tune: cannot read the checkpoint " + path + ": " + std::strerror(errno));
  checkpoint c;
  std::uint32_t mark = 0, sum = 0;
  try {
    cereal::BinaryInputArchive archive(in);
    archive(mark, sum, c);
  } catch (const std::exception&) {
    mark = 0;
  }
  if (mark != magic || sum != crc32c(c.state)) throw error("manta: tune: the checkpoint " + path + " is damaged");
  return c;
}

}  // namespace manta::tune
