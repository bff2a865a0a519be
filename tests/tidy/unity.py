# SPDX-License-Identifier: MIT
"""Names of unnamed namespaces that would collide where the build joins files of one library.

The presets compile up to 32 files as one (CMAKE_UNITY_BUILD). Which ones meet depends on the number of files
and on the libraries that are found, so a collision would show on somebody else's machine first.
"""

import re

import cpp
from tree import Finding

# The folders of src/ whose files are one library (CMakeLists.txt); all others are the core.
COMMAND = re.compile(r"src/(cli|history|hosts|race|report)/")
# Files that are compiled alone: the pages of the engines, and programs.
ALONE = re.compile(r"src/(engines/[^/]+|.*/main\.cpp|cli/program\.cpp)$")


def names_of_a_library(tree):
    seen = {}
    for file in tree.files:
        if not file.path.startswith("src/") or file.suffix != ".cpp" or ALONE.match(file.path):
            continue
        library = "command" if COMMAND.match(file.path) else "core"
        for line, scope, text in cpp.declarations(file.code):
            named = [name for _, name in scope]
            if any(kind != "namespace" for kind, _ in scope) or "" not in named:
                continue
            name = _name(text)
            if not name:
                continue
            first = seen.setdefault((library, tuple(named), name), file.path)
            if first != file.path:
                yield Finding(file.path, line, f"'{name}' is in {first} too, which may be compiled with it",
                              "If both are the same, write it once; else give this one a name of its own.")


def json_overloads(tree):
    """All converts to a JSON value: a call that means another function of the name would take this one."""
    functions, of_json = {}, []
    for file in tree.files:
        if not file.path.startswith("src/") or not file.is_cpp:
            continue
        for line, scope, text in cpp.declarations(file.code):
            name = _name(text)
            if not name or "(" not in name or any(kind != "namespace" for kind, _ in scope):
                continue
            base = name.split("(")[0]
            functions.setdefault(base, set()).add(file.path)
            if file.path.endswith(".cpp") and re.search(r"\((const )?\w*json& ?\)", name, re.IGNORECASE):
                of_json.append((file.path, line, base))
    for path, line, base in of_json:
        if others := functions[base] - {path, path.removesuffix(".cpp") + ".hpp"}:
            yield Finding(path, line, f"'{base}' takes JSON, and {min(others)} has a function of that name",
                          "Give this one a name of its own: any argument of the other would fit it too.")


def _name(text):
    """The name of a constant or type, or of a function with its parameters; of a using-declaration none."""
    text = " ".join(re.sub(r"\[\[.*?\]\]", " ", text).split())
    if re.match(r"(using|typedef|static_assert|template|namespace)\b", text):
        return None
    if found := re.match(r"(?:struct|class|enum(?: class)?) (\w+)", text):
        return found[1]
    head = re.split(r"=|\{", text)[0].strip()
    if found := re.search(r"([\w:~]+) ?\((.*)\)( const| noexcept)*$", head):
        return found[1] + "(" + re.sub(r" ?\b\w+(?=,|$)", "", found[2]) + ")"
    found = re.search(r"(\w+)(\[[^\]]*\])*$", head)
    return found and found[1]


RULES = [names_of_a_library, json_overloads]
