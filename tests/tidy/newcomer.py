# SPDX-License-Identifier: MIT
"""What a newcomer installs is what the first commands need: script/setup, script/demo, Containerfile."""

import re
import tomllib

from tree import Finding

_UBUNTU = "tests/tidy/ubuntu-24.04.txt"
_ON_REQUEST = {"servers", "languages", "site"}  # groups that joust itself does not use


def _text(tree, path):
    return (tree.root / path).read_text(encoding="utf-8") if path in tree.names else ""


def _packages(tree):
    """(line, group, alternatives, purpose) of the rows of script/setup."""
    for number, line in enumerate(_text(tree, "script/setup").splitlines(), 1):
        row = [part.strip() for part in line.split(" | ")]
        if len(row) == 3 and not line.startswith("#") and row[0] not in _ON_REQUEST:
            yield number, row[0], row[1].split("/"), row[2]


def demo_installs_what_it_races(tree):
    demo = _text(tree, "script/demo")
    installed = re.search(r'script/setup" ([a-z ]+)', demo)
    raced = re.search(r"scenarios/[\w-]+\.toml", demo)
    if not installed or not raced:
        if demo:
            yield Finding("script/demo", 1, "has no line of script/setup with groups, or races no scenario",
                          "Mend the script, or the patterns of tests/tidy/newcomer.py.")
        return
    scenario = tomllib.loads(_text(tree, raced.group()))
    engines = {name.split(":")[0] for side in scenario["matrix"].values() for name in side}
    wanted = engines | {f"protocol {scenario['protocol']}"}
    for line, group, packages, purpose in _packages(tree):
        for name in wanted:
            if group not in installed.group(1).split() and re.search(rf"(?<![\w-]){name}(?![\w-])", purpose):
                yield Finding("script/setup", line, f"{raced.group()} races {name}, and script/demo does not "
                              f"install {packages[0]}", f"Add the group {group} to script/demo.")


def container_installs_packages_only(tree):
    text = _text(tree, "Containerfile").replace("\\\n", " ")
    installed = re.findall(r"apt-get install (.*?)(?:&&|$)", text, re.MULTILINE)
    for words in installed:
        for word in words.split():
            if not word.startswith("-") and not word.endswith(".deb"):
                yield Finding("Containerfile", 1, f"installs {word}",
                              "What joust needs follows from its package: install nothing beside it.")


def ubuntu_has_them(tree):
    known = {line.split()[0] for line in _text(tree, _UBUNTU).splitlines() if line and line[0] != "#"}
    for line, _, packages, _ in _packages(tree):
        if not known & set(packages):
            yield Finding("script/setup", line, f"{' or '.join(packages)} is in no list of Ubuntu 24.04",
                          f"Look it up there, and write its name and version into {_UBUNTU}.")


RULES = [demo_installs_what_it_races, container_installs_packages_only, ubuntu_has_them]
