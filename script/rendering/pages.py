# SPDX-License-Identifier: MIT
"""Pages: Markdown whose blocks are filled in. A page is its own template: making it twice changes nothing."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from .blocks import Block, Context
from .catalogue import LISTS, Mistake

BEGIN, END = "<!-- findings:", "<!-- end -->"
_BLOCK = re.compile(r"(<!-- findings: (.*?) -->)(.*?)(<!-- end -->)", re.DOTALL)
_LINK = re.compile(r"(\]\()([^)\s#:]+)([)#])")


class Pictures:
    """The pictures that pages show; those that are missing are made of whole results, if these are there."""

    def __init__(self, joust, results, folder):
        self.joust, self.results, self.folder = joust, results, folder

    def of(self, race, case_number, kind):
        """The file of a picture; None where there is none."""
        name = f"{race}-case{case_number}-{kind}.svg"
        whole = self.results / f"{race}.json"
        if whole.is_file() and (not (self.folder / name).is_file()
                                or (self.folder / name).stat().st_mtime < whole.stat().st_mtime):
            self._make(race, whole, name, f"case{case_number}-{kind}.svg")
        return self.folder / name if (self.folder / name).is_file() else None

    def _make(self, race, whole, name, as_reported):
        with tempfile.TemporaryDirectory(prefix="joust-findings-") as folder:
            done = subprocess.run([self.joust, "report", whole, "--svg", folder], capture_output=True,
                                  text=True, timeout=120)
            if done.returncode != 0:
                raise Mistake(f"joust report left with {done.returncode} for {whole}: {done.stderr.strip()}")
            if (pathlib.Path(folder) / as_reported).is_file():
                self.folder.mkdir(exist_ok=True)
                shutil.copyfile(pathlib.Path(folder) / as_reported, self.folder / name)


class Pages:
    """`into` takes the place of docs/findings; pages from elsewhere come into it by their names."""

    def __init__(self, catalogue, results, into, pictures):
        self.root, self.paths = catalogue.root, catalogue.pages
        self.catalogue, self.results, self.pictures = catalogue, results, pictures
        self.into = into
        self.in_place = into == self.root / LISTS

    def place(self, path):
        """Where a page is written."""
        if self.in_place:
            return self.root / path
        inside = pathlib.PurePosixPath(path)
        return self.into / (inside.relative_to(LISTS) if inside.is_relative_to(LISTS) else inside.name)

    def check(self):
        """Makes every page once, so that a mistake is reported before anything is raced."""
        for path in self.paths:
            self.made(path)

    def write(self):
        for path in self.paths:
            text = self.made(path)
            place = self.place(path)
            place.parent.mkdir(parents=True, exist_ok=True)
            if not place.is_file() or place.read_text(encoding="utf-8") != text:
                place.write_text(text, encoding="utf-8")

    def made(self, path):
        file = self.root / path
        if not file.is_file():
            raise Mistake(f"{path}: a page that {LISTS} lists, and that is not there")
        text = file.read_text(encoding="utf-8")
        self._refuse_torn(path, text)
        text = self._moved_links(path, text)
        return _BLOCK.sub(lambda found: self._filled(path, text, found), text)

    def _refuse_torn(self, path, text):
        """Each begin must have its end before the next begin."""
        open_at = None
        for found in re.finditer(f"{BEGIN}|{END}", text):
            line = text.count("\n", 0, found.start()) + 1
            begins = found.group() == BEGIN
            if begins and open_at is not None:
                raise Mistake(f"{path}:{open_at}: the block has no '{END}'")
            if not begins and open_at is None:
                raise Mistake(f"{path}:{line}: '{END}' ends no block")
            open_at = line if begins else None
        if open_at is not None:
            raise Mistake(f"{path}:{open_at}: the block has no '{END}'")

    def _filled(self, path, text, found):
        begin, words, _, end = found.groups()
        line = text.count("\n", 0, found.start()) + 1
        context = Context(self.catalogue, self.results, self.place(path).parent, self.pictures)
        try:
            made = Block(words, context).render()
        except Mistake as mistake:
            raise Mistake(f"{path}:{line}: {mistake}") from mistake
        starts_line = text[:found.start()].endswith("\n") or found.start() == 0
        ends_line = text[found.end():found.end() + 1] in ("\n", "")
        if starts_line and not ends_line:
            raise Mistake(f"{path}:{line}: Markdown takes a comment at the begin of a line for a block of "
                          "its own: give the block a line, or put text before it")
        if not starts_line:
            return f"{begin}{made}{end}"
        return f"{begin}\n\n{made}\n\n{end}" if made else f"{begin}\n{end}"

    def _moved_links(self, path, text):
        """Links of a page that is written elsewhere lead to the same files as before."""
        if self.in_place:
            return text
        places = {(self.root / page).resolve(): self.place(page) for page in self.paths}
        folder = self.place(path).parent

        def moved(found):
            before, link, after = found.groups()
            target = pathlib.Path(os.path.normpath(self.root / pathlib.Path(path).parent / link))
            return before + os.path.relpath(places.get(target, target), folder) + after
        return _LINK.sub(moved, text)
