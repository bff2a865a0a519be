// SPDX-License-Identifier: MIT
#include "protocols/http/media_type.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "files/store/name.hpp"

namespace joust::http {
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
