// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "report/page/faces.hpp"
#include "report/page_document.hpp"
#include "sanitized.hpp"

// Documents may be anybody's: names that are markup, and values that no race has.
namespace joust::report::page {
namespace {

using nlohmann::ordered_json;

constexpr const char* kHostile = "<script>alert('a')</script>\"|`x`\n# =cmd & @all \xE2\x80\xAE";

// Puts a text in the place of every other: names, details, settings.
ordered_json with_hostile_texts(ordered_json document) {
  const std::string name = kHostile;
  document["verdict"] = document["scenario"]["title"] = document["scenario"]["text"] = name;
  document["command_line"] = {"joust", name};
  for (ordered_json& one : document["cases"]) one["name"] = one["title"] = one["verdict"] = name;
  for (ordered_json& one : document["checks"]) {
    one["case"] = one["title"] = one["detail"] = name;
    one["verdict"] = "WARN";
  }
  for (ordered_json& one : document["contestants"]) {
    one["case"] = name;
    one["name"] = one["name"].get<std::string>() + name;
  }
  for (ordered_json& one : document["cases"]) one["reference"] = one["reference"].get<std::string>() + name;
  document["environment"][name] = name;
  return document;
}

Document hostile_document() {
  auto document = read_document(with_hostile_texts(ordered_json::parse(race_json(plain_race()))).dump());
  if (!document) throw std::runtime_error(document.error());
  return *document;
}

// Returns the page without its policy, and without the document in it.
std::string visible(const Document& document) {
  std::string html = html_page(document);
  return html.substr(0, html.find("<h2>The result</h2>"));
}

TEST(HostilePage, NamesAreNoMarkup) {
  const std::string html = html_page(hostile_document());
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert(&#39;a&#39;)"), std::string::npos);
  EXPECT_EQ(visible(hostile_document()).find("\xE2\x80\xAE"), std::string::npos)
      << "a character that turns the direction of writing";
  for (const Picture& picture : all_pictures(hostile_document()))
    EXPECT_EQ(svg_file(picture).find("<script"), std::string::npos) << picture.name;
}

TEST(HostilePage, NamesStayInTheirCells) {
  const std::string markdown = markdown_text(hostile_document());
  const std::string before_code = markdown.substr(0, markdown.find("To run it again"));
  EXPECT_EQ(before_code.find("<script"), std::string::npos);
  EXPECT_EQ(before_code.find("@all"), std::string::npos) << "it would call everybody";
  EXPECT_NE(before_code.find("\\|\\`x\\` \\# =cmd &amp;"), std::string::npos) << before_code;
  std::size_t columns = 0;
  std::istringstream lines(before_code);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) continue;
    std::size_t bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    if (columns == 0) columns = bars;
    EXPECT_EQ(bars, columns) << line;
  }
  EXPECT_GT(columns, 5u);
  const std::string csv = csv_text(hostile_document());
  EXPECT_NE(csv.find("\"<script>alert('a')</script>\"\"|`x`\n"), std::string::npos) << csv.substr(0, 400);
}

TEST(HostilePage, AFormulaIsText) {
  ordered_json json = ordered_json::parse(race_json(plain_race()));
  for (ordered_json& one : json["contestants"])
    if (one["name"] == "threads") one["name"] = "=1+1";
  const auto document = read_document(json.dump());
  ASSERT_TRUE(document) << document.error();
  EXPECT_NE(csv_text(*document).find(",'=1+1,"), std::string::npos);
}

TEST(HostilePage, LoadsNothingAndNeedsNoStyle) {
  for (const race::RaceResult& race : {plain_race(), swept_race(), troubled_race()}) {
    const std::string html = visible(document_of_race(race));
    for (const char* forbidden : {"<script", "javascript:", " style=", " src=", " href=", "url(", "@import",
                                  "http:", "https:", " onload", " onclick", "<iframe", "<object", "<link"})
      EXPECT_EQ(html.find(forbidden), std::string::npos) << forbidden;
  }
}

// Undoes the escapes of a page.
std::string unescaped(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [escape, character] : kEscapes)
    for (std::size_t at = 0; (at = text.find(escape, at)) != std::string::npos; at += character.size())
      text.replace(at, escape.size(), character);
  return text;
}

TEST(HostilePage, HoldsTheWholeDocument) {
  const Document document = hostile_document();
  const std::string html = html_page(document);
  const std::size_t begin = html.find("<pre>", html.find("<h2>The result</h2>")) + 5;
  EXPECT_EQ(unescaped(html.substr(begin, html.find("</pre>", begin) - begin)), document.json);
}

std::string error_of(const std::string& text) {
  const auto document = read_document(text);
  return document ? "no error" : document.error();
}

