# SPDX-License-Identifier: MIT
"""The verbs of blocks: each makes Markdown of a result.

A block is `<!-- findings: VERB NAME key="value" ... -->text<!-- end -->`, and the text is replaced."""

import dataclasses
import os
import pathlib
import shlex

from . import compared
from .catalogue import Mistake
from .figures import COLUMNS, digits, meaning_of_bounds, written

PICTURES = ("throughput-ratio", "latency-ratio", "latency", "cpu", "cost-ratio")
OF_COUNTS = ("value", "command")


@dataclasses.dataclass
class Context:
    """The folder of the block's page, and what the block may use."""

    catalogue: object
    results: dict
    folder: pathlib.Path
    pictures: object


class Block:
    def __init__(self, text, context):
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise Mistake(f"'{text}': {error}") from error
        pairs = [word.partition("=") for word in words[2:]]
        self.verb, self.name = (words + ["", ""])[:2]
        self.options = {key: value for key, _, value in pairs}
        self.context = context
        if self.verb not in VERBS:
            raise Mistake(f"there is no block '{self.verb}'; there are {', '.join(sorted(VERBS))}")
        known = VERBS[self.verb].options
        if unknown := self.options.keys() - set(known):
            raise Mistake(f"'{self.verb}' has no option '{min(unknown)}'; it has "
                          + (", ".join(known) or "none"))
        for name in self.options.get("columns", self.options.get("column", "")).split(","):
            if name:
                column_named(name)

    def render(self):
        races, published = self.context.catalogue.races, self.context.catalogue.published
        if VERBS[self.verb].of_published:
            if self.name not in published:
                raise Mistake(f"there is no published table '{self.name}'; there are {', '.join(published)}")
            race = published[self.name]["race"]
        else:
            race = self.name
        if race not in races:
            raise Mistake(f"there is no race '{race}'; there are {', '.join(races)}")
        if races[race].count and self.verb not in OF_COUNTS or self.verb == "value" and not races[race].count:
            raise Mistake(f"'{self.verb}' is not for '{race}': {', '.join(OF_COUNTS)} are for the counts of "
                          "programs, the others for races")
        record = self.context.results.get(race)
        if record is None:
            return f"*not raced yet: `script/findings --only {race}`*"
        return VERBS[self.verb].make(self, record)

    def option(self, key):
        if key not in self.options:
            raise Mistake(f"'{self.verb}' needs {key}=\"...\"")
        return self.options[key]

    def case(self, record):
        cases = record["result"]["cases"]
        wanted = self.options.get("case")
        if wanted is None and len(cases) == 1:
            return cases[0]
        return found_by_name(cases, wanted, "case", self.name)

    def columns(self):
        return [column_named(name) for name in self.option("columns").split(",")]


def found_by_name(entries, wanted, kind, race):
    for entry in entries:
        if entry["name"] == wanted:
            return entry
    names = ", ".join(f"'{entry['name']}'" for entry in entries)
    raise Mistake(f"race '{race}' has no {kind} '{wanted or ''}'; it has {names}")


def column_named(name):
    if name not in COLUMNS:
        raise Mistake(f"there is no column '{name}'; there are {', '.join(COLUMNS)}")
    return COLUMNS[name]


def contestants_of(result, case, also=()):
    return [entry for entry in result["contestants"]
            if entry["case"] == case["name"] and entry["kind"] in ("contestant", *also)]


def markdown_table(titles, rows):
    cells = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in cells)


def machine_line(result):
    facts = result["environment"]
    virtual = "" if facts.get("hypervisor", "none") in ("none", "unknown", "") else ", virtual"
    rounds = f"{result['rounds']} round" + ("s" if result["rounds"] != 1 else "")
    quick = ", with --quick" if result["scenario"]["quick"] else ""
    place = "loopback" if result["network"].startswith("Loopback") else result["network"]
    return (f"{facts['cpu_model']}{virtual}, CPUs {facts['online_cpus']}, Linux {facts['kernel']}, {place}, "
            f"{result['started'][:10]}, joust {result['joust']}, {rounds}{quick}")


def cell(entry, case, column):
    return written(column.find(entry, case), column, entry["at_least"])


