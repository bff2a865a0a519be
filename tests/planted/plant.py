# SPDX-License-Identifier: MIT
"""Writes copies of the sources that get faults, with all their faults, each behind a switch.

plant.py --list            the names of these sources, below src/
plant.py SOURCES FOLDER    writes FOLDER/NAME for each
"""

import pathlib
import sys

from faults import FAULTS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from planting import planted


def edits_by_file():
    """{file: [(condition, text, instead)]}"""
    edits = {}
    for fault in FAULTS:
        for file, text, instead in fault.edits:
            edits.setdefault(file, []).append((f'is_planted("{fault.name}")', text, instead))
    return edits


def main(sources, folder):
    for file, edits in edits_by_file().items():
        source = pathlib.Path(sources, file).read_text(encoding="utf-8")
        copy = pathlib.Path(folder, file)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text('#include "planted/is_planted.hpp"\n' +
                        planted(source, edits, f"tests/planted/faults.py, src/{file}"), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print(";".join(edits_by_file()), end="")
    else:
        main(*sys.argv[1:])
