// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "base/fields.hpp"
#include "report/page/faces.hpp"

namespace joust::report::page {
namespace {

std::string csv_place(const std::optional<Place>& place) {
  if (!place) return {};
  return place->first == place->last ? fmt::format("{}", place->first)
                                     : fmt::format("{} to {}", place->first, place->last);
}

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
                           contestant.at_least, csv_place(contestant.place), csv_place(contestant.cost_place),
                           csv_cell(row.name), row.key, unit_text(row.unit), exact(figure->value),
                           csv_number(figure->low), csv_number(figure->high), !load_case.unverified);
      }
  return csv;
}

}  // namespace joust::report::page
