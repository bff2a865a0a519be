// SPDX-License-Identifier: MIT
#include "race/judgement/sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "race/model/result.hpp"

namespace joust::race {
namespace {

using stats::Decision;

// Returns the pairs with this decision that are the whole truth (Pair::understated).
std::vector<Pair> with(Decision decision, const std::vector<Pair>& pairs) {
  std::vector<Pair> found;
  std::ranges::copy_if(pairs, std::back_inserter(found), [&](const Pair& pair) {
    return pair.decision == decision && (!pair.understated || decision == Decision::differ);
  });
  return found;
}

std::vector<std::string> names_in(const std::vector<Pair>& pairs) {
  std::vector<std::string> names;
  for (const Pair& pair : pairs) names.push_back(in_list(pair.a));
  return names;
}

// Divides the pairs that are equal into those that are told apart all the same, and the others.
std::pair<std::vector<Pair>, std::vector<Pair>> equal_pairs(const std::vector<Pair>& pairs) {
  std::pair<std::vector<Pair>, std::vector<Pair>> parts;
  for (Pair& pair : with(Decision::equal, pairs))
    (stats::is_told(pair.ratio) ? parts.first : parts.second).push_back(std::move(pair));
  return parts;
}

// Says how long a race would show any difference that is not within the range of the equal. Empty if that is
// known already, or would take too long.
std::vector<std::string> length_sentence(const std::vector<Pair>& open, const std::string& what,
                                         const stats::Measure& measure, const RaceResult& race,
                                         const CaseResult& one) {
  double times = 1;
  for (const Pair& pair : open)
    times = std::max(times, stats::rounds_to_rule_out(pair.all_turns.value_or(pair.ratio), measure));
  const std::string length = length_in_all(times, race, one);
  if (open.empty() || length.empty()) return {};
  return {fmt::format("A race of {} would find any difference of {} above {}", length, what,
                      percent(measure.equal, 1))};
}

std::string range_text(const stats::Ratio& ratio, int digits) {
  if (interval_words(ratio.interval, digits) == "not known") return "the rounds are too few for an interval";
  return fmt::format("{}x to {}x", ratio_words(ratio.interval.low, digits),
                     ratio_words(ratio.interval.high, digits));
}

// "3.2 %", "33 %"
std::string amount(double ratio) {
  constexpr double kSmall = 0.0995;
  const double part = std::abs(ratio - 1);
  return percent(part, part < kSmall ? 1 : 0);
}

std::string more_or_less(double ratio) {
  return fmt::format("{} {}", amount(ratio), ratio > 1 ? "more" : "less");
}

// Returns whether a percentage says it better than a factor.
bool is_a_part(const stats::Ratio& ratio) {
  return ratio.interval.low > 0.5 && ratio.interval.high < 2;
}

// The range of a cost: "2.5 to 3.8 %", "1.0 % less to 3.8 % more", "2.30x to 2.52x".
std::string cost_range(const stats::Ratio& ratio) {
  const auto [low, high] = std::pair(ratio.interval.low, ratio.interval.high);
  if (!is_a_part(ratio)) return range_text(ratio, 2);
  if (ratio.interval.contains(1)) return fmt::format("{} to {}", more_or_less(low), more_or_less(high));
  const std::string near = amount(low > 1 ? low : high), far = amount(low > 1 ? high : low);
  return fmt::format("{} to {}", near.substr(0, near.find(' ')), far);
}

// Rounds up to one digit.
std::uint64_t in_one_digit(double number) {
  const double unit = std::pow(10.0, std::floor(std::log10(number)));
  return static_cast<std::uint64_t>(std::ceil(number / unit) * unit);
}

// Describes whose CPU time is compared.
std::string side_of(const std::string& name, const CaseResult& one) {
  return one.plan.files ? in_list(name) : "The server of " + in_list(name);
}

std::string than(const std::string& name, const CaseResult& one) {
  return one.plan.files ? "than " + in_list(name) : "than that of " + in_list(name);
}

}  // namespace

std::string enumerate(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "none" : words.front();
  const std::vector<std::string> first(words.begin(), words.end() - 1);
  return fmt::format("{} and {}", join(first), words.back());
}

std::string times_text(const stats::Ratio& ratio, Known known, const std::string& of) {
  const std::string likely = ratio_words(ratio.estimate, 2);
  if (known != Known::both)
    return fmt::format("{} {}x {} ({}x was measured)", known == Known::least ? "at least" : "at most",
                       ratio_words(known == Known::least ? ratio.interval.low : ratio.interval.high, 2), of,
                       likely);
  const bool is_sure =
      std::abs(std::log(ratio.estimate)) >= std::log(ratio.interval.high / ratio.interval.low);
  if (is_sure) return ratio_with_interval(ratio, 2, "x " + of);
  return fmt::format("{} {} (likely {}x)", range_text(ratio, 2), of, likely);
}

std::string figure_words(const CaseResult& one) {
  return one.ranked_by_latency() ? one.latency->words : "throughput";
}

std::vector<std::string> figure_sentences(const std::vector<Pair>& pairs, const RaceResult& race,
                                          const CaseResult& one) {
  const bool greater_is_better = ranked_by(one).better == stats::Better::greater;
  const stats::Measure& measure = one.ranking.measure;
  const std::string figure = figure_words(one), of = "the " + figure;
  const auto direction = [&](const Pair& pair) {
    return (pair.ratio.estimate > 1) == greater_is_better ? "faster" : "slower";
  };
  std::vector<std::string> sentences;
  for (const Pair& pair : with(Decision::differ, pairs)) {
    const Known known = !greater_is_better                         ? Known::both
                        : find_entry(one, pair.a)->may_be_faster() ? Known::least
                        : find_entry(one, pair.b)->may_be_faster() ? Known::most
                                                                   : Known::both;
    sentences.push_back(fmt::format("{} is {} than {}: {}", in_list(pair.a), direction(pair), in_list(pair.b),
                                    times_text(pair.ratio, known, of)));
  }
  for (const Pair& pair : with(Decision::slight, pairs))
    sentences.push_back(fmt::format("{} is {} than {}, by about as much as counts here ({}): {} {}",
                                    in_list(pair.a), direction(pair), in_list(pair.b),
                                    percent(measure.least, 1), range_text(pair.ratio, 3), of));
  for (const Pair& pair : with(Decision::probable, pairs))
    sentences.push_back(fmt::format("{} is probably {} than {}, but that is not certain: {} {}",
                                    in_list(pair.a), direction(pair), in_list(pair.b),
                                    range_text(pair.ratio, 3), of));
  const auto [told, same] = equal_pairs(pairs);
  for (const Pair& pair : told)
    sentences.push_back(fmt::format("{} equals {} within {}: it is {}, {} {}", in_list(pair.a),
                                    in_list(pair.b), percent(measure.equal, 1), direction(pair),
                                    range_text(pair.ratio, 3), of));
  if (same.size() == 1)
    sentences.push_back(fmt::format("{} and {} are equal here: any difference of {} is below {}",
                                    in_list(same.front().a), in_list(one.reference), figure,
                                    percent(measure.equal, 1)));
  else if (!same.empty())
    sentences.push_back(fmt::format("{} are each equal to {} here: any difference of {} is below {}",
                                    enumerate(names_in(same)), in_list(one.reference), figure,
                                    percent(measure.equal, 1)));
  std::vector<std::string> ranges;
  const std::vector<Pair> open = with(Decision::undecided, pairs);
  for (const Pair& pair : open)
    if (pair.all_turns)
      sentences.push_back(
          fmt::format("{} and {} are equal in quiet turns; over all turns, stalls included, {} has {} {}",
                      in_list(pair.a), in_list(pair.b), in_list(pair.a), range_text(*pair.all_turns, 2), of));
    else
      ranges.push_back(fmt::format("{} ({}{})", in_list(pair.a), range_text(pair.ratio, 2),
                                   ranges.empty() && pair.ratio.is_known() ? " " + of : ""));
  if (!ranges.empty())
    sentences.push_back(
        fmt::format("No difference found between {} and {}", in_list(one.reference), join(ranges)));
  for (std::string& length : length_sentence(open, figure, measure, race, one))
    sentences.push_back(std::move(length));
  return sentences;
}

std::string cost_text(const Pair& pair, const CaseResult& one) {
  const stats::Ratio& ratio = pair.ratio;
  if (is_a_part(ratio))
    return fmt::format("{} CPU for a {} {} ({})", more_or_less(ratio.estimate), one.plan.unit(),
                       than(pair.b, one), cost_range(ratio));
  return ratio_with_interval(ratio, 2,
                             fmt::format("x the CPU of {} for a {}", in_list(pair.b), one.plan.unit()));
}

namespace {

// Compares costs where the client was the limit of one: a server that waits for its client wakes up more
// often for a message, so the figures are those under this client.
std::vector<std::string> costs_under_the_client(const std::vector<Pair>& pairs, const CaseResult& one) {
  std::vector<std::string> sentences, ranges;
  for (const Pair& pair : pairs) {
    if (!pair.understated || pair.decision == Decision::differ || !pair.ratio.is_known()) continue;
    if (!pair.ratio.interval.contains(1))
      sentences.push_back(fmt::format("Under this client the server of {} {}needs {}{}", in_list(pair.a),
                                      stats::is_told(pair.ratio) ? "" : "probably ", cost_text(pair, one),
                                      stats::is_told(pair.ratio) ? "" : ", but that is not certain"));
    else
      ranges.push_back(fmt::format("{} ({})", in_list(pair.a), cost_range(pair.ratio)));
  }
  if (!ranges.empty())
    sentences.push_back(
        fmt::format("Under this client no difference of CPU for a {} was found between {} and {}",
                    one.plan.unit(), in_list(one.reference), join(ranges)));
  return sentences;
}

}  // namespace

std::vector<std::string> cost_sentences(const std::vector<Pair>& pairs, const RaceResult& race,
                                        const CaseResult& one) {
  const stats::Measure& measure = one.costs.measure;
  std::vector<std::string> sentences;
  for (const Pair& pair : with(Decision::differ, pairs))
    sentences.push_back(fmt::format("{} needs {}", side_of(pair.a, one), cost_text(pair, one)));
  for (const Pair& pair : with(Decision::slight, pairs))
    sentences.push_back(fmt::format("{} needs {}: about as much as counts here ({})", side_of(pair.a, one),
                                    cost_text(pair, one), percent(measure.least, 1)));
  for (const Pair& pair : with(Decision::probable, pairs))
    sentences.push_back(fmt::format("{} probably needs {}, but that is not certain", side_of(pair.a, one),
                                    cost_text(pair, one)));
  const auto [told, same] = equal_pairs(pairs);
  for (const Pair& pair : told)
    sentences.push_back(fmt::format("{} needs {}, which is within the {} that are equal",
                                    side_of(pair.a, one), cost_text(pair, one), percent(measure.equal, 1)));
  if (!same.empty())
    sentences.push_back(fmt::format("{} and {} need the same CPU for a {}, within {}", join(names_in(same)),
                                    in_list(one.reference), one.plan.unit(), percent(measure.equal, 1)));
  std::vector<std::string> ranges;
  const std::vector<Pair> open = with(Decision::undecided, pairs);
  for (const Pair& pair : open)
    ranges.push_back(fmt::format("{} ({}{})", in_list(pair.a),
                                 cost_range(pair.all_turns.value_or(pair.ratio)),
                                 pair.all_turns ? ", stalls included" : ""));
  if (!ranges.empty())
    sentences.push_back(fmt::format("No difference of CPU for a {} found between {} and {}", one.plan.unit(),
                                    in_list(one.reference), join(ranges)));
  for (std::string& sentence : costs_under_the_client(pairs, one)) sentences.push_back(std::move(sentence));
  for (std::string& length : length_sentence(open, "CPU", measure, race, one))
    sentences.push_back(std::move(length));
  return sentences;
}

std::string length_in_all(double times, const RaceResult& race, const CaseResult& one) {
  constexpr double kMostTimes = 20;
  if (!(times > 1 && times <= kMostTimes)) return {};
  if (race.scenario.rounds > 0 || one.look != stats::Look::last) {
    const std::uint64_t rounds = in_one_digit(times * static_cast<double>(rounds_of(one)));
    return fmt::format("about {} (--rounds {})", counted(rounds, "round"), rounds);
  }
  const double seconds = times * std::chrono::duration<double>(race.scenario.time).count();
  const auto [unit, word] = seconds < 60     ? std::pair(1.0, "second")
                            : seconds < 3600 ? std::pair(60.0, "minute")
                                             : std::pair(3600.0, "hour");
  const std::uint64_t number = in_one_digit(seconds / unit);
  return fmt::format("about {} (--time {}{})", counted(number, word), number, word[0]);
}

}  // namespace joust::race
