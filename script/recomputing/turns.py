# SPDX-License-Identifier: MIT
"""The figures of trials in turns, from their turns, by the formulas of docs/method.md."""

import itertools
import math
import statistics

COST = "server_cpu_us_per_message"


def verified_in(load):
    """Verified messages; of a command that moves files, files."""
    return load["messages"]["verified"] if "messages" in load else load["verified"]


def is_usable(trial):
    return trial["counted"] and "failure" not in trial and trial["load"] is not None and \
        verified_in(trial["load"]) > 0


def hodges_lehmann(values):
    """The median of the means of all pairs, each value with itself too."""
    return statistics.median((values[i] + values[j]) / 2 for i in range(len(values)) for j in range(i + 1))


def levels(table, together):
    """The levels of a generation's contestants, from a dictionary of figures by round of turns for each.

    `together`: of older documents, whose levels are fitted to the differences of every two contestants.
    """
    if not together:
        return {name: hodges_lehmann(list(column.values())) for name, column in table.items() if column}
    names = [name for name, column in table.items() if column]
    if not names:
        return {}
    overall = statistics.fmean(statistics.median(table[name].values()) for name in names)
    level = dict.fromkeys(names, overall)
    for one, other in itertools.combinations(names, 2):
        both = table[one].keys() & table[other].keys()
        if not both:
            return {}
        share = hodges_lehmann([table[one][i] - table[other][i] for i in sorted(both)]) / len(names)
        level[one] += share
        level[other] -= share
    return level


def count_all_turns(trials, level, key, amount, per, unit):
    """Replaces the level of a contestant that stalls in its own turns (check 14) by its ratio of sums."""
    sums = {}
    for entry, trial in trials:
        total = sum(trial["turns"][amount])
        if id(entry) in level and is_usable(trial) and entry["kind"] != "ceiling" and total > 0:
            sums[id(entry)] = math.log(unit * total / sum(trial["turns"][per]))
    quiet = dict(level)
    name = {id(entry): entry["name"].removesuffix(" (again)") for entry, _ in trials}
    for entry, trial in trials:
        mine = id(entry)
        if mine not in sums or trial[key] in (None, trial["quiet_turns"][key]):
            continue
        others = [quiet[other] - sums[other] for other in sums if name[other] != name[mine]]
        level[mine] = sums[mine] + (statistics.median(others) if others else 0)


def logs_of_turns(entry, figure):
    """The logarithms of a figure of the turns, by round and number of the turn."""
    amount, per = {"throughput": ("verified", "window_s"), COST: ("server_cpu_s", "messages")}[figure]
    return {trial["round"]: {number: math.log(one / other) for number, one, other in
                             zip(trial["turns"]["round"], trial["turns"][amount], trial["turns"][per])
                             if one > 0 and other > 0}
            for trial in entry["trials"] if "turns" in trial and is_usable(trial)}


def over_all_turns(entry, figure):
    """The figure by round over all turns of a trial, stalls included."""
    amount, per, unit = {"throughput": ("verified", "window_s", 1),
                         COST: ("server_cpu_s", "messages", 1e6)}.get(figure, (None, None, None))
    return {trial["round"]: unit * sum(trial["turns"][amount]) / sum(trial["turns"][per])
            for trial in entry["trials"] if amount and is_usable(trial) and "turns" in trial
            and sum(trial["turns"][amount]) > 0 and "cpu_unknown" not in trial["server"]}


def counts_all_turns(entry, keys):
    """The rounds in which a contestant is compared by all its turns, stalls included (check 14)."""
    return {trial["round"] for trial in entry["trials"] if is_usable(trial) and "quiet_turns" in trial
            and any(trial[key] not in (None, trial["quiet_turns"][key]) for key in keys)}
