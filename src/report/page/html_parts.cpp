// SPDX-License-Identifier: MIT
#include "report/page/html_parts.hpp"

namespace joust::report::page {
namespace {

// Comfort only: without it the page has the same content in the same order.
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

Markup cell(std::string_view tag, const FaceTable::Column& column, const std::string& words) {
  constexpr std::size_t kLong = 48;
  return element(
      tag, {{"align", column.number ? "right" : "left"}, {"class", words.size() > kLong ? "long" : "cell"}},
      text(words));
}

}  // namespace

Markup heading(std::string_view words) {
  return constant("\n") + element("h2", words) + constant("\n");
}

Markup paragraph(std::string_view kind, const Markup& content) {
  return element("p", {{"class", kind}}, content) + constant("\n");
}

Markup folded(const Markup& summary, const Markup& content) {
  return element("details", {}, element("summary", {}, summary) + constant("\n") + content) + constant("\n");
}

namespace {

// Returns the picture in a cell of a table: the one way to say without a style how wide it is at most.
Markup bounded(const Picture& picture) {
  return element("table", {{"border", "0"}},
                 element("tr", {}, element("td", {{"width", "560"}}, inline_svg(picture))));
}

}  // namespace

Markup figures_of(const std::vector<Picture>& pictures) {
  Markup all;
  for (const Picture& one : pictures)
    all += element("figure", {},
                   element("figcaption", {}, element("b", one.caption)) + bounded(one) +
                       paragraph("how", element("b", "How to read this: ") + text(one.how))) +
           constant("\n");
  return pictures.empty() ? all : element("div", {{"class", "figures"}}, all);
}

Markup html_table(const FaceTable& table) {
  if (table.empty()) return {};
  Markup head, body;
  for (const FaceTable::Column& column : table.columns) head += cell("th", column, column.title);
  for (const auto& row : table.rows) {
    Markup cells;
    for (std::size_t i = 0; i < row.size(); ++i) cells += cell("td", table.columns[i], row[i]);
    body += element("tr", {}, cells) + constant("\n");
  }
  return element("div", {{"class", "wide"}},
                 element("table", {{"border", "1"}, {"cellspacing", "0"}, {"cellpadding", "4"}},
                         element("thead", {}, element("tr", {}, head)) + element("tbody", {}, body)));
}

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

}  // namespace joust::report::page
