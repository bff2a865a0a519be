// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/fake_race.hpp"
#include "report/page/document.hpp"
#include "report/page/pictures.hpp"
#include "report/race_json.hpp"
#include "report/race_table.hpp"

namespace joust::report {
namespace page {

// The document of a race, read as `joust report` reads it.
inline Document document_of_race(const race::RaceResult& race) {
  auto document = read_document(race_json(race));
  if (!document) throw std::runtime_error(document.error());
  return *document;
}

}  // namespace page

// The text of a race, made of its document as it is read again.
inline std::string race_table(const race::RaceResult& race, const Terminal& terminal, bool details = false) {
  return race_table(race, page::document_of_race(race), terminal, details);
}

namespace page {

// An element of a picture that has a number.
struct DrawnMark {
  double x = 0, y = 0;  // its middle
  double value = 0;
  std::string title{};
};

// Returns the text of an attribute that follows `at`; empty if the element ends before.
inline std::string attribute_of(const std::string& element, const std::string& name) {
  const std::size_t begin = element.find(" " + name + "=\"");
  if (begin == std::string::npos) return {};
  const std::size_t from = begin + name.size() + 3;
  return element.substr(from, element.find('"', from) - from);
}

// Returns the elements of a tag, each from its < to the end of its content.
inline std::vector<std::string> elements_of(const std::string& markup, const std::string& tag) {
  std::vector<std::string> found;
  for (std::size_t at = markup.find("<" + tag + " "); at != std::string::npos;
       at = markup.find("<" + tag + " ", at + 1))
    found.push_back(markup.substr(at, markup.find("</" + tag + ">", at) - at));
  return found;
}

inline std::string title_of_element(const std::string& element) {
  const std::size_t from = element.find("<title>");
  return from == std::string::npos ? "" : element.substr(from + 7, element.find("</title>") - from - 7);
}

// Returns the circles and polygons that stand for a number.
inline std::vector<DrawnMark> marks_of(const Picture& picture) {
  std::vector<DrawnMark> marks;
  const std::string& svg = picture.content.str();
  const auto add = [&](const std::string& element, double x, double y) {
    const std::string value = attribute_of(element, "data-value");
    if (value != "none") marks.push_back({x, y, std::stod(value), title_of_element(element)});
  };
  for (const std::string& one : elements_of(svg, "circle"))
    add(one, std::stod(attribute_of(one, "cx")), std::stod(attribute_of(one, "cy")));
  for (const std::string& one : elements_of(svg, "polygon")) {
    std::istringstream corners(attribute_of(one, "points"));
    double x = 0, y = 0;
    char comma = 0;
    std::vector<double> across, up;
    while (corners >> x >> comma >> y) {
      across.push_back(x);
      up.push_back(y);
    }
    const auto [left, right] = std::ranges::minmax(across);
    const auto [top, bottom] = std::ranges::minmax(up);
    add(one, (left + right) / 2, (top + bottom) / 2);
  }
  return marks;
}

// Returns the numbers under the horizontal axis with their places.
inline std::vector<DrawnMark> ticks_of(const Picture& picture) {
  std::vector<DrawnMark> ticks;
  for (const std::string& one : elements_of(picture.content.str(), "text"))
    if (attribute_of(one, "text-anchor") == "middle")
      ticks.push_back({.x = std::stod(attribute_of(one, "x")),
                       .y = std::stod(attribute_of(one, "y")),
                       .value = std::stod(one.substr(one.find('>') + 1))});
  return ticks;
}

inline Picture picture_named(const Document& document, const std::string& name) {
  for (const Picture& one : all_pictures(document))
    if (one.name == name) return one;
  throw std::runtime_error("no picture " + name);
}

}  // namespace page
}  // namespace joust::report
