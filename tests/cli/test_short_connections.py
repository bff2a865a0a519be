# SPDX-License-Identifier: MIT
"""Loads that end their connections after a number of messages, and dial others."""

import json
import signal
import time

from program import Case, Server, long, run, whose_races_count


def rows(kind):
    return {row["name"]: row for row in json.loads(run(kind, "--json").stdout)}


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return children.read().split()


class ShortConnections(Case):
    def loaded(self, server, *options):
        """The result of a load of 4 connections, which must be clean."""
        done, result = self.load("--connect", server.address, "-c", 4, *options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.valid(self.path("load.json"))
        messages = result["messages"]
        self.assertEqual(messages["sent"], messages["verified"] + messages["in_flight"])
        return done, result

    def test_a_connection_lasts_for_so_many_messages(self):
        with Server("-p", "echo") as server:
            done, result = self.loaded(server, "-p", "echo", "-m", 10, "--depth", 8,
                                       "--messages-per-connection", 3)
            stopped = server.stop()
        self.assertEqual(result["messages"]["verified"], 40)
        self.assertEqual(result["handovers"], 12)
        self.assertIn("connections ended with a reply, after 3 messages at most", done.stdout)
        self.assertEqual((stopped["connections"]["accepted"], stopped["connections"]["failed"]), (16, 0))

    @long
    def test_on_every_engine(self):
        for engine, row in rows("engines").items():
            if not row["available"] or row["delivery"] != "stream" or row["clients_wait"] or engine == "null":
                continue
            for role in row["roles"]:
                serves, loads = (engine, "epoll") if role == "serve" else ("epoll", engine)
                with self.subTest(engine=engine, role=role), Server("-e", serves, "-p", "echo") as server:
                    _, result = self.loaded(server, "-e", loads, "-p", "echo", "-m", 20,
                                            "--messages-per-connection", 1)
                    self.assertEqual(result["messages"]["verified"], 80)
                    self.assertEqual(result["handovers"], 76)

    def test_each_connection_shakes_hands_and_takes_its_leave(self):
        with Server("-p", "websocket") as server:
            _, result = self.loaded(server, "-p", "websocket", "-m", 12, "--messages-per-connection", 4)
            stopped = server.stop()
        self.assertEqual(result["messages"]["verified"], 48)
        self.assertEqual((stopped["connections"]["accepted"], stopped["connections"]["failed"]), (12, 0))

    def test_in_a_window_and_in_an_open_loop(self):
        with Server("-p", "echo") as server:
            short = ("-p", "echo", "--messages-per-connection", 1)
            self.assertGreater(self.loaded(server, *short, "-d", "300ms", "-w", "100ms")[1]["handovers"], 0)
            _, result = self.loaded(server, *short, "-d", "500ms", "-R", 200, "--arrivals", "constant")
        self.assertEqual(result["messages"]["due"], 100)
        self.assertEqual(result["messages"]["verified"], 100)

    @whose_races_count
    def test_engines_race_by_short_connections(self):
        file = self.path("race.json")
        done = run("race", "--server", "epoll,threads", "-p", "echo", "-c", 4, "--messages-per-connection", 1,
                   "-d", "200ms", "--rounds", 3, "--json", file)
        self.assertIn(done.returncode, (0, 3), done.stdout + done.stderr)  # 3: a busy machine tells nothing
        self.assertIn("a new connection after 1 message", done.stdout)
        self.valid(file)

    def cost_of_processes(self, connections):
        """The CPU time of a connection in microseconds, as the kernel has it of all processes that ended."""
        def used(event):
            return event["usage"]["cpu_user_s"] + event["usage"]["cpu_system_s"]

        with Server("-e", "processes", "-p", "echo") as server:
            server.tell(signal.SIGUSR1)
            before = used(server.event())
            self.loaded(server, "-p", "echo", "-m", connections // 4, "--messages-per-connection", 1)
            for _ in range(1000):  # until the last process has been waited for
                if not children_of(server.listening["pid"]):
                    break
                time.sleep(0.01)
            server.tell(signal.SIGUSR1)
            after, stopped = used(server.event()), used(server.stop())
        self.assertGreater(after, 0.8 * stopped, "of those that have ended, too")
        return 1e6 * (stopped - before) / connections

    @whose_races_count
    def test_the_cost_of_a_race_has_the_processes_that_have_ended(self):
        file = self.path("race.json")
        done = run("race", "--server", "processes", "-p", "echo", "-c", 4, "--messages-per-connection", 1,
                   "-d", "300ms", "--rounds", 2, "--json", file)
        self.assertIn(done.returncode, (0, 3), done.stdout + done.stderr)
        with open(file, encoding="utf-8") as result:
            summary = json.load(result)["contestants"][0]["summary"]
        self.assertGreater(summary["server_cpu_us_per_message"]["median"], 0.6 * self.cost_of_processes(400))

    def test_where_no_connection_can_end_it_is_refused(self):
        load = ("load", "--messages-per-connection", 1, "-m", 3)
        self.refused(run(*load, "-e", "null", "-p", "echo"),
                     "no sockets: leave --messages-per-connection out")
        self.refused(run(*load, "-p", "broadcast", "--connect", "127.0.0.1:1"), "no reconnecting")
        self.refused(run(*load, "-e", "udp-batched", "-p", "echo", "--connect", "127.0.0.1:1"),
                     "which have no connection that could end")
