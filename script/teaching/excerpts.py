# SPDX-License-Identifier: MIT
"""The functions of a C++ source by their names, as the pages quote them."""

import re


def function(text, name):
    """The function of this name at the left margin, with the comment above it; or None."""
    lines = text.split("\n")
    head = re.compile(rf"^(?![\s/#}}]).*(?<![\w:]){re.escape(name)}\(")
    for first, line in enumerate(lines):
        if not head.match(line):
            continue
        last = first
        while not lines[last].endswith(("{", ";")):
            last += 1
        if lines[last].endswith(";"):
            continue  # a declaration
        while lines[last] != "}":
            last += 1
        while lines[first - 1].startswith("//"):
            first -= 1
        return "\n".join(lines[first:last + 1])
    return None


def quoted(root, path, names):
    """A fenced block with these functions. A name that does not exist is an error."""
    text = (root / path).read_text(encoding="utf-8")
    parts = [function(text, name) for name in names]
    missing = [name for name, part in zip(names, parts) if part is None]
    if missing:
        raise LookupError(f"{path} has no function {', '.join(missing)}: correct the mark in the page")
    return "```cpp\n" + "\n\n".join(parts) + "\n```"
