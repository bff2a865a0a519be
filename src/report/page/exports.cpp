// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "base/fields.hpp"
#include "base/text.hpp"
#include "report/facts_json.hpp"
#include "report/page/faces.hpp"
#include "report/page/markup.hpp"
#include "report/row_order.hpp"

// Results for other programs, each in the format of that program.
namespace joust::report::page {
namespace {

std::string csv_number(const std::optional<double>& number) {
  return number ? exact(*number) : "";
}

}  // namespace

std::string csv_cell(std::string text) {
  if (!text.empty() && std::string_view("=+-@\t\r").contains(text.front())) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_text(const Document& document) {
  std::string csv =
      "case,contestant,kind,ranked,lower_bound,place,cost_place,figure,key,unit,value,low,high,verified\n";
  for (const Case& load_case : document.cases)
    for (const Contestant& contestant : load_case.contestants)
      for (const FigureRow& row : figure_rows()) {
        const Measured* const figure = contestant.figure(row.key);
        if (figure == nullptr) continue;
        csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(load_case.name),
                           csv_cell(contestant.name), word_of(contestant.kind), contestant.ranked,
                           contestant.at_least, place_text(contestant.place, "", " to "),
                           place_text(contestant.cost_place, "", " to "), csv_cell(row.name), row.key,
                           unit_text(row.unit), exact(figure->value), csv_number(figure->low),
                           csv_number(figure->high), !load_case.unverified());
      }
  return csv;
}

namespace {

using ExportedJson = nlohmann::ordered_json;

// Returns the name of a contestant's row: "case/contestant", or the contestant alone if there is one case.
std::string row_name(const Document& document, const Case& load_case, const Contestant& contestant) {
  return document.cases.size() == 1 ? contestant.name : load_case.name + "/" + contestant.name;
}

// Calls a function for every contestant that has a result.
template <typename Take>
void for_each_result(const Document& document, Take take) {
  for (const Case& load_case : document.cases)
    for (const Contestant& contestant : load_case.contestants)
      if (contestant.kind == Kind::contestant && contestant.has_result()) take(load_case, contestant);
}

// A figure with a name that is the same in all formats.
struct ExportedFigure {
  const char* key;
  const char* name;  // "throughput"
  const char* unit;
  bool greater_is_better;
};

constexpr ExportedFigure kExported[] = {
    {"throughput_per_s", "throughput", "messages/s", true},
    {"cost_us_per_message", "server-cpu", "us/message", false},
    {"latency_ns.intervals.p50", "latency", "ns", false},
    {"latency_ns.intervals.p99", "latency-p99", "ns", false},
};

ExportedJson of_direction(const Document& document, bool greater_is_better) {
  ExportedJson list = ExportedJson::array();
  for_each_result(document, [&](const Case& load_case, const Contestant& contestant) {
    for (const ExportedFigure& figure : kExported) {
      const Measured* const value = contestant.figure(figure.key);
      if (value == nullptr || figure.greater_is_better != greater_is_better) continue;
      ExportedJson row{{"name", fmt::format("{} {}", row_name(document, load_case, contestant), figure.name)},
                       {"unit", figure.unit},
                       {"value", value->value}};
      if (value->low && value->high)
        row["range"] = fmt::format("{} to {}", exact(*value->low), exact(*value->high));
      list.push_back(std::move(row));
    }
  });
  return list;
}

Markup junit_case(const std::string& group, const std::string& name, const char* outcome,
                  const std::string& message) {
  if (outcome == nullptr) return element("testcase", {{"classname", group}, {"name", name}}) + constant("\n");
  const Markup inside = element(outcome, {{"message", printable(message)}});
  return element("testcase", {{"classname", group}, {"name", name}}, inside) + constant("\n");
}

// A test for each contestant, each check and each threshold, and one of the race as a whole, which fails if
// the race has ended with another exit code than 0. Where it is 0, because a scenario allows what is wrong,
// nothing fails. A check that warns has passed.
Markup junit_cases(const Document& document, std::uint64_t& failures, std::uint64_t& skipped,
                   std::uint64_t& tests) {
  const char* const wrong = document.fails() ? "failure" : "skipped";
  Markup cases;
  const auto add = [&](const std::string& group, const std::string& name, const char* outcome,
                       const std::string& message) {
    ++tests;
    if (outcome != nullptr) ++(std::string_view(outcome) == "failure" ? failures : skipped);
    cases += junit_case(printable(group), printable(name), outcome, message);
  };
  for (const Case& load_case : document.cases) {
    for (const Contestant& contestant : load_case.contestants)
      if (contestant.kind == Kind::contestant)
        add(load_case.name, contestant.name, contestant.is_sound() ? nullptr : wrong, contestant.reason);
    for (const Check& check : load_case.checks)
      add(load_case.name, fmt::format("check {}: {}", check.id, check.title),
          check.verdict == Verdict::REFUSE ? wrong : nullptr, check.detail);
  }
  for (const Threshold& threshold : *document.race.thresholds)
    add(threshold.case_, fmt::format("threshold of {}: {}", threshold.figure, threshold.contestant),
        threshold.decision == race::Standing::beyond      ? "failure"
        : threshold.decision == race::Standing::undecided ? "skipped"
                                                          : nullptr,
        threshold.sentence);
  if (document.race.exit_code)
    add("race", "exit code", document.fails() ? "failure" : nullptr,
        fmt::format("exit code {}: {}", *document.race.exit_code, *document.race.exit_reason));
  return cases;
}

// Returns the value of a label of Prometheus, in its quotes.
std::string prometheus_label(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// Returns the samples of one metric, which stand together.
std::string prometheus_metric(const Document& document, const FigureRow& row, const char* ending,
                              std::optional<double> (*value)(const Measured& figure)) {
  std::string name = fmt::format("joust_{}{}", row.key, ending), text;
  std::ranges::replace(name, '.', '_');
  for_each_result(document, [&](const Case& load_case, const Contestant& contestant) {
    const Measured* const figure = contestant.figure(row.key);
    const auto shown = figure == nullptr ? std::nullopt : value(*figure);
    if (shown)
      text += fmt::format("{}{{case={},contestant={}{}}} {}\n", name, prometheus_label(load_case.name),
                          prometheus_label(contestant.name),
                          load_case.unverified() ? ",replies=\"unverified\"" : "", exact(*shown));
  });
  return text;
}

// Returns the percentiles of latency in microseconds, in the form that the plotter of HdrHistogram reads.
std::string hgrm_text(const Contestant& contestant) {
  constexpr double kHalvings = 5;  // lines for each halving of what lies beyond
  constexpr double kUs = 1000;     // ns
  const Distribution& latency = contestant.latency;
  std::string text =
      fmt::format("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
  bool is_last = false;
  for (double step = 0; !is_last; ++step) {
    const double quantile = 1 - std::exp2(-step / kHalvings);
    const std::uint64_t value_ns = latency.value_at(quantile);
    std::uint64_t shown = 0;
    for (const Distribution::Bucket& bucket : latency.buckets())
      if (bucket.low_ns <= value_ns) shown += bucket.count;
    is_last = shown >= latency.count();
    text += fmt::format("{:12.3f} {:.12f} {:10}", static_cast<double>(value_ns) / kUs,
                        is_last ? 1.0 : quantile, shown);
    text += is_last ? "\n" : fmt::format(" {:14.2f}\n", 1 / (1 - quantile));
  }
  double squares = 0;
  for (const Distribution::Bucket& bucket : latency.buckets()) {
    const double middle = (static_cast<double>(bucket.low_ns) + static_cast<double>(bucket.high_ns)) / 2;
    squares += static_cast<double>(bucket.count) * std::pow(middle - latency.mean(), 2);
  }
  const double deviation = std::sqrt(squares / static_cast<double>(latency.count()));
  text += fmt::format("#[Mean    = {:12.3f}, StdDeviation   = {:12.3f}]\n", latency.mean() / kUs,
                      deviation / kUs);
  text += fmt::format("#[Max     = {:12.3f}, Total count    = {:12}]\n",
                      static_cast<double>(latency.max()) / kUs, latency.count());
  return text + "#[Buckets =           32, SubBuckets     =         2048]\n";
}

}  // namespace

std::string junit_text(const Document& document) {
  std::uint64_t failures = 0, skipped = 0, tests = 0;
  const Markup cases = junit_cases(document, failures, skipped, tests);
  const Markup suite =
      element("testsuite",
              {{"name", "joust race"},
               {"tests", fmt::format("{}", tests)},
               {"failures", fmt::format("{}", failures)},
               {"skipped", fmt::format("{}", skipped)},
               {"errors", "0"},
               {"time", fmt::format("{:.3f}", document.race.took_s)},
               {"timestamp", document.race.started}},
              constant("\n") + cases + element("system-out", printable(document.race.verdict, "\n")) +
                  constant("\n"));
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + suite.str() + "\n";
}

std::string bencher_text(const Document& document) {
  ExportedJson all = ExportedJson::object();
  for_each_result(document, [&](const Case& load_case, const Contestant& contestant) {
    ExportedJson measures = ExportedJson::object();
    for (const ExportedFigure& figure : kExported)
      if (const Measured* const value = contestant.figure(figure.key)) {
        ExportedJson measure{{"value", value->value}};
        if (value->low) measure["lower_value"] = *value->low;
        if (value->high) measure["upper_value"] = *value->high;
        measures[figure.name] = std::move(measure);
      }
    all[row_name(document, load_case, contestant)] = std::move(measures);
  });
  return text_of(all, 2);
}

std::string bigger_is_better_text(const Document& document) {
  return text_of(of_direction(document, true), 2);
}

std::string smaller_is_better_text(const Document& document) {
  return text_of(of_direction(document, false), 2);
}

std::string prometheus_text(const Document& document) {
  std::string text =
      document.race.exit_code ? fmt::format("joust_exit_code {}\n", *document.race.exit_code) : std::string();
  for (const FigureRow& row : figure_rows()) {
    text += prometheus_metric(document, row, "",
                              [](const Measured& figure) { return std::optional(figure.value); });
    text += prometheus_metric(document, row, "_low", [](const Measured& figure) { return figure.low; });
    text += prometheus_metric(document, row, "_high", [](const Measured& figure) { return figure.high; });
  }
  return text;
}

std::vector<NamedText> hgrm_files(const Document& document) {
  std::vector<NamedText> files;
  std::size_t number = 0;  // two names may become the same
  for_each_result(document, [&](const Case& load_case, const Contestant& contestant) {
    if (contestant.latency.count() > 0)
      files.push_back(
          {fmt::format("{:02}-{}.hgrm", ++number, file_name_of(row_name(document, load_case, contestant))),
           hgrm_text(contestant)});
  });
  return files;
}

}  // namespace joust::report::page
