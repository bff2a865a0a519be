// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "files/store/name.hpp"
#include "protocols/http/files_page.hpp"
#include "protocols/http/server_session.hpp"

namespace joust::http::test {

inline constexpr std::int64_t kToday = 1'792'745'617;  // Fri, 23 Oct 2026 08:53:37 GMT
inline constexpr std::string_view kTodayText = "Fri, 23 Oct 2026 08:53:37 GMT";
inline constexpr Time kStart = Time(std::chrono::hours(1));
inline constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

inline std::int64_t fixed_clock() {
  return kToday * 1'000'000'000;
}

// A file in memory that can shrink.
class KeptText : public File {
 public:
  explicit KeptText(std::string text) : text_(std::move(text)) {}
  std::expected<std::size_t, int> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    if (offset >= text_.size()) return 0;
    const Bytes part = as_bytes(std::string_view(text_).substr(offset, into.size()));
    std::ranges::copy(part, into.begin());
    return part.size();
  }
  std::expected<std::size_t, int> write_at(std::uint64_t, Bytes) override { return std::unexpected(EBADF); }

  std::string text_;
};

// Files by name. Those that are not there are missing; a folder has files below it.
class TextStorage : public Storage {
 public:
  FileAnswer<OpenFile> open(std::string_view name) override {
    ++opened;
    if (!objection_to(name).empty()) return std::unexpected(FileRefusal{FileError::name_refused});
    if (const auto refused = refusals.find(name); refused != refusals.end())
      return std::unexpected(FileRefusal{refused->second});
    const auto found = files.find(name);
    if (found != files.end()) return found->second;
    const std::string folder = std::string(name) + "/";
    const bool is_folder =
        std::ranges::any_of(files, [&](const auto& f) { return f.first.starts_with(folder); });
    return std::unexpected(FileRefusal{is_folder ? FileError::not_a_file : FileError::not_found});
  }
  FileAnswer<FolderListing> list(std::string_view folder, std::size_t most) override {
    const std::string before = folder.empty() ? "" : std::string(folder) + "/";
    std::map<std::string, FolderEntry> found;
    for (const auto& [name, file] : files) {
      if (!name.starts_with(before)) continue;
      const std::string rest = name.substr(before.size()), part = rest.substr(0, rest.find('/'));
      const bool is_folder = part != rest;
      found[part] = {part, is_folder, is_folder ? 0 : file.version.size, file.version.modified_ns};
    }
    if (found.empty()) return std::unexpected(FileRefusal{FileError::not_found});
    FolderListing listing{.is_whole = found.size() <= most};
    for (const auto& [part, entry] : found)
      if (listing.entries.size() < most) listing.entries.push_back(entry);
    return listing;
  }
  FileAnswer<std::shared_ptr<Upload>> upload(const UploadRequest&) override {
    return std::unexpected(FileRefusal{FileError::not_permitted});
  }
  void remember(const OpenFile&, const Digest&) override {}

  // The version is of 10 days ago.
  void add(const std::string& name, std::string text, bool settled = true) {
    const std::int64_t time_ns = (kToday - 864'000) * 1'000'000'000;
    const FileVersion version{.size = text.size(), .modified_ns = time_ns, .changed_ns = time_ns + 5};
    files[name] = {
        .file = std::make_shared<KeptText>(std::move(text)), .version = version, .settled = settled};
  }
  KeptText& file(const std::string& name) { return static_cast<KeptText&>(*files.at(name).file); }

  std::map<std::string, OpenFile, std::less<>> files;
  std::map<std::string, FileError, std::less<>> refusals;
  std::size_t opened = 0;  // calls of open()
};

// A reply, cut into its parts.
struct Reply {
  std::string status;  // "HTTP/1.1 200 OK"
  std::map<std::string, std::string> fields;
  std::string body;  // as many bytes as Content-Length says, or fewer where there are no more
};

inline Reply take_reply(std::string& stream, bool has_body = true) {
  Reply reply;
  const std::size_t end = stream.find("\r\n\r\n");
  EXPECT_NE(end, stream.npos) << stream;
  if (end == stream.npos) return reply;
  std::string head = stream.substr(0, end + 2);
  stream.erase(0, end + 4);
  reply.status = head.substr(0, head.find("\r\n"));
  for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
    const std::size_t line = head.find("\r\n", at), colon = head.find(": ", at);
    const bool is_new =
        reply.fields.emplace(head.substr(at, colon - at), head.substr(colon + 2, line - colon - 2)).second;
    EXPECT_TRUE(is_new) << "a field is there twice: " << head;
    at = line + 2;
  }
  const auto length = reply.fields.find("Content-Length");
  const std::size_t size = length == reply.fields.end() || !has_body ? 0 : std::stoul(length->second);
  reply.body = stream.substr(0, size);
  stream.erase(0, size);
  return reply;
}

