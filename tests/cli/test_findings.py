# SPDX-License-Identifier: MIT
"""script/findings: races what is not there, and fills in pages with what the results say."""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTS = """
[[race]]
name = "small"
run = ["--server", "epoll,poll", "-p", "echo", "-c", "4", "-d", "60ms", "-w", "20ms"]
full = ["--rounds", "3"]
quick = ["--rounds", "2"]

[[race]]
name = "second"
run = ["--server", "poll", "-p", "echo", "-c", "2", "-d", "60ms", "-w", "20ms"]
full = ["--rounds", "2"]

[[race]]
name = "count"
run = ["python3", "-c", "print('{\\"a\\": {\\"b\\": 1234}}')"]
count = true

[[published]]
name = "theirs"
race = "small"
columns = ["throughput", "p50"]
theirs = ["messages/s"]
better = ["more"]
row = [
  { label = "their epoll", contestant = "epoll", values = [2000] },
  { label = "their poll", contestant = "poll", values = [1000] },
]

[[page]]
path = "docs/page.md"
"""
PAGE = """# A page

See [the other](findings/more.md).

<!-- findings: table small columns="throughput,p50,ratio" --><!-- end -->

<!-- findings: verdict small --><!-- end -->

<!-- findings: compare theirs --><!-- end -->

There are <!-- findings: value count of="a.b" --><!-- end --> of them.

Made on: <!-- findings: machine small --><!-- end -->.

<!-- findings: table second columns="throughput" --><!-- end -->
"""


def result_of(path):
    return json.loads(gzip.decompress(path.read_bytes()))["result"]


