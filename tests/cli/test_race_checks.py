# SPDX-License-Identifier: MIT
"""joust race and faults of contestants and of the machine: the checks name them."""

import json
import os
import subprocess
import sys
import unittest

from program import PATIENCE_S, Case, long, run, whose_races_count

CPUS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []

# Echoes in one thread on the port of its second argument. The first says what is wrong with it: "warms" gets
# faster with its CPU time, "pins" pins itself to the CPU of its third argument.
SERVER = """
import math, os, selectors, socket, sys, time
kind, port = sys.argv[1], int(sys.argv[2])
if kind == "pins":
    os.sched_setaffinity(0, {int(sys.argv[3])})
def work():
    turns = 1000
    if kind == "warms":
        turns += int(100000 * math.exp(-time.process_time() / 0.08))
    for _ in range(turns):
        pass
selector = selectors.DefaultSelector()
listener = socket.create_server(("127.0.0.1", port), backlog=64)
selector.register(listener, selectors.EVENT_READ)
while True:
    for key, _ in selector.select():
        if key.fileobj is listener:
            selector.register(listener.accept()[0], selectors.EVENT_READ)
            continue
        data = key.fileobj.recv(1 << 16)
        if not data:
            selector.unregister(key.fileobj)
            key.fileobj.close()
            continue
        work()
        key.fileobj.sendall(data)
"""

# Forks for each connection, and again for the work of each message. It waits for the workers, or ignores
# their end.
FORKING = """
import os, signal, socket, sys
ignores = sys.argv[1] == "ignores"
signal.signal(signal.SIGCHLD, signal.SIG_IGN if ignores else signal.SIG_DFL)
listener = socket.create_server(("127.0.0.1", int(sys.argv[2])), backlog=64)
while True:
    peer = listener.accept()[0]
    if os.fork():
        peer.close()
        continue
    while data := peer.recv(1 << 16):
        worker = os.fork()
        if not worker:
            for _ in range(40000):
                pass
            os._exit(0)
        try:
            os.waitpid(worker, 0)
        except ChildProcessError:
            pass  # its end was ignored
        peer.sendall(data)
    os._exit(0)
"""

# Keeps a CPU busy for so many seconds.
BUSY = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    pass
"""


@unittest.skipIf(len(CPUS) < 2, "server and client need a CPU each")
class ChecksOfARace(Case):
    def script(self, name, text):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as script:
            script.write(text)
        return path

    def race(self, contestants, *options, duration="300ms"):
        """The result of a race of [(name, command or engine, more keys)]."""
        file = self.path("scenario.toml")
        with open(file, "w", encoding="utf-8") as scenario:
            scenario.write('protocol = "echo"\nallow_unranked = true\n')
            scenario.write(f'[cpus]\nserver = "{CPUS[0]}"\nclient = "{CPUS[1]}"\n')
            scenario.write(f'[load]\nduration = "{duration}"\nconnections = 4\nwarmup = "100ms"\n')
            for name, command, more in contestants:
                key = "command" if " " in command else "server"
                scenario.write(f'[[contestant]]\nname = "{name}"\n{key} = "{command}"\n{more}\n')
        result = self.path("result.json")
        done = run("race", file, *options, "--json", result)
        self.assertIn(done.returncode, (0, 3), done.stdout + done.stderr)
        with open(result, encoding="utf-8") as text:
            return json.load(text)

    @staticmethod
    def check(result, number):
        return next(check for check in result["checks"] if check["id"] == number)

    @long
    @whose_races_count
    def test_a_server_that_gets_faster_is_named_until_its_warm_up_is_long_enough(self):
        script = self.script("server.py", SERVER)
        for warmup, named in (("", True), ('warmup = "2s"', False)):
            with self.subTest(warmup):
                result = self.race(
                    [("steady", f"python3 {script} steady {{port}}", ""),
                     ("warms", f"python3 {script} warms {{port}}", warmup)],
                    "--rounds", 8, "--turn", "20ms", duration="400ms")  # fmt: skip
                detail = self.check(result, 6)["detail"]
                faster = r"warms: (throughput rises|server CPU time per message falls) by "
                if named:
                    self.assertRegex(detail, faster)
                    self.assertIn("a longer warm-up (-w, now 100 ms) leaves that out", detail)
                else:
                    self.assertNotRegex(detail, faster)

    def test_a_server_that_pins_itself_to_the_clients_cpu_is_named(self):
        script = self.script("server.py", SERVER)
        result = self.race(
            [("epoll", "epoll", ""),
             ("elsewhere", f"python3 {script} pins {{port}} {CPUS[1]}", "")],
            "--rounds", 2, duration="100ms")  # fmt: skip
        found = self.check(result, 10)
        warned = "REFUSE" if os.environ.get("JOUST_SANITIZE") else "WARN"  # a sanitized build is refused
        self.assertEqual(found["verdict"], warned, found["detail"])
        said = (f"elsewhere: 1 thread of its server had CPU {CPUS[1]} where CPU {CPUS[0]} was asked for "
                "(CPUs of the other side are among them)")  # fmt: skip
        self.assertIn(said, found["detail"])
        self.assertNotIn("epoll: 1 thread", found["detail"])
        threads = result["contestants"][0]["trials"][0]["scheduling"]
        self.assertEqual(threads["client"][0]["cpus"], str(CPUS[1]))

    def test_a_busy_loop_on_the_servers_cpu_is_told(self):
        for turns in ("on", "off"):
            with self.subTest(turns):
                busy = subprocess.Popen([sys.executable, "-c", BUSY, str(CPUS[0]), "60"])
                self.addCleanup(busy.wait, PATIENCE_S)
                self.addCleanup(busy.kill)
                result = self.race([("epoll", "epoll", ""), ("threads", "threads", "")], "--rounds", 2,
                                   "--turns", turns, "--quick")  # fmt: skip
                busy.kill()
                found = self.check(result, 12)
                self.assertEqual(found["verdict"], "WARN", found["detail"])
                self.assertRegex(found["detail"], r"used \d+ % or more of the server's CPUs")

    @long
    @whose_races_count
    def test_the_cost_of_a_server_whose_processes_end_unwaited_for_is_unknown(self):
        script = self.script("forking.py", FORKING)
        for turns in ("on", "off"):
            with self.subTest(turns):
                result = self.race(
                    [(kind, f"python3 {script} {kind} {{port}}", "") for kind in ("waits", "ignores")],
                    "--rounds", 2, "--turns", turns, "--quick")  # fmt: skip
                entries = {entry["name"]: entry for entry in result["contestants"]}
                cost = entries["waits"]["summary"]["server_cpu_us_per_message"]
                self.assertGreater(cost["median"], 800, "a fork and its work")
                self.assertIsNone(entries["ignores"]["summary"]["server_cpu_us_per_message"])
                self.assertIsNone(entries["ignores"]["cost_place"])
                self.assertIn("ignores: the cost of a message is unknown, and not ranked",
                              self.check(result, 12)["detail"])  # fmt: skip


if __name__ == "__main__":
    unittest.main()