TEST(HostilePage, WhatIsNoResultIsRefusedWithTheReason) {
  const std::string good = race_json(plain_race());
  EXPECT_NE(error_of("").find("is no JSON, or cut"), std::string::npos);
  EXPECT_NE(error_of(good.substr(0, good.size() / 2)).find("is no JSON, or cut"), std::string::npos);
  EXPECT_NE(error_of("[1, 2]").find("is no result of joust"), std::string::npos);
  EXPECT_NE(error_of("{}").find("it has no key 'schema'"), std::string::npos);
  EXPECT_NE(error_of(std::string(200'000, '[')).find("is nested deeper"), std::string::npos);
  ordered_json other = ordered_json::parse(good);
  other["schema"] = "joust-race/2";
  EXPECT_NE(error_of(other.dump()).find("this version reads 'joust-race/4'"), std::string::npos);
  other["schema"] = "joust-load/1";
  EXPECT_NE(error_of(other.dump()).find("give the file of 'race --json'"), std::string::npos);
}

TEST(HostilePage, AWrongValueIsNamed) {
  const ordered_json good = ordered_json::parse(race_json(plain_race()));
  const auto after = [&](auto change) {
    ordered_json document = good;
    change(document);
    return error_of(document.dump());
  };
  EXPECT_EQ(after([](auto& d) { d["contestants"][2]["summary"]["ratio"].erase("low"); }),
            "contestants[2].summary.ratio.low: is missing, and should be there");
  EXPECT_EQ(after([](auto& d) { d["contestants"][0]["summary"]["latency_ns"]["p99"] = 1e300; }),
            "contestants[0].summary.latency_ns.p99: is 1e+300, and should be between 0 and 1e+18");
  EXPECT_EQ(after([](auto& d) { d["cases"][0]["verdict"] = 5; }),
            "cases[0].verdict: is 5, and should be a string");
  EXPECT_EQ(after([](auto& d) { d["checks"][1]["case"] = "other"; }),
            "checks[1].case: 'other' is none of the cases");
  EXPECT_EQ(after([](auto& d) { d["rounds"] = -1; }),
            "rounds: is -1, and should be a whole number from 0 to 18446744073709551615");
  const std::string text = good.dump();
  const std::string rounds = "\"rounds\":10";
  std::string huge = text;
  huge.replace(huge.find(rounds), rounds.size(), "\"rounds\":1e999");
  EXPECT_NE(error_of(huge), "no error");
}

// Returns one place of each kind in a document: of the members of an array only those of its first member.
std::set<std::string> kinds_of_places(const ordered_json& document) {
  std::set<std::string> places;
  const ordered_json flat = document.flatten();
  for (const auto& [place, value] : flat.items()) {
    std::string kind;
    bool is_first = true;
    std::istringstream parts(place.substr(1));
    for (std::string part; std::getline(parts, part, '/'); kind += "/" + part) {
      if (!kind.empty()) places.insert(kind);
      if (!part.empty() && std::isdigit(static_cast<unsigned char>(part[0]))) is_first &= part == "0";
    }
    if (is_first) places.insert(kind);
  }
  // Of a trial few values are read.
  static constexpr const char* kRead[] = {"/counted", "/round",    "/cpu", "/latency_ns",
                                          "/failure", "/verified", "_per_"};
  std::erase_if(places, [](const std::string& place) {
    const auto is_in = [&](const char* part) { return place.contains(part); };
    return is_in("socket") || is_in("/limits") || (is_in("/trials/0/") && std::ranges::none_of(kRead, is_in));
  });
  return places;
}

// Returns a small document: a sweep of two values with one trial of each contestant and the first checks.
ordered_json small_document() {
  ordered_json document = ordered_json::parse(race_json(swept_race("connections=1,100")));
  for (ordered_json& one : document["contestants"]) {
    ordered_json trial = one["trials"][0];
    trial.erase("histograms");
    trial.erase("turns");
    one["trials"] = {trial};
  }
  for (ordered_json& one : document["cases"]) {
    one["looks_taken"] = one["pairs"] = ordered_json::array();
    one["itself"] = ordered_json::object();
  }
  ordered_json checks = ordered_json::array();
  for (std::size_t i = 0; i < 3; ++i) checks.push_back(document["checks"][i]);
  document["checks"] = checks;
  document["environment"] = {{"fingerprint", "0123456789abcdef"}};
  ordered_json fewer = ordered_json::array();
  for (const ordered_json& one : document["contestants"])
    if (one["name"] != "io-uring") fewer.push_back(one);
  document["contestants"] = fewer;
  return document;
}

// Each takes long, most of all with a sanitizer, which sees one value at each place. The long tests have all.
std::vector<ordered_json> values_at(std::size_t nth_place) {
  if (test::is_sanitized()) return {nth_place % 2 == 0 ? ordered_json(nullptr) : ordered_json(1e308)};
  const char* const tests = std::getenv("JOUST_LONG_TESTS");
  if (tests == nullptr) return {nullptr, 1e308};
  return {nullptr, 1e18, 1e308, 0};
}

TEST(HostilePage, NoValueBreaksIt) {
  const ordered_json good = small_document();
  std::size_t refused = 0, nth_place = 0;
  for (const std::string& place : kinds_of_places(good))
    for (const ordered_json& value : values_at(nth_place++)) {
      ordered_json changed = good;
      changed[ordered_json::json_pointer(place)] = value;
      const auto document = read_document(changed.dump());
      if (!document) {
        EXPECT_NE(document.error().find(": "), std::string::npos) << place;
        ++refused;
        continue;
      }
      EXPECT_FALSE(markdown_text(*document).empty()) << place;
      for (const Picture& picture : all_pictures(*document)) {
        const std::string& svg = picture.content.str();
        EXPECT_EQ(svg.find("=\"nan"), std::string::npos) << place << " " << picture.name;
        EXPECT_EQ(svg.find("=\"inf"), std::string::npos) << place << " " << picture.name;
        EXPECT_EQ(svg.find("=\"-nan"), std::string::npos) << place << " " << picture.name;
      }
    }
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace joust::report::page
