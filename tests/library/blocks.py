# SPDX-License-Identifier: MIT
"""Writes the C++ blocks of a document as files: each begins with a comment that names its file.

    blocks.py DOCUMENT DIRECTORY

Prints the names of the programs (those that have a main) for CMake, separated by semicolons.
"""

import pathlib
import re
import sys


def blocks(text):
    """(file name, contents) of every block marked cpp."""
    for block in re.findall(r"^```cpp\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        name = re.match(r"// (\w+\.[ch]pp)\n", block)
        if not name:
            sys.exit(f"a C++ block must begin with a comment that names its file:\n{block}")
        yield name.group(1), block


def main(document, directory):
    folder = pathlib.Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    programs = []
    for name, contents in blocks(pathlib.Path(document).read_text(encoding="utf-8")):
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != contents:
            file.write_text(contents, encoding="utf-8")  # what has not changed is not compiled again
        if name.endswith(".cpp"):
            programs.append(file.stem)
    print(";".join(programs), end="")


main(*sys.argv[1:])
