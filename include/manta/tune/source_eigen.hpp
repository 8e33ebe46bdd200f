// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// As source.hpp, for the searchers that need Eigen.
#pragma once

#ifdef MANTA_COMPILED
namespace manta::tune::detail {
extern const char compile_one_source_with_manta_src_hpp_and_Eigen_for_this_searcher;
[[gnu::used]] static const char* const needs_source_eigen = &compile_one_source_with_manta_src_hpp_and_Eigen_for_this_searcher;
}  // namespace manta::tune::detail
#endif
