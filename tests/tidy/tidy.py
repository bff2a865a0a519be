# SPDX-License-Identifier: MIT
"""Checks the rules a machine can check. Usage: python3 tests/tidy/tidy.py [ROOT]"""

import pathlib
import sys

import classes
import documents
import layers
import lengths
import newcomer
import unity
import words
from tree import Tree

RULES = (lengths.RULES + classes.RULES + layers.RULES + words.RULES + documents.RULES
         + newcomer.RULES + unity.RULES)


def findings(root, rules=None):
    tree = Tree(root)
    return [finding for rule in rules or RULES for finding in rule(tree)]


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    found = findings(root)
    for finding in found:
        print(finding)
    files = len(Tree(root).files)
    if files == 0:
        sys.exit(f"tidy: no files below {root}")
    print(f"tidy: {len(RULES)} rules, {files} files, {len(found)} findings")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
