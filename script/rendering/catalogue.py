# SPDX-License-Identifier: MIT
"""The lists of races, pages, programs and published tables: every docs/findings/*.toml."""

import dataclasses
import hashlib
import pathlib
import re
import tomllib

LISTS = "docs/findings"
KEYS = {
    "race": {"name", "run", "full", "quick", "needs", "count"},
    "page": {"path"},
    "program": {"name", "build", "sources"},
    "published": {"name", "race", "case", "columns", "theirs", "better", "row"},
}


class Mistake(Exception):
    """Something that a person wrote is wrong; the text says where, and what to do."""


@dataclasses.dataclass
class Race:
    """A race, or (with `count`) a program that prints its counts as a JSON object."""

    name: str
    run: list
    full: list = dataclasses.field(default_factory=list)
    quick: list = dataclasses.field(default_factory=list)
    needs: list = dataclasses.field(default_factory=list)
    count: bool = False

    def arguments(self, quick):
        return [*self.run, *(self.quick if quick else self.full)]

    def budget_s(self, quick):
        """The seconds that its --time gives it; 0 where it has none."""
        words = self.arguments(quick)
        times = [after for word, after in zip(words, words[1:]) if word == "--time"]
        return int(times[-1].removesuffix("s")) if times else 0


class Catalogue:
    def __init__(self, root):
        self.root = root
        self.races, self.pages, self.programs, self.published = {}, [], {}, {}
        for path in sorted((root / LISTS).glob("*.toml")):
            self._read(path)
        for race in self.races.values():
            for name in race.needs:
                if name not in self.programs:
                    raise Mistake(f"{LISTS}: race '{race.name}' needs '{name}', which is no [[program]]")

    def _read(self, path):
        place = path.relative_to(self.root)
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise Mistake(f"{place}: {error}") from error
        for kind, entries in document.items():
            for entry in entries if kind in KEYS else []:
                if unknown := entry.keys() - KEYS[kind]:
                    raise Mistake(f"{place}: [[{kind}]] has no key '{min(unknown)}'; "
                                  f"it has {', '.join(sorted(KEYS[kind]))}")
            if kind == "page":
                self.pages += [entry["path"] for entry in entries]
            elif kind == "race":
                self._add(place, self.races, [Race(**entry) for entry in entries], lambda one: one.name)
            elif kind == "program":
                self._add(place, self.programs, entries, lambda one: one["name"])
            elif kind == "published":
                self._add(place, self.published, entries, lambda one: one["name"])
            else:
                raise Mistake(f"{place}: there is no [[{kind}]]; there are {', '.join(sorted(KEYS))}")

    @staticmethod
    def _add(place, where, entries, name_of):
        for entry in entries:
            if not re.fullmatch(r"[\w.-]+", name_of(entry)) or name_of(entry) in where:
                raise Mistake(f"{place}: the name '{name_of(entry)}' is taken, or not of letters, digits, "
                              "- and _")
            where[name_of(entry)] = entry

    def key(self, race, quick):
        """What makes a result that of the same race: its command, and the text of the files that it names."""
        files = [word for word in race.run if (self.root / word).is_file()]
        files += [source for name in race.needs for source in self.programs[name]["sources"]]
        texts = hashlib.sha256()
        for file in files:
            texts.update(pathlib.Path(self.root / file).read_bytes())
        return {"arguments": race.arguments(quick), "files": texts.hexdigest()[:16]}