def notes_of(entries, columns):
    """Why contestants are not ranked; and the meaning of a bound."""
    notes = [f"- {entry['name']} is not ranked: {entry['reason']}"
             for entry in entries if not entry["ranked"]]
    return "\n".join(notes + meaning_of_bounds(entries, columns))


def make_table(block, record):
    result, case = record["result"], block.case(record)
    columns = block.columns()
    entries = contestants_of(result, case)
    rows = [[entry["name"], *(cell(entry, case, column) for column in columns)] for entry in entries]
    parts = [markdown_table(["contestant", *(column.title for column in columns)], rows),
             notes_of(entries, columns), f"*{machine_line(result)}; in brackets: intervals of 90 % or more*"]
    return "\n\n".join(part for part in parts if part)


def make_figure(block, record):
    case = block.case(record)
    entry = found_by_name(contestants_of(record["result"], case, ("ceiling",)), block.option("of"),
                          "contestant", block.name)
    return cell(entry, case, column_named(block.option("column")))


def make_difference(block, record):
    """Of two contestants' figures, divided: what one of so many additional things costs."""
    case = block.case(record)
    entries = contestants_of(record["result"], case)
    column = column_named(block.option("column"))
    more, less = (column.find(found_by_name(entries, block.option(key), "contestant", block.name), case)
                  for key in ("of", "less"))
    if more is None or less is None:
        return "–"
    number = float(block.option("divide"))
    middle = (more.middle - less.middle) / number
    if None in (more.low, more.high, less.low, less.high):
        return column.write(middle)
    ends = (more.low - less.high) / number, (more.high - less.low) / number
    return f"{digits(middle)} ({digits(ends[0])} to {digits(ends[1])})"


def make_verdict(block, record):
    return f"> {block.case(record)['verdict']}"


def make_sentence(block, record):
    """The verdict for use within a paragraph or a cell."""
    return block.case(record)["verdict"]


def make_checks(block, record):
    case = block.case(record)
    return "\n".join(f"- {check['verdict']}: {check['title']}: {check['detail']}"
                     for check in record["result"]["checks"] if check["case"] == case["name"])


def make_picture(block, record):
    case = block.case(record)
    if block.option("kind") not in PICTURES:
        raise Mistake(f"there is no picture '{block.option('kind')}'; there are {', '.join(PICTURES)}")
    number = record["result"]["cases"].index(case) + 1
    path = block.context.pictures.of(block.name, number, block.option("kind"))
    return f"![{case['name']}]({os.path.relpath(path, block.context.folder)})" if path else ""


def make_compared(block, record):
    rows = compared.table(block.context.catalogue.published[block.name], record["result"])
    return f"{rows}\n\n*Ours: {machine_line(record['result'])}; in brackets: intervals of 90 % or more*"


def make_value(block, record):
    """A count of a program that is no race."""
    value = record["result"]
    for key in block.option("of").split("."):
        if not isinstance(value, dict) or key not in value:
            raise Mistake(f"'{block.name}' counted no '{block.option('of')}'")
        value = value[key]
    return f"{value:,}" if isinstance(value, int) else str(value)


def command_of(block, record):
    """The words that a reader types to race it alone."""
    places = {"{bin}": "build/findings", "{joust}": "build/release/joust"}
    words = record["key"]["arguments"]
    for word, place in places.items():
        words = [each.replace(word, place) for each in words]
    shown = " ".join(shlex.quote(word) for word in words)
    return "```\n" + ("" if record.get("count") else "joust race ") + shown + "\n```"


@dataclasses.dataclass
class Verb:
    make: object
    options: tuple = ()
    of_published: bool = False


VERBS = {
    "table": Verb(make_table, ("case", "columns")),
    "verdict": Verb(make_verdict, ("case",)),
    "sentence": Verb(make_sentence, ("case",)),
    "checks": Verb(make_checks, ("case",)),
    "figure": Verb(make_figure, ("case", "of", "column")),
    "difference": Verb(make_difference, ("case", "of", "less", "column", "divide")),
    "picture": Verb(make_picture, ("case", "kind")),
    "machine": Verb(lambda block, record: machine_line(record["result"])),
    "command": Verb(command_of),
    "value": Verb(make_value, ("of",)),
    "compare": Verb(make_compared, of_published=True),
    "agreement": Verb(lambda block, record: compared.agreement(
        block.context.catalogue.published[block.name], record["result"]), of_published=True),
}
