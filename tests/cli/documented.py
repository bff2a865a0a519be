# SPDX-License-Identifier: MIT
"""The commands that documents show, and how a test runs each of them in little time."""

import pathlib
import re
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATTERNS = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "examples/**/README*", "benchmarks/**/*.md")

_FENCE = re.compile(r"^\s*```(\S*)")
# A block without a language has commands if a line of it begins with one of these; else it is output.
_BEGINNING = re.compile(
    r"(\$ )?(joust|curl|wrk|aria2c|tar|cc|cmake|ninja|ctest|mpirun|brew|pkg|sudo|export|cd|mkdir"
    r"|[\w./-]*(script|build|examples)/\S+|run-clang-tidy\S*)( |$)"
)
_COMMENT = re.compile(r"(^|\s+)#\s.*$")

# Why a command that begins so is not run. A command is run, or one of these lines is about it.
NOT_RUN = (
    (r"(\.\./)?script/|build/mine|cd joust|cmake -B build/mine|ninja -C build/mine", "takes a build"),
    (r"cmake|ninja -C build/release|ctest|run-clang-tidy|build/release/tests/", "takes a build"),
    (r"(export .*)?brew |pkg |export CXX", "is for macOS or FreeBSD"),
    (r"sudo |apt-get ", "installs packages"),
    (r"export PATH=", "the test has a path of its own"),
    (r"mpirun |joust race --hosts .*--host ", "needs several hosts"),
    (r"examples/\w+/run", "builds servers in other languages; the test `languages` does it"),
    (r"joust advise *(#.*)?$", "asks its questions on a terminal"),
    (r"wrk ", "measures ten seconds of another program"),
)


@dataclass(frozen=True)
class Command:
    file: str
    line: int
    block: int  # the line of the fence
    text: str

    def __str__(self):
        return f"{self.file}:{self.line}: {self.text}"


def documents():
    return sorted({path for pattern in PATTERNS for path in ROOT.glob(pattern) if path.is_file()})


def commands(path):
    """All commands of the blocks of a document, in order."""
    for first, language, lines in _blocks(path):
        shell = language == "" and any(_BEGINNING.match(line.strip()) for line in lines)
        if language in ("sh", "bash", "shell", "console") or shell:
            yield from _joined(path.relative_to(ROOT).as_posix(), first, language, lines)


def races_in_text(path):
    """The races that a document names in its text, each as a block of its own."""
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        for race in re.findall(r"`(joust race [^`]*)`", line):
            if "..." not in race and not re.search(r"\b(NAME|PATH|ADDRESS)\b|\bmy-", race):
                yield Command(path.relative_to(ROOT).as_posix(), number, number, race)


def _blocks(path):
    first, language, lines = 0, "", []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        fence = _FENCE.match(line)
        if fence and first:
            yield first, language, lines
            first, lines = 0, []
        elif fence:
            first, language = number, fence.group(1)
        elif first:
            lines.append(line)


def _joined(file, first, language, lines):
    text, begin = "", 0
    for number, line in enumerate(lines, first + 1):
        if language == "console" and not text:
            if not line.startswith("$ "):
                continue
            line = line[2:]
        begin = begin or number
        text += _COMMENT.sub("", line).strip()
        if text.endswith("\\"):
            text = text[:-1]
            continue
        if text:
            yield Command(file, begin, first, text)
        text, begin = "", 0


def reason_not_to_run(text):
    for beginning, reason in NOT_RUN:
        if re.match(beginning, text):
            return reason
    return None


def is_server(text):
    return re.match(r"joust (serve|receive) (?!.*--new-token)", text) is not None


def shortened(text):
    """The command with short times, few connections and, for a race, nothing but its plan."""
    text = re.sub(r"^joust (race|advise)\b", r"joust \1 --dry-run", text)
    text = re.sub(r" --(fabric|server-cpus|client-cpus) \S+", "", text)  # of the reader's machines
    if text.startswith("joust race"):
        return re.sub(r" --hosts \S+", "", text)
    if not text.startswith("joust load"):
        return text
    if " --hosts " in text:
        return text + " --dry-run"
    text = re.sub(r" --start-at \S+", "", text)
    text = re.sub(r" -c \d{3,}", " -c 20", text)
    if re.search(r" (--try|--op|--name|--search|-m) ", text):
        return text
    return re.sub(r" -d \S+", "", text) + " -m 3"  # a number ends it on a busy machine too
