# SPDX-License-Identifier: MIT
"""The system calls of a server for one request and its reply, by strace, without what changes each time."""

import collections
import pathlib
import re
import tempfile

import running

_LINE = re.compile(r"^(\d+) (\d+\.\d+) (.*?)(?: <(\d+\.\d+)>)?$")
_QUIET_S = 0.15  # messages come every half second, so a longer pause separates them
# The calls that carry a message, by which its row of calls is found.
_CARRIES = re.compile(r"^(recv|read|send|write|io_uring_enter)")
_KINDS = ((r"<(?:TCP|TCPv6|UDP|UNIX):\[[^]]*->[^]]*\]>", "socket"), (r"<(?:TCP|TCPv6):[^>]*>", "listener"),
          (r"<UDP:\[[^]]*\]>", "socket"), (r"<anon_inode:\[(\w+)\]>", r"\1"), (r"<pipe:[^>]*>", "pipe"),
          (r"<socket:\[\d+\]>", "socket"), (r"</dev/null[^>]*>+", "ring"), (r"<TCP>", "socket"))


def of_one_message(joust, engine):
    """A fenced block: thread, call."""
    with tempfile.TemporaryDirectory(prefix="joust-") as folder:
        file = pathlib.Path(folder, "strace")
        strace = ["strace", "-f", "-ttt", "-T", "-yy", "-s", "0", "-o", str(file)]
        with running.server(joust, engine, before=strace) as (address, _):
            running.load(joust, engine, address, "-c", "1", "-R", "2", "-m", "4", "--arrivals", "constant")
        return "```text\n" + "\n".join(rows(file.read_text())) + "\n```"


def rows(text):
    bursts = _bursts(_calls(text))
    carrying = [burst for burst in bursts if sum(_moves(call) for _, _, call in burst) >= 1]
    if len(carrying) < 3:
        raise RuntimeError("strace shows no separate messages: try again on a quieter machine")
    # The second of four messages. A burst with the fewest calls has no timers of its own in it.
    burst = min(carrying[1:3], key=len)
    names = {}
    for process, _, _ in burst:
        names.setdefault(process, f"thread {len(names) + 1}")
    single = len(names) == 1
    return [(_plain(call) if single else f"{names[process]:<9} {_plain(call)}") for process, _, call in burst]


def _calls(text):
    """(thread, when it returned, the call) in the order of the returns."""
    begun, calls = {}, []
    for line in text.split("\n"):
        match = _LINE.match(line)
        if not match:
            continue
        process, at, call, took = match.groups()
        if call.endswith("<unfinished ...>"):
            begun[process] = call.removesuffix("<unfinished ...>").rstrip()
        elif resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", call):
            calls.append((process, float(at), begun.pop(process, "") + " " + resumed.group(1)))
        elif took:
            calls.append((process, float(at) + float(took), call))
    # A thread of joust measures: it tries time and again whether a file can be opened. libuv opens one.
    tried = collections.Counter(process for process, _, call in calls if '"/dev/null"' in call)
    return sorted((call for call in calls if tried[call[0]] < 3), key=lambda call: call[1])


def _bursts(calls):
    bursts, last = [], None
    for call in calls:
        if last is None or call[1] - last > _QUIET_S:
            bursts.append([])
        bursts[-1].append(call)
        last = call[1]
    return bursts


def _moves(call):
    result = re.search(r"= (\d+)", call)
    if call.startswith("io_uring_enter"):
        return result is not None
    return bool(_CARRIES.match(call) and result and int(result.group(1)) > 0 and re.search("TCP:|UDP:", call))


def _plain(call):
    for pattern, kind in _KINDS:
        call = re.sub(rf"\b\d+{pattern}", kind, call)
    call = re.sub(r"0x[0-9a-f]{6,}", "...", call)
    call = re.sub(r"\{tv_sec=\d+, tv_nsec=\d+\}", "{time}", call)
    call = re.sub(r"(u32|u64|ptr)=\d+", r"\1=...", call).replace('""...', "bytes")
    call = re.sub(r"sin_port=htons\(\d+\)", "sin_port=...", call)
    call = re.sub(r"\s+= ", " = ", re.sub(r"  +", " ", call)).replace(" )", ")")
    call = re.sub(r"^(get\w*id\(\)) = \d+", r"\1 = ID", call)
    return re.sub(r"(EPOLL\w+), data=\{[^}]*\}", r"\1", call)
