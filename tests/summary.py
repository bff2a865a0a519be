# SPDX-License-Identifier: MIT
"""Counts the cases of one preset's test run, for script/test.

Usage: summary.py BUILD_DIRECTORY
Reads what GoogleTest has written for each group (Testing/cases/*.xml) and what ctest has written for all
(Testing/ctest.xml). Prints why cases were skipped, the ten slowest, each failed case with its message, and,
last, the line of counts.
"""

import collections
import pathlib
import sys
import xml.etree.ElementTree as xml


class Case:
    def __init__(self, name, seconds, failures, skipped):
        self.name, self.seconds, self.failures, self.skipped = name, seconds, failures, skipped


def reason_in(message):
    """The words of GTEST_SKIP: behind the place in the source, before the traces."""
    words = [line for line in message.splitlines() if line and not line.startswith(("/", "..", "Skipped"))]
    return words[0] if words else "no reason given"


def cases_of_group(file):
    for element in xml.parse(file).getroot().iter("testcase"):
        if element.get("status") == "notrun":
            continue
        skipped = element.find("skipped")
        name = f'{element.get("classname")}.{element.get("name")}'
        yield Case(name, float(element.get("time")), [f.get("message") for f in element.iter("failure")],
                   None if skipped is None else reason_in(skipped.get("message") or ""))


def main(build):
    groups = {file.stem: file for file in (build / "Testing" / "cases").glob("*.xml")}
    cases = []
    for test in xml.parse(build / "Testing" / "ctest.xml").getroot().iter("testcase"):
        name, ran = test.get("name"), test.get("status") in ("run", "fail")
        failed = test.get("status") == "fail" or test.find("failure") is not None
        if name in groups:
            of_group = list(cases_of_group(groups[name]))
            cases += of_group
            failed = failed and not any(case.failures for case in of_group)  # it died, or ran too long
            if not failed:
                continue
        failures = ["the program ended before its last case; its output is above"] if failed else []
        cases.append(Case(name, float(test.get("time") or 0), failures, None if ran else "not run"))
    for reason, count in collections.Counter(c.skipped for c in cases if c.skipped is not None).items():
        print(f"skipped {count}: {reason}")
    print("the ten slowest:")
    for case in sorted(cases, key=lambda case: -case.seconds)[:10]:
        print(f"{case.seconds:8.1f} s  {case.name}")
    for case in cases:
        if case.failures:
            print(f"FAILED: {case.name}")
        for message in case.failures[:3]:
            print("\n".join("    " + line for line in message.splitlines()[:12]))
    failed = sum(bool(case.failures) for case in cases)
    skipped = sum(case.skipped is not None for case in cases)
    print(f"{len(cases) - failed - skipped} passed, {failed} failed, {skipped} skipped")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
