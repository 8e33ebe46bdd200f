#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
#
# manta as its users meet it. The argument names the way: each function below is one, and one test.
# Everything is compiled without optimisation, and libmanta.a only where the way needs it: the compiler's time counts.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export CXX=${MANTA_CXX:-g++}
export OMPI_CXX=$CXX # the compiler that mpicxx calls
unset DESTDIR CXXFLAGS LDFLAGS
strict=(-std=c++20 -Wall -Wextra -Wconversion -Wshadow -Wsign-conversion -Werror)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

skip() { echo "skipped: $1"; exit 77; }
start() { mpirun -n 2 --oversubscribe --bind-to none "$@"; }

# install_to PREFIX: installs manta there. By default the files come from $MANTA_BUILT, the build folder of the other tests,
# where libmanta.a has been compiled already; without it, and in the long suite, everything is configured and compiled for PREFIX.
install_to() {
  if [[ -n ${MANTA_BUILT:-} && -z ${MANTA_TEST_LONG:-} ]]; then
    meson install -C "$MANTA_BUILT" --no-rebuild --quiet --destdir "$work/staged"
    mv "$work/staged$MANTA_BUILT_PREFIX" "$1"
    sed -i "s|^prefix=.*|prefix=$1|" "$(find "$1" -name manta.pc)" "$(find "$1" -name manta-compiled.pc)"
  else
    meson setup build "$root" --prefix "$1" -Dbuildtype=plain -Dcompiled=true -Dtests=disabled -Dexamples=disabled \
      -Dbench=disabled
    meson install -C build --quiet
  fi
  if find "$1" -name '*.md' | grep .; then echo "documents must not be installed" >&2; exit 1; fi
}

# Compiler lines and a Makefile that ask pkg-config.
pkg_config() {
  install_to "$work/prefix"
  PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name manta.pc)")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
  export PKG_CONFIG_PATH
  local -a flags compiled_flags
  read -r -a flags <<<"$(pkg-config --cflags --libs manta)"
  read -r -a compiled_flags <<<"$(pkg-config --cflags --libs manta-compiled)"
  echo "pkg-config --cflags --libs manta: ${flags[*]}"
  echo "pkg-config --cflags --libs manta-compiled: ${compiled_flags[*]}"
  if grep -iE 'eigen|json' <<<"${flags[*]}"; then echo "manta.pc asks for what is optional" >&2; exit 1; fi

  # The flags may stand on either side of the source.
  mpicxx "${strict[@]}" "${flags[@]}" "$here/program.cpp" -o header_only
  start ./header_only
  ./header_only # a world of one rank
  mpicxx "${strict[@]}" "$here/probe.cpp" "${flags[@]}" -o probe
  # shellcheck disable=SC2086 # CXX is a list of words
  $CXX "${strict[@]}" "$here/probe.cpp" "${flags[@]}" -o probe

  cat >Makefile <<'END_OF_FILE'
CXXFLAGS = -std=c++20 $(shell pkg-config --cflags manta-compiled)
LDLIBS = $(shell pkg-config --libs manta-compiled)
program: program.cpp
END_OF_FILE
  cp "$here/program.cpp" .
  make CXX=mpicxx program
  start ./program

  # nvcc refuses what only g++ and clang++ know, as -pthread.
  local nvcc
  nvcc=$(command -v nvcc || ls -1 /usr/local/cuda/bin/nvcc 2>/dev/null || true)
  if [[ -n $nvcc ]]; then
    "$nvcc" -std=c++20 "$here/probe.cpp" "${compiled_flags[@]}" -o probe
  else
    echo "nvcc: skipped, there is none"
  fi
}

# cmake_project WAY MODE [cmake's options]: builds and starts cmake/CMakeLists.txt, which finds manta by that way.
cmake_project() {
  # A build type without flags.
  cmake -S "$here/cmake" -B "$1" -DWAY="$1" -DMODE="$2" -DMANTA="$root" -DCMAKE_BUILD_TYPE=Plain "${@:3}"
  cmake --build "$1"
  (cd "$1" && ctest --output-on-failure)
}

find_package() {
  command -v cmake >/dev/null || skip "there is no cmake"
  install_to "$work/prefix"
  mv "$work/prefix" "$work/moved"
  cmake_project find_package compiled -DCMAKE_PREFIX_PATH="$work/moved"
}

