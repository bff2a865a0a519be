# SPDX-License-Identifier: MIT
"""Writes the template engine with all faults in it, each behind a switch: plant.py TEMPLATE OUTPUT"""

import pathlib
import sys

from faults import FAULTS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from planting import planted


def main(template, output):
    # Fault number n, from 1 on, shows where is_planted(n) is true.
    edits = [(f"is_planted({number})", text, instead)
             for number, fault in enumerate(FAULTS, 1) for text, instead in fault.edits]
    source = planted(pathlib.Path(template).read_text(encoding="utf-8"), edits,
                     "tests/mutants/faults.py, the template")
    source = source.replace('#include "engines/template.hpp"',
                            '#include "mutants/is_planted.hpp"\n#include "engines/template.hpp"', 1)
    source = source.replace("const Engine& template_engine()", "const Engine& planted_engine()", 1)
    pathlib.Path(output).write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
