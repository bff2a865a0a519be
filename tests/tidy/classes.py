# SPDX-License-Identifier: MIT
"""Classes small enough to be understood: few methods and members, all defined in one .cpp."""

import re

import cpp
from tree import Finding

METHOD_CAP = 25
MEMBER_CAP = 15

# Classes above the caps: (methods, members), and the reason. A class may only shrink: its size is its cap.
LARGE = {
    "joust::DiskUpload": (34, 19, "the calls of Upload and of GroupCommit::Member, most of them short"),
    "joust::broadcast::client.cpp::MemberExchange": (26, 14, "16 functions of Exchange"),
    "joust::AsioHub": (17, 21, "accepting and stopping are parts"),
    "joust::AsioPeer": (30, 21, "the operations under way are a part"),
    "joust::LoadRun": (51, 26, "the counts of connections are a part"),
    "joust::LoopCore": (56, 21, "the interface of all loops, with their hooks"),
    "joust::MessageConnection": (40, 32, "its clocks, its output and its leaving are parts"),
    "joust::ParentProcess": (17, 17, "the preparation of a child is a part"),
    "joust::Progress": (46, 12, "a function for each step of the phases, and for each event"),
    "joust::Recorder": (35, 8, "a function for each count"),
    "joust::RequestSession": (42, 17, "14 functions of Session; the replies are a part"),
    "joust::StreamConnection": (35, 21, "the counts and the deadlines are a part"),
    "joust::UdpLoop": (39, 16, "the sends and the group are parts"),
    "joust::ZmqLoop": (34, 12, "the sends are a part"),
    "joust::broadcast::server.cpp::ServerSession": (23, 16, "the deadline of a reader is a part"),
    "joust::file::ClientSession": (39, 20, "the calls of Session, and a load's steps to its verification"),
    "joust::file::ServerSession": (29, 15, "the calls of Session"),
    "joust::http::HttpSession": (34, 19, "the reply that is being sent is a part"),
    "joust::transfer::FileDownload": (26, 21, "the journal is a part"),
    "joust::transfer::get_session.cpp::GetSession": (31, 15, "a state for each kind of message"),
    "joust::transfer::SendTransfer": (33, 13, "what its sessions report, one function for each event"),
    "joust::transfer::Transfer": (31, 20, "the counts and the failures are parts"),
    "joust::transfer::TransferSession": (48, 13, "the interface of both directions"),
}

# Classes whose functions are defined in several .cpp files: how many, and the reason.
SPREAD = {
    "joust::Load": (2, "the options of a command, and its run"),
    "joust::QtLoop": (2, "the loop and its datagrams"),
    "joust::Race": (2, "the options of a command, and its run"),
    "joust::ZmqLoop": (2, "the engine's page has its receiver and its sender"),
}


def class_size(tree):
    """Methods are declared functions other than constructors, operators and = delete or = default. Members
    have a trailing underscore: a struct of public fields is a record, which may have as many as it needs."""
    unseen = set(LARGE)
    for name, path, line, methods, members in _classes(tree):
        allowed = LARGE[name][:2] if name in LARGE else (METHOD_CAP, MEMBER_CAP)
        if name in LARGE:
            unseen.discard(name)
            if methods <= METHOD_CAP and members <= MEMBER_CAP:
                yield Finding(path, line, f"{name} is within the caps now",
                              "Remove its line from LARGE in tests/tidy/classes.py.")
            elif methods < allowed[0] or members < allowed[1]:
                yield Finding(path, line, f"{name} has shrunk to {methods} methods and {members} members",
                              "Write that in its line of LARGE in tests/tidy/classes.py.")
        if methods > allowed[0] or members > allowed[1]:
            yield Finding(path, line, f"{name} has {methods} methods and {members} members; "
                          f"the caps are {allowed[0]} and {allowed[1]}",
                          "Find the part that hides in it (a queue, a window); give it a name and a file.")
    yield from _unseen(tree, unseen, "LARGE")