class Findings(program.Case):
    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(self.directory)
        (self.root / "docs/findings").mkdir(parents=True)
        (self.root / "docs/findings/races.toml").write_text(LISTS)
        self.page = self.root / "docs/page.md"
        self.page.write_text(PAGE)
        self.results = self.root / "docs/findings/results"

    def findings(self, *arguments, lists=None):
        command = [sys.executable, "-B", ROOT / "script/findings", "--lists", lists or self.root, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=program.PATIENCE_S,
                              check=False, env={**os.environ, "JOUST": program.JOUST})

    def made(self, *arguments):
        done = self.findings(*arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    @program.long
    def test_what_is_there_is_not_raced_again(self):
        self.assertIn("[1/1] small: ", self.made("--only", "small"))
        before = (self.results / "small.json.gz").read_bytes()
        self.assertIn("1 of 1 results are there\npages: ", self.made("--only", "small"))
        self.assertEqual((self.results / "small.json.gz").read_bytes(), before)
        self.assertIn("[1/1] small: ", self.made("--only", "small", "--quick"), "another command")
        self.assertIn("*not raced yet: `script/findings --only second`*", self.page.read_text())

    @program.long
    def test_a_result_that_was_cut_off_is_raced_again(self):
        self.made("--only", "second")
        file = self.results / "second.json.gz"
        file.write_bytes(file.read_bytes()[:100])
        self.assertIn("[1/1] second: ", self.made("--only", "second"))

    def test_figures_are_those_of_the_result(self):
        self.made("--only", "small", "--only", "count")
        page, result = self.page.read_text(), result_of(self.results / "small.json.gz")
        entries = {each["name"]: each["summary"] for each in result["contestants"]}
        for name in ("epoll", "poll"):
            row = re.search(rf"^\| {name} \| (?:≥ )?([\d,.]+)(?: \(([\d,.]+) to ([\d,.]+)\))? \|", page, re.M)
            rate = entries[name]["throughput_per_s"]
            self.assertAlmostEqual(float(row[1].replace(",", "")) / rate["median"], 1, delta=0.006)
            is_known = rate["low"] is not None and rate["high"] is not None and rate["confidence"] >= 0.9
            self.assertEqual(row[2] is not None, is_known)
        self.assertIn(f"\n> {result['cases'][0]['verdict']}\n", page)
        self.assertIn("There are <!-- findings: value count of=\"a.b\" -->1,234<!-- end --> of them", page)
        self.assertIn(f"{result['environment']['cpu_model']}", page)
        self.assertIn(result["started"][:10], page)
        self.assertRegex(page, r"of 1 orders of two rows \d are the same here, \d the opposite, \d not")
        again = self.page.read_text()
        self.made("--render")
        self.assertEqual(self.page.read_text(), again, "made twice, the same")

    @program.long
    def test_pages_and_results_go_elsewhere(self):
        elsewhere = self.root / "elsewhere"
        self.made("--only", "small", "--into", elsewhere)
        self.assertEqual(self.page.read_text(), PAGE)
        self.assertFalse(self.results.exists())
        self.assertIn("[the other](../docs/findings/more.md)", (elsewhere / "page.md").read_text())
        self.assertEqual(json.loads((elsewhere / "results/small.json").read_text())["schema"], "joust-race/3")

    def test_the_order_of_a_pair_that_differs(self):
        self.made("--only", "small")
        file = self.results / "small.json.gz"
        record = json.loads(gzip.decompress(file.read_bytes()))
        for entry in record["result"]["contestants"]:
            entry["ranked"] = True
        for ratio, words in ((0.5, "0 are the same here, 1 the opposite"),
                             (2, "1 are the same here, 0 the opposite")):
            record["result"]["cases"][0]["pairs"] = [
                {"a": "epoll", "b": "poll", "figure": "throughput", "decision": "differ",
                 "ratio": {"estimate": ratio, "low": ratio, "high": ratio}}]
            file.write_bytes(gzip.compress(json.dumps(record).encode()))
            self.made("--render")
            self.assertIn(words, self.page.read_text())

    @program.long
    def test_a_contestant_that_cannot_run_is_a_row_with_its_reason(self):
        lists = LISTS.replace("epoll,poll", "epoll,poll,qt-pool:threads=2")  # four clients
        (self.root / "docs/findings/races.toml").write_text(lists)
        self.made("--only", "small")
        page = self.page.read_text()
        self.assertIn("\n| qt-pool:threads=2 | – | – | – |\n", page)
        self.assertRegex(page, r"\n- qt-pool:threads=2 is not ranked: .+")

    def test_mistakes_name_file_and_line(self):
        self.made("--only", "small")
        block = '<!-- findings: table small columns="throughput,p50,ratio" -->'
        cases = {
            block.replace("table small", "tabel small"): "docs/page.md:5: there is no block 'tabel'",
            block.replace("table small", "table smal"): "docs/page.md:5: there is no race 'smal'",
            block.replace("p50", "p51"): "docs/page.md:5: there is no column 'p51'",
            block.replace(" -->", ' case="x" -->'): "docs/page.md:5: race 'small' has no case 'x'",
            block.replace("columns", "column"): "docs/page.md:5: 'table' has no option 'column'",
            block.replace("table small", "table count"): "docs/page.md:5: 'table' is not for 'count'",
            f"{block}\n{block}": "docs/page.md:5: the block has no",
            f"{block}<!-- end --> and words.\n\nMore: {block}": "docs/page.md:5: Markdown takes a comment",
        }
        for text, words in cases.items():
            self.page.write_text(PAGE.replace(block, text))
            self.refused(self.findings("--render"), words)

    def test_mistakes_in_lists_and_on_the_command_line(self):
        self.refused(self.findings("--only", "third"), "there is no race third")
        lists = self.root / "docs/findings/races.toml"
        for text, words in (("[[rase]]\n", "there is no [[rase]]"),
                            ('[[race]]\nnam = "x"\n', "no key 'nam'"),
                            ("[[race\n", "races.toml: "),
                            ('[[page]]\npath = "docs/no.md"\n', "docs/no.md: ")):
            lists.write_text(text)
            self.refused(self.findings("--render"), words)

    def test_a_race_without_a_result_does_not_end_the_run(self):
        lists = LISTS.replace('["--rounds", "2"]', '["--rounds", "no"]')
        (self.root / "docs/findings/races.toml").write_text(lists)
        done = self.findings("--only", "second", "--only", "count")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("NO RESULT: joust race left with 2: ", done.stderr)
        self.assertIn("no result of second", done.stderr)
        self.assertIn("1,234", self.page.read_text())


class Committed(program.Case):
    """The pages of this tree are those that its results give."""

    def test_pages_are_as_their_results_make_them(self):
        root = pathlib.Path(self.directory) / "tree"
        shutil.copytree(ROOT / "docs", root / "docs", ignore=shutil.ignore_patterns("*.json"))
        command = [sys.executable, "-B", ROOT / "script/findings", "--lists", root, "--render"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=program.PATIENCE_S,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for page in sorted((root / "docs").rglob("*.md")):
            with self.subTest(page=page.name):
                original = ROOT / page.relative_to(root)
                self.assertEqual(page.read_text(), original.read_text(), "run: script/findings --render")
        self.assertLess(sum(file.stat().st_size for file in root.rglob("docs/findings/**/*")), 3_000_000)
