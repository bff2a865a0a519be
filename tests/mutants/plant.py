# SPDX-License-Identifier: MIT
"""Writes the template engine with all faults in it, each behind a switch: plant.py TEMPLATE OUTPUT

One file with switches instead of one file for each fault, because it compiles in a fraction of the time.
"""

import pathlib
import re
import sys

from faults import FAULTS


def _place(source, text):
    # As whole words, so that "sweep();" is not found in "must_sweep();"; and not in a comment.
    pattern = rf"(?<![\w.>!]){re.escape(text)}" if re.match(r"\w", text) else re.escape(text)
    code = re.sub(r"//[^\n]*", lambda comment: " " * len(comment.group()), source)
    found = [match.start() for match in re.finditer(pattern, code)]
    if len(found) != 1:
        sys.exit(f"tests/mutants/faults.py: found {len(found)} times in the template, must be once: {text!r}")
    return found[0]


def _switched(text, choices):
    if text.endswith(";"):
        return "".join(f"if (is_planted({n})) {{ {instead} }} else " for n, instead in choices) + f"{{ {text} }}"
    return "(" + "".join(f"is_planted({n}) ? ({instead}) : " for n, instead in choices) + f"({text}))"


def planted(source):
    """The source with all faults; fault number n, from 1 on, shows where is_planted(n) is true."""
    choices = {}  # text: [(number, instead)]
    for number, fault in enumerate(FAULTS, 1):
        for text, instead in fault.edits:
            choices.setdefault(text, []).append((number, instead))
    end = len(source)
    for place, text in sorted(((_place(source, text), text) for text in choices), reverse=True):
        if place + len(text) > end:
            sys.exit(f"tests/mutants/faults.py: overlaps with another fault's text: {text!r}")
        source = source[:place] + _switched(text, choices[text]) + source[place + len(text):]
        end = place
    return source


def main(template, output):
    source = planted(pathlib.Path(template).read_text(encoding="utf-8"))
    source = source.replace('#include "engines/template.hpp"',
                            '#include "mutants/is_planted.hpp"\n#include "engines/template.hpp"', 1)
    source = source.replace("const Engine& template_engine()", "const Engine& planted_engine()", 1)
    pathlib.Path(output).write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