cmake_sources() {
  command -v cmake >/dev/null || skip "there is no cmake"
  cmake_project add_subdirectory manta
  cmake_project FetchContent core
  # A program of the core builds the engine and no library.
  local objects
  objects=$(cd FetchContent && find . -name '*.o' | grep -o 'manta_[a-z]*\.dir' | sort -u)
  [[ $objects == manta_core.dir ]] || { echo "built for a program of the core: $objects" >&2; exit 1; }
  [[ -z ${MANTA_TEST_LONG:-} ]] || cmake_project compiled_sources compiled
}

# A meson project that has manta in its subprojects folder.
subproject() {
  mkdir subprojects
  ln -s "$root" subprojects/manta
  cp "$here"/{program,probe}.cpp .
  cat >meson.build <<'END_OF_FILE'
project('consumer', 'cpp', default_options: ['cpp_std=c++20', 'buildtype=plain', 'warning_level=3', 'werror=true'])
add_project_arguments('-Wconversion', '-Wshadow', '-Wsign-conversion', language: 'cpp')
executable('probe', 'probe.cpp', dependencies: dependency('manta', fallback: 'manta'))
executable('program', 'program.cpp', dependencies: dependency('manta-compiled', fallback: 'manta'))
END_OF_FILE
  meson setup build --wrap-mode=default
  if ninja -C build -t targets all | grep -q 'subprojects/manta/.*_test'; then
    echo "as a subproject manta must not build its tests" >&2
    exit 1
  fi
  ninja -C build
  start build/program
}

# Compiler lines that name manta's include folder, and nothing that was installed.
by_hand() {
  local before=${CPATH:-}
  export CPATH=$root/include${before:+:$before}
  mpicxx -std=c++20 "$here/program.cpp" -o header_only -pthread
  start ./header_only

  export CPATH=$before
  if [[ -n ${MANTA_TEST_LONG:-} ]]; then # the library once more
    mpicxx -std=c++20 -DMANTA_COMPILED -I"$root/include" "$here/program.cpp" "$root/include/manta/src.cpp" -o compiled -pthread
    start ./compiled
  fi

  # What is missing is named: a package, or the option.
  says "install libeigen3-dev" mpicxx -std=c++20 -I"$root/include" -include manta/eigen.hpp "$here/probe.cpp"
  says "compile with -std=c++20" mpicxx -std=c++17 -I"$root/include" "$here/program.cpp"
}

# Programs that are compiled with -march beside a library that is not: they work, or the linker says what to do.
march() {
  echo '#include <Eigen/Core>' | mpicxx -x c++ -fsyntax-only - $(pkg-config --cflags eigen3) 2>/dev/null || skip "there is no Eigen"
  install_to "$work/prefix"
  PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name manta.pc)")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
  export PKG_CONFIG_PATH
  local -a flags tried=(x86-64-v3 x86-64-v4)
  [[ -z ${MANTA_TEST_LONG:-} ]] || tried+=(native)
  read -r -a flags <<<"$(pkg-config --cflags --libs manta-compiled eigen3)"
  for kind in "${tried[@]}"; do
    if mpicxx -std=c++20 "-march=$kind" "$here/network.cpp" "${flags[@]}" -o network 2>log; then
      ./network
    elif ! grep -q compile_libmanta_and_all_of_this_program_with_the_same_march log || (($(wc -l <log) > 15)); then
      printf 'with -march=%s the linker should say what to do, but says:\n%s\n' "$kind" "$(<log)" >&2
      exit 1
    fi
  done
  if [[ -n ${MANTA_TEST_LONG:-} ]]; then # both with it
    meson setup native "$root" --prefix "$work/native-prefix" -Dbuildtype=plain -Dcpp_args=-march=native -Dcompiled=true \
      -Dtests=disabled -Dexamples=disabled -Dbench=disabled
    meson install -C native --quiet
    PKG_CONFIG_PATH=$(dirname "$(find "$work/native-prefix" -name manta.pc)") \
      bash -c 'mpicxx -std=c++20 -march=native "$1" $(pkg-config --cflags --libs manta-compiled eigen3) -o network' _ "$here/network.cpp"
    ./network
  fi
}

# says SENTENCE COMMAND...: the command fails, and the sentence stands in its output of a few lines.
says() {
  local sentence=$1 output
  shift
  if output=$(env -u CPATH "$@" -fsyntax-only 2>&1) || ! grep -qi -- "$sentence" <<<"$output" || (($(wc -l <<<"$output") > 20)); then
    printf '%s\nshould fail with "%s", but says:\n%s\n' "$*" "$sentence" "$output" >&2
    exit 1
  fi
}

"$1"
