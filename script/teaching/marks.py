# SPDX-License-Identifier: MIT
"""The generated blocks of a page. Each is a fenced block below a mark: <!-- KIND WORDS... -->"""

import re

_MARK = re.compile(r"^(<!-- (code|trace|flame) (.+?) -->)\n(```.*?\n```\n|)", re.MULTILINE | re.DOTALL)


def filled(text, kind, make):
    """The text with the blocks of a kind made anew by make(words)."""
    def block(match):
        if match.group(2) != kind:
            return match.group()
        return f"{match.group(1)}\n{make(match.group(3).split())}\n"
    return _MARK.sub(block, text)


def words_of(text, kind):
    return [match.group(3).split() for match in _MARK.finditer(text) if match.group(2) == kind]
