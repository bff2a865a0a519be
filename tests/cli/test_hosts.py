# SPDX-License-Identifier: MIT
"""Loads over several hosts: network namespaces, made by script/hosts, and Open MPI."""

import contextlib
import json
import os
import pathlib
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest

from namespaces import (NAMES, NO_HOSTS, NO_MPI, RELAY, SCRIPT, OnNamespaces, host, of_joust,
                        processes, why_no_mpi)
from program import JOUST, PATIENCE_S, Case, Server, long, run


def is_load(words):
    return "--load-part" in words


def is_relay(words):
    return words[0].endswith("joust-relay")


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def segments(number):
    """The TCP segments of all connections on the network of Open MPI. (The kernel's own packets, which look
    after neighbours, are none.)"""
    done = subprocess.run(
        ["ip", "netns", "exec", host(number), "ss", "-tniH", "src", "198.18.1.0/24"],
        capture_output=True, text=True, timeout=PATIENCE_S, check=True,
    )
    return sum(int(count) for count in re.findall(r"segs_(?:in|out):(\d+)", done.stdout))


class Hosts(OnNamespaces):
    def load_command(self, *arguments, count=3):
        return self.on_hosts(count, *self.load_words(*arguments, count=count))

    def load_words(self, *arguments, count=3):
        names = ",".join(host(number) for number in range(1, count + 1))
        return [JOUST, "load", "--hosts", names, "-p", "echo", "--json", self.path("whole.json"), *arguments]

    def result(self, name="whole.json"):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def finished(self, command):
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    @contextlib.contextmanager
    def running(self, command):
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            with contextlib.suppress(ValueError):
                print(*process.communicate(timeout=PATIENCE_S))  # shown where the test has failed

    def sending(self, number):
        """A load of the host, when messages of its window have been answered."""
        pid = self.one(number, is_load)
        self.awaited("messages", lambda: self.moved(number) > 1000)
        return pid

    def moved(self, number):
        done = subprocess.run(
            ["ip", "-n", host(number), "-s", "-j", "link", "show", "dev", "data"],
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )
        return json.loads(done.stdout or "[{}]")[0].get("stats64", {}).get("rx", {}).get("packets", 0)


@unittest.skipIf(NO_HOSTS, NO_HOSTS)
class OfOne(Hosts):
    """script/hosts by itself."""

    def test_hosts_have_names_and_reach_one_another(self):
        done = self.finished(self.on_hosts(2, "sh", "-c", f"hostname; getent hosts {host(2)}; exit 5"))
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(done.stdout.split(), [host(1), "198.18.0.2", host(2)])

    @long
    def test_nothing_is_left_after_a_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.running(self.on_hosts(2, "sleep", "1000")) as process:
                self.one(1, lambda words: words[0] == "sleep")
                os.kill(process.pid, number)
                process.wait(PATIENCE_S)
            self.assertEqual(process.returncode, 128 + number)
            for each in (0, 1, 2):
                self.assertFalse(os.path.exists(f"/run/netns/{host(each)}"))

    def test_what_a_killed_script_leaves_is_removed(self):
        with self.running(self.on_hosts(2, "sleep", "1000")) as process:
            self.one(1, lambda words: words[0] == "sleep")
            process.kill()
            process.wait(PATIENCE_S)
            self.awaited("the command to end", lambda: not list(processes(1)))
        self.assertEqual(self.finished([SCRIPT, "--clean", NAMES]).returncode, 0)
        self.assertFalse([name for name in os.listdir("/run/netns") if name.startswith(NAMES)])

    def test_a_host_of_that_name_is_left_alone(self):
        with self.running(self.on_hosts(1, "sleep", "1000")):
            self.one(1, lambda words: words[0] == "sleep")
            done = self.finished(self.on_hosts(1, "true"))
            self.assertEqual(done.returncode, 2)
            self.assertIn("--names", done.stderr)
            self.assertTrue(os.path.exists(f"/run/netns/{host(1)}"))

    def test_wrong_usage_is_refused(self):
        for arguments in (("0", "--", "true"), ("2",), ("2", "--delay", "x", "--", "true"), ("2", "true")):
            done = self.finished([SCRIPT, *arguments])
            self.assertEqual(done.returncode, 2, done.stderr)


