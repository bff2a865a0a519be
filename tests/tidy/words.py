# SPDX-License-Identifier: MIT
"""Calls and words that have no place here, each with what to use instead."""

import re
from dataclasses import dataclass

import cpp
from tree import Finding


@dataclass(frozen=True)
class Banned:
    name: str
    pattern: str
    remedy: str
    places: tuple = ("src/", "include/", "examples/", "tests/")
    but_not: tuple = ()


_FREE = r"(?<![\w.>])"  # not a member of the same name
BANNED = [
    Banned("unbounded copy", _FREE + r"(strcpy|strcat|v?sprintf|gets|strtok)\s*\(",
           "Use std::string, fmt::format or fmt::format_to_n: they know the size."),
    Banned("system()", _FREE + r"(system|popen)\s*\(",
           "Start the program itself (posix_spawn, exec): no shell."),
    Banned("FD_SET", r"\bFD_(SET|CLR|ZERO|ISSET)\b",
           "fd_set ends at descriptor 1023 and FD_SET writes past it; use own bitmaps."),
    Banned("rand()", _FREE + r"s?rand\s*\(",
           "Use a std::mt19937_64 whose seed is printed: races must be repeatable."),
    Banned("sleep", _FREE + r"((std::)?this_thread::sleep_(for|until)|u?sleep|nanosleep)\s*\(\s*[^\s)]",
           "Wait for the event itself, with a deadline; a needed pause is listed in EXCEPTIONS.",
           places=("src/", "include/", "examples/")),
    Banned("std::endl", r"\bstd::endl\b", r"Write '\n'; flush where it matters."),
    Banned("signal()", _FREE + r"(std::)?signal\s*\(",
           "Use sigaction, signalfd or a blocked mask: signal() is undefined in threaded programs."),
    Banned("exit()", _FREE + r"(std::|::)?(quick_)?exit\s*\(",
           "Return or throw; only the command line ends the program. (A forked child uses _exit.)",
           places=("src/", "include/", "examples/"), but_not=("src/cli/",)),
    Banned("using namespace std", r"\busing\s+namespace\s+std\s*;", "Name what is used: std::string."),
    Banned("shared temporary folder", r"\btesting::TempDir\b|\btemp_directory_path\b",
           "Tests run at the same time: use TemporaryFolder (tests/temporary_folder.hpp).",
           places=("tests/",), but_not=("tests/temporary_folder.hpp",)),
    Banned("atoi", _FREE + r"(std::)?(atoi|atol|atoll|atof|strto[lfdu]\w*)\s*\(",
           "Use std::from_chars or base/units.hpp: they tell an error from a zero."),
]

# (name, file): why this one is right.
EXCEPTIONS = {
    ("sleep", "src/cli/load/conducting.cpp"): "the start is at a time",
    ("sleep", "src/hosts/relay/main.cpp"): "MPI waits only by taking a whole CPU",
    ("sleep", "src/hosts/relay/worker.cpp"): "an end that is awaited for a limited time has no descriptor",
    ("sleep", "src/doctor/facts.cpp"): "others are watched while this process does nothing",
    ("sleep", "src/engines/loop/loops.cpp"): "the kernel tells nobody when it has memory again",
    ("sleep", "src/files/transfer/get.cpp"): "nobody is told when the disk has a directory",
    ("sleep", "src/history/store.cpp"): "flock() has no time limit",
    ("sleep", "src/net/listener.cpp"): "nobody is told when a killed process has let go of its port",
    ("sleep", "src/race/trial/local_sides.cpp"): "nobody is told when a server has forked for all",
    ("sleep", "src/race/trial/process_family.cpp"): "nobody is told when a grandchild stops or ends",
    ("sleep", "src/race/hosts/agent.cpp"): "a turn begins at a time that all hosts agreed on",
    ("sleep", "src/race/trial/surroundings.cpp"): "nobody is told when a process has nothing to do",
    ("sleep", "src/race/trial/child.cpp"): "a pidfd does not tell of stops, and SIGCHLD is the program's",
}


# What a comment must not begin with: such a sentence has no subject.
_RIDDLE = re.compile(r"//[/!]? (Of|That of|Those|Whoever|Likewise|What)\b")


