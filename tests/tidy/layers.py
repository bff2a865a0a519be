# SPDX-License-Identifier: MIT
"""The include law: who may know whom, and who may not touch the operating system."""

import re

import cpp
from tree import Finding

# Each layer may include itself, what is listed here, and the public headers (joust/...).
_MEASURED = {"engines", "protocols", "load", "measure", "stats", "store", "connection", "session",
             "net", "base"}
LAYERS = {
    "cli": {"race", "report", "transfer", "hosting", "secure"} | _MEASURED,
    "hosting": {"engines", "load", "measure", "connection", "session", "net", "base"},
    "report": {"race"} | _MEASURED,  # a report shows what a race has found
    "race": _MEASURED,
    "transfer": {"secure"} | _MEASURED,
    "secure": {"connection", "session", "base"},
    "engines": {"connection", "session", "net", "base"},
    "protocols": {"load", "store", "session", "base"},
    "load": {"measure", "connection", "session", "base"},
    "measure": {"base"},
    "stats": {"base"},
    "store": {"session", "base"},
    "connection": {"session", "base"},
    "session": {"base"},
    "net": {"base"},
    "base": set(),
}

# Folders of variants that must not know one another: engines, protocols, sub-commands. The files of one
# variant are NAME.cpp, NAME.hpp and those in NAME/; the folders and files listed here are for all of them.
# The calls of epoll and of kqueue stand on the page of the engine of that name, so others include its header.
SIBLINGS = {
    "engines": {"engines/engine.hpp", "engines/loop/", "engines/files/", "engines/crew/", "engines/forking/",
                "engines/pool/", "engines/io_uring/", "engines/asio/", "engines/qt/", "engines/udp/",
                "engines/zeromq/", "engines/coroutines/", "engines/epoll.hpp", "engines/kqueue.hpp"},
    "protocols": set(),
    "cli": {"cli/common/"},
}

PURE = ("src/session/", "src/connection/", "src/protocols/", "src/stats/", "src/secure/")
IO_HEADERS = {"unistd.h", "fcntl.h", "poll.h", "netdb.h", "stdio.h", "cstdio", "fstream", "iostream",
              "filesystem", "thread", "liburing.h"}
IO_PREFIXES = ("sys/", "netinet/", "arpa/", "linux/", "net/")


# (file, header): why this one is right.
IO_EXCEPTIONS = {
    ("src/connection/stream_connection.hpp", "sys/uio.h"): "iovec, the shape of its output; no call",
}


def _sources(tree, prefix):
    for file in tree.files:
        if file.is_cpp and file.path.startswith(prefix):
            for line, kind, path in cpp.includes(file.text):
                yield file, line, kind, path


def include_law(tree):
    for file, line, kind, path in _sources(tree, "src/"):
        layer, target = file.path.split("/")[1], path.split("/")[0]
        if kind == "<" or target == "joust" or target == layer:
            continue
        if layer not in LAYERS:
            yield Finding(file.path, line, f"src/{layer} is no layer of the include law",
                          "Use an existing layer, or add this one to LAYERS in tests/tidy/layers.py.")
        elif target not in LAYERS or "/" not in path:
            yield Finding(file.path, line, f'includes "{path}"',
                          'Write the layer: "base/fd.hpp", "joust/time.hpp"; <...> for what is not ours.')
        elif target not in LAYERS[layer]:
            allowed = ", ".join(sorted(LAYERS[layer])) or "nothing but itself"
            yield Finding(file.path, line, f'{layer} includes "{path}"; it may include {allowed}',
                          "Move what both need to a lower layer, or pass it in from above.")


def _variant(path):
    """The variant a path below src/ belongs to: engines/epoll.cpp and engines/epoll/x.hpp to epoll."""
    return path.split("/")[1].split(".")[0]


def siblings(tree):
    for file, line, kind, path in _sources(tree, "src/"):
        folder = file.path.split("/")[1]
        if kind == "<" or folder not in SIBLINGS or path.split("/")[0] != folder:
            continue
        own = _variant(path) == _variant(file.path.removeprefix("src/"))
        shared_by_all = {path, path.rsplit("/", 1)[0] + "/"} & SIBLINGS[folder]
        if not own and not shared_by_all:
            shared = ", ".join(f"src/{one}" for one in sorted(SIBLINGS[folder])) or "a lower layer"
            yield Finding(file.path, line, f'includes its sibling "{path}"',
                          f"What several {folder} need belongs into {shared}.")


def no_io(tree):
    for prefix in PURE:
        for file, line, kind, path in _sources(tree, prefix):
            does_io = path in IO_HEADERS or path.startswith(IO_PREFIXES)
            if kind == "<" and does_io and (file.path, path) not in IO_EXCEPTIONS:
                yield Finding(file.path, line, f"{prefix} does no I/O, and includes <{path}>",
                              "Leave the system call to the engine; take time and bytes as arguments.")


def public_headers(tree):
    for file, line, kind, path in _sources(tree, "include/"):
        library = "/" in path.removeprefix("sys/") or path in {"liburing.h", "xxhash.h"}
        if library if kind == "<" else not path.startswith("joust/"):
            yield Finding(file.path, line, f"a public header includes {path}",
                          "Public headers include joust/... and standard headers: nothing else is installed.")


def examples(tree):
    for file, line, kind, path in _sources(tree, "examples/"):
        if kind == '"' and not path.startswith("joust/"):
            yield Finding(file.path, line, f'an example includes "{path}"',
                          "Examples use only the public headers, as an outside program must.")


# A setting of a load, and in how many sources it may be. A new one is a member of LoadPlan, a row of the
# table and its use; flags, help, scenarios and documents come from the row.
SETTING, MOST_PLACES = "burst", 3


def setting_places(tree):
    used = re.compile(rf"(\.|->|::|std::uint64_t ){SETTING}\b")
    places = [file.path for file in tree.files
              if file.is_cpp and file.path.startswith(("src/", "include/")) and used.search(file.text)]
    for path in places[MOST_PLACES:]:
        yield Finding(path, 1, f"a setting of a load ({SETTING}) is in {len(places)} sources",
                      "Say it in its row (src/load/settings_table.cpp), and use it in one place of src/load.")


RULES = [include_law, siblings, no_io, public_headers, examples, setting_places]
