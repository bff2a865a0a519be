# SPDX-License-Identifier: MIT
"""What joust lists: engines, protocols, scenarios, helps."""

import json
import os
import re
import unittest

from program import CALCULATOR, JOUST, Case, run


class Lists(Case):
    def test_engines_as_json(self):
        done = run("engines", "--json")
        self.assertEqual(done.returncode, 0)
        engines = {engine["name"]: engine for engine in json.loads(done.stdout)}
        for name in ("null", "threads", "epoll", "io-uring"):
            self.assertIn(name, engines)
        for engine in engines.values():
            for key in ("name", "summary", "roles", "delivery", "available", "reason"):
                self.assertIn(key, engine)
            self.assertEqual(engine["available"], engine["reason"] == "")
        self.assertEqual(engines["epoll"]["roles"], ["serve", "dial"])

    def test_engines_as_a_table(self):
        done = run("engines")
        self.assertIn("epoll", done.stdout)
        self.assertTrue(all(len(line) <= 160 for line in done.stdout.splitlines()))

    def test_one_engine(self):
        done = run("engines", "qt")
        self.assertRegex(done.stdout, r"(?m)^engine +qt$")
        engines = {engine["name"]: engine for engine in json.loads(run("engines", "--json").stdout)}
        for name, row in engines.items():
            shown = run("engines", name).stdout
            keys = ("ends_with_peer", "resets_are_ends", "resets_unseen", "spins_at_shortage",
                    "wait_ignored", "wait_errors_ignored", "wait_errors_abort", "not_public",
                    "clients_wait", "blocks_on_slow_peers", "no_file_ring", "no_file_mapping")
            lacks = [row[key] for key in keys]
            for text in (row["summary"], *lacks, *(knob["summary"] for knob in row["knobs"])):
                self.assertIn(text, shown)
        self.refused(run("engines", "eppoll"), "no engine 'eppoll'; did you mean 'epoll'?")
        for command in ("engines", "protocols"):
            self.refused(run(command, ""), "the value is empty")

    def test_scenarios_have_titles_and_are_raced_by_name(self):
        listed = {each["name"]: each for each in json.loads(run("scenarios", "--json").stdout)}
        self.assertIn("First look", listed["first-look"]["title"])
        self.assertTrue(os.path.isfile(listed["first-look"]["file"]))
        table = run("scenarios").stdout
        for name, each in listed.items():
            self.assertRegex(table, rf"(?m)^{name} +{re.escape(each['title'])}$")
        for name in "first-look", "first-look.toml", "scenarios/first-look.toml":
            plan = run("race", name, "--dry-run", program=["env", "-C", self.directory, JOUST])
            self.assertIn("io-uring", plan.stdout, plan.stderr)
        none = run("race", "first-lok")
        self.refused(none, "first-lok: there is no such file", "did you mean 'first-look'?")
        done = run("race", "elsewhere/first-look.toml")
        self.refused(done, "elsewhere/first-look.toml: cannot read this scenario: No such file or directory")
        self.refused(run("scenarios", program=CALCULATOR), "no command 'scenarios'")

    def test_a_file_comes_before_a_scenario_of_its_name(self):
        with open(self.path("first-look"), "w", encoding="utf-8") as file:
            file.write('matrix = { servers = ["poll"] }\n')
        plan = run("race", "first-look", "--dry-run", program=["env", "-C", self.directory, JOUST])
        self.assertIn("  poll\n", plan.stdout)

    def test_protocols_are_the_programs_own(self):
        names = [protocol["name"] for protocol in json.loads(run("protocols", "--json").stdout)]
        self.assertEqual(names[0], "echo")  # the standard one
        for name in ("uppercase", "broadcast", "file", "http", "resp", "websocket", "work", "script"):
            self.assertEqual(names.count(name), 1, names)
        self.assertNotIn("calculator", names)
        self.assertIn("calculator", run("protocols", program=CALCULATOR).stdout)

    def test_every_command_has_help_with_examples(self):
        for command in ("serve", "load", "race", "advise", "engines", "protocols", "scenarios"):
            with self.subTest(command):
                done = run(command, "--help")
                self.assertEqual(done.returncode, 0)
                self.assertIn("Examples:", done.stdout)

    def test_the_help_of_a_side_shows_its_options(self):
        serve, load, race = (run(command, "--help", "all").stdout for command in ("serve", "load", "race"))
        for option, has in (("--root", (True, False, True)), ("--segments", (False, True, True))):
            self.assertEqual((option in serve, option in load, option in race), has, option)
        self.refused(run("serve", "-p", "file", "--segments", "2"), "--segments is for the client")

    def test_the_first_help_is_short_and_names_the_rest(self):
        for command in ("serve", "load", "race"):
            short, whole = (run(command, *words).stdout for words in (("--help",), ("--help", "all")))
            self.assertEqual(run(command, "-h", "all").stdout, whole)
            options = re.findall(r"^  (?:-\w,)?--[a-z-]+", whole, re.MULTILINE)
            first = re.findall(r"^  (?:-\w,)?--[a-z-]+", short, re.MULTILINE)
            self.assertLess(len(first), 25, command)
            self.assertLess(set(first), set(options))
            self.assertIn(f"'joust {command} --help all' has {len(options) - len(first)} more options", short)
            self.assertNotIn("--help all", whole)
            self.assertNotIn("\n\n\n", short + whole)
            self.assertIn("Examples:", whole)

    def test_a_protocol_lists_its_options(self):
        shown = run("protocols", "http").stdout
        self.assertIn("--host (load, race)\n    the field Host of a load's requests [localhost]", shown)
        self.assertNotIn("--segments", shown)
        self.assertIn("It has no options.", run("protocols", "echo").stdout)
        self.refused(run("protocols", "htp"), "no protocol 'htp'", "did you mean 'http'?")
        self.refused(run("protocols", "http", "--json"), "--json lists all protocols")

    def test_the_help_says_when_a_duration_is_shortened(self):
        text = " ".join(run("race", "--help").stdout.split())
        self.assertIn("without --rounds it is shortened where fewer than 12 rounds would fit", text)

    def test_version(self):
        commit = r"[0-9a-f]{7,}(-dirty)?"  # missing in sources without a repository
        own = run("--version").stdout
        self.assertRegex(own, rf"^joust \d+\.\d+\.\d+( \({commit}\))?\n$")
        calculator = run("--version", program=CALCULATOR).stdout
        self.assertRegex(calculator, rf"^calculator \(joust \d+\.\d+\.\d+(, {commit})?\)\n$")

    def test_examples_are_the_programs_own(self):
        self.assertIn("joust race first-look", run("--help").stdout)
        for command in ((), ("serve",), ("load",), ("race",), ("engines",), ("protocols",)):
            with self.subTest(command):
                text = run(*command, "--help", program=CALCULATOR).stdout
                self.assertIn("  calculator " + " ".join(command), text)
                for foreign in ("joust ", "echo", "uppercase", "scenarios/"):
                    self.assertNotIn(foreign, text)


if __name__ == "__main__":
    unittest.main()