def plain_comments(tree):
    for file in tree.files:
        if not file.is_cpp or not file.path.startswith(("src/", "include/")):
            continue
        for number, line in enumerate(file.text.splitlines(), 1):
            if found := _RIDDLE.search(line):
                yield Finding(file.path, number, f"a comment begins with '{found[1]}'",
                              "Begin with a verb or a noun of the field: 'Returns ...', 'The window of ...'.")


_TYPE = re.compile(r"(?:template <.*> )?(?:struct|class|union|enum(?: class)?) (\w+)(?: final)? ?"
                   r"(?::[^:{][^{]*)?\{")


def one_type_one_name(tree):
    """Two types of one name in one namespace break the one-definition rule, and no compiler reports it. Types
    of unnamed namespaces are free."""
    places = {}
    for file in tree.files:
        if not file.is_cpp or not file.path.startswith(("src/", "include/")):
            continue
        for line, scope, text in cpp.declarations(file.code):
            found = _TYPE.match(" ".join(text.split()))
            if not found or not scope or any(kind != "namespace" or not name for kind, name in scope):
                continue
            name = "::".join([part for _, part in scope] + [found[1]])
            other = places.setdefault(name, file.path)
            if other != file.path:
                yield Finding(file.path, line, f"{name} is a type of {other} too",
                              "Name one of them otherwise.")


def banned_calls(tree):
    for file in tree.files:
        if not file.is_cpp:
            continue
        for rule in BANNED:
            if not file.path.startswith(rule.places) or file.path.startswith(rule.but_not):
                continue
            hits = [m for m in re.finditer(rule.pattern, file.code)]
            if (rule.name, file.path) in EXCEPTIONS:
                if not hits:
                    yield Finding(file.path, 1, f"has no {rule.name} any more",
                                  "Remove its line from EXCEPTIONS in tests/tidy/words.py.")
                continue
            for hit in hits:
                line = file.code.count("\n", 0, hit.start()) + 1
                yield Finding(file.path, line, f"{rule.name}: '{hit.group().split('(')[0]}'", rule.remedy)


_SIMPLE = re.compile(r"(.*\*|bool|char|int|unsigned|(std::)?u?int\d+_t|(std::)?(size|ptrdiff)_t)$")


def thread_locals(tree):
    """A thread that finds no memory to register the destructor of a thread_local ends the program."""
    for file in tree.files:
        if not file.is_cpp:
            continue
        for match in re.finditer(r"\bthread_local\b([^;={(\[]*)", file.code):
            declared = re.sub(r"\b(static|inline|constinit|const)\b", " ", match.group(1)).strip()
            kind = re.sub(r"\s*\w+$", "", declared)
            asserted = f"static_assert(std::is_trivially_destructible_v<{kind}>)" in file.code
            if not _SIMPLE.match(kind) and not asserted:
                line = file.code.count("\n", 0, match.start()) + 1
                yield Finding(file.path, line, f"a thread_local {kind}, which may have a destructor",
                              "Make it a member, a local variable or a pointer; or state beside it: "
                              f"static_assert(std::is_trivially_destructible_v<{kind}>).")


def _matches(tree, pattern):
    for file in tree.files:
        for number, line in enumerate(file.lines, 1):
            for match in re.finditer(pattern, line):
                yield file, number, match.group()


def notes_to_self(tree):
    words = ["FIX" + "ME", "TO" + "DO", "XX" + "X", "HA" + "CK"]
    for file, line, word in _matches(tree, rf"\b({'|'.join(words)})\b"):
        yield Finding(file.path, line, f"'{word}' in the text", "Do it, or open an issue and drop the note.")


def machine_paths(tree):
    pattern = r"(?<![\w.~-])/(?:work|root|home/\w+|Users/\w+)(?![\w-])"
    for file, line, path in _matches(tree, pattern):
        yield Finding(file.path, line, f"names {path}, a path of one machine",
                      "Write it relative to the repository, or take it from the environment.")


def licence_line(tree):
    for file in tree.files:
        first = file.lines[1:2] if file.text.startswith("#!") else file.lines[:1]
        licensed = first and re.match(r"(//|#) SPDX-License-Identifier: MIT$", first[0])
        if file.is_source and not licensed:
            yield Finding(file.path, 1, "does not begin with the licence line",
                          "First line (below a #!): '// SPDX-License-Identifier: MIT', or with '#'.")


RULES = [banned_calls, plain_comments, one_type_one_name, thread_locals, notes_to_self, machine_paths,
         licence_line]
