# SPDX-License-Identifier: MIT
"""`joust history` and `joust compare`: results that are kept, and compared across time."""

import csv
import io
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import unittest

from program import JOUST, TESTS, Case, long, whose_races_count

DOCS = os.path.join(os.path.dirname(TESTS), "docs")
RACE = ("race", "--server", "epoll,poll", "-p", "echo", "-d", "50ms", "-w", "10ms", "--quick",
        "--rounds", 3, "--allow-unranked")  # fmt: skip
# As short as a race can be.
SHORT = ("race", "--server", "epoll,poll", "-p", "echo", "-c", 1, "-d", "20ms", "--turn", "1ms", "-w", 0,
         "--rounds", 3, "--allow-unranked")  # fmt: skip


class History(Case):
    def setUp(self):
        super().setUp()
        self.environment = dict(os.environ, XDG_STATE_HOME=self.path("state"))
        self.file = self.path("state/joust/history.db")

    def joust(self, *arguments):
        return subprocess.run([JOUST, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                              check=False, env=self.environment)

    def race(self, *more, connections=4):
        return self.raced(*RACE, "-c", connections, *more)

    def raced(self, *race):
        """The document of the race, and its finished process."""
        name = self.path("r.json")
        done = self.joust(*race, "--json", name)
        self.assertIn(done.returncode, (0, 3), done.stderr)  # 3: of a sanitized build
        return json.loads(pathlib.Path(name).read_text(encoding="utf-8")), done

    def list(self):
        done = self.joust("history", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.valid_text(done.stdout, "history.schema.json")
        return json.loads(done.stdout)["results"]

    def valid_text(self, text, schema):
        pathlib.Path(self.path("document.json")).write_text(text, encoding="utf-8")
        self.valid(self.path("document.json"), os.path.join(DOCS, schema))

    def test_every_race_is_added_and_comes_out_as_it_was(self):
        self.assertEqual(self.list(), [])
        self.assertIn("The history is empty", self.joust("history").stdout)
        self.assertFalse(os.path.exists(self.path("state")))
        document, _ = self.race()
        self.race("--no-history")
        [entry] = self.list()
        self.assertEqual((entry["started"], entry["verdict"]), (document["started"], document["verdict"]))
        self.assertEqual(entry["fingerprint"], document["environment"]["fingerprint"])
        self.assertEqual(entry["host"], os.uname().nodename)
        self.assertEqual(json.loads(self.joust("history", "export", 1).stdout), document)
        shown = " ".join(self.joust("history", "show", 1).stdout.split())
        for sentence in document["verdict"].split("\n"):
            self.assertIn(sentence, shown)
        self.assertEqual(os.stat(os.path.dirname(self.file)).st_mode & 0o077, 0)

    def test_a_short_race_is_kept_too(self):
        document, _ = self.raced(*SHORT)
        self.assertEqual([entry["started"] for entry in self.list()], [document["started"]])
        self.assertEqual(json.loads(self.joust("history", "export", 1).stdout), document)

    def test_tags_name_results(self):
        self.race()
        self.race()
        self.assertEqual(self.joust("history", "tag", 1, "before").returncode, 0)
        self.assertEqual([entry["tags"] for entry in self.list()], [[], ["before"]])
        self.assertIn("before", self.joust("history").stdout)
        done = self.joust("report", "before", "--html", self.path("before.html"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.joust("history", "prune", "--keep", 0).stdout, "removed 1 result\n")
        self.assertEqual([entry["id"] for entry in self.list()], [1])
        self.assertEqual(self.joust("history", "untag", "before").returncode, 0)
        self.refused(self.joust("history", "untag", "before"), "before")

    def test_wrong_actions_are_refused(self):
        self.refused(self.joust("history", "exprot", 1), "exprot", "export")
        self.refused(self.joust("history", "export"), "RESULT")
        self.refused(self.joust("history", "list", 1), "nothing more")
        self.refused(self.joust("history", "export", 1), "'1'")
        for tag in ("17", "a b", "a\nb", "", "x" * 61, "2 "):
            self.refused(self.joust("history", "tag", 1, tag), "is no tag")
        self.refused(self.joust("history", "--keep", 3), "--keep is for")
        self.refused(self.joust("history", "prune"), "--keep")

    @whose_races_count
    def test_a_result_equals_itself(self):
        document, _ = self.race()
        one = self.slower(document, 1)
        done = self.joust("compare", one, one, "--fail-below", 0.95, "--fail-cost-above", 1.05)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Both are the same result", done.stdout)
        self.assertIn("With fewer than 5", done.stdout)
        self.assertIn("Both are the same result", self.joust("compare", self.path("r.json"), 1).stdout)
        done = self.joust("compare", one, one, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.valid_text(done.stdout, "compare.schema.json")
        changes = json.loads(done.stdout)["changes"]
        self.assertEqual({change["contestant"] for change in changes}, {"epoll", "poll"})
        self.assertEqual({change["ratio"]["estimate"] for change in changes if "ratio" in change}, {1.0})

    def slower(self, document, factor):
        """The document of a race in which everything took longer, all rounds were alike, and no client was
        the limit (of races as short as these, with other tests beside them, that is not known)."""
        for contestant in document["contestants"]:
            contestant.update(at_least=False, limit_unknown=False, ranked=True, reason="")
            for number, trial in enumerate(contestant["trials"]):
                if "throughput_per_s" in trial:
                    trial["throughput_per_s"] = (1000 + number) / factor
        path = self.path(f"slower-{factor}.json")
        pathlib.Path(path).write_text(json.dumps(document), encoding="utf-8")
        return path

    def test_a_slower_result_fails_beyond_the_threshold_only(self):
        document, _ = self.raced(*SHORT)
        base, slower = self.slower(document, 1), self.slower(document, 1.5)
        done = self.joust("compare", base, slower, "--fail-below", 0.9)
        self.assertEqual((done.returncode, done.stderr), (99, ""))
        self.assertRegex(done.stdout,
                         r"throughput of epoll is at 0\.667 \(.*\) of the base, below 0\.9: exit code 99")
        self.assertEqual(self.joust("compare", base, slower, "--fail-below", 0.5).returncode, 0)
        little = self.slower(document, 1.05)
        self.assertEqual(self.joust("compare", base, little, "--fail-below", 0.97).returncode, 0)
        done = self.joust("compare", base, little, "--fail-below", 0.97, "--undecided", "fail")
        self.assertEqual(done.returncode, 99)
        self.refused(self.joust("compare", base, little, "--undecided", "fail"), "there is no threshold")
        self.assertIn("not decided whether below 0.97: exit code 99 (--undecided fail)", done.stdout)

    @whose_races_count
    def test_another_environment_or_load_needs_force(self):
        document, _ = self.raced(*SHORT)
        one = self.slower(document, 1)
        other = json.loads(json.dumps(document))
        other["environment"].update(fingerprint="0" * 16, kernel="5.4")
        path = self.path("other.json")
        pathlib.Path(path).write_text(json.dumps(other), encoding="utf-8")
        self.refused(self.joust("compare", one, path), "kernel", "5.4", "--force")
        done = self.joust("compare", one, path, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Different environments", done.stdout)
        document["cases"][0]["load"]["connections"] = 5
        pathlib.Path(path).write_text(json.dumps(document), encoding="utf-8")
        self.refused(self.joust("compare", one, path), "another load", "--force")

    @long
    @whose_races_count
    def test_races_of_several_days_become_one(self):
        documents = [self.race()[0] for _ in range(3)]
        done = self.joust("merge", 1, 2, 3, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.valid_text(done.stdout, "merge.schema.json")
        merged = {one["contestant"]: one for one in json.loads(done.stdout)["contestants"]}
        self.assertEqual(merged["epoll"]["cost_ratio"]["estimate"], 1)
        ratios = [next(one["summary"]["cost_ratio"]["median"] for one in document["contestants"]
                       if one["name"] == "poll" and one["kind"] == "contestant") for document in documents]
        for race, ratio in zip(merged["poll"]["races"], ratios):
            self.assertAlmostEqual(race["cost_ratio"], ratio, delta=1e-9)
        mean = (ratios[0] * ratios[1] * ratios[2]) ** (1 / 3)
        self.assertAlmostEqual(merged["poll"]["cost_ratio"]["estimate"], mean, delta=1e-9)
        self.assertLess(merged["poll"]["cost_ratio"]["low"], mean)
        bounds = sum(any(one["at_least"] for one in document["contestants"]) for document in documents)
        known = [race for race in merged["poll"]["races"] if race["ratio"] is not None]
        self.assertEqual(len(known), 3 - bounds, merged["poll"]["left_out"])
        self.assertIn("3 races: ", self.joust("merge", 1, 2, 3).stdout)
        self.refused(self.joust("merge", 1), "at least two")
        self.refused(self.joust("merge", 1, 2, 1), "twice")
        self.race(connections=5)
        self.refused(self.joust("merge", 1, 4), "another load")

    def test_what_a_full_client_hides_is_not_judged(self):
        document, _ = self.raced(*SHORT)
        for contestant in document["contestants"]:
            contestant.update(at_least=False, limit_unknown=True, ranked=True, reason="")
        path = self.path("full.json")
        pathlib.Path(path).write_text(json.dumps(document), encoding="utf-8")
        done = self.joust("compare", path, path)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("the client was, or may have been, the limit", done.stdout)
        self.assertNotIn("equal within", done.stdout)

    def test_results_of_one_round_are_not_judged(self):
        one_round = ("--turns", "off", "--rounds", 1, "--allow-unranked")
        self.raced(*RACE[:RACE.index("--quick")], "-c", 1, *one_round)
        done = self.joust("compare", self.path("r.json"), 1)
        self.assertEqual(done.returncode, 3)
        self.assertIn("one round does not show what changes by chance", done.stderr)
        self.assertNotIn("no difference found", done.stdout)
        # What is not known is no figure of an export either.
        exported = self.path("figures.prom")
        self.joust("report", 1, "--export", f"prometheus={exported}")
        text = pathlib.Path(exported).read_text(encoding="utf-8")
        self.assertIn("joust_ratio{", text)
        self.assertNotIn("_low{", text)

    def test_what_is_no_result_is_refused(self):
        self.refused(self.joust("compare", "nothing", 1), "nothing")
        pathlib.Path(self.path("x.json")).write_text("{}", encoding="utf-8")
        self.refused(self.joust("compare", self.path("x.json"), self.path("x.json")), "x.json", "schema")

    def test_no_action_prints_the_escape_sequences_of_a_database(self):
        self.raced(*SHORT)
        with sqlite3.connect(self.file) as database:
            database.execute("UPDATE result SET version = 'x' || char(27) || ']0;y' || char(7)")
            database.execute("UPDATE figure SET contestant = char(27) || '[2J' || contestant")
            database.execute("UPDATE result SET document = document || char(27) || 'c'")
        done = self.joust("history", "otava", 1)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\\x1b[2Jepoll", done.stdout)
        for action in ((), ("show", 1), ("otava", 1), ("export", 1)):
            self.assertNotRegex(self.joust("history", *action).stdout, "[\x07\x1b]")

    @long
    @whose_races_count
    def test_the_races_of_a_kind_are_rows_for_otava(self):
        self.race()
        self.race(connections=5)
        self.race()
        rows = list(csv.DictReader(io.StringIO(self.joust("history", "otava", 1).stdout)))
        self.assertEqual([row["result"] for row in rows], ["1", "3"])
        figures = [name for name in rows[0] if name.endswith("/epoll/throughput_per_s")]
        self.assertEqual(len(figures), 1, rows[0])
        self.assertGreater(float(rows[1][figures[0]]), 0)

    def test_a_damaged_history_is_set_aside_and_the_race_ends_well(self):
        os.makedirs(os.path.dirname(self.file))
        pathlib.Path(self.file).write_bytes(b"no database" * 1000)
        done = self.joust("history")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("is damaged", done.stderr)
        _, done = self.race()
        self.assertIn("is damaged: it is now", done.stderr)
        self.assertEqual(len(self.list()), 1)
        with sqlite3.connect(self.file) as database:
            self.assertEqual(database.execute("PRAGMA user_version").fetchone(), (1,))

    def test_a_race_that_is_interrupted_at_once_changes_nothing(self):
        document, _ = self.race()
        command = [JOUST, "race", "--server", "epoll,poll", "-p", "echo", "-d", "10s", "--rounds", "1",
                   "--turns", "off", "--progress", "lines", "--json", self.path("r.json")]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.environment)
        self.assertIn("round 1", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("nothing was measured, so no file was written", errors)
        self.assertEqual(json.loads(pathlib.Path(self.path("r.json")).read_text(encoding="utf-8")), document)
        self.assertEqual(len(self.list()), 1)

    def test_a_history_that_cannot_be_written_costs_no_result(self):
        pathlib.Path(self.path("state")).write_text("a file", encoding="utf-8")
        document, done = self.race()
        self.assertTrue(document["complete"])
        self.assertIn("the result is not in the history", done.stderr)


if __name__ == "__main__":
    unittest.main()
