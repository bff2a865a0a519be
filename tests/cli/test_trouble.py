# SPDX-License-Identifier: MIT
"""What joust load and serve say when something is wrong: one line with stage and address, exit code 1."""

import contextlib
import itertools
import json
import socket
import sys
import threading
import time
import unittest

from program import CALCULATOR, JOUST, Case, Server, as_another_user, run, with_few_processes


@contextlib.contextmanager
def misbehaving(behave):
    """The address of a server that treats its n-th connection with behave(peer, n)."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        peers = []

        def accept():
            with contextlib.suppress(OSError):  # the listener was shut down
                while True:
                    peer, _ = listener.accept()
                    peers.append(peer)
                    threading.Thread(target=behave, args=(peer, len(peers)), daemon=True).start()

        acceptor = threading.Thread(target=accept)
        acceptor.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        acceptor.join()
        for peer in peers:
            peer.close()


def engine_rows(program):
    return {row["name"]: row for row in json.loads(run("engines", "--json", program=program).stdout)}


# Runs its arguments, with a listener and without a local port for another connection to it.
WITHOUT_PORTS = """
import socket, subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
open("/proc/sys/net/ipv4/ip_local_port_range", "w").write("40000 40001")
with socket.create_server(("127.0.0.1", 9000)):
    others = [socket.create_connection(("127.0.0.1", 9000)) for _ in range(2)]
    sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""


class SmallLimits(Case):
    def test_rings_need_memory_that_may_be_locked(self):
        if not engine_rows(as_another_user("--memlock=8388608"))["io-uring"]["available"]:
            self.skipTest("no io_uring")
        program = as_another_user("--memlock=65536")
        words = "all rings of this user may lock 64 KiB (ulimit -l)"
        for engine in ("io-uring", "io-uring-pool"):
            row = engine_rows(program)[engine]
            self.assertFalse(row["available"])
            self.assertIn(words, row["reason"])
            done = run("serve", "-e", engine, "-p", "echo", program=program)
            self.assertIn(words, done.stderr)


    def in_a_network_of_its_own(self, *arguments, program=(JOUST,)):
        if run("-n", "true", program="unshare").returncode != 0:
            self.skipTest("needs root")
        return run(*arguments, program=["unshare", "-n", *program])

    def test_a_loopback_device_that_is_down_is_said(self):
        load = self.in_a_network_of_its_own("load", "--connect", "127.0.0.1:9", "-m", 1)
        self.assertIn("Network is unreachable (the loopback device is down: ip link set lo up)", load.stderr)
        race = self.in_a_network_of_its_own("race", "--server", "epoll", "--rounds", 1)
        self.assertEqual((race.returncode, race.stdout), (1, ""))
        self.assertIn("the loopback device is down", race.stderr)

    def test_local_ports_that_have_run_out_are_said(self):
        load = ("load", "--connect", "127.0.0.1:9000", "-m", 1)
        done = self.in_a_network_of_its_own(*load, program=[sys.executable, "-c", WITHOUT_PORTS, JOUST])
        self.assertIn("all local ports for this address are in use", done.stderr)

    def test_a_race_goes_on_without_a_process_and_names_the_limit(self):
        program = with_few_processes(3)  # the race's two, and one too few for a trial
        done = run("race", "--server", "epoll", "--rounds", 1, "-c", 1, "-d", "100ms", program=program)
        self.assertEqual(done.returncode, 3, done.stderr)
        words = "could not be started: fork(): Resource temporarily unavailable (ulimit -u: this user may"
        self.assertIn(words, " ".join(done.stdout.split()))

    def test_a_server_that_could_accept_nobody_does_not_listen(self):
        for engine, few in (("epoll", 8), ("threads", 7), ("two-processes", 9), ("asio-pool", 10)):
            with self.subTest(engine):
                limited = ["timeout", "20", "sh", "-c", f'ulimit -n {few} && exec "$0" "$@"', JOUST]
                done = run("serve", "-e", engine, "-p", "echo", program=limited)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(f"{few} open files (ulimit -n) are too few: the first connection", done.stderr)


