# SPDX-License-Identifier: MIT
"""No MPI in a turn: neither CPU time of the relays nor a packet on its network.

The daemons of Open MPI, which make no call of MPI, wake up for some 30 us every two seconds."""

import contextlib
import glob
import json
import os
import subprocess
import time
import unittest
from collections import namedtuple
from itertools import pairwise

from namespaces import NO_MPI, OnNamespaces, host, processes
from program import JOUST, PATIENCE_S, long

DAEMONS = ("orted", "mpirun")
MOST_OF_DAEMONS = 1e-3  # of a CPU
STEP_S = 0.008  # between two samples
TIMED = "--rounds", 1, "-d", "2s", "--turn", "500ms"
LEAST_TURN_S = 0.15  # shorter ones, as those of the ceiling with so many messages, have too few samples
# The part of a turn that has to be silent. The counters are read some milliseconds apart, and on a busy
# machine a relay that has passed on the last request may be kept from going to sleep.
SILENT = 0.6
LEAST_SEEN = 0.9  # of the turns: where the sampler itself is kept from running, two silences look like one

Sample = namedtuple("Sample", "at_s packets relays_ns daemons_ns")


def cpu_ns(pid):
    """The time that all threads of a process have run, to the nanosecond."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def is_contestant(words):
    return words[1:2] == ["serve"] or "--turns" in words or "--counted-turns" in words


def packets(pid, interface):
    """The packets of an interface of the process's host."""
    with open(f"/proc/{pid}/net/dev", encoding="ascii") as file:
        for line in file:
            name, _, counts = line.partition(":")
            if name.strip() == interface:
                fields = counts.split()
                return int(fields[1]) + int(fields[9])
    raise AssertionError(f"no interface {interface}")


@unittest.skipIf(NO_MPI, NO_MPI)
class Silence(OnNamespaces):
    def sampled(self, count, *arguments):
        """Samples of a race while it runs."""
        names = ",".join(host(number) for number in range(1, count + 1))
        race = [JOUST, "race", "--hosts", names, "-p", "echo", "--progress", "none", "--no-history"]
        command = self.on_hosts(count, *race, *arguments, "--json", self.path("race.json"))
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            try:
                for number in range(1, count + 1):
                    self.one(number, is_contestant)
                taken = self.samples(count)
                _, errors = process.communicate(timeout=PATIENCE_S)
            finally:
                if process.poll() is None:
                    process.terminate()
        self.assertIn(process.returncode, (0, 3), errors)
        return taken

    def samples(self, count):
        found = [(pid, words) for number in range(1, count + 1) for pid, words in processes(number)]
        daemons = [pid for pid, words in found if os.path.basename(words[0]) in DAEMONS]
        relays = [pid for pid, words in found if words[0].endswith("joust-relay")]
        self.assertEqual(len(relays), count)
        self.assertEqual(len(daemons), count)  # mpirun has one of the hosts itself
        taken = []
        with contextlib.suppress(OSError):  # before others, on a busy machine
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
            self.addCleanup(os.sched_setscheduler, 0, os.SCHED_OTHER, os.sched_param(0))
        with contextlib.suppress(OSError):  # until a process has ended
            while True:
                taken.append(
                    Sample(
                        time.monotonic(),
                        sum(packets(pid, "mpi") for pid in relays),
                        sum(map(cpu_ns, relays)),
                        sum(map(cpu_ns, daemons)),
                    )
                )
                time.sleep(STEP_S)
        return taken

    def silences(self, taken):
        """The first and the last sample of each time in which no packet of MPI was sent, and no relay ran."""
        begin = taken[0]
        for before, after in pairwise(taken):
            if (before.packets, before.relays_ns) != (after.packets, after.relays_ns):
                yield begin, before
                begin = after
        yield begin, taken[-1]

    def check(self, count, *arguments):
        """Requests separate turns, so a silence cannot have two of them: as many as there are turns, and
        as long, leave no place for anything else."""
        taken = self.sampled(count, "--server", "epoll,poll", *arguments)
        self.assertGreater(taken[-1].packets, taken[0].packets, "the counters count")
        self.assertGreater(taken[-1].relays_ns, taken[0].relays_ns)
        with open(self.path("race.json"), encoding="utf-8") as file:
            contestants = json.load(file)["contestants"]
        trials = [trial for one in contestants for trial in one["trials"] if trial["counted"]]
        turns = [turn_s for trial in trials for turn_s in trial["turns"]["turn_s"] if turn_s > LEAST_TURN_S]
        self.assertGreater(len(turns), 5)
        silences = [(begin, end) for begin, end in self.silences(taken)
                    if end.at_s - begin.at_s >= SILENT * min(turns)]
        self.assertGreaterEqual(len(silences), LEAST_SEEN * len(turns))
        of_daemons_s = sum(end.daemons_ns - begin.daemons_ns for begin, end in silences) / 1e9
        self.assertLess(of_daemons_s, MOST_OF_DAEMONS * sum(end.at_s - begin.at_s for begin, end in silences))

    def test_turns(self):
        self.check(2, "-c", 4, *TIMED)

    @long
    def test_counted_turns(self):
        self.check(2, "-c", 4, "--rounds", 4, "-m", 30_000, "-w", "0s")

    @long
    def test_turns_of_several_loads(self):
        self.check(3, "-c", 4, *TIMED)


if __name__ == "__main__":
    unittest.main()
