# SPDX-License-Identifier: MIT
"""`joust report`, and the same forms of a result from `joust race`."""

import html
import json
import os
import pathlib
import re
import stat
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from program import JOUST, Case, run

RACE = ("race", "--server", "epoll,poll", "-p", "echo", "-c", 4, "-d", "60ms", "-w", "20ms", "--quick",
        "--rounds", 3)  # fmt: skip


class Report(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="joust-")
        cls.result = os.path.join(cls.folder.name, "r.json")
        cls.page = os.path.join(cls.folder.name, "r.html")
        cls.comment = os.path.join(cls.folder.name, "r.md")
        cls.race = run(*RACE, "--json", cls.result, "--html", cls.page, "--markdown", cls.comment,
                       "--allow-unranked")
        assert cls.race.returncode in (0, 3), cls.race.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def document(self):
        return json.loads(pathlib.Path(self.result).read_text(encoding="utf-8"))

    def write(self, name, document):
        text = document if isinstance(document, str) else json.dumps(document)
        pathlib.Path(self.path(name)).write_text(text, encoding="utf-8")
        return self.path(name)

    def read(self, name):
        return pathlib.Path(self.path(name)).read_text(encoding="utf-8")

    def test_a_race_writes_what_a_report_writes(self):
        done = run("report", self.result, "--html", self.path("r.html"), "--markdown", self.path("r.md"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.read("r.html"), pathlib.Path(self.page).read_text(encoding="utf-8"))
        self.assertEqual(self.read("r.md"), pathlib.Path(self.comment).read_text(encoding="utf-8"))

    def test_the_page_shows_the_verdict_and_holds_the_document(self):
        page = pathlib.Path(self.page).read_text(encoding="utf-8")
        document = self.document()
        self.assertIn(html.escape(document["verdict"]).replace("&#x27;", "&#39;"), page)
        held = page[page.rindex("<pre>") + 5:page.rindex("</pre>")]
        self.assertEqual(json.loads(html.unescape(held)), document)
        before = page[:page.rindex("<pre>")]
        for forbidden in ("<script", " style=", "http:", "https:", " src=", " href="):
            self.assertNotIn(forbidden, before)
        self.assertGreaterEqual(before.count("<svg"), 4)

    def test_the_comment_names_all_contestants_and_the_command(self):
        comment = pathlib.Path(self.comment).read_text(encoding="utf-8")
        self.assertIn("| epoll (reference) |", comment)
        self.assertIn("| poll", comment)
        self.assertIn("race --server epoll,poll -p echo", comment)

    def test_a_table_by_its_name(self):
        done = run("report", self.result, "--table", "results")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        titles, *rows = done.stdout.splitlines()
        self.assertEqual(titles.split()[:3], ["place", "contestant", "messages/s"])
        self.assertEqual({row.split()[1] for row in rows[:2]}, {"epoll", "poll"})
        cells = next(line for line in pathlib.Path(self.comment).read_text(encoding="utf-8").splitlines()
                     if "| epoll (reference) |" in line).replace("\\", "").strip("| ").split(" | ")
        both_blocks = " ".join(row for row in rows if "epoll (reference)" in row)
        for cell in cells:
            self.assertIn(cell, both_blocks)
        self.assertIn("memory, server", run("report", self.result, "--table", "resources").stdout)
        self.refused(run("report", self.result, "--table", "matrix"),
                     "none of its cases has the table 'matrix'")
        self.refused(run("report", self.result, "--table", "result"), "did you mean 'results'?")

    def test_pictures_are_whole_documents(self):
        folder = self.path("pictures")
        done = run("report", self.result, "--svg", folder, "--csv", self.path("r.csv"))
        self.assertEqual(done.returncode, 0, done.stderr)
        names = sorted(os.listdir(folder))
        self.assertEqual(names, ["cost-ratio.svg", "cpu.svg", "latency.svg", "throughput-ratio.svg"])
        for name in names:
            root = xml.etree.ElementTree.parse(os.path.join(folder, name)).getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        rows = [line.split(",") for line in self.read("r.csv").splitlines()]
        ratio = next(row for row in rows if row[1] == "poll" and row[8] == "ratio")
        summary = next(one["summary"] for one in self.document()["contestants"] if one["name"] == "poll")
        self.assertEqual(float(ratio[10]), summary["ratio"]["median"])

    def test_other_programs_read_the_exports(self):
        files = {name: self.path(name) for name in ("junit", "bencher", "bigger-is-better",
                                                    "smaller-is-better", "prometheus", "hgrm")}
        options = [word for name, file in files.items() for word in ("--export", f"{name}={file}")]
        done = run("report", self.result, *options)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        document = self.document()
        summary = {one["name"]: one["summary"] for one in document["contestants"]
                   if one["kind"] == "contestant"}
        suite = xml.etree.ElementTree.parse(files["junit"]).getroot()
        names = {case.get("name"): case for case in suite.iter("testcase")}
        self.assertEqual(len(suite.findall("testcase")), int(suite.get("tests")))
        self.assertLessEqual({"epoll", "poll", "check 3: answers verified"}, set(names))
        ranked = {one["name"]: one["ranked"] or one["at_least"] for one in document["contestants"]}
        for name in ("epoll", "poll"):
            self.assertEqual(names[name].find("failure") is None, ranked[name] or document["exit_code"] == 0)
        self.assertEqual(suite.get("failures") == "0", document["exit_code"] == 0)
        self.assertEqual(len(suite.findall(".//failure")), int(suite.get("failures")))
        bencher = json.loads(self.read("bencher"))
        self.assertEqual(set(bencher), {"epoll", "poll"})
        throughput = summary["poll"]["throughput_per_s"]["median"]
        self.assertEqual(bencher["poll"]["throughput"]["value"], throughput)
        bigger = {row["name"]: row for row in json.loads(self.read("bigger-is-better"))}
        self.assertEqual(bigger["poll throughput"]["value"], throughput)
        smaller = {row["name"] for row in json.loads(self.read("smaller-is-better"))}
        self.assertIn("poll server-cpu", smaller)
        line = re.search(r'^joust_throughput_per_s\{case="main",contestant="poll"\} (\S+)$',
                         self.read("prometheus"), re.MULTILINE)
        self.assertEqual(float(line[1]), throughput)

    def test_percentiles_are_those_of_the_histograms(self):
        folder = self.path("percentiles")
        self.assertEqual(run("report", self.result, "--export", f"hgrm={folder}").returncode, 0)
        self.assertEqual(sorted(os.listdir(folder)), ["01-epoll.hgrm", "02-poll.hgrm"])
        text = pathlib.Path(folder, "02-poll.hgrm").read_text(encoding="utf-8")
        rows = [line.split() for line in text.splitlines() if re.match(r"\s*\d", line)]
        summary = next(one["summary"] for one in self.document()["contestants"] if one["name"] == "poll")
        self.assertEqual(int(rows[-1][2]), summary["latency_ns"]["samples"])
        self.assertEqual(float(rows[-1][1]), 1)
        above = next(float(row[0]) for row in rows if float(row[1]) >= 0.5)
        self.assertAlmostEqual(above * 1000 / summary["latency_ns"]["p50"], 1, delta=0.002)
        self.assertEqual([row[0] for row in rows], sorted((row[0] for row in rows), key=float))

    def test_exports_are_checked_before_a_race(self):
        self.refused(run(*RACE, "--export", "junt=x"), "junt", "junit")
        self.refused(run(*RACE, "--export", "junit"), "junit=FILE")
        self.refused(run("report", self.result, "--export", f"junit={self.path('none/x')}"),
                     "--export junit", "cannot be written")
        self.assertEqual(os.listdir(self.directory), [])

    def test_rates_have_curves(self):
        done = run("race", "--server", "epoll,poll", "-p", "echo", "-c", 4, "--rates", "1k,2k", "-d", "150ms",
                   "-w", 0, "--rounds", 2, "--svg", self.path("rates"), "--csv", self.path("rates.csv"))
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.assertIn("latency-p50-over-rate.svg", os.listdir(self.path("rates")))

    def refused_whole(self, file, *words):
        """A document that is refused: a message with file and key, and nothing is written."""
        outputs = []
        for option in ("--html", "--markdown", "--csv", "--svg"):
            outputs += [option, self.path("x" + option)]
        self.refused(run("report", file, *outputs), file, *words)
        self.assertEqual([name for name in os.listdir(self.directory) if name.startswith("x")], [])

    def test_what_is_no_result_is_refused(self):
        self.refused_whole(self.path("none.json"), "cannot be read: No such file or directory")
        self.refused_whole(self.directory, "cannot be read: Is a directory")
        text = pathlib.Path(self.result).read_text(encoding="utf-8")
        self.refused_whole(self.write("cut.json", text[:len(text) // 2]), "is no JSON, or cut")
        self.refused_whole(self.write("other.json", "{}"), "it has no key 'schema'")
        document = self.document()
        document["schema"] = "joust-race/2"
        self.refused_whole(self.write("old.json", document), "'joust-race/2'", "reads 'joust-race/4'")
        document["schema"] = "joust-load/1"
        self.refused_whole(self.write("load.json", document), "'joust-load/1'", "'race --json'")

    def test_a_wrong_value_is_named(self):
        document = self.document()
        document["contestants"][0]["summary"]["latency_ns"]["p50"] = 1e300
        file = self.write("huge.json", document)
        self.refused_whole(file, "contestants[0].summary.latency_ns.p50: is 1e+300")
        del document["contestants"][0]["summary"]
        self.refused_whole(self.write("less.json", document),
                           "contestants[0].summary: is missing, and should be there")

    def test_usage(self):
        self.refused(run("report", self.result), "nothing to write; give --html FILE")
        self.refused(run("report", "--html", "x"), "Try 'joust report --help'")
        self.refused(run("report", self.result, "--html", ""), "--html: the value is empty")
        self.refused(run("report", self.result, "--html", "-"), "/dev/stdout is standard output")
        self.refused(run("report", self.result, "--html", self.result), "this run uses that file itself")
        same = self.path("same")
        self.refused(run("report", self.result, "--html", same, "--csv", same), "--csv", "that file itself")
        nowhere = self.path("none/r.html")
        self.refused(run("report", self.result, "--html", nowhere), f"--html {nowhere}: cannot be written")
        self.refused(run("report", self.result, "--svg", self.path("none/r")), "--svg", "cannot be made")
        self.refused(run("report", self.result, "--svg", self.result), "--svg", "Not a directory")
        self.refused(run(*RACE, "--html", nowhere), f"--html {nowhere}: cannot be written")
        self.assertEqual(os.listdir(self.directory), [])

    def test_files_of_an_earlier_result_are_named(self):
        folder = self.path("pictures")
        os.mkdir(folder)
        for name in ("matrix.svg", "notes.txt"):
            self.write(os.path.join(folder, name), "of another result")
        done = run("report", self.result, "--svg", folder)
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"not of this result, but in the same folder: {folder}/matrix.svg\n", done.stderr)
        os.unlink(os.path.join(folder, "matrix.svg"))
        self.assertEqual(run("report", self.result, "--svg", folder).stderr, "")

    def test_a_file_that_cannot_be_written_any_more_keeps_no_other_from_it(self):
        gone, csv = self.path("gone"), self.path("r.csv")
        os.mkdir(gone)
        shell = f"rmdir {gone} 2>&-; exec {JOUST} serve -p echo --listen 127.0.0.1:{{port}}"
        done = run("race", "--command", "one=" + shell, "--server", "epoll", "-p", "echo", "-c", 1,
                   "-d", "60ms", "-w", 0, "--rounds", 1, "--allow-unranked",
                   "--html", os.path.join(gone, "r.html"), "--csv", csv)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("gone/r.html", done.stderr)
        self.assertTrue(os.path.exists(csv), done.stderr)

    def test_a_pipe_gets_the_comment(self):
        done = run("report", self.result, "--markdown", "/dev/stdout")
        comment = pathlib.Path(self.comment).read_text(encoding="utf-8")
        self.assertEqual(done.stdout, comment)
        with subprocess.Popen(["cat", self.result], stdout=subprocess.PIPE) as source:
            command = [JOUST, "report", "/dev/stdin", "--markdown", "/dev/stdout"]
            piped = subprocess.run(command, stdin=source.stdout, capture_output=True, text=True, timeout=60,
                                   check=False)
        self.assertEqual((piped.stdout, piped.stderr), (comment, ""))

    def test_a_dry_run_writes_nothing(self):
        done = run(*RACE, "--dry-run", "--html", self.path("r.html"), "--svg", self.path("pictures"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a dry run writes no page", done.stderr)
        self.assertEqual(os.listdir(self.directory), [])

    def test_an_old_page_keeps_its_rights_and_is_replaced(self):
        file = self.write("old.html", "old")
        os.chmod(file, 0o640)
        self.assertEqual(run("report", self.result, "--html", file).returncode, 0)
        self.assertEqual(stat.S_IMODE(os.stat(file).st_mode), 0o640)
        self.assertTrue(re.search("</html>\n$", self.read("old.html")))


class ShortRace(Case):
    def test_who_is_not_ranked_is_told_with_the_reason(self):
        file = self.path("r.json")
        done = run("race", "--server", "epoll,poll", "-p", "echo", "-c", 1, "-m", 20, "-w", 0, "--rounds", 1,
                   "--turns", "off", "--json", file)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        document = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
        for contestant in document["contestants"]:
            wrong = contestant["name"] == "poll"
            contestant.update(ranked=not wrong, at_least=False, reason="7 messages failed" if wrong else "")
        pathlib.Path(file).write_text(json.dumps(document), encoding="utf-8")
        comment = run("report", file, "--markdown", "/dev/stdout").stdout
        self.assertIn("| poll (not ranked: 7 messages failed) |", comment)
        self.assertIn("| epoll (reference) |", comment)


if __name__ == "__main__":
    unittest.main()
