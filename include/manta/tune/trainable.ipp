// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of trainable.hpp: the table of bodies.
#pragma once

#include "manta/base/demangle.hpp"
#include "manta/call/class_table.hpp"
#include "manta/tune/output/output.hpp"
#include "manta/tune/trainable.hpp"

namespace manta::tune::detail {

using body_maker = std::unique_ptr<body> (*)();

inline manta::detail::class_table<body_maker>& body_makers() {
  static manta::detail::class_table<body_maker> all;
  return all;
}

MANTA_DECL std::uint32_t register_body(const char* mangled, std::unique_ptr<body> (*make)()) {
  return body_makers().add(mangled, make);
}

MANTA_DECL std::string name_of(const body_name& what) { return readable_name(base::demangle(what.mangled.c_str())); }

MANTA_DECL std::unique_ptr<body> make_body(const body_name& what) {
  return body_makers().at([&] { return "the trial " + name_of(what); }, what.mangled, what.number)();
}

}  // namespace manta::tune::detail