class OneLine(Case):
    def expect(self, behave, words, *options):
        with misbehaving(behave) as address:
            done = run("load", "--connect", address, "-c", 3, "-m", 5, *options)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, f"joust: {address}: {words}\n")

    def test_a_server_that_closes_early(self):
        def close(peer, _):
            peer.recv(1000)
            peer.shutdown(socket.SHUT_RDWR)

        self.expect(close, "receive: the server closed the connection early; if it refused a message, its "
                    "output has the reason")  # fmt: skip

    def test_a_server_that_closes_idle_connections(self):
        def close(peer, _):
            peer.sendall(peer.recv(32, socket.MSG_WAITALL))
            peer.shutdown(socket.SHUT_RDWR)

        self.expect(close, "receive: the server closed the connection while nothing was under way; if it "
                    "closes idle connections, --reconnect always dials again",
                    "-i", "30s")  # fmt: skip

    def test_a_server_that_answers_no_script(self):
        script = ("-p", "script", "--send", "ping", "--expect", "pong", "--reply", "line")
        with misbehaving(lambda peer, _: None) as address:
            done = run("load", "--connect", address, "-m", 1, "--request-timeout", "200ms", *script)
        self.assertIn("does the server speak as the script says?", done.stderr)
        self.assertNotIn("protocol 'script'", done.stderr)

    def test_a_server_that_answers_wrong(self):
        def answer(peer, _):
            request = peer.recv(32, socket.MSG_WAITALL)
            peer.sendall(request[:5] + bytes([request[5] ^ 1]) + request[6:])

        with misbehaving(answer) as address:
            done = run("load", "--connect", address, "-c", 1, "-m", 5)
        self.assertEqual(done.returncode, 1)
        for words in (
            "verify: request 0 of connection 0: a reply is not the right one; 32 bytes expected: ",
            ", 32 bytes came: ",
            ", different from byte 5 on; is it a server of the protocol 'echo'?",
        ):
            self.assertIn(words, done.stderr)

    def test_a_room_that_another_load_is_in(self):
        with Server("-p", "broadcast") as server:
            port = int(server.address.rsplit(":", 1)[1])
            with socket.create_connection(("127.0.0.1", port)) as first:
                first.sendall(bytes([0, 0, 0, 13, 1]) + bytes(12))  # member 0 joins
                self.assertEqual(first.recv(17), bytes([0, 0, 0, 13, 2]) + bytes(12))
                done, _ = self.load("--connect", server.address, "-p", "broadcast", "-m", 1)
        self.assertEqual(done.returncode, 1)
        self.assertIn("another load is in the room", done.stderr)

    def test_a_server_that_answers_nothing(self):
        self.expect(lambda peer, _: None, "timeout: no reply within the request timeout of 200 ms; "
                    "is it a server of the protocol 'echo'?",
                    "--request-timeout", "200ms")

    def test_nobody_listens(self):
        for engine in ("threads", "epoll", "io-uring"):
            with self.subTest(engine):
                plan = ("-p", "uppercase", "--connect", "127.0.0.1:1", "-c", 1, "-m", 1)
                done = run("load", "-e", engine, *plan)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr, "joust: connect 127.0.0.1:1: Connection refused\n")

    def test_nothing_was_measured(self):
        done = run("load", "-e", "null", "-d", "1ms", "-w", "1ms", "-i", "1h")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^joust: nothing was measured: .*\n$")

    def test_a_congestion_control_that_is_not_there(self):
        for command in (("serve",), ("load", "--connect", "127.0.0.1:1")):
            with self.subTest(command):
                done = run(*command, "--congestion", "nope")
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, r"^joust: --congestion nope: .*reno.*\n$")


class WithoutThreads(Case):
    def test_a_server_that_cannot_begin_does_not_say_that_it_listens(self):
        program = with_few_processes(4)
        for engine, what in (("epoll", "loop"), ("poll", "loop"), ("io-uring", "loop"),
                             ("epoll-pool", "worker"), ("io-uring-pool", "worker")):
            with self.subTest(engine):
                done = run("serve", "-e", engine, "-p", "echo", "-t", 8, program=program)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stdout, "")
                self.assertRegex(
                    done.stderr, rf"^joust: starting {what} \d of 8: Resource temporarily unavailable "
                    r"\(ulimit -u: this user may have 4 processes and threads(; pids.max: .*)?\)\n$")


class Events(Case):
    def events(self, *arguments):
        done = run("load", "--events", "--json", self.path("load.json"), *arguments)
        return [json.loads(line)["event"] for line in done.stdout.splitlines()]

    def test_come_in_their_order(self):
        for end in (("-m", 1), ("-m", 5, "-w", "20ms"), ("-d", "50ms")):
            with self.subTest(end):
                events = self.events("-e", "null", *end)
                self.assertEqual(events, ["connected", "measuring", "measured", "done"])

    def test_nothing_is_connected_where_nobody_listens(self):
        for end in (("-m", 1), ("-d", "50ms"), ("-m", 1, "-w", "20ms")):
            with self.subTest(end):
                self.assertEqual(self.events("--connect", "127.0.0.1:1", "-c", 3, *end), ["done"])


