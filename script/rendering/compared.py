# SPDX-License-Identifier: MIT
"""A published table beside ours.

Published tables have no intervals, so only their orders can be compared, and rows that differ by less than
2 % there have none. An order of two rows agrees where the race tells the two apart, and the better one is
the same. Where the race has decided the pair by throughput, its decision counts; else two rows are told
apart where their intervals do not overlap."""

import itertools

from .catalogue import Mistake
from .figures import COLUMNS, meaning_of_bounds, written

LEAST_DIFFERENCE = 1.02
SAME, OPPOSITE, NOT_TOLD = range(3)


def case_of(table, row):
    return row.get("case", table.get("case", ""))


def found(table, row, result):
    """The contestant of a row, and its case."""
    name = case_of(table, row)
    for case in result["cases"]:
        if case["name"] == name or (not name and len(result["cases"]) == 1):
            for entry in result["contestants"]:
                if (entry["case"], entry["name"]) == (case["name"], row["contestant"]):
                    return entry, case
            raise Mistake(f"published table '{table['name']}': no contestant is '{row['contestant']}' in "
                          f"the case '{name}' of race '{table['race']}'")
    raise Mistake(f"published table '{table['name']}': race '{table['race']}' has no case '{name}'; it has "
                  + ", ".join(f"'{case['name']}'" for case in result["cases"]))


def first_is_better(one, other, column, case, more_is_better):
    """True or False, or None where they are not told apart. Contestants that are not ranked have no order."""
    if not (one["ranked"] and other["ranked"]):
        return None
    if column.is_throughput:
        for pair in case["pairs"]:
            if pair["figure"] == "throughput" and {pair["a"], pair["b"]} == {one["name"], other["name"]}:
                if pair["decision"] != "differ":
                    return None
                return (pair["ratio"]["estimate"] > 1) == (pair["a"] == one["name"])
    a, b = column.find(one, case), column.find(other, case)
    if a is None or b is None or None in (a.low, a.high, b.low, b.high):
        return None
    if a.low <= b.high and b.low <= a.high:
        return None
    return (a.middle > b.middle) == more_is_better


def orders(table, result, number):
    """For one published column: (row, row, what became of their order here) of all pairs of one case."""
    column, more = COLUMNS[table["columns"][0]], table["better"][number] == "more"
    if not table["better"][number]:
        return
    rows = [(row, *found(table, row, result)) for row in table["row"] if is_number(row["values"][number])]
    for (row, one, case), (other_row, other, _) in itertools.combinations(rows, 2):
        theirs = row["values"][number], other_row["values"][number]
        if case_of(table, row) != case_of(table, other_row) or max(theirs) < LEAST_DIFFERENCE * min(theirs):
            continue
        ours = first_is_better(one, other, column, case, more)
        agrees = ours == ((theirs[0] > theirs[1]) == more)
        first, second = (row, other_row) if (theirs[0] > theirs[1]) == more else (other_row, row)
        yield first, second, NOT_TOLD if ours is None else SAME if agrees else OPPOSITE


def is_number(value):
    return isinstance(value, (int, float))


def counted(table, result, number):
    outcomes = [outcome for _, _, outcome in orders(table, result, number)]
    return len(outcomes), {word: outcomes.count(word) for word in (SAME, OPPOSITE, NOT_TOLD)}


def phrase(table, result, number):
    total, count = counted(table, result, number)
    return (f"{table['theirs'][number]}: of {total} orders of two rows {count[SAME]} are the same here, "
            f"{count[OPPOSITE]} the opposite, {count[NOT_TOLD]} not told apart")


def agreement(table, result):
    """A phrase for each published column that has an order: how many of its orders are ours too."""
    return "; ".join(phrase(table, result, number) for number, better in enumerate(table["better"]) if better)


def rows_of(table, result):
    columns = [COLUMNS[name] for name in table["columns"]]
    for row in table["row"]:
        entry, case = found(table, row, result)
        theirs = [f"{value:,}" if is_number(value) else value for value in row["values"]]
        ours = [written(column.find(entry, case), column, entry["at_least"]) for column in columns]
        yield entry, [row["label"], *theirs, f"`{row['contestant']}`", *ours]


def table(table, result):
    for name in table["columns"]:
        if name not in COLUMNS:
            raise Mistake(f"published table '{table['name']}': there is no column '{name}'")
    titles = ["published", *(f"there: {title}" for title in table["theirs"]), "contestant",
              *(f"here: {COLUMNS[name].title}" for name in table["columns"])]
    rows = list(rows_of(table, result))
    cells = [titles, ["---"] * len(titles), *(row for _, row in rows)]
    lines = ["| " + " | ".join(each) + " |" for each in cells] + [""]
    named = {}
    for entry, row in rows:
        if not entry["ranked"]:
            named.setdefault(f"- `{entry['name']}` is not ranked: {entry['reason']}")
    lines += named
    lines += meaning_of_bounds([entry for entry, _ in rows], [COLUMNS[name] for name in table["columns"]])
    for number, better in enumerate(table["better"]):
        if not better:
            continue
        lines.append(f"- {phrase(table, result, number)}.")
        lines += [f"  - opposite: {first['label']} is better than {second['label']} there, worse here"
                  for first, second, outcome in orders(table, result, number) if outcome == OPPOSITE]
    return "\n".join(lines)
