// SPDX-License-Identifier: MIT
#include "protocols/http/files_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "files/store/name.hpp"
#include "protocols/http/date.hpp"

namespace joust::http {
namespace {

constexpr std::size_t kForTheRest = 1 << 10;  // bytes after the last entry

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --quiet: #6b7280; --line: #e5e7eb; --mark: #f6f7f9; --link: #0b57d0 }
@media (prefers-color-scheme: dark) {
  :root { --quiet: #9aa0a6; --line: #33363b; --mark: #24272b; --link: #8ab4f8 }
  body { background: #1b1d20; color: #e6e6e6 }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2.5rem auto; padding: 0 1rem }
h1 { font-size: 1.2rem; font-weight: 600; margin: 0 0 1rem .6rem; overflow-wrap: anywhere }
h1 span, footer, td + td, th { color: var(--quiet) }
table { width: 100%; border-collapse: collapse }
th { font-size: .8rem; font-weight: 500; text-align: left }
td:first-child { width: 100% }
td, th { padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: baseline }
td + td, th + th { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
tbody tr:hover { background: var(--mark) }
a { color: var(--link); text-decoration: none; overflow-wrap: anywhere }
a:hover { text-decoration: underline }
footer { font-size: .85rem; margin: 1rem .6rem }
)";

// Returns the name without characters that would reverse the direction of writing, and show another name.
std::string shown(std::string_view name) {
  return html_escaped(printable(name));
}

bool comes_before(const FolderEntry& one, const FolderEntry& other) {
  if (one.is_folder != other.is_folder) return one.is_folder;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  const auto order = std::lexicographical_compare_three_way(
      one.name.begin(), one.name.end(), other.name.begin(), other.name.end(), [&](char a, char b) {
        return static_cast<unsigned char>(lower(a)) <=> static_cast<unsigned char>(lower(b));
      });
  return order != 0 ? order < 0 : one.name < other.name;
}

// Returns a heading such as "/ photos / 2026", in which all parts but the last are links. They are relative,
// so that the page works behind a proxy that has another root.
std::string heading(std::string_view folder) {
  if (folder.empty()) return "/";
  const auto depth = static_cast<std::size_t>(std::ranges::count(folder, '/')) + 1;
  std::string up;
  for (std::size_t i = 0; i < depth; ++i) up += "../";
  std::string html = fmt::format("<a href=\"{}\">/</a>", up);
  for (std::size_t left = depth; left > 0; --left) {
    const std::string_view part = folder.substr(0, folder.find('/'));
    folder.remove_prefix(std::min(folder.size(), part.size() + 1));
    up.resize(3 * (left - 1));
    const std::string name = fmt::format("<bdi>{}</bdi>", shown(part));
    html += left > 1 ? fmt::format(" <a href=\"{}\">{}</a> <span>/</span>", up, name) : " " + name;
  }
  return html;
}

std::string row(const FolderEntry& entry) {
  const std::string_view slash = entry.is_folder ? "/" : "";
  return fmt::format("<tr><td><a href=\"{}{}\"><bdi>{}</bdi>{}</a><td>{}<td>{}\n",
                     percent_encoded(entry.name), slash, shown(entry.name), slash,
                     entry.is_folder ? "" : format_bytes(static_cast<double>(entry.size)),
                     short_date_text(entry.modified_ns / 1'000'000'000));
}

std::string summary(const std::vector<FolderEntry>& entries, bool is_whole) {
  const auto folders = static_cast<std::uint64_t>(std::ranges::count(entries, true, &FolderEntry::is_folder));
  return fmt::format("{}, {}{}", counted(folders, "directory"), counted(entries.size() - folders, "file"),
                     is_whole ? "" : ". There are more: only a part of a large directory is listed");
}

}  // namespace

std::string percent_encoded(std::string_view name) {
  std::string encoded;
  for (const char c : name) {
    const char lower = static_cast<char>(c | 0x20);
    const bool is_unreserved =
        (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || std::string_view("-._~").contains(c);
    if (is_unreserved)
      encoded += c;
    else
      fmt::format_to(std::back_inserter(encoded), "%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string listing_page(std::string_view folder, FolderListing listing) {
  std::vector<FolderEntry>& entries = listing.entries;
  std::ranges::sort(entries, comes_before);
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>/{}</title>\n<style>{}</style>\n<h1>{}</h1>\n"
      "<table>\n<thead><tr><th>Name<th>Size<th>Modified (UTC)\n<tbody>\n",
      shown(folder), kStyle, heading(folder));
  if (!folder.empty()) page += "<tr><td><a href=\"../\">../</a><td><td>\n";
  std::size_t rows = 0;
  for (; rows < entries.size(); ++rows) {
    const std::string next = row(entries[rows]);
    if (page.size() + next.size() > kLargestPage - kForTheRest) break;
    page += next;
  }
  const bool is_whole = listing.is_whole && rows == entries.size();
  entries.resize(rows);
  page += fmt::format("</table>\n<footer>{}</footer>\n", summary(entries, is_whole));
  return page;
}

namespace {

using Row = std::pair<std::string_view, std::string_view>;

constexpr std::array kTypes{
    Row{"avif", "image/avif"},
    Row{"css", "text/css; charset=utf-8"},
    Row{"csv", "text/csv; charset=utf-8"},
    Row{"gif", "image/gif"},
    Row{"gz", "application/gzip"},
    Row{"htm", kHtml},
    Row{"html", kHtml},
    Row{"ico", "image/vnd.microsoft.icon"},
    Row{"jpeg", "image/jpeg"},
    Row{"jpg", "image/jpeg"},
    Row{"js", "text/javascript; charset=utf-8"},
    Row{"json", "application/json"},
    Row{"md", "text/markdown; charset=utf-8"},
    Row{"mjs", "text/javascript; charset=utf-8"},
    Row{"mp3", "audio/mpeg"},
    Row{"mp4", "video/mp4"},
    Row{"ogg", "audio/ogg"},
    Row{"pdf", "application/pdf"},
    Row{"png", "image/png"},
    Row{"svg", "image/svg+xml"},
    Row{"tar", "application/x-tar"},
    Row{"toml", "application/toml"},
    Row{"txt", kPlainText},
    Row{"wasm", "application/wasm"},
    Row{"webm", "video/webm"},
    Row{"webp", "image/webp"},
    Row{"woff", "font/woff"},
    Row{"woff2", "font/woff2"},
    Row{"xml", "application/xml"},
    Row{"zip", "application/zip"},
};

}  // namespace

std::string_view media_type(std::string_view name) {
  const std::string_view last = split_name(name).last;
  const std::size_t dot = last.rfind('.');
  std::string end(dot == last.npos ? "" : last.substr(dot + 1));
  std::ranges::transform(end, end.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; });
  const auto found = std::ranges::find(kTypes, end, &Row::first);
  return found == kTypes.end() ? "application/octet-stream" : found->second;
}

}  // namespace joust::http
