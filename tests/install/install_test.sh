#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
#
# manta as its users meet it: installed and found by pkg-config; as a meson subproject.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
if [[ ! -f $root/include/manta/manta.hpp ]]; then echo "there is no manta.hpp yet"; exit 77; fi
read -r -a cxx <<<"${MANTA_CXX:-g++}"
export CXX=${MANTA_CXX:-g++}
unset DESTDIR CXXFLAGS

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
warnings=(-Wall -Wextra -Wconversion -Wshadow -Wsign-conversion -Werror)

start() { mpirun -n 2 --oversubscribe --bind-to none "$1" && "$1"; }  # on two ranks, and alone

# What others do when they install it.
meson setup "$work/build" "$root" --prefix "$work/prefix" --libdir lib -Dtests=disabled -Dexamples=disabled -Dbench=disabled
meson install -C "$work/build" --quiet
if find "$work/prefix" -name '*.md' | grep .; then echo "documents must not be installed" >&2; exit 1; fi
export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
read -r -a flags <<<"$(pkg-config --cflags --libs manta)"
echo "pkg-config --cflags --libs manta: ${flags[*]}"
"${cxx[@]}" -std=c++20 "${warnings[@]}" "$here/program.cpp" -o "$work/installed" "${flags[@]}"
start "$work/installed"
echo "installed: passed"

# What a project does that has manta in its subprojects folder.
unset PKG_CONFIG_PATH
mkdir -p "$work/consumer/subprojects"
ln -s "$root" "$work/consumer/subprojects/manta"
cp "$here/program.cpp" "$work/consumer/"
cat >"$work/consumer/meson.build" <<'END'
project('consumer', 'cpp', default_options: ['cpp_std=c++20', 'warning_level=3', 'werror=true'])
add_project_arguments('-Wconversion', '-Wshadow', '-Wsign-conversion', language: 'cpp')
executable('program', 'program.cpp', dependencies: dependency('manta', fallback: 'manta'))
END
meson setup "$work/consumer/build" "$work/consumer" --wrap-mode=default
if ninja -C "$work/consumer/build" -t targets all | grep -q 'subprojects/manta/.*_test'; then
  echo "as a subproject manta must not build its tests" >&2
  exit 1
fi
ninja -C "$work/consumer/build"
start "$work/consumer/build/program"
echo "subproject: passed"
