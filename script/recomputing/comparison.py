# SPDX-License-Identifier: MIT
"""Every two contestants: ratio, interval, chance and decision, by the formulas of docs/method.md."""

import math
import statistics

from recomputing.student import quantile, two_sided

SHARES = {"first": 0.02, "second": 0.05, "last": 0.93}  # of the allowed errors, by look
TOGETHER = 0.95
BORROWED, BORROWED_ALIKE = 2, 8  # degrees of freedom
PAIRS_OF_ALIKE, ROUNDS_OF_ALIKE = 6, 6
OF_EXPECTED, FEW_ROUNDS = 4, 3


def mean_log_variance(degrees):
    """The mean logarithm of the variance of normal noise of 1: digamma(degrees / 2) - ln(degrees / 2)."""
    whole = degrees % 2 == 0
    digamma = -0.5772156649015329 - (0 if whole else 2 * math.log(2))
    digamma += sum(1 / k for k in range(1, degrees // 2)) if whole else \
        sum(2 / (2 * k - 1) for k in range(1, (degrees - 1) // 2 + 1))
    return digamma - math.log(degrees / 2)


def trigamma(x):
    """Of 1/2, 1, 3/2, ...: from the series, summed until the rest is an integral."""
    last = 2000
    return sum(1 / (x + k) ** 2 for k in range(last)) + 1 / (x + last) + 1 / (2 * (x + last) ** 2) + \
        1 / (6 * (x + last) ** 3)


def borrowed_weight(samples, logs):
    """More where the variances of all pairs differ by no more than those of one noise do."""
    rounds = min((sample[2] for sample in samples.values()), default=0)
    if len(samples) < PAIRS_OF_ALIKE or rounds < ROUNDS_OF_ALIKE or len(logs) < 2:
        return BORROWED
    by_chance = statistics.fmean(trigamma(sample[3] / 2) for sample in samples.values() if sample[1] > 0)
    return BORROWED_ALIKE if statistics.variance(logs) <= by_chance else BORROWED


def log_ratios(one, other):
    """The logarithms of the ratios of two columns, by round."""
    return {number: math.log(one[number] / other[number]) for number in sorted(one.keys() & other.keys())}


def samples_of(contestants, pairs, expected, may_look_alike):
    """The mean, variance, number and degrees of freedom of each pair's logarithms."""
    samples, drawn = {}, set()
    for (a, b), by_round in pairs.items():
        logs = list(by_round.values())
        if logs:
            variance = statistics.variance(logs) if len(logs) > 1 else 0.0
            degrees = len(logs) - 1
            if expected.get((a, b)) is not None and len(logs) <= FEW_ROUNDS:
                variance = (degrees * variance + OF_EXPECTED * expected[a, b]) / (degrees + OF_EXPECTED)
                degrees += OF_EXPECTED
                drawn.add((a, b))
            samples[a, b] = [statistics.fmean(logs), variance, len(logs), degrees]
    if contestants > 2:
        positive = [math.log(sample[1]) - mean_log_variance(sample[3]) for sample in samples.values()
                    if sample[1] > 0]
        common = math.exp(statistics.fmean(positive)) if positive else None
        weight = borrowed_weight(samples, positive) if may_look_alike else BORROWED
        for pair, sample in samples.items():
            if common is not None and sample[3] > 1 and pair not in drawn:
                sample[1] = (sample[3] * sample[1] + weight * common) / (sample[3] + weight)
                sample[3] += weight
    return samples


def most_equal_pairs(contestants, at_most):
    """The greatest possible number of equal pairs that is no more than `at_most` (Shaffer)."""
    possible = [{0}]
    for count in range(1, contestants + 1):
        possible.append({size * (size - 1) // 2 + rest for size in range(1, count + 1)
                         for rest in possible[count - size]})
    return max((number for number in possible[contestants] if number <= at_most), default=1) or 1


def expected_noise(one, other):
    """The variance of a round's logarithm, from lists of the logarithms of turns by round."""
    means = []
    for number in one.keys() & other.keys():
        common = one[number].keys() & other[number].keys()
        if len(common) < 4:
            return None
        means.append(statistics.variance(one[number][i] - other[number][i] for i in common) / len(common))
    return 1.5 ** 2 * statistics.fmean(means) + 0.05 ** 2 if means else None


def compare(contestants, logs, look, expected=None, may_look_alike=True):
    """Ratio, interval and chance of every pair, from the logarithms of its ratios by round.

    `expected`: the noise of pairs, where few rounds know it. `may_look_alike`: not in older documents.
    """
    share, pairs = SHARES[look], max(1, math.comb(contestants, 2))
    samples = samples_of(contestants, logs, expected or {}, may_look_alike)
    found = {}
    for pair, (mean, variance, rounds, degrees) in samples.items():
        error = math.sqrt(variance / rounds)
        half = quantile((1 - TOGETHER) * share / pairs, degrees) * error if degrees > 0 else math.inf
        chance = 1.0
        if degrees > 0 and mean != 0:
            chance = two_sided(abs(mean) / error, degrees) if error > 0 else 0.0
        found[pair] = {"estimate": math.exp(mean), "low": math.exp(mean - half), "rounds": rounds,
                       "high": math.exp(mean + half) if half < 700 else math.inf, "chance": chance}
    greatest = 0.0
    for step, pair in enumerate(sorted(found, key=lambda each: found[each]["chance"])):
        equal = most_equal_pairs(contestants, pairs - step)
        greatest = max(greatest, found[pair]["chance"] * equal / share)
        found[pair]["chance"] = min(1.0, greatest)
    return found


def decide(pair, least, equal):
    off = max(pair["estimate"], 1 / pair["estimate"]) - 1
    is_off = not pair["low"] <= 1 <= pair["high"]
    is_told = is_off and pair["chance"] <= 0.01
    if is_told and off >= least:
        return "differ"
    if pair["low"] >= 1 / (1 + equal) and pair["high"] <= 1 + equal:
        return "equal"
    return "slight" if is_told else "probable" if is_off else "undecided"
