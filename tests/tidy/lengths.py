# SPDX-License-Identifier: MIT
"""Files, functions and lines short enough to be read; no trailing blanks."""

import ast

import cpp
from tree import Finding

FILE_CAP = 500
FUNCTION_CAP = 70
LINE_CAP = 110


def file_length(tree):
    for file in tree.files:
        length = file.text.count("\n")
        if file.is_source and length > FILE_CAP:
            yield Finding(file.path, length, f"{length} lines; the cap is {FILE_CAP}",
                          "Split it along what it does: one idea, one file.")


def function_length(tree):
    for file in tree.files:
        for first, last, head in _functions(file):
            if last - first + 1 > FUNCTION_CAP:
                what = f"'{head}' has {last - first + 1} lines; the cap is {FUNCTION_CAP}"
                yield Finding(file.path, first, what, "Give its parts names of their own.")


def _functions(file):
    if file.is_cpp:
        yield from cpp.functions(file.code)
    elif file.suffix == ".py":
        for node in ast.walk(ast.parse(file.text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node.lineno, node.end_lineno, node.name


def line_length(tree):
    for file in tree.files:
        if not file.is_source:
            continue
        for number, line in enumerate(file.lines, 1):
            if len(line) > LINE_CAP:
                yield Finding(file.path, number, f"{len(line)} columns; the cap is {LINE_CAP}",
                              "Break the line (clang-format -i does it for C++).")


def trailing_blanks(tree):
    for file in tree.files:
        for number, line in enumerate(file.lines, 1):
            if line != line.rstrip():
                yield Finding(file.path, number, "blanks at the end of the line",
                              "Remove them: sed -i 's/[[:blank:]]*$//' FILE")
        if file.text and not file.text.endswith("\n"):
            yield Finding(file.path, len(file.lines), "no newline at the end of the file", "Add one.")


RULES = [file_length, function_length, line_length, trailing_blanks]