class HttpTest : public testing::Test {
 protected:
  HttpSession& session() {
    if (!session_) {
      site_.reset(new HttpSite{.storage = with_files_ ? &storage_ : nullptr,
                               .lists = lists_,
                               .dot_files = dot_files_,
                               .text = "Hello, World!",
                               .clock = DateClock(fixed_clock),
                               .requests_per_connection = most_requests_,
                               .hosts = hosts_,
                               .counts = counts_});
      session_ = std::make_unique<HttpSession>(*site_);
      session_->on_open(now_);
    }
    return *session_;
  }
  void again() { session_.reset(); }

  // All output for these bytes. What the session does not want yet is offered when it does.
  std::string say(std::string_view bytes) {
    std::string heard;
    Bytes left = as_bytes(bytes);
    for (bool moved = true; moved;) {
      moved = false;
      if (!left.empty() && session().want() == Want::bytes) {
        left = left.subspan(session().on_bytes(left, now_));
        EXPECT_TRUE(left.empty() || session().want() != Want::bytes) << "it left bytes that it wants";
        moved = true;
      }
      moved = pass_deadline() || moved;
      const std::string more = take_output();
      heard += more;
      moved = moved || !more.empty();
    }
    not_taken_ = left.size();
    return heard;
  }
  // False if none is due.
  bool pass_deadline() {
    const auto due = session().deadline();
    if (!due || *due > now_) return false;
    session().on_deadline(now_);
    return true;
  }
  // Sends in pieces, as an engine would; files are read as far as they go.
  std::string take_output() {
    std::string heard;
    std::array<Segment, 4> segments;
    for (std::size_t count; (count = session().output(segments)) > 0;) {
      const Segment& first = segments[0];
      std::string piece(first.size(), '\0');
      if (first.in_file()) {
        const auto read = first.file.file->read_at(
            first.file.offset,
            std::as_writable_bytes(std::span(piece)).first(std::min<std::size_t>(piece.size(), 5000)));
        piece.resize(read.value_or(0));
        if (piece.empty()) {
          session().files()->on_source_failed(read ? 0 : read.error(), now_);
          continue;
        }
      } else {
        piece = as_text(first.bytes);
      }
      heard += piece;
      session().consumed(piece.size());
      session().released(piece.size());
    }
    return heard;
  }
  Reply ask(const std::string& request) {
    std::string heard = say(request);
    Reply reply = take_reply(heard, !request.starts_with("HEAD"));
    EXPECT_EQ(heard, "");
    return reply;
  }
  Reply get(const std::string& target, const std::string& fields = {}, const std::string& method = "GET") {
    return ask(method + " " + target + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
  }

  TextStorage storage_;
  bool with_files_ = false;
  bool lists_ = false;
  bool dot_files_ = false;
  std::uint64_t most_requests_ = 0;
  AllowedHosts hosts_{};
  HttpCounts counts_;
  std::unique_ptr<HttpSite> site_;
  std::unique_ptr<HttpSession> session_;
  Time now_ = kStart;
  std::size_t not_taken_ = 0;
};

}  // namespace joust::http::test