class InTheText(Case):
    def test_a_server_that_dies_in_the_window(self):
        def answer_some(peer, _):
            for _ in range(100):
                peer.sendall(peer.recv(32, socket.MSG_WAITALL))
            peer.shutdown(socket.SHUT_RDWR)

        with misbehaving(answer_some) as address:
            done = run("load", "--connect", address, "-c", 2, "-d", "60s")
        self.assertEqual(done.returncode, 1)
        self.assertIn(" 200 verified", done.stdout)
        self.assertRegex(done.stdout, r"this client  .*\d [KM]iB peak user memory")
        self.assertNotIn(" 0 B peak user memory", done.stdout)
        self.assertIn("failed       2 connections at stage receive (of the whole run)", done.stdout)

    def test_timeouts_after_the_window_do_not_contradict_it(self):
        def answer_once(peer, _):
            peer.sendall(peer.recv(32, socket.MSG_WAITALL))

        with misbehaving(answer_once) as address:
            done = run("load", "--connect", address, "-c", 2, "-d", "100ms", "--request-timeout", "300ms")
        self.assertEqual(done.returncode, 1)
        words = "in the timed window: 4 sent, 2 verified, 0 failed, 2 in flight at its end"
        self.assertIn(words, done.stdout)
        self.assertIn("failed       2 connections at stage timeout (of the whole run)", done.stdout)


class InTheResult(Case):
    def load_with_a_silent_connection(self, replies, *plan):
        """One of two connections has so many replies, and then none for longer than the window."""

        def answer_one_in_time(peer, number):
            with contextlib.suppress(OSError):
                for turn in itertools.count():
                    if not (request := peer.recv(1000)):
                        return
                    if number == 2 and turn == replies:
                        time.sleep(1)
                    peer.sendall(request)

        with misbehaving(answer_one_in_time) as address:
            return address, *self.load("--connect", address, "-c", 2, "-d", "300ms", *plan)

    def test_a_connection_without_any_reply(self):
        address, done, result = self.load_with_a_silent_connection(0)
        self.assertEqual(done.returncode, 1)
        counts = {"ok": 2, "failed": 0, "answered": 1, "never_answered": 1}
        self.assertEqual(result["connections"], counts)
        self.assertEqual(result["oldest_open_ns"], 300_000_000)
        self.assertIn("1 of 2 connections had no reply in the timed window, and they had none before it "
                      "either; the oldest request is open for 300 ms", done.stdout)
        words = ("1 of 2 connections never had a reply in all that time: measure longer (-d), or the server "
                 "serves fewer at a time")
        self.assertEqual(done.stderr, f"joust: {address}: {words}\n")

    def test_a_connection_without_a_reply_in_the_window(self):
        _, done, result = self.load_with_a_silent_connection(1, "-w", "200ms")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        counts = {"ok": 2, "failed": 0, "answered": 1, "never_answered": 0}
        self.assertEqual(result["connections"], counts)
        self.assertIn("1 of 2 connections had no reply in the timed window; ", done.stdout)

    def test_a_connection_whose_turn_to_ask_has_not_come(self):
        with Server("-p", "echo") as server:
            done, result = self.load("--connect", server.address, "-c", 2, "-d", "100ms", "-i", "1s")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(result["connections"]["never_answered"], 0)

    def test_the_latencies_themselves_and_the_window(self):
        with Server("-p", "echo") as server:
            before = time.monotonic_ns()
            _, result = self.load("--connect", server.address, "-c", 3, "-d", "100ms")
            after = time.monotonic_ns()
            stopped = server.stop()
        latency, histogram = result["latency_ns"], result["histogram_ns"]
        self.assertEqual(sum(count for _, count in histogram), latency["samples"])
        self.assertEqual(histogram[-1][0], latency["max"])
        self.assertIn(latency["p50"], [value for value, _ in histogram])
        window = result["window_ns"]
        self.assertLess(before, window["from"])
        self.assertEqual(window["to"] - window["from"], 100_000_000)
        self.assertLess(window["to"], after)
        # An ordinary user may not have the congestion control that a machine reserves for others.
        self.assertEqual([note for note in result["notes"] if "congestion" not in note], [])
        for missing in (result["missing"], server.listening["missing"], stopped["missing"]):
            self.assertEqual(missing, [])  # epoll needs nothing a kernel may lack

    def test_a_frame_that_breaks_the_protocol_is_counted(self):
        with Server(program=CALCULATOR) as server:
            with socket.create_connection(server.address.rsplit(":", 1)) as peer:
                peer.sendall(b"1" * 1000)
                self.assertEqual(peer.makefile().read(), "")
            stopped = server.stop()
        self.assertEqual(stopped["errors"], {"verify": 1})
        self.assertRegex(stopped["messages_of_errors"][0], "^verify: .*line")


if __name__ == "__main__":
    unittest.main()
