#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""one_file.py PROGRAM FILE: packs a program of this folder and its modules into one executable file, as zipapp does.

Python runs such a file as it runs a script, on any machine that has Python: manta-run is copied to nodes by hand as well.
"""
import glob
import os
import sys
import zipfile


def pack(program, target):
    folder = os.path.dirname(os.path.abspath(program))
    package = os.path.basename(program).replace("-", "_")
    with open(target, "wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w") as archive:
            for name, path in [("__main__.py", program)] + [
                    (os.path.relpath(p, folder), p) for p in sorted(glob.glob(os.path.join(folder, package, "*.py")))]:
                with open(path, "rb") as part:  # without its time, so that the same parts give the same file
                    archive.writestr(zipfile.ZipInfo(name), part.read())
    os.chmod(target, 0o755)


if __name__ == "__main__":
    pack(*sys.argv[1:])
