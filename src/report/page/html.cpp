// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/page/faces.hpp"
#include "report/page/markup.hpp"
#include "report/page/picture.hpp"
#include "report/page/pictures.hpp"
#include "report/page/tables.hpp"

namespace joust::report::page {
namespace {

// Colours and sizes are attributes; a style only adds to them. Without it the page has the same content in
// the same order.
constexpr const char* kStyle = R"(<style>
body{margin:0;font:16px/1.5 system-ui,"Segoe UI",Helvetica,Arial,sans-serif;color:#1a1a1a;background:#fff}
figure table,figure tbody,figure tr,figure td{display:block;width:auto;padding:0}
.frame{max-width:1240px;margin:0 auto;padding:12px 16px 48px}
h1{font-size:1.5em;line-height:1.25;margin:.6em 0}
h2{font-size:1.2em;margin:2em 0 .5em;border-bottom:1px solid #8886;padding-bottom:.2em}
ul{padding-left:1.2em}
h3{font-size:1em;margin:1.2em 0 .4em}
.verdict{font-size:1.15em;font-weight:600;margin:.5em 0}
.verdict,li,.faint b{white-space:pre-line}
.faint{opacity:.8;font-size:.92em}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:8px 40px}
figure{margin:0 0 16px;break-inside:avoid}
figcaption{margin-bottom:4px}
svg{display:block;max-width:640px;height:auto}
.how{font-size:.88em;opacity:.8;margin:4px 0 0;max-width:640px}
.wide{overflow-x:auto}
.wide table{border:0;border-collapse:collapse;font-size:.92em;font-variant-numeric:tabular-nums}
.wide td,.wide th{border:0;border-bottom:1px solid #8885;padding:5px 10px;white-space:nowrap}
.wide th{white-space:normal;vertical-align:bottom}
.wide td.long{white-space:normal;min-width:14em}
.check{margin:.5em 0;padding-left:.8em;border-left:4px solid #8885}
.check.WARN{border-color:#b07d12}
.check.REFUSE{border-color:#d55e00}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85em;padding:10px}
pre{background:#8882;border-radius:4px}
summary{cursor:pointer;margin:.5em 0}
@media(prefers-color-scheme:dark){body{color:#e4e4e4;background:#15181c}}
@media(max-width:500px){body{font-size:15px}.frame{padding:4px 10px 32px}}
@media print{body{color:#000;background:#fff}.how{opacity:1}}
</style>)";

Markup cell(std::string_view tag, const Table::Column& column, const std::string& words) {
  constexpr std::size_t kLong = 48;
  return element(
      tag, {{"align", column.text ? "left" : "right"}, {"class", words.size() > kLong ? "long" : "cell"}},
      text(words));
}

Markup heading(std::string_view words) {
  return constant("\n") + element("h2", words) + constant("\n");
}

Markup paragraph(std::string_view kind, const Markup& content) {
  return element("p", {{"class", kind}}, content) + constant("\n");
}

// Returns a part that is closed until a reader opens it.
Markup folded(const Markup& summary, const Markup& content) {
  return element("details", {}, element("summary", {}, summary) + constant("\n") + content) + constant("\n");
}

// Returns the picture in a cell of a table: the one way to say without a style how wide it is at most.
Markup bounded(const Picture& picture) {
  return element("table", {{"border", "0"}},
                 element("tr", {}, element("td", {{"width", "560"}}, inline_svg(picture))));
}

// Returns pictures side by side where there is room, each with its caption and how to read it.
Markup figures_of(const std::vector<Picture>& pictures) {
  Markup all;
  for (const Picture& one : pictures)
    all += element("figure", {},
                   element("figcaption", {}, element("b", one.caption)) + bounded(one) +
                       paragraph("how", element("b", "How to read this: ") + text(one.how))) +
           constant("\n");
  return pictures.empty() ? all : element("div", {{"class", "figures"}}, all);
}

// Returns a table that scrolls by itself where it is too wide; empty for a table without rows.
Markup html_table(const Table& table) {
  if (table.empty()) return {};
  Markup head, body;
  for (const Table::Column& column : table.columns) head += cell("th", column, column.title);
  for (const Table::Row& row : table.rows) {
    Markup cells;
    for (std::size_t i = 0; i < row.cells.size(); ++i) cells += cell("td", table.columns[i], row.cells[i]);
    body += element("tr", {}, cells) + constant("\n");
  }
  return element("div", {{"class", "wide"}},
                 element("table", {{"border", "1"}, {"cellspacing", "0"}, {"cellpadding", "4"}},
                         element("thead", {}, element("tr", {}, head)) + element("tbody", {}, body)));
}

// Returns a whole document with this title and body.
std::string html_document(std::string_view title, const Markup& body) {
  // A page from elsewhere could be changed to load something; the policy says that this one never does.
  const Markup head = element("meta", {{"charset", "utf-8"}}) +
                      element("meta", {{"name", "viewport"}, {"content", "width=device-width"}}) +
                      element("meta", {{"name", "color-scheme"}, {"content", "light dark"}}) +
                      element("meta", {{"http-equiv", "Content-Security-Policy"},
                                       {"content", "default-src 'none'; style-src 'unsafe-inline'"}}) +
                      element("title", title) + constant(kStyle);
  const Markup frame = element("div", {{"class", "frame"}}, body);
  return "<!DOCTYPE html>\n" +
         element("html", {{"lang", "en"}}, element("head", {}, head) + element("body", {}, frame)).str() +
         "\n";
}

// More cases than this are folded, each below its verdict.
constexpr std::size_t kMostOpen = 6;

std::string title_of(const Document& document) {
  if (!document.race.scenario.title.empty()) return document.race.scenario.title;
  std::vector<std::string> names;
  for (const Case& load_case : document.cases)
    for (const Contestant* contestant : load_case.rows())
      if (std::ranges::find(names, contestant->name) == names.end()) names.push_back(contestant->name);
  return names.empty() ? "A race" : "Race of " + join(names);
}

std::string how_it_was_run(const Document& document) {
  std::string how =
      fmt::format("{}, {}, seed {}, joust {}", document.race.started, counted(document.race.rounds, "round"),
                  document.race.seed, document.race.joust);
  if (!document.race.scenario.cpus.server.empty())
    how += fmt::format(", servers on CPUs {}, clients on CPUs {}", document.race.scenario.cpus.server,
                       document.race.scenario.cpus.client);
  return how + ". " + *document.race.network;
}

// Shows the verdict; with several cases one for each, because they compare under different loads. Successive
// cases with the same verdict share it.
Markup verdict_part(const Document& document) {
  if (document.cases.size() == 1) return paragraph("verdict", element("b", document.race.verdict));
  Markup list, names;
  for (std::size_t i = 0; i < document.cases.size(); ++i) {
    const Case& load_case = document.cases[i];
    const bool is_last = i + 1 == document.cases.size() || document.cases[i + 1].verdict != load_case.verdict;
    names += element("b", heading_of(load_case)) + text(is_last ? ": " : "; ");
    if (!is_last) continue;
    list += element("li", {}, names + text(load_case.verdict)) + constant("\n");
    names = {};
  }
  return element("ul", {}, list);
}

// Adds a part for each case, with the name of the case if there are several.
template <typename Part>
Markup of_each_case(const Document& document, Part part) {
  Markup all;
  for (const Case& load_case : document.cases) {
    const Markup content = part(load_case);
    if (content.empty()) continue;
    if (document.cases.size() > 1) all += element("h3", heading_of(load_case));
    all += content;
  }
  return all;
}

// Shows what limits the answer, with what to do about it.
Markup causes_part(const Document& document) {
  const Markup all = of_each_case(document, [](const Case& load_case) {
    Markup list;
    for (const race::Cause& cause : *load_case.causes)
      list +=
          element("li", {}, element("b", cause.sentence + ".") + text(" " + cause.remedy)) + constant("\n");
    return list.empty() ? list : element("ul", {}, list);
  });
  return all.empty() ? all : element("h3", "What limits this answer") + all;
}

Markup case_figures(const Document& document, const Case& load_case) {
  const Markup all = paragraph("faint", text(load_case.load_words)) +
                     figures_of(case_pictures(load_case, *document.race.scenario.precision));
  if (document.cases.size() == 1) return all;
  if (document.cases.size() > kMostOpen)
    return folded(element("b", "Pictures of " + heading_of(load_case)), all);
  return heading(heading_of(load_case)) + paragraph("faint", element("b", load_case.verdict)) + all;
}

Markup curves_part(const Document& document) {
  Markup all;
  const std::vector<CaseCurve> curves = case_curves(document);
  for (const CaseCurve& curve : curves) {
    const std::vector<Picture> pictures = curve_pictures(curve);
    if (pictures.empty()) continue;
    all += heading(curve.first.axis == "rate" ? "Latency and cost against the rate"
                                              : "The sweep of " + curve.first.axis);
    if (curves.size() > 1 && curve.first.axis != "rate") all += paragraph("faint", text(curve.first.curve));
    all += figures_of(pictures);
  }
  return all;
}

bool is_in_brackets(const Contestant& contestant) {
  return contestant.kind == Kind::contestant && contestant.has_result() && !contestant.is_sound();
}

Markup matrix_part(const Document& document) {
  const Markup all = of_each_case(document, [](const Case& load_case) -> Markup {
    Markup tables;
    for (const auto& [title, table] : matrices_of(load_case))
      tables += paragraph("faint", element("b", title)) + html_table(table);
    if (!tables.empty() && std::ranges::any_of(load_case.contestants, &is_in_brackets))
      tables += paragraph("faint", text("In brackets: not ranked, see the results above."));
    return tables;
  });
  return all.empty() ? all : heading("Clients by servers") + all;
}

Markup finding_part(const Check& check) {
  const bool passed = check.verdict == Verdict::PASS;
  const std::string verdict(word_of(check.verdict));
  Markup part = element("b", (passed                           ? "✓ "
                              : check.verdict == Verdict::WARN ? "! "
                                                               : "✗ ") +
                                 verdict) +
                text(fmt::format(" {} {}: {}", check.id, check.title, check.detail));
  if (const std::string remedy = remedy_of(check.id); !passed && !remedy.empty())
    part += element("br", {}) + element("b", "What to do: ") + text(remedy);
  return paragraph("check " + verdict, part);
}

// Shows why contestants failed, with the last lines that they wrote.
Markup failures_part(const Document& document) {
  const Markup all = of_each_case(document, [](const Case& load_case) {
    Markup failures;
    for (const Contestant& contestant : load_case.contestants)
      if (const document::Trial* const failed = contestant.first_failure()) {
        failures += paragraph("check REFUSE", element("b", contestant.name) + text(": " + *failed->failure));
        if (failed->last_words && !failed->last_words->empty())
          failures += element("pre", join(*failed->last_words, "\n"));
      }
    return failures;
  });
  return all.empty() ? all : heading("What failed") + all;
}

// Shows what was found; checks that pass are folded.
Markup checks_part(const Document& document) {
  Markup passes;
  std::size_t passed = 0;
  const auto with_verdict = [&](bool pass) {
    return of_each_case(document, [&](const Case& load_case) {
      Markup all;
      for (const Check& check : load_case.checks)
        if ((check.verdict == Verdict::PASS) == pass) all += finding_part(check);
      return all;
    });
  };
  for (const Case& load_case : document.cases)
    passed += static_cast<std::size_t>(std::ranges::count(load_case.checks, Verdict::PASS, &Check::verdict));
  Markup part = heading("Checks") + with_verdict(false);
  if (passed > 0)
    part += folded(text(fmt::format("{} passed", counted(passed, "check"))), with_verdict(true));
  return part;
}

Markup environment_part(const Document& document) {
  Table shown{.columns = {{.title = "setting", .text = true}, {.title = "value", .text = true}}},
      others = shown;
  for (const auto& [name, value] : document.race.environment) {
    static constexpr std::string_view kShown[] = {"fingerprint", "kernel",   "cpu_model", "online_cpus",
                                                  "hypervisor",  "governor", "compiler",  "build_type"};
    (std::ranges::find(kShown, name) != std::end(kShown) ? shown : others)
        .rows.push_back({.cells = {name, value}});
  }
  Markup part = heading("Environment") + html_table(shown);
  if (!others.empty())
    part += folded(text(fmt::format("{} more settings", others.rows.size())), html_table(others));
  return part;
}

Markup command_part(const Document& document) {
  Markup part = heading("Run it again");
  if (!document.race.command_line.empty()) part += element("pre", document.command());
  part += paragraph("faint", text(fmt::format("With --seed {} the order is the same.", document.race.seed)));
  if (!document.race.scenario.text->empty())
    part += folded(text("The scenario " + document.race.scenario.file),
                   element("pre", *document.race.scenario.text));
  return part;
}

}  // namespace

std::string html_page(const Document& document) {
  const std::string title = title_of(document);
  Markup body = element("h1", title) + verdict_part(document);
  if (!document.race.complete) body += paragraph("verdict", text("INCOMPLETE: " + document.race.incomplete));
  if (document.race.exit_code && document.fails())
    body += paragraph("verdict", text(fmt::format("Exit code {}: {}", *document.race.exit_code,
                                                  *document.race.exit_reason)));
  for (const Threshold& threshold : *document.race.thresholds)
    if (!document.race.exit_reason->contains(threshold.sentence))
      body += paragraph("verdict", text(threshold.sentence));
  body += causes_part(document) + paragraph("faint", text(how_it_was_run(document)));
  for (const Case& load_case : document.cases) body += case_figures(document, load_case);
  body += curves_part(document) + matrix_part(document);
  body += heading("Results") +
          of_each_case(document, [](const Case& load_case) { return html_table(results_of(load_case)); });
  body += paragraph("faint", text("≥: a lower bound, as the load was the limit. ?: the load may have been "
                                  "the limit. ~: fewer than 100 samples lie "
                                  "beyond it. –: not known."));
  body += heading("Memory, system calls, context switches") +
          of_each_case(document, [](const Case& load_case) { return html_table(resources_of(load_case)); });
  body +=
      failures_part(document) + checks_part(document) + environment_part(document) + command_part(document);
  body += heading("The result");
  body += folded(text(fmt::format("The whole document as JSON, {}",
                                  format_data(static_cast<double>(document.json.size())))),
                 element("pre", {}, escaped(document.json)));
  return html_document(title, body);
}

}  // namespace joust::report::page
