# SPDX-License-Identifier: MIT
"""What is installed is complete: documents and helps name only what is there, and scenarios run by name.

installed.py PREFIX"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PREFIX = pathlib.Path(sys.argv[1])
JOUST = PREFIX / "bin/joust"
DOCUMENTS = PREFIX / "share/doc/joust"
DATA = PREFIX / "share/joust"
# Whatever looks like a path of the sources, and documents of their first folder.
PATH = re.compile(
    r"(?<![\w/.{}-])((?:docs|scenarios|script|benchmarks|examples|src|tests|include|build|cmake)/[\w./-]*"
    r"|[A-Z]{3,}\.md)"
)
RACE = re.compile(r"joust race ([a-z][a-z-]*[a-z])(?![\w.-])")
OF_SOURCES = {"bare-loop", "plain-programs"}  # as the documents say
wrong = []


def run(*arguments):
    with tempfile.TemporaryDirectory() as elsewhere:  # not the sources
        return subprocess.run([JOUST, *arguments], capture_output=True, text=True, check=False, cwd=elsewhere)


def check_names(where, text, scenarios):
    for name in PATH.findall(text):
        name = name.rstrip(".")
        if not any((base / name).exists() for base in (DOCUMENTS, DATA, PREFIX)):
            wrong.append(f"{where} names {name}, which is not installed")
    for name in RACE.findall(text):
        if name not in scenarios | OF_SOURCES:
            wrong.append(f"{where} races {name}, which is not installed")


def check_scenario(name):
    done = run("race", name, "--dry-run")
    if done.returncode != 0:
        wrong.append(f"race {name} --dry-run: {done.stderr}")
    for program in re.findall(r"exec (\S+/\S+)", done.stdout):
        if not pathlib.Path(program).exists():
            wrong.append(f"race {name} starts {program}, which is not there")


def check_nothing_is_taken_from_the_build():
    """Alone in another folder the program has no module and no scenario, though those of the build exist."""
    with tempfile.TemporaryDirectory() as folder:
        alone = pathlib.Path(folder, "bin/joust")
        alone.parent.mkdir()
        shutil.copy(JOUST, alone)

        def listed(what):
            told = subprocess.run([alone, what, "--json"], stdout=subprocess.PIPE, check=True, cwd=folder)
            return json.loads(told.stdout)

        taken = [one["name"] for one in listed("engines")
                 if one["name"].startswith(("qt", "zeromq")) and one["available"]]
        taken += [one["name"] for one in listed("scenarios")]
    if taken:
        wrong.append(f"alone in a folder the program still has {taken}")


def main():
    example = "examples/calculator/calculator.cpp"
    for needed in ("LICENSE", "docs/scenario.md", "docs/result.schema.json", example):
        if not (DOCUMENTS / needed).is_file():
            wrong.append(f"{needed} is not installed")
    listed = json.loads(run("scenarios", "--json").stdout)
    scenarios = {each["name"] for each in listed}
    if not {"first-look", "http-servers", "io-models", "languages", "websocket"} <= scenarios:
        wrong.append(f"scenarios: {scenarios}")
    for each in listed:
        if not pathlib.Path(each["file"]).resolve().is_relative_to(PREFIX.resolve()):
            wrong.append(f"the file of {each['name']} is {each['file']}")
        check_scenario(each["name"])
    commands = re.findall(r"^  ([a-z]+)  ", run("--help").stdout.split("Subcommands:")[1], re.MULTILINE)
    assert "race" in commands, commands
    for command in ((), *((name,) for name in commands)):
        check_names(" ".join(("joust", *command, "--help")), run(*command, "--help").stdout, scenarios)
    for document in sorted(DOCUMENTS.rglob("*")):
        if document.suffix in (".md", ".json", ".cpp"):
            check_names(document.relative_to(PREFIX), document.read_text(encoding="utf-8"), scenarios)
    check_nothing_is_taken_from_the_build()
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
