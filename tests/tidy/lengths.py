# SPDX-License-Identifier: MIT
"""Files, functions and lines short enough to be read; no trailing blanks."""

import ast

import cpp
from tree import Finding

FILE_CAP = 500
FUNCTION_CAP = 70
LINE_CAP = 110
WANTED = 450

# Headers that one file includes, or the folder of such, and why they stand alone all the same.
ALONE = {
    "base/": "what systems differ in, below all rooms",
    "cli/load/": "the parts of one command, each with the options that it has",
    "engines/io_uring/": "files that only a build with liburing has",
    "engines/kqueue.hpp": "the poller of an engine's page, and a pool that waits with it",
    "engines/pool/": "a page for who may use a peer, and one for the tasks of workers",
    "engines/select.hpp": "the poller of an engine's page, and an engine that waits with it",
    "hosting/timer_slack.hpp": "what systems differ in",
    "load/request_writer.hpp": "its user would be too long",
    "report/search_report.hpp": "what a report says is made in its room",
    "secure/": "duties of a secret's life, each to be read alone",
}


def file_length(tree):
    for file in tree.files:
        length = file.text.count("\n")
        if file.is_source and length > FILE_CAP:
            yield Finding(file.path, length, f"{length} lines; the cap is {FILE_CAP}",
                          "Split it along what it does: one idea, one file.")


def lonely_headers(tree):
    """A class or function that one file uses stands in that file."""
    sources = {file.path.removeprefix("src/"): file for file in tree.files if file.is_cpp}
    users = {}
    for path, file in sources.items():
        for _, kind, header in cpp.includes(file.text):
            if kind == '"' and header != path.removesuffix(".cpp") + ".hpp":
                users.setdefault(header, set()).add(path)
    for header, of in sorted(users.items()):
        if len(of) > 1 or header not in sources or header.startswith("joust/"):
            continue
        parts = [header, header.removesuffix(".hpp") + ".cpp", *of]
        length = sum(sources[part].text.count("\n") for part in parts if part in sources)
        if length <= WANTED and not any(header.startswith(alone) for alone in ALONE):
            yield Finding(sources[header].path, 1, f"only {next(iter(of))} includes it, and both are short",
                          "Put it there, or say in ALONE of tests/tidy/lengths.py why it stands alone.")


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


RULES = [file_length, lonely_headers, function_length, line_length, trailing_blanks]