def class_in_one_file(tree):
    unseen = set(SPREAD)
    known = {name for name, *_ in _classes(tree)}
    places = {}
    for file in tree.files:
        if file.path.startswith(("src/", "include/")) and file.path.endswith(".cpp"):
            for line, name in _defined(file):
                if name in known:
                    places.setdefault(name, {}).setdefault(file.path, line)
    for name, files in sorted(places.items()):
        allowed = SPREAD[name][0] if name in SPREAD else 1
        if name in SPREAD:
            unseen.discard(name)
            if len(files) < allowed:
                path, line = next(iter(files.items()))
                yield Finding(path, line, f"{name} is in {len(files)} .cpp files now",
                              "Write that in its line of SPREAD in tests/tidy/classes.py, or remove it.")
        for path, line in list(files.items())[allowed:]:
            yield Finding(path, line, f"{name} is defined in {', '.join(files)}",
                          "Join the files, or make a class of the part that has a job of its own.")
    yield from _unseen(tree, unseen, "SPREAD")


def _unseen(tree, names, table):
    if any(file.path == "tests/tidy/classes.py" for file in tree.files):
        for name in sorted(names):
            yield Finding("tests/tidy/classes.py", 1, f"{table} names {name}, which does not exist",
                          "Remove the line.")


def _classes(tree):
    """(qualified name, path, line, methods, members) of every class of the project."""
    for file in tree.files:
        if not file.is_cpp or not file.path.startswith(("src/", "include/")):
            continue
        sizes = {}
        for line, scope, text in cpp.declarations(file.code):
            if not scope or scope[-1][0] != "class":
                continue
            first = sizes.setdefault(tuple(scope), [line, 0, 0])
            first[1] += _is_method(text, scope[-1][1])
            first[2] += _members(text)
        for scope, (line, methods, members) in sizes.items():
            yield _qualified(file, scope), file.path, line, methods, members


def _qualified(file, scope):
    # The class of an unnamed namespace is another one in each file.
    parts = [name or file.path.rsplit("/", 1)[-1] for _, name in scope]
    return "::".join(parts)


def _defined(file):
    """(line, qualified name of the class) of every function that is defined outside of its class."""
    for line, scope, text in cpp.declarations(file.code):
        if any(kind != "namespace" for kind, _ in scope):
            continue
        head = _plain(text)
        found = re.match(r"[^(=]*?((?:\w+::)+)~?\w+\s*\(|[^(=]*?((?:\w+::)+)operator\b", head)
        if found:
            names = (found[1] or found[2]).removesuffix("::").split("::")
            yield line, "::".join([_qualified(file, scope), names[0]] if scope else names[:1])


_NO_METHOD = re.compile(r"\b(using|typedef|friend|static_assert|operator)\b|=\s*(default|delete)\s*$")


def _plain(text):
    """The declaration without attributes, template arguments and labels."""
    text = re.sub(r"\[\[.*?\]\]", " ", text, flags=re.DOTALL)
    text = re.sub(r"\balignas\s*\([^()]*\)|\b(explicit|noexcept)\s*\([^()]*\)", " ", text)
    text = re.sub(r"\b(public|protected|private)\s*:", " ", text)
    shorter = None
    while shorter != text:
        shorter, text = text, re.sub(r"(?<=\w)<[^<>;{}]*>|\btemplate\s*<[^<>]*>", "", text)
    return " ".join(text.split())


def _is_method(text, name):
    plain = _plain(text)
    if _NO_METHOD.search(plain):
        return False
    found = re.match(r"([^(=]*?)(~?\w+)\s*\(", plain)
    return bool(found) and found[2].lstrip("~") != name and not re.search(r"_\s*\{", found[1])


def _members(text):
    plain = _plain(text)
    if re.match(r"(static|using|typedef|friend)\b", plain) or "(" in re.sub(r"\{.*?\}|=.*", "", plain):
        return 0
    return len(re.findall(r"\b\w+_(?=\s*(?:\{|=|,|\[|:(?!:)|$))", re.sub(r"\{[^{}]*\}", "{}", plain)))


RULES = [class_size, class_in_one_file]
