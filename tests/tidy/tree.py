# SPDX-License-Identifier: MIT
"""The files the rules look at, and what a rule reports."""

import functools
import os
import pathlib
import subprocess
from dataclasses import dataclass

CPP = {".cpp", ".hpp", ".h", ".cc"}
TEXT = CPP | {".py", ".md", ".cmake", ".in", ".toml", ".json", ".txt", ".yml"}
SKIPPED_FOLDERS = {".git", "build", "out", "__pycache__", ".cache", ".vscode", ".idea"}


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    what: str
    remedy: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}\n    {self.remedy}"


class File:
    def __init__(self, root, path):
        self.path = path
        self.root = root
        self.suffix = pathlib.PurePosixPath(path).suffix

    @functools.cached_property
    def text(self):
        return (self.root / self.path).read_text(encoding="utf-8", errors="replace")

    @functools.cached_property
    def lines(self):
        return self.text.split("\n")

    @functools.cached_property
    def is_script(self):
        return self.suffix == "" and self.text.startswith("#!")

    @property
    def is_cpp(self):
        return self.suffix in CPP

    @property
    def is_source(self):
        return (self.is_cpp or self.is_script or self.suffix in {".py", ".cmake"}
                or self.path.split("/")[-1] == "CMakeLists.txt")

    @functools.cached_property
    def code(self):
        """C++ with comments and the insides of literals blanked; every line and column keeps its place."""
        from cpp import blanked
        return blanked(self.text)


class Tree:
    """All text files of a source tree: those git tracks or would track, or, without git, all of them."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        names = self._from_git() or self._from_disk()
        self.names = sorted(name for name in names if (self.root / name).is_file())
        files = [File(self.root, name) for name in self.names]
        self.files = [file for file in files if file.suffix in TEXT or file.is_source]

    def _from_git(self):
        if not (self.root / ".git").exists():
            return None
        command = ["git", "-C", str(self.root), "ls-files", "-z", "-c", "-o", "--exclude-standard"]
        try:
            listed = subprocess.run(command, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return listed.stdout.decode().strip("\0").split("\0")

    def _from_disk(self):
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
            for name in names:
                yield (pathlib.Path(folder) / name).relative_to(self.root).as_posix()

    @functools.cached_property
    def folders(self):
        return {parent.as_posix() for name in self.names for parent in pathlib.PurePosixPath(name).parents}
