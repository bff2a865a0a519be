# SPDX-License-Identifier: MIT
"""The functions of a C++ source by their names, as the pages quote them."""

import re
import textwrap


def function(text, name):
    """The function of this name at the left margin, or in the body of its class, with the comment above it;
    or None."""
    found = at_margin(text.split("\n"), name)
    owner, _, member = name.rpartition("::")
    if found is not None or not owner:
        return found
    body = re.search(rf"^class {owner}\b[^;]*?\{{\n(.*?)^}};", text, re.DOTALL | re.MULTILINE)
    if body is None:
        return None
    members = re.sub(r"^ \w+:\n", "", body[1], flags=re.MULTILINE)  # public, private
    return at_margin(textwrap.dedent(members).split("\n"), member)


def at_margin(lines, name):
    """The function of this name at the left margin of these lines, with the comment above it; or None."""
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
        while first > 0 and lines[first - 1].startswith(("//", "template")):
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
