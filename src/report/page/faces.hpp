// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/page/document.hpp"
#include "report/text.hpp"

// The forms in which the result of a race is shown to others. Each is made of the document alone.
namespace joust::report::page {

// A page without scripts that loads nothing: it opens from a disk and in a mail.
std::string html_page(const Document& document);
// A comment for a pull request: the verdict, a table for each case, the checks that warn, and the command.
std::string markdown_text(const Document& document);
// The names of tables that users can ask for, and one of the tables for a terminal, of each case that has it.
// Empty if none has, or there is no such name.
std::vector<std::string> table_names();
std::string table_text(const Document& document, std::string_view name, const Terminal& terminal);
// A row for each figure of each contestant, exact: comma-separated values as in RFC 4180.
std::string csv_text(const Document& document);
// Quotes a cell of such a table where its text needs it. A spreadsheet would take a text that begins with one
// of = + - @ for a formula, so such a text gets an apostrophe before it.
std::string csv_cell(std::string text);

// For other programs. JUnit's XML: a test for each contestant, check and threshold.
std::string junit_text(const Document& document);
// The Bencher Metric Format: JSON of throughput, latency and server CPU with their intervals.
std::string bencher_text(const Document& document);
// JSON for github-action-benchmark, which takes figures of one direction: customBiggerIsBetter has
// throughput, customSmallerIsBetter latency and server CPU.
std::string bigger_is_better_text(const Document& document);
std::string smaller_is_better_text(const Document& document);
// The text format of Prometheus, for a textfile collector: each figure of the summary is a gauge.
std::string prometheus_text(const Document& document);

struct NamedText {
  std::string name{}, text{};
};
// A percentile distribution of latencies for each contestant, in microseconds, as HdrHistogram plots it.
std::vector<NamedText> hgrm_files(const Document& document);

}  // namespace joust::report::page
