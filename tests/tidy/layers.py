# SPDX-License-Identifier: MIT
"""The include law: which room may include which, and which may not touch the operating system."""

import re

import cpp
from tree import Finding

# A room is a folder of src/, or a folder in one of them. It may include itself, the rooms listed here, and
# the public headers (joust/...). In a list, a folder of rooms stands for all of them, and with "/." for its
# own files alone.
_MEASURED = {"engines", "protocols", "load", "measure", "stats", "connection", "session", "net", "base"}
ROOMS = {
    "cli": {"hosts", "race", "report", "history", "doctor", "files", "secure", "hosting",
            "plugins"} | _MEASURED,
    "hosts": {"secure", "base"},
    "hosting": {"engines", "secure", "load", "measure", "connection", "session", "net", "base"},
    "report": {"race"} | _MEASURED,  # a report shows what a race has found
    "history": {"report", "race/judgement", "race/model", "measure", "stats", "base"},
    "doctor": {"engines", "measure", "stats", "net", "base"},
    "race/run": {"race/judgement", "race/figures", "race/trial", "race/scenario", "race/model",
                 "load", "stats", "net", "base"},
    "race/judgement": {"race/checks", "race/figures", "race/model", "base"},
    "race/checks": {"race/figures", "race/set_up", "race/model", "net", "stats", "base"},
    "race/figures": {"race/set_up", "race/model", "measure", "stats", "base"},
    "race/hosts": {"hosts", "race/trial", "race/scenario", "race/set_up", "race/model",
                   "load", "measure", "net", "base"},
    "race/trial": {"race/scenario", "race/set_up", "race/model",
                   "files/store", "load", "measure", "net", "base"},
    "race/scenario": {"race/set_up", "race/model", "base"},
    "race/set_up": {"race/model", "measure", "base"},
    "race/model": {"engines", "load", "measure", "stats", "base"},
    "files/transfer": {"files/protocol", "secure", "files/store"} | _MEASURED,
    "files/protocol": {"files/store", "load", "session", "base"},
    "secure": {"connection", "session", "base"},
    "files/store/upload": {"files/store/disk", "files/store/.", "session", "base"},
    "files/store/disk": {"files/store/.", "base"},
    "files/store": {"base"},
    "engines": {"connection", "session", "net", "base"},
    "protocols": {"files/store", "load", "session", "base"},
    "plugins": {"session", "base"},
    "load": {"measure", "connection", "session", "base"},
    "measure": {"base"},
    "stats": {"base"},
    "connection": {"session", "base"},
    "session": {"base"},
    "net": {"base"},
    "base": set(),
}
HOUSES = {room.split("/")[0] for room in ROOMS if "/" in room}


def room_of(path):
    """Returns the room of a path below src/, the longest one that holds it, or None."""
    parts = path.split("/")[:-1]
    for length in range(len(parts), 0, -1):
        room = "/".join(parts[:length])
        if room in ROOMS:
            return room
    return None


def allowed(room):
    """Returns the rooms that a room may include."""
    return {other for other in ROOMS for one in ROOMS[room]
            if other == one.removesuffix("/.") or other.startswith(one + "/")}


# Folders of variants that must not know one another: engines, protocols, sub-commands. The files of one
# variant are NAME.cpp, NAME.hpp and those in NAME/; the folders and files listed here are for all of them.
# The poller of epoll, of kqueue, of poll and of select is the page of the engine of that name, so others
# include it. Likewise the messages of HTTP, by which script cuts replies, stand with the protocol of that
# name, and so do the texts of its fields, of which the handshake of websocket has some. A room of broadcast
# may be carried by WebSocket, so the duties of both sides of that protocol, and its frames, are for others
# too.
SIBLINGS = {
    "engines": {"engines/engine.hpp", "engines/loop/", "engines/files/", "engines/blocking/",
                "engines/pool/", "engines/io_uring/", "engines/asio/", "engines/qt/", "engines/udp/",
                "engines/zeromq/", "engines/epoll.hpp", "engines/kqueue.hpp", "engines/poll.hpp",
                "engines/select.hpp"},
    "protocols": {"protocols/http/messages.hpp", "protocols/http/heads.hpp",
                  "protocols/websocket/client.hpp", "protocols/websocket/server.hpp",
                  "protocols/websocket/handshake.hpp", "protocols/websocket/message.hpp"},
    "cli": {"cli/common/", "cli/file_tool/", "cli/hosts/"},
}

PURE = ("src/session/", "src/connection/", "src/protocols/", "src/files/protocol/", "src/stats/",
        "src/secure/")
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
        if kind == "<" or path.startswith("joust/"):
            continue
        room, target = room_of(file.path.removeprefix("src/")), room_of(path)
        if room is None:
            yield Finding(file.path, line, f"{file.path.rsplit('/', 1)[0]} is no room of the include law",
                          "Use an existing room, or add this one to ROOMS in tests/tidy/layers.py.")
        elif target is None:
            yield Finding(file.path, line, f'includes "{path}"',
                          'Write the room: "base/fd.hpp", "joust/time.hpp"; <...> for what is not ours.')
        elif target != room and target not in allowed(room):
            rooms = ", ".join(sorted(ROOMS[room])) or "nothing but itself"
            yield Finding(file.path, line, f'{room} includes "{path}"; it may include {rooms}',
                          "Move what both need to a lower room, or pass it in from above.")


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


# An engine outside of the sources is compiled with them, and may include what an engine in them may.
ENGINE_HEADERS = ("engines/", "connection/", "session/", "net/", "base/")


def examples(tree):
    for file, line, kind, path in _sources(tree, "examples/"):
        of_engine = file.path.startswith("examples/engine/") and path.startswith(ENGINE_HEADERS)
        if kind == '"' and not path.startswith("joust/") and not of_engine:
            yield Finding(file.path, line, f'an example includes "{path}"',
                          "Examples use only the public headers, as an outside program must.")


LINUX_HEADERS = {"sys/epoll.h", "sys/eventfd.h", "sys/signalfd.h", "sys/timerfd.h", "liburing.h"}


def _unguarded_includes(text):
    """The includes that stand in no #if: (kind, path)."""
    depth, found = 0, []
    for line in text.splitlines():
        if re.match(r"\s*#\s*if", line):
            depth += 1
        elif re.match(r"\s*#\s*endif", line):
            depth -= 1
        elif depth == 0 and (match := re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)):
            found.append(match.groups())
    return found


def engines_of_linux(tree):
    """The libraries of these parts are looked for on Linux alone (cmake/libraries.cmake). Those on ZeroMQ are
    a module (CMakeLists.txt)."""
    headers = {file.path: file.text for file in tree.files if file.is_cpp and file.path.startswith("src/")}
    known = {}

    def needs_linux(path):
        if path not in known:
            known[path] = False
            known[path] = any(path in LINUX_HEADERS if kind == "<" else needs_linux(f"src/{path}")
                              for kind, path in _unguarded_includes(headers.get(path, "")))
        return known[path]

    for file in tree.files:
        if not re.match(r"src/engines/(?!zeromq).*\.cpp$", file.path):
            continue
        says_so = re.search(r"^// Needs (Linux|uring|zeromq)[.:]", file.text, re.M)
        if needs_linux(file.path) and not says_so:
            yield Finding(file.path, 1, "includes a header that only Linux has",
                          "Write '// Needs Linux: REASON' on top, or '// Needs Linux.' without an engine.")


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


RULES = [include_law, siblings, no_io, public_headers, examples, engines_of_linux, setting_places]
