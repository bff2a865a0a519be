# SPDX-License-Identifier: MIT
"""Where a server spends its time, as a tree of functions: samples of perf, by the clock of the CPU."""

import pathlib
import re
import subprocess
import tempfile
import threading
import time

import running

_LEAST = 0.03  # a smaller share is left out
_DEEPEST = 9
# Frames that every sample has, or that name no work.
_PLAIN = re.compile(
    r"^(|_*(libc_)?start\S*|main|_*clone3?|\[unknown\]|operator\(\)|_?_?invoke\S*|__pthread_once_slow"
    r"|do_syscall_64|asm_\S*|entry_SYSCALL_64\S*|__(x64|se)_sys_\S*|__sys_\S*|CommandLine::\S*|CLI::\S*"
    r"|__schedule|finish_task_switch|(poll_)?schedule_\w+|wait_woken|futex_do_wait|__futex_wait"
    r"|do_epoll_p?wait|\w+_locked|ksys_\w+|_raw_spin_\w+"
    r"|Serve::\S*|run(_\w+)?|_M_\S*|std::\S*|\S*_FUN"
    r"|asio::(io_context::\S*|scheduler::run|awaitable_thread::pump)"
    r"|ClientThread::run|QtClient::\S*|QtLoop::run|QEventLoop::exec|QEventDispatcher\S*"
    r"|QCoreApplication::\S*|QtPrivate::\S*|g_main_context_(iteration|dispatch)|ParentProcess::\S*)$"
)
_DECORATION = re.compile(r"\(anonymous namespace\)::|joust::|\+0x[0-9a-f]+"
                         r"|boost::(?=asio)|(?<=asio::)detail::"
                         r"|\.(part|isra|constprop)\.\d+|^(__GI_+)?(_*libc_(?!start))?")
_THREADS = {"qt-pool": 32}  # a thread for each connection: it holds its client as long as it is there


def of_one_second(joust, engine):
    with tempfile.TemporaryDirectory(prefix="joust-") as folder:
        data = str(pathlib.Path(folder, "perf"))
        threads = ("-t", str(_THREADS[engine])) if engine in _THREADS else ()
        with running.server(joust, engine, more=threads) as (address, process):
            settings = ("-c", "32", "-d", "6s")
            load = threading.Thread(target=running.load, args=(joust, engine, address, *settings))
            load.start()
            time.sleep(1)  # perf looks at threads that exist when it begins
            record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "--call-graph", "dwarf,16384",
                      "-o", data, "-p", ",".join(map(str, running.family(process))), "--", "sleep", "3"]
            subprocess.run(record, check=True, stderr=subprocess.DEVNULL, timeout=running.PATIENCE_S)
            load.join()
        script = ["perf", "script", "-i", data, "-F", "ip,sym"]
        text = subprocess.run(script, check=True, capture_output=True, text=True, timeout=300).stdout
    return "```text\n" + "\n".join(rows(text)) + "\n```"


def rows(text):
    stacks = [_stack(sample) for sample in text.split("\n\n") if sample.strip()]
    if len(stacks) < 60:
        raise RuntimeError(f"only {len(stacks)} samples: try again on a quieter machine")
    return list(_tree(stacks, 0, len(stacks)))


def _stack(sample):
    """From the outermost function to the innermost."""
    names = [_short(line.split(None, 1)[1]) for line in sample.split("\n") if len(line.split(None, 1)) == 2]
    names = [name for name in reversed(names) if not _PLAIN.match(name)]
    return [name for name, before in zip(names, [None, *names]) if name != before]  # inlined parts repeat it


def _short(name):
    name = _DECORATION.sub("", name.strip())
    name = re.sub(r"\(.*\)( const)?$", "", name)
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    return name.split(" ")[-1]


def _tree(stacks, depth, total):
    callees = {}
    for stack in stacks:
        if len(stack) > depth:
            callees.setdefault(stack[depth], []).append(stack)
    for name, those in sorted(callees.items(), key=lambda pair: -len(pair[1])):
        share = len(those) / total
        if share >= _LEAST and depth < _DEEPEST:
            yield f"{share:4.0%}  {'  ' * depth}{name}"
            yield from _tree(those, depth + 1, total)
