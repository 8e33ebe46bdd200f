// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// In the compiled mode each unit that includes a header of tune refers to an object of the compiled source. Where that
// source is missing, or was compiled without JSON, the linker names this object once, and its name says what to do.
// Headers of searchers that need Eigen use source_eigen.hpp beside it.
#pragma once

#include "manta/base/config.hpp"

#ifdef MANTA_COMPILED
namespace manta::tune::detail {
extern const char compile_one_source_with_manta_src_hpp_and_nlohmann_json_for_tune;
[[gnu::used]] static const char* const needs_source = &compile_one_source_with_manta_src_hpp_and_nlohmann_json_for_tune;
}  // namespace manta::tune::detail
#endif
