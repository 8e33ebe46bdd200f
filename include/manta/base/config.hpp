// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The compiler's abilities that manta needs, and the two ways to build with manta.
//
// Where the compiler's language is too old, this header includes a file that does not exist and whose name is the error
// message: a compiler stops there, whereas after an #error it goes on and complains about all that follows.
//
// Header-only (the default): each unit that includes a header of manta compiles what it needs.
// Compiled: MANTA_COMPILED is defined for every unit of the program, and exactly one source includes <manta/src.hpp>,
// which compiles the engine and the libraries once. The other units then see declarations and templates alone.
//
// A function that is no template is declared in a .hpp file and defined as MANTA_DECL in the .ipp file beside it; the
// .hpp file includes the .ipp file only in the header-only mode. Where users' units call such a function, its
// declaration has MANTA_DECL too. The reference is then weak, so a program without the source lacks only one symbol,
// and the name of that symbol says what to do (see MANTA_REQUIRES_SOURCE).
#pragma once

#include "manta/base/version.hpp"

#if __cplusplus < 202002L
#include "manta needs C++20: compile with -std=c++20"
#elif !defined(__cpp_exceptions)
#include "manta needs exceptions: compile without -fno-exceptions"
#elif !defined(__cpp_rtti)
#include "manta needs the types of objects at run time: compile without -fno-rtti"
#endif

#if !defined(MANTA_COMPILED)
#define MANTA_DECL inline
#elif defined(MANTA_SOURCE)
#define MANTA_DECL
#else
#define MANTA_DECL __attribute__((weak))
#endif

/// Stands in a header, inside a namespace. In the compiled mode each unit that includes the header refers to `symbol`,
/// which MANTA_PROVIDES_SOURCE defines in the compiled source. If the source is missing, the linker prints this name.
#if defined(MANTA_COMPILED) && !defined(MANTA_SOURCE)
#define MANTA_REQUIRES_SOURCE(symbol) \
  extern const char symbol;           \
  [[gnu::used]] static const char* const refers_to_##symbol = &symbol
#else
#define MANTA_REQUIRES_SOURCE(symbol) extern const char symbol
#endif
#define MANTA_PROVIDES_SOURCE(symbol) extern const char symbol = 0

/// What the linker prints: the version too, for a program may find headers of one version and the library of another.
/// The standard library's containers have another layout with _GLIBCXX_DEBUG, so that the compiled source and all other
/// units have it, or none of them.
#if defined(_GLIBCXX_DEBUG)
#define MANTA_MISSING_SOURCE_OF(version) \
  one_source_of_this_program_has_to_include_manta_src_hpp_with__GLIBCXX_DEBUG_or_link_libmanta_of_version_##version
#else
#define MANTA_MISSING_SOURCE_OF(version) \
  one_source_of_this_program_has_to_include_manta_src_hpp_or_link_libmanta_of_version_##version
#endif
#define MANTA_MISSING_SOURCE_IN_FULL(version) MANTA_MISSING_SOURCE_OF(version)
#define MANTA_MISSING_SOURCE MANTA_MISSING_SOURCE_IN_FULL(MANTA_VERSION)

namespace manta {

MANTA_REQUIRES_SOURCE(MANTA_MISSING_SOURCE);

namespace detail {
/// Name of a unit that was compiled in the header-only mode; null: there is none. The engine of the compiled mode
/// refuses to start in a program with such a unit (see exec/engine.ipp).
#if defined(MANTA_COMPILED)
extern const char* header_only_unit;
#else
__attribute__((weak)) const char* header_only_unit = nullptr;
[[gnu::used]] static const char* const this_unit = header_only_unit = __BASE_FILE__;
#endif
}  // namespace detail

}  // namespace manta
