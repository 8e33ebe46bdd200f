# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
#
# Sourced by scripts/run and scripts/test: where things are, how the build folder is made, how MPI is started.
# shellcheck shell=bash

# shellcheck disable=SC2034 # used by the scripts that source this
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${MANTA_BUILD:-$root/build}
jobs=$(nproc)

# Open MPI wants to be told that root is meant.
if [[ $(id -u) -eq 0 ]]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 # Open MPI 5
fi

# In a container whose system calls are filtered, ranks may not read each other's memory, and Open MPI finds out too late.
if grep -qs '^Seccomp:[[:space:]]*[12]' /proc/self/status; then
  export OMPI_MCA_btl_vader_single_copy_mechanism=${OMPI_MCA_btl_vader_single_copy_mechanism:-none}
fi

# Precompiled headers hide from ccache what a source includes unless it is told to look closer.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}

# What meson looks at once, when it configures: the sources that are there, and whether the tests can be built.
found_here() {
  (cd "$root" && find tests examples bench -name '*.cpp' | LC_ALL=C sort)
  if echo '#include <doctest/doctest.h>' | ${CXX:-g++} -E -x c++ - -o /dev/null 2>/dev/null; then echo doctest; fi
}

# Configures $build, again where options have changed, or where what found_here prints has.
configure_build() {
  # Our own programs use the compiled mode unless MANTA_MESON_ARGS says otherwise: later options win.
  local -a options
  read -r -a options <<<"-Dcompiled=true ${MANTA_MESON_ARGS:-}"
  local stamp=$build/manta-options.txt listing=$build/manta-sources.txt
  local found
  found=$(found_here)

  if [[ ! -f $build/build.ninja ]]; then
    mkdir -p "$build"
    # A folder left by a configuration that failed is no build folder yet: start it anew.
    if [[ -d $build/meson-private ]]; then rm -rf "$build/meson-private" "$build/meson-info"; fi
    meson setup "$build" "$root" "${options[@]}"
  elif [[ -f $stamp && $(<"$stamp") != "${MANTA_MESON_ARGS:-}" ]]; then
    meson setup --wipe "$build" "$root" "${options[@]}"
  elif [[ ! -f $listing || $(<"$listing") != "$found" ]]; then
    meson setup --reconfigure "$build" "$root"
  else
    return 0
  fi
  echo "${MANTA_MESON_ARGS:-}" >"$stamp"
  echo "$found" >"$listing"
}
