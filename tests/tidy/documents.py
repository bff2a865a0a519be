# SPDX-License-Identifier: MIT
"""Documents must not rot: the files and sub-commands they name must exist."""

import pathlib
import re

from tree import Finding

_FENCE = re.compile(r"^\s*(```|~~~)")
_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
_PATH = re.compile(r"\.?[\w+-][\w.+-]*(?:/[\w.+-]+)*/?")
# A file with one of these endings is one of ours, wherever a document names it.
_OURS = {".cpp", ".hpp", ".md", ".cmake"}
# What a how-to asks the reader to make is written my-..., my_... or in capitals.
_PLACEHOLDER = re.compile(r"(^|/)(my[-_.]|[A-Z_]{2,}(\.\w+)?$)|\.\.\.")


def dead_paths(tree):
    for file in tree.files:
        if file.suffix == ".md":
            for line, path, strict in _mentions(tree, file):
                if not _exists(tree, file, path, strict):
                    yield Finding(file.path, line, f"names '{path}', which does not exist",
                                  "Correct the path; a file the reader is to make is called my-... or NAME.")


def _mentions(tree, file):
    """(line, path, is it a link) of all words that claim to be a file of this repository."""
    fenced = False
    for number, line in enumerate(file.lines, 1):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if not fenced:
            for target in _LINK.findall(line):
                if "://" not in target and not target.startswith("mailto:"):
                    yield number, target, True
        words = line.split() if fenced else " ".join(re.findall(r"`([^`]+)`", line)).split()
        for word in words:
            word = word.strip("\"'()[]{},;:").rstrip(".").removeprefix("./")
            if _PATH.fullmatch(word) and not _PLACEHOLDER.search(word) and _claims(tree, word, fenced):
                yield number, word, False


def _claims(tree, word, fenced):
    first, _, rest = word.partition("/")
    if rest or word.endswith("/"):
        return first in tree.folders or f"src/{first}" in tree.folders or f"include/{first}" in tree.folders
    return not fenced and pathlib.PurePosixPath(word).suffix in _OURS


def _exists(tree, file, path, strict):
    here = pathlib.PurePosixPath(file.path).parent
    plain = path.rstrip("/")
    if strict:
        return (tree.root / here / plain).exists()
    if any((tree.root / base / plain).exists() for base in (".", here, "src", "include", "tests")):
        return True
    return "/" not in plain and any(name.endswith("/" + plain) for name in tree.names)


def dead_paths_in_comments(tree):
    layers = {name.split("/")[1] for name in tree.names if name.startswith(("src/", "include/"))}
    for file in tree.files:
        for number, line in enumerate(file.lines if file.is_cpp else [], 1):
            comment = line[line.find("//"):] if "//" in line else ""
            for path in re.findall(r"(?<![\w./-])(?:[\w-]+/)+[\w-]+\.[ch]pp\b", comment):
                if path.split("/")[0] in layers | {"src", "tests"} and not _exists(tree, file, path, False):
                    yield Finding(file.path, number, f"the comment names '{path}', which does not exist",
                                  "Correct the path.")


def sub_commands(tree):
    sources = (re.fullmatch(r"src/cli/([\w-]+)\.cpp", name) for name in tree.names)
    commands = {source.group(1) for source in sources if source} - {"main", "program"}
    for file in tree.files:
        if file.suffix != ".md":
            continue
        for number, line in enumerate(file.lines, 1):
            match = re.match(r"\s*(?:\$ )?(?:build/release/)?joust ([a-z][a-z-]*)\b", line)
            if match and match.group(1) not in commands:
                yield Finding(file.path, number, f"shows 'joust {match.group(1)}', which is no sub-command",
                              "A sub-command is a file of its name in src/cli; correct the example.")


RULES = [dead_paths, dead_paths_in_comments, sub_commands]
