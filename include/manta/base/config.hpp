// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The two ways to build with manta.
//
// Header-only (the default): each unit that includes a header of manta compiles what it needs.
// Compiled: MANTA_COMPILED is defined for every unit of the program, and exactly one source includes <manta/src.hpp>,
// which compiles the engine and the libraries once. The other units then see declarations and templates alone.
//
// A function that is no template is declared in a .hpp file and defined as MANTA_DECL in the .ipp file beside it. The
// .hpp file includes its .ipp file only in the header-only mode.
#pragma once

#ifdef MANTA_COMPILED
#define MANTA_DECL
#else
#define MANTA_DECL inline
#endif