@unittest.skipIf(NO_MPI, NO_MPI)
class OverHosts(Hosts):
    def test_hosts_make_one_load(self):
        done = self.finished(self.load_command("--serve", "epoll", "-c", 31, "-d", "500ms", "-w", "100ms"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.valid(self.path("whole.json"))
        whole, parts = self.result(), [self.result(f"whole.{number}.json") for number in (0, 1)]
        self.assertEqual(whole["connections"]["ok"], 31)
        self.assertEqual([part["plan"]["connections"] for part in parts], [15, 16])
        for key in ("sent", "verified", "in_flight"):
            self.assertEqual(whole["messages"][key], sum(part["messages"][key] for part in parts), key)
        self.assertEqual([part["name"] for part in whole["hosts"]], [host(2), host(3)])
        self.assertIsNotNone(whole["start_spread_ns"])
        # All share a clock here, so the offset that was found is no more than its error.
        other = whole["hosts"][1]
        self.assertLessEqual(abs(other["clock_offset_ns"]), other["clock_error_ns"])
        self.assertIn("All started within", done.stdout)
        self.same_as_merged(whole)

    def same_as_merged(self, whole):
        merged = run("merge", "--json", self.path("whole.0.json"), self.path("whole.1.json"))
        self.assertEqual(merged.returncode, 0, merged.stderr)
        merged = json.loads(merged.stdout)
        keys = "messages connections bytes latency_ns histogram_ns slices throughput_per_s plan cpu errors"
        for key in keys.split():
            self.assertEqual(merged[key], whole[key], key)

    def test_an_open_loop_is_shared(self):
        done = self.finished(
            self.load_command("--serve", "epoll", "-c", 30, "-R", 600, "--arrivals", "constant", "-d", "1s")
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        whole = self.result()
        self.assertEqual(whole["messages"]["due"], 600)
        self.assertAlmostEqual(whole["plan"]["rate_per_s"], 600)

    def test_all_load_an_address(self):
        address = "198.18.0.1:9000"
        serve = f"{JOUST} serve -p echo --public --listen {address} >/dev/null & "
        load = f"{JOUST} load -p echo --hosts {host(1)},{host(2)} --connect {address} -c 4 -m 5 "
        done = self.finished(self.on_hosts(2, "sh", "-c", serve + load + f"--json {self.path('whole.json')}"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.result()["messages"]["verified"], 20)

    def test_two_processes_on_a_host(self):
        layout = "server=1,1 load=0,0,2,2"
        done = self.finished(self.load_command("--serve", "epoll", "-c", 8, "-m", 3, "--layout", layout))
        self.assertEqual(done.returncode, 0, done.stderr)
        whole = self.result()
        self.assertEqual(whole["messages"]["verified"], 24)
        self.assertEqual(
            [part["name"] for part in whole["hosts"]], [host(1), f"{host(1)} (2)", host(3), f"{host(3)} (2)"]
        )

    def test_plain_mpirun(self):
        names = [host(number) for number in (1, 2, 3)]
        mpirun = ["env", f"JOUST_HOSTS_KEY={secrets.token_hex(32)}", "mpirun", "-x", "JOUST_HOSTS_KEY"]
        mpirun += ["--mca", "btl", "self,tcp", "--bind-to", "none", "-n", "3", "--host"]
        load = [JOUST, "load", "-p", "echo", "-c", "4", "-m", "5", "--serve", "epoll", "--connect"]
        load += ["198.18.0.2:9000", "--json", self.path("whole.json")]
        done = self.finished(self.on_hosts(3, *mpirun, ",".join(names), *load))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.result()["messages"]["verified"], 20)

    @long
    def test_the_relays_rest_while_it_is_measured(self):
        with self.running(self.load_command("--serve", "epoll", "-c", 30, "-d", "4s")) as process:
            for number in (2, 3):
                self.sending(number)
            relays = [self.one(number, is_relay) for number in (1, 2, 3)]
            time.sleep(0.5)  # the last requests to hosts have gone out
            before = [segments(number) for number in (1, 2, 3)], [cpu_ticks(pid) for pid in relays]
            time.sleep(1.5)  # well within the window
            after = [segments(number) for number in (1, 2, 3)], [cpu_ticks(pid) for pid in relays]
            _, errors = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(after, before)
        self.assertGreater(min(before[0]), 0)

    def killed(self, predicate, number=signal.SIGKILL):
        with self.running(self.load_command("--serve", "epoll", "-c", 30, "-d", "3s")) as process:
            for each in (2, 3):
                self.sending(each)
            os.kill(self.one(3, predicate), number)
            output, errors = process.communicate(timeout=PATIENCE_S)
        self.assertNotEqual(process.returncode, 0)
        return output + errors

    def test_a_load_that_dies_is_named_and_the_others_count(self):
        text = self.killed(is_load)
        self.assertRegex(text, rf"{host(3)}: its load has ended: signal 9")
        whole = self.result()
        self.assertEqual(whole["connections"]["failed"], 15)
        self.assertEqual(whole["connections"]["ok"], 15)
        self.assertGreater(whole["messages"]["verified"], 0)

    @long
    def test_an_agent_that_dies_is_named_and_the_others_count(self):
        text = self.killed(lambda words: words[0].endswith("/joust") and not is_load(words))
        self.assertRegex(text, rf"{host(3)}: its process has ended: signal 9")
        self.assertEqual(self.result()["connections"]["failed"], 15)

    @long
    def test_a_load_that_is_stopped_is_given_up(self):
        text = self.killed(is_load, signal.SIGSTOP)
        self.assertRegex(text, rf"{host(3)}: no result .* after the start")
        self.assertEqual(self.result()["connections"]["failed"], 15)

    @long
    def test_a_rank_that_dies_is_named_and_the_others_count(self):
        text = self.killed(is_relay)
        self.assertIn(host(3), text)
        whole = self.result()
        self.assertEqual(whole["connections"]["failed"], 15)
        self.assertEqual(whole["connections"]["ok"], 15)
        self.assertFalse(self.result("whole.0.json")["interrupted"])

    def interrupted(self, number):
        with self.kept(3, self.load_words("--serve", "epoll", "-c", 30, "-d", "100s")) as process:
            for each in (2, 3):
                self.sending(each)
            os.killpg(self.starter(), number)
            text = self.until("ended: ", process.stdout)
            self.nothing_is_left(3)
        whole = self.result()
        self.assertTrue(whole["interrupted"])
        self.assertEqual((whole["connections"]["ok"], whole["connections"]["failed"]), (30, 0))
        self.assertGreater(whole["messages"]["verified"], 1000)
        self.assertIsNotNone(whole["servers"][0]["usage"])
        self.assertIn("interrupted: these are the figures up to then", text)

    def test_an_interrupted_load_has_its_figures_up_to_then(self):
        self.interrupted(signal.SIGINT)

    @long
    def test_a_load_that_is_ended_in_another_way_has_its_figures_up_to_then(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            self.interrupted(number)

    def test_an_address_where_nothing_listens_is_told_as_on_one_host(self):
        done = self.finished(self.load_command("--connect", "198.18.0.1:9", "-c", 6, "-m", 1))
        self.assertEqual(done.returncode, 1)
        for number in (1, 2, 3):
            self.assertRegex(done.stderr, rf"{host(number)}: [^;]*198\.18\.0\.1:9: Connection refused")
        self.assertNotIn("in time", done.stderr)

    def test_a_host_that_cannot_be_reached_is_named(self):
        for command in (("load", "--serve"), ("race", "--server")):
            names = f"{host(1)},nosuch"
            done = self.finished(self.on_hosts(1, JOUST, command[0], "--hosts", names, command[1], "epoll",
                                               "-p", "echo"))
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^joust: host nosuch cannot be reached \(.* nosuch true: .*\)\n$")

    def test_a_network_that_no_other_host_reaches_is_left_alone(self):
        """Each host has the same network of containers. The network of the hosts' names is chosen."""
        names = [host(number) for number in (1, 2)]
        steps = [f"ip -n {name} link add docker0 type veth peer name inside && "
                 f"ip -n {name} address add 172.17.0.1/16 dev docker0 && "
                 f"ip -n {name} link set docker0 up && ip -n {name} link set inside up" for name in names]
        free = "env -u OMPI_MCA_btl_tcp_if_include -u OMPI_MCA_oob_tcp_if_include"
        load = shlex.join(map(str, self.load_words("--serve", "epoll", "-c", 4, "-m", 5, count=2)))
        done = self.finished(self.on_hosts(2, "sh", "-c", " && ".join([*steps, f"{free} {load}"])))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def listeners(self, number):
        """The TCP sockets of relays on a host that take connections."""
        done = subprocess.run(["ip", "netns", "exec", host(number), "ss", "-tlnpH"], capture_output=True,
                              text=True, timeout=PATIENCE_S, check=True)
        return [line for line in done.stdout.splitlines() if "joust-relay" in line]

    @unittest.skipIf(shutil.which("ss") is None, "ss is not installed (iproute2)")
    def test_no_stranger_connects_to_a_run_that_works(self):
        with self.running(self.load_command("--serve", "epoll", "-c", 30, "-d", "1s")) as process:
            for number in (2, 3):
                self.sending(number)
            self.assertEqual([self.listeners(number) for number in (1, 2, 3)], [[], [], []])
            _, errors = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 0, errors)

    def test_no_link_of_another_user_is_followed(self):
        """Open MPI's usual folder is known beforehand. The one of the run has a name of its own."""
        links = [f"/tmp/ompi.{host(number)}.{os.geteuid()}" for number in (1, 2)]
        os.mkdir(self.path("thesis"))
        pathlib.Path(self.path("thesis/chapter")).touch()
        for link in links:
            os.symlink(self.path("thesis"), link)
            self.addCleanup(os.unlink, link)
        load = shlex.join(map(str, self.load_words("--serve", "epoll", "-c", 2, "-d", "1s", count=2)))
        watched = f"{load} & sleep 1; stat -c %a /tmp/joust-mpi-* > {self.path('modes')}; wait"
        done = self.finished(self.on_hosts(2, "sh", "-c", watched))
        self.assertEqual(self.result()["connections"]["ok"], 2, done.stderr)
        self.assertEqual(os.listdir(self.path("thesis")), ["chapter"])
        self.assertEqual(set(pathlib.Path(self.path("modes")).read_text("utf-8").split()), {"700"})

    def test_the_servers_have_their_cpu_time(self):
        done = self.finished(self.load_command("--serve", "epoll", "-c", 4, "-m", 100))
        self.assertEqual(done.returncode, 0, done.stderr)
        servers = self.result()["servers"]
        self.assertEqual([server["name"] for server in servers], [host(1)])
        self.assertGreater(servers[0]["usage"]["cpu_user_s"] + servers[0]["usage"]["cpu_system_s"], 0)
        self.assertIn(f"CPU time of the servers, from start to end: {host(1)}", done.stdout)

    @long
    def test_nothing_is_left_on_any_host(self):
        """The command keeps its hosts after the load, to be looked at."""
        load = " ".join(self.load_command("--serve", "epoll", "-c", 30, "-d", "20s")[5:])
        for number, victim in ((1, "mpirun"), (3, "joust-relay"), (2, "joust-relay")):
            with self.running(self.on_hosts(3, "sh", "-c", f"{load}; sleep 1000")):
                for each in (2, 3):
                    self.sending(each)
                kind = signal.SIGINT if victim == "mpirun" else signal.SIGKILL
                os.kill(self.one(number, lambda words: os.path.basename(words[0]) == victim), kind)
                self.awaited("all to end", lambda: not any(of_joust(each) for each in (1, 2, 3)))

    @long
    def test_a_host_that_cannot_load_is_named(self):
        done = self.finished(self.load_command("--connect", "198.18.0.99:1", "-c", 30, "-m", 1,
                                               "--connect-timeout", "300ms"))
        self.assertEqual(done.returncode, 1)
        for number in (1, 2, 3):
            self.assertIn(host(number), done.stderr)


@unittest.skipIf(why_no_mpi(), why_no_mpi())
class Refused(Hosts):
    def test_a_dry_run_shows_the_command(self):
        done = run("load", "--hosts", "a,b,c", "--serve", "epoll", "-p", "echo", "-c", 9, "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        hosts = [word for word in done.stdout.split() if word in "abc"]
        self.assertEqual(hosts, ["b", "a", "c"])
        self.assertTrue(done.stdout.startswith("mpirun "))

    @unittest.skipIf(os.geteuid() != 0, "only root is refused")
    def test_root_is_told_what_to_do(self):
        for command in ("load", "race"):
            words = [command, "--hosts", "a,b", "--serve" if command == "load" else "--server", "epoll"]
            done = run(*words, program=["env", "-u", "OMPI_ALLOW_RUN_AS_ROOT", JOUST])
            self.refused(done, "mpirun does not run for root", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")

    def test_what_does_not_fit(self):
        for arguments, word in (
            (("--hosts", "a"), "one host"),
            (("--hosts", "a,a"), "twice"),
            (("--hosts", "a,b;c"), "no name"),
            (("--hosts", "a,root@b"), "~/.ssh/config"),
            (("--hosts", "a,b", "--layout", "load=5"), "no rank 5"),
            (("--hosts", "a,b", "--serve", "epoll", "--layout", "load=0"), "server"),
            (("--hosts", "a,b", "--search", "p99<1ms"), "excludes"),
            (("--hosts", "a,b", "-e", "null"), "no sockets"),
            (("--serve", "epoll"), "--hosts"),
        ):
            extra = () if "--serve" in arguments else ("--connect", "192.0.2.1:9")
            if "null" in arguments:
                extra = ()
            self.refused(run("load", "-p", "echo", *arguments, *extra), word)


@unittest.skipIf(why_no_mpi(), why_no_mpi())
class OnOneHost(Case):
    MPIRUN = "mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none"
    KEY = "env", f"JOUST_HOSTS_KEY={secrets.token_hex(32)}"

    def test_a_run_without_a_key_is_refused_in_one_line(self):
        done = run("load", "-p", "echo", "-c", 2, "-m", 5, "--serve", "epoll",
                   program=(*self.MPIRUN, "-n", "3", JOUST))
        self.assertEqual(done.returncode, 2)
        lines = [line for line in done.stderr.splitlines() if line.startswith("joust")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("export JOUST_HOSTS_KEY=$(openssl rand -hex 32)", lines[0])

    def test_no_other_rank_gives_orders(self):
        """Rank 2 is a stranger in the run. It asks rank 1 to start a program, which would write a file."""
        words = ["load", "-p", "echo", "--connect", "127.0.0.1:9", "-m", "1", "--json", self.path("obeyed")]
        order = {"do": "start", "id": "x", "words": words, "until": "done", "patience_ms": 5000, "number": 1}
        worker = os.path.join(os.path.dirname(__file__), "relay_worker.py")
        stranger = sys.executable, "-B", worker, "order", 1
        done = run("load", "-p", "echo", "-c", 2, "-m", 5, "--serve", "epoll", ":", "-n", 1, RELAY, *stranger,
                   json.dumps(order), program=(*self.KEY, *self.MPIRUN, "-n", "2", RELAY, JOUST))
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(os.path.exists(self.path("obeyed")))
        self.assertIn("rank 1 has refused a message in the name of rank 2", done.stderr)
        self.assertRegex(done.stderr, "rank 2: no answer within .*|rank 2: its process has ended")

    def test_no_program_that_joust_starts_has_the_key(self):
        command = f"x=env > {self.path('environment')}; exec sleep 9"
        run("race", "--command", command, "-p", "echo", "--rounds", 1, "--no-history", "--json",
            self.path("race.json"), program=(*self.KEY, *self.MPIRUN, "-n", "2", JOUST))
        text = pathlib.Path(self.path("environment")).read_text("utf-8")
        self.assertIn("PATH=", text)
        self.assertNotIn("JOUST_HOSTS_KEY", text)

    def test_what_a_host_complains_of_is_told(self):
        mpirun = (*self.KEY, *self.MPIRUN, "-n", "2", JOUST)
        with Server("-p", "echo") as server:  # has the address
            done = run("load", "-p", "echo", "-c", 2, "-m", 5, "--serve", "epoll", "--connect",
                       server.address, program=mpirun)
        self.assertEqual(done.returncode, 1, done.stdout)
        said = r"rank 1 on \S+: the server did not start: .* bind\(127\.0\.0\.1:\d+\): Address already in use"
        self.assertRegex(done.stderr, said)


if __name__ == "__main__":
    unittest.main()
