// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/output/bytes.hpp"

namespace manta::output {

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

}  // namespace manta::output
