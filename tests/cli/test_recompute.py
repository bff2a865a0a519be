# SPDX-License-Identifier: MIT
"""A result can be recomputed from its own turns, by a script that shares no code with the race."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import hdr_histogram
from program import run

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "script/recompute"


def recompute(path):
    return subprocess.run([sys.executable, "-B", SCRIPT, path], capture_output=True, text=True, timeout=60)


class Recompute(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="joust-")
        cls.path = pathlib.Path(cls.folder.name) / "race.json"
        done = run("race", "--server", "epoll,poll,threads", "-p", "echo", "-c", 8, "-d", "60ms",
                   "-w", "20ms", "--rounds", 4, "--json", cls.path)
        assert done.returncode in (0, 3), done.stderr
        cls.at_a_rate = cls.path.with_name("rate.json")
        done = run("race", "--server", "epoll,poll,threads", "-p", "echo", "-c", 8, "--rates", "20%",
                   "-d", "300ms", "-w", "20ms", "--rounds", 3, "--json", cls.at_a_rate)
        assert done.returncode in (0, 3), done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_number_is_found_again(self):
        done = recompute(self.path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\n\d\d+ numbers and decisions compared, 0 differ\n")

    def test_a_number_that_was_changed_is_found(self):
        document = json.loads(self.path.read_text())
        for trial in document["contestants"][0]["trials"]:  # a median may be the same without one of them
            trial["turns"]["verified"] = [3 * count for count in trial["turns"]["verified"]]
        changed = self.path.with_name("changed.json")
        changed.write_text(json.dumps(document))
        done = recompute(changed)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("estimate: recomputed", done.stdout)

    def test_the_turns_make_up_the_result_of_their_load(self):
        document = json.loads(self.path.read_text())
        for key, finding in (("latency_sum_ns", "mean latency"), ("failed", "failed")):
            trial = document["contestants"][0]["trials"][1]
            self.assertEqual(len(trial["turns"][key]), len(trial["turns"]["round"]))
            changed = json.loads(self.path.read_text())
            changed["contestants"][0]["trials"][1]["turns"][key][0] += 10**10
            path = self.path.with_name("turns.json")
            path.write_text(json.dumps(changed))
            done = recompute(path)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(f"round 2, {finding}: recomputed", done.stdout)

    def test_a_document_without_the_newer_members_is_read(self):
        document = json.loads(self.path.read_text())
        del document["cases"][0]["looks_taken"]
        for entry in document["contestants"]:
            del entry["call_count"]
            for trial in entry["trials"]:
                for key in ("latency_sum_ns", "failed", "steal_s"):
                    del trial["turns"][key]
                del trial["histograms"]
        older = self.path.with_name("older.json")
        older.write_text(json.dumps(document))
        done = recompute(older)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_costs_of_whole_trials_are_found_again(self):
        path = self.path.with_name("whole.json")
        done = run("race", "--server", "epoll,poll", "-p", "echo", "-c", 8, "-d", "120ms", "-w", "20ms",
                   "--turns", "off", "--quick", "--rounds", 3, "--json", path)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        done = recompute(path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        document = json.loads(path.read_text())
        self.check_that_pairs_are_printed(document, done.stdout)
        known = [trial["server"] for trial in document["contestants"][0]["trials"] if not trial["late"]]
        if not known:
            self.skipTest("the machine was so busy that no server's CPU time is known")
        for server in known:
            server["cpu_user_s"] += 1
        path.write_text(json.dumps(document))
        done = recompute(path)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("epoll, CPU time per message of the server: recomputed", done.stdout)

    def check_that_pairs_are_printed(self, document, text):
        for pair in document["cases"][0]["pairs"]:
            if pair["rounds"] > 0:
                self.assertRegex(text, rf"  {pair['figure']}:\n(    .*\n)*    {pair['a']} to {pair['b']}: ")

    def test_commands_that_move_files_are_read(self):
        scenario, path = (self.path.with_name(name) for name in ("moves.toml", "moves.json"))
        scenario.write_text('[files]\ncount = 5\nsize = "1kB"\non = "memory"\n'
                            '[[contestant]]\nname = "cp"\ntransfer = "cp {from}/* {into}"\n'
                            '[[contestant]]\nname = "cp -r"\ntransfer = "cp -r {from}/. {into}"\n')
        done = run("race", scenario, "--quick", "--rounds", 2, "--json", path)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        done = recompute(path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.check_that_pairs_are_printed(json.loads(path.read_text()), done.stdout)

    def test_another_document_is_refused(self):
        other = self.path.with_name("other.json")
        for text in ("{}", "[]", "nonsense"):
            other.write_text(text)
            done = recompute(other)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("script/recompute: ", done.stderr)

    def test_the_turns_have_their_order_and_begin(self):
        document = json.loads(self.path.read_text())
        trials = [each["trials"][0] for each in document["contestants"] if each["kind"] != "ceiling"]
        orders = [trial["turns"]["order"][0] for trial in trials]
        self.assertEqual(len(set(orders)), len(trials), "each has a place; the ceiling has one too")
        by_order = sorted(trials, key=lambda trial: trial["turns"]["order"][0])
        begins = [trial["turns"]["start"][0] for trial in by_order]
        self.assertEqual(begins, sorted(begins))
        for trial in trials:
            steal, pinned = trial["turns"]["steal_s"], trial["pinned_cpus"]
            self.assertEqual(set(map(type, steal)), {type(None) if pinned is None else float})
            if pinned:  # the turns before these, which are not recorded, are in it too
                self.assertLessEqual(sum(steal), pinned["steal_fraction"] * pinned["cpu_s"] + 1e-6)
        self.assertIn("race", document["command_line"])
        self.assertRegex(document["started"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_the_histograms_have_the_percentiles_of_their_load(self):
        looked_at = set()
        for document in (json.loads(path.read_text()) for path in (self.path, self.at_a_rate)):
            for trial in (trial for entry in document["contestants"] for trial in entry["trials"]):
                for name, text in trial["histograms"].items():
                    looked_at.add(name)
                    figures = trial["load"][name + "_ns"]
                    buckets = hdr_histogram.buckets_of(text)
                    self.assertEqual(sum(count for _, count in buckets), figures["samples"])
                    self.assertLessEqual(figures["max"], buckets[-1][0])
                    self.assertGreaterEqual(1.001 * figures["max"], buckets[-1][0])
                    for percent in (50, 75, 90, 95, 99):
                        theirs = figures[f"p{percent}"]
                        mine = min(hdr_histogram.value_at(buckets, percent), figures["max"])
                        self.assertEqual(mine if theirs is not None else None, theirs, (name, percent))
        self.assertEqual(looked_at, {"latency", "uncorrected_latency", "send_lateness"})

    def test_latencies_are_found_again(self):
        document = json.loads(self.at_a_rate.read_text())
        done = recompute(self.at_a_rate)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.check_that_pairs_are_printed(document, done.stdout)
        path = self.path.with_name("changed.json")
        trial, other = (document["contestants"][i]["trials"][0] for i in (0, 1))
        for name in ("latency", "send_lateness"):
            right = trial["histograms"][name]
            another = "latency" if name == "send_lateness" else "send_lateness"
            trial["histograms"][name] = other["histograms"][another]
            path.write_text(json.dumps(document))
            trial["histograms"][name] = right
            done = recompute(path)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertRegex(done.stdout, f"DIFFERS: .*, epoll, {name}, [^:]+: recomputed ")

    def test_the_pilot_and_the_counts_of_calls_are_found_again(self):
        document = json.loads(self.at_a_rate.read_text())
        path, measured = self.path.with_name("changed.json"), document["cases"][0]["capacity"]["measured"]
        self.assertEqual(set(measured), {"epoll", "poll", "threads"})
        for name in measured:
            measured[name] += 1
        calls = document["contestants"][0]["call_count"]
        if "messages" in calls:  # elsewhere the kernel may refuse to count
            calls["messages"] *= 2
        path.write_text(json.dumps(document))
        done = recompute(path)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(", capacity: recomputed ", done.stdout)
        self.assertEqual("system calls of the server: recomputed" in done.stdout, "messages" in calls)


if __name__ == "__main__":
    unittest.main()
