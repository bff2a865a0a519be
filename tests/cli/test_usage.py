# SPDX-License-Identifier: MIT
"""What joust says to wrong input."""

import json
import os
import subprocess
import unittest

from program import JOUST, Case, Server, run


class Refusals(Case):
    def test_names_that_do_not_exist(self):
        self.refused(run("load", "-e", "epol", "--connect", "127.0.0.1:1"), "no engine 'epol'", "'epoll'")
        self.refused(run("serve", "-p", "ecco"), "no protocol 'ecco'", "'echo'")
        self.refused(run("surve"), "surve")
        bare = run()
        self.refused(bare, "Usage: joust", "Examples:")
        for wrong in (("--foo",), ("load", "--foo"), ("load", "-c")):
            self.refused(run(*wrong), "--help")
            self.assertTrue(run(*wrong).stderr.startswith("joust: "), wrong)

    def test_options_that_do_not_exist(self):
        for command, wrong, meant in (
            ("race", "--rouds", "--rounds"),
            ("race", "--rouds=5", "--rounds"),
            ("serve", "--port", "--listen"),
            ("load", "--conections", "--connections"),
            ("load", "--port", "--connect"),
            ("load", "--conect", "--connect"),
            ("engines", "--jsno", "--json"),
            ("protocols", "--jon", "--json"),
            ("send", "--tokn-file", "--token-file"),
            ("receive", "--port", "--listen"),
            ("get", "--limt", "--limit"),
        ):
            words = f"joust: no option '{wrong.split('=')[0]}'; did you mean '{meant}'?\n"
            self.refused(run(command, wrong, "5"), words + f"Try 'joust {command} --help'.\n")
        self.refused(run("--vresion"), "'--vresion'; did you mean '--version'?\nTry 'joust --help'.")
        self.refused(run("serve", "--zzz"), "joust: no option '--zzz'\nTry 'joust serve --help'.\n")
        self.refused(run("serve", "epoll"), "'epoll' is one argument too many")

    def test_arguments_that_are_missing_are_named_as_in_the_help(self):
        self.refused(run("compare"), "joust: BASE and NEW are missing\nTry 'joust compare --help'.\n")
        self.refused(run("compare", "a.json"), "joust: NEW is missing\n")
        self.refused(run("report"), "joust: RESULT is missing\n")
        self.refused(run("completions"), "joust: bash|zsh|fish is missing\n")

    def test_the_beginning_of_a_command_suggests_it(self):
        self.refused(run("hist"), "no command 'hist'; did you mean 'history'?")
        self.refused(run("comp"), "no command 'comp'")

    def test_values_that_make_no_sense(self):
        to = ("load", "--connect", "127.0.0.1:1")
        self.refused(run(*to, "-d", "5"), "--duration", "unit")
        self.refused(run(*to, "-d", "0s"), "--duration")
        self.refused(run(*to, "-c", "many"), "--connections", "many")
        self.refused(run(*to, "-c", "0"), "--connections")
        self.refused(run(*to, "-c", "1.5"), "--connections", "'1.5' is not a whole number")
        self.refused(run(*to, "-c", "-3"), "--connections", "'-3' is negative")
        self.refused(run(*to, "-d", "-1s"), "--duration", "'-1s' is negative")
        self.refused(run(*to, "--payload", "99999999Ti"), "--payload", "'99999999Ti' is too large")
        self.refused(run(*to, "--payload", "0"), "--payload")
        self.refused(run(*to, "--payload", "1GiB"), "--payload", "echo")
        self.refused(run(*to, "-m", "1", "-d", "1s"), "-m and -d exclude each other")
        self.refused(run(*to, "--wait", "sleep"), "--wait", "adaptive")
        self.refused(run(*to, "--cpus", "99"), "--cpus", "99")
        self.refused(run(*to, "--cpus", "a-b"), "--cpus")
        self.refused(run(*to, "--nodelay", "maybe"), "--nodelay: 'maybe' is not allowed; allowed: on, off")
        self.refused(run(*to, "--nodelay", "no"), "--nodelay: 'no' is not allowed; allowed: on, off\n")
        self.refused(run(*to, "--plan", ""), "--plan: the value is empty")
        self.refused(run("load", "-p", "nosuch", "--help"), "no protocol 'nosuch'")
        self.refused(run("load", "--connect"), "--connect: the value is missing; say --connect ADDRESS")
        self.refused(run(*to, "-t", "100000"), "-t,--threads: 100000 is not between 1 and 1024")
        self.refused(run(*to, "-c", "9" * 20), "is too large; allowed: 1 to 1,000,000")
        self.refused(run(*to, "--payload", "10GB"), "10.0 GB is out of range; allowed: 1 B to 1 GiB")
        self.refused(run(*to, "--payload", "10XB"), "'10XB' has no unit joust knows", "MB, GB, TB, KiB, MiB")

    def test_commands_of_other_programs(self):
        self.refused(run("help"), "say 'joust --help', or 'joust COMMAND --help'")
        self.refused(run("help", "load"), "or 'joust load --help'")
        self.refused(run("version"), "say 'joust --version'")

    def test_options_without_an_effect(self):
        to = ("load", "--connect", "127.0.0.1:1", "-p", "file")
        self.refused(run(*to, "--name", "a", "--payload", 5), "of protocol 'file', a transfer has no payload")
        self.refused(run(*to, "--name", "a", "-c", 4, "--segments", 3), "no multiple", "say 3 or 6 with -c")
        race = ("race", "--server", "epoll", "--dry-run", "--turn", "20ms")
        self.refused(run(*race, "--turns", "off"), "--turn: the contestants take no turns", "--turns off")
        site = ("serve", "-p", "http", "--root", self.path("."))
        self.refused(run(*site, "--text", "foo"), "--text: with --root, / is the directory")

    def test_a_file_in_the_place_of_a_socket_is_told(self):
        with open(self.path("file"), "w", encoding="utf-8") as file:
            file.write("kept")
        done = run("serve", "--listen", "unix:" + self.path("file"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("a file that is no socket has this name", done.stderr)

    def test_a_plan_with_two_ends(self):
        plan = ("load", "-e", "null", "--plan")
        for text in ('{"messages": 5, "duration_s": 1}', '{"duration_s": 1, "messages": 5}'):
            self.refused(run(*plan, text), "messages and duration_s exclude each other")

    def test_races_that_make_no_sense(self):
        race = ("race", "--server", "epoll", "--dry-run")
        self.refused(run(*race, "--client", "null"), "--client", "'null' has no sockets, so it cannot dial")
        self.refused(run("race", "--server", "null", "--dry-run"), "--server", "'null' has no sockets")
        self.refused(run(*race, "--server-cpus", "999"), "no CPU 999", "--server-cpus")
        self.refused(run(*race, "--client-cpus", "0,999"), "no CPU 999", "--client-cpus")

    def test_lists_of_engines(self):
        for option in ("--server", "--client"):
            with self.subTest(option):
                server = () if option == "--server" else ("--server", "epoll")
                race = ("race", "--dry-run", *server)
                self.refused(run(*race, option, ",", "--rounds", 1), f"{option}: a name in the list is empty")
                self.refused(run(*race, option, "epoll,"), f"{option}: a name in the list is empty")
                self.refused(run(*race, f"{option}="), f"{option}: a name in the list is empty")
                self.refused(run(*race, f"{option}=", "--quick"), f"{option}: a name in the list is empty")
        done = run("race", "--dry-run", "--server", "epoll,poll", "--server", "threads")
        contestants = ["  epoll", "  poll", "  threads"]
        self.assertEqual([line for line in done.stdout.splitlines() if line in contestants], contestants)

    def test_threads_that_an_engine_cannot_have(self):
        race = ("race", "--dry-run", "--server")
        least = ("'epoll' cannot have 0 threads", "1 to 1024", "epoll-pool")
        self.refused(run(*race, "epoll", "-t", 0), "--threads: ", *least)
        self.refused(run(*race, "epoll-pool,epoll", "-t", 0), "--threads: ", *least)
        self.refused(run(*race, "threads", "-t", 0), "engine 'threads' cannot have 0 threads")
        self.refused(run(*race, "epoll", "--sweep", "threads=0,1"), "a sweep over threads: ", *least)
        self.refused(run(*race, "epoll,threads", "--sweep", "threads=1,2"), "nothing to engine 'threads'")
        self.refused(run(*race, "threads:threads=2"), "threads=2 means nothing to engine 'threads'")
        for pool in (("-t", 0), ("--sweep", "threads=0,2")):
            done = run(*race, "epoll-pool", *pool)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(" -t 0 ", done.stdout)
        done = run(*race, "epoll,threads", "-t", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "joust: --threads 2 means nothing to 'threads'\n")

    def test_a_turn_has_one_longest_length(self):
        for turn in ("11s", "25h"):
            self.refused(run("race", "--server", "epoll", "--turn", turn), "not between 1.00 ms and 10.0 s")

    def test_a_reference_that_is_no_contestant(self):
        race = ("race", "--server", "epoll", "--dry-run")
        words = "reference 'poll' is not a contestant; allowed: epoll"
        self.refused(run(*race, "--reference", "poll"), "--" + words)
        scenario = self.path("race.toml")
        with open(scenario, "w", encoding="utf-8") as file:
            file.write('reference = "epoll"\nmatrix = { servers = ["epoll"] }\nload = { duration = "1s" }\n')
        self.refused(run("race", scenario, "--server", "poll", "--dry-run"),
                     scenario + ": reference 'epoll' is not a contestant; allowed: poll")

    def test_what_a_scenario_leaves_out_or_cannot_keep(self):
        scenario = self.path("race.toml")
        with open(scenario, "w", encoding="utf-8") as file:
            file.write('matrix = { servers = ["epoll"] }\nlimits = { trial_timeout = "2s" }\n')
        self.assertIn(", 1.00 s in turns ", run("race", scenario, "--dry-run").stdout)
        self.assertIn(" -d 1s ", run("race", scenario, "-d", "1s", "--turns", "off", "--dry-run").stdout)
        self.refused(run("race", scenario, "-d", "2s", "--dry-run"), "trial_timeout")
        self.refused(run("race", "--server", "epoll", "-d", "2s", "--trial-timeout", "1s"), "--trial-timeout")

    def test_roles_and_knobs_an_engine_does_not_have(self):
        self.refused(run("serve", "-e", "null"), "engine 'null' cannot serve: it has no sockets")
        self.refused(run("load", "-e", "null", "--connect", "127.0.0.1:1"), "--connect")
        self.refused(run("load", "-p", "echo"), "--connect")
        self.refused(run("serve", "-e", "threads", "--trigger", "level"), "threads", "--trigger")

    def test_addresses(self):
        self.refused(run("serve", "--listen", "0.0.0.0:0"), "could reach this address; --public allows it")
        self.refused(run("serve", "--listen", "127.0.0.1"), "port")
        self.refused(run("serve", "--listen", "127.0.0.1:70000"), "port")
        self.refused(run("serve", "--listen", "::1:80"), "brackets")
        self.refused(run("serve", "--listen", "unix:" + "x" * 200), "path")
        self.refused(run("load", "--connect", "127.0.0.1:0", "-m", "1"), "the port is 0")
        for wrong in ("nonsense", "127.0.0.1:70000", "::1:80", "unix:", "[zz]:80", "1.2.3.256:80", "a b:80",
                      "tcp://127.0.0.1:80"):
            self.refused(run("load", "--connect", wrong, "-m", "1"), f"--connect '{wrong}': ")
            self.refused(run("serve", "--listen", wrong), f"--listen '{wrong}': ")

    def test_a_name_that_does_not_resolve_is_no_usage_error(self):
        for command, option in (("serve", "--listen"), ("load", "--connect")):
            done = run(command, option, "no-such-host.invalid:80")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{option}: resolve 'no-such-host.invalid:80'", done.stderr)

    def test_a_directory_is_no_socket(self):
        done = run("serve", "--listen", "unix:" + self.directory)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"bind(unix:{self.directory}): Is a directory", done.stderr)

    def test_strangers_do_not_reach_an_engine_that_one_of_them_could_stop(self):
        engines = {engine["name"]: engine for engine in json.loads(run("engines", "--json").stdout)}
        private = {name for name, engine in engines.items() if engine["not_public"]}
        self.assertEqual(private, {"zeromq", "zeromq-pool", "qt-pool", "select-blocking", "processes",
                                   "two-processes"})  # fmt: skip
        for name in (name for name in private if engines[name]["available"]):
            for words in (["--public"], []):
                done = run("serve", "-e", name, "--listen", "0.0.0.0:0", *words)
                self.refused(done, f"engine '{name}' serves this machine only", engines[name]["not_public"])
            with Server("-e", name, "-p", "echo", "--listen", "127.0.0.1:0"):
                pass

    def test_a_public_address_is_given(self):
        self.refused(run("serve", "--public"), "--public", "--listen ADDRESS")

    def test_events_and_a_result_on_one_stream(self):
        load = ("load", "-e", "null", "-m", "1", "--events")
        self.refused(run(*load, "--json", "-"), "--events", "--json FILE")

    def test_options_of_a_protocol_that_are_empty(self):
        self.refused(run("serve", "-p", "file", "--root", ""), "--root", "empty")
        self.refused(run("load", "-p", "file", "--connect", "127.0.0.1:1", "--name", ""), "--name", "empty")

    def test_what_means_nothing_is_said(self):
        done = run("load", "-e", "null", "--wait", "spin", "-t", "4", "-c", "1", "-m", "1")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--wait spin means nothing", done.stderr)
        self.assertIn("--threads 4 means nothing", done.stderr)

    def test_a_full_disk_behind_a_redirection(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run(
                [JOUST, "engines"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)

    def test_a_result_that_cannot_be_written(self):
        done = run("load", "-e", "null", "-m", "1", "--json", self.path("no/such/folder.json"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("no/such/folder.json", done.stderr)


class Results(Case):
    def setUp(self):
        super().setUp()
        self.file = self.path("result.json")
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("old")

    def measure(self, to):
        done = run("load", "-e", "null", "-m", "1", "--json", to)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_a_file_is_replaced_as_a_whole(self):
        os.chmod(self.file, 0o640)
        os.link(self.file, self.path("kept"))
        self.measure(self.file)
        with open(self.path("kept"), encoding="utf-8") as kept:
            self.assertEqual(kept.read(), "old")  # nobody has written into the old file
        with open(self.file, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["schema"], "joust-load/1")
        self.assertEqual(os.stat(self.file).st_mode & 0o777, 0o640)
        self.assertEqual(sorted(os.listdir(self.directory)), ["kept", "result.json"])

    def test_a_link_stays_one(self):
        os.symlink(self.file, self.path("link"))
        self.measure(self.path("link"))
        self.assertTrue(os.path.islink(self.path("link")))
        with open(self.file, encoding="utf-8") as file:
            json.load(file)

    def test_what_is_no_file_is_written_to(self):
        self.measure("/dev/null")
        self.assertIn('"schema"', self.measure("/dev/stdout").stdout)


if __name__ == "__main__":
    unittest.main()
