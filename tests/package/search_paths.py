# SPDX-License-Identifier: MIT
"""Where programs and modules look for their libraries: never in the current directory.

search_paths.py FILE_OR_FOLDER...

To the loader an empty or a relative entry of RUNPATH is the current directory, where a stranger may have put
a library of that name.
"""

import contextlib
import os
import pathlib
import re
import subprocess
import sys

ENTRY = re.compile(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]")


def is_loaded(path):
    """True for a program or a shared library. (In the header of an object file the type is 1.)"""
    if path.is_symlink() or not path.is_file():
        return False
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        head = file.read(18)
        return len(head) == 18 and head[:4] == b"\x7fELF" and head[16] in (2, 3)
    return False


def all_files(place):
    """Other tests may make and remove files meanwhile, which os.walk() forgives."""
    if os.path.isfile(place):
        return [pathlib.Path(place)]
    return [pathlib.Path(inside, name) for inside, _, names in os.walk(place) for name in names]


def main(places):
    files = [path for place in places for path in all_files(place) if is_loaded(path)]
    if not files:
        sys.exit(f"no program in {places}")
    wrong = 0
    for path in files:
        asked = ["readelf", "--dynamic", "--wide", path]
        told = subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True).stdout
        for paths in ENTRY.findall(told):
            if not all(entry.startswith(("/", "$ORIGIN")) for entry in paths.split(":")):
                wrong += 1
                print(f"{path} looks for libraries in the current directory: [{paths}]")
    print(f"{len(files)} programs and libraries, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
