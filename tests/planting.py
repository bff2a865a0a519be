# SPDX-License-Identifier: MIT
"""Writes faults into a source, each behind a switch.

One file with switches instead of one file for each fault, because it compiles in a fraction of the time.
"""

import re
import sys


def _place(source, text, where):
    # As whole words, so that "sweep();" is not found in "must_sweep();"; and not in a comment.
    pattern = rf"(?<![\w.>!]){re.escape(text)}" if re.match(r"\w", text) else re.escape(text)
    code = re.sub(r"//[^\n]*", lambda comment: " " * len(comment.group()), source)
    found = [match.start() for match in re.finditer(pattern, code)]
    if len(found) != 1:
        sys.exit(f"{where}: found {len(found)} times, must be once: {text!r}")
    return found[0]


def _switched(text, choices):
    if text.endswith(";"):
        faulty = "".join(f"if ({condition}) {{ {instead} }} else " for condition, instead in choices)
        return f"{faulty}{{ {text} }}"
    faulty = "".join(f"{condition} ? ({instead}) : " for condition, instead in choices)
    return f"({faulty}({text}))"


def planted(source, edits, where):
    """The source with all edits: (condition, a statement or expression found once in it, what is done instead
    where the condition is true). `where` names the faults and the source in messages."""
    choices = {}  # text: [(condition, instead)]
    for condition, text, instead in edits:
        choices.setdefault(text, []).append((condition, instead))
    end = len(source)
    for place, text in sorted(((_place(source, text, where), text) for text in choices), reverse=True):
        if place + len(text) > end:
            sys.exit(f"{where}: overlaps with another fault's text: {text!r}")
        source = source[:place] + _switched(text, choices[text]) + source[place + len(text):]
        end = place
    return source
