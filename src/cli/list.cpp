// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <memory>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/utc.hpp"
#include "cli/common/output.hpp"
#include "cli/file_tool/client_arguments.hpp"
#include "files/store/name.hpp"
#include "files/transfer/listing.hpp"

namespace joust {
namespace {

using Json = nlohmann::ordered_json;
using transfer::RemoteItem;

std::string list_examples(const Program& program) {
  return fmt::format(R"(Examples:
  {0} list 127.0.0.1:9000
  {0} list 127.0.0.1:9000/photos -r
  {0} list unix:/run/files.sock//photos --json

Permissions, size in bytes, time (of this machine's zone) and name; a directory has a / behind its name. What
cannot be fetched is not listed: links, devices, and files that have not come completely.
Exit code 0: all is listed. 1: something is not. 2: wrong usage.)",
                     program.name);
}

struct List {
  explicit List(const Program& owner) : program(owner), client(owner) {}

  const Program& program;
  ClientArguments client;
  std::vector<std::string> words;  // the directory on the server
  bool recursive = false, as_json = false;

  int run();
  RemotePath what() const;
};

// Formats permissions as ls(1) does: "drwxr-x---".
std::string permissions(const RemoteItem& item) {
  std::string text = item.is_folder ? "d" : "-";
  for (int bit = 8; bit >= 0; --bit) text += (item.mode >> bit & 1) != 0 ? "rwx"[(8 - bit) % 3] : '-';
  return text;
}

// Formats a time of this machine's zone: "2026-01-31 12:00:00".
std::string local_text(std::chrono::nanoseconds since_1970) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(since_1970).count();
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts)};
}

void print_lines(const std::vector<RemoteItem>& items) {
  std::size_t width = 1;
  for (const RemoteItem& item : items) width = std::max(width, grouped(item.size).size());
  std::string text;
  for (const RemoteItem& item : items)
    text +=
        fmt::format("{}  {:>{}}  {}  {}{}\n", permissions(item), item.is_folder ? "-" : grouped(item.size),
                    width, local_text(std::chrono::nanoseconds(item.modified_ns)), printable(item.name),
                    item.is_folder ? "/" : "");
  print_list(for_people(text));
}

Json json_of(const RemoteItem& item) {
  return {{"name", item.name},
          {"kind", item.is_folder ? "directory" : "file"},
          {"size", item.size},
          {"mode", fmt::format("{:04o}", item.mode)},
          {"modified", utc_text(std::chrono::nanoseconds(item.modified_ns))},
          {"modified_ns", item.modified_ns}};
}

RemotePath List::what() const {
  if (words.size() != 1)
    throw UsageError("list HOST:PORT[/DIR]: one directory, or unix:SOCKET[//DIR]; --help has examples");
  RemotePath remote = split_remote(words.front());
  if (const auto objection = objection_to(remote.path); !remote.path.empty() && !objection.empty())
    throw UsageError(fmt::format("'{}': {}", printable(remote.path), objection));
  return remote;
}

int List::run() {
  client.guard.complete();
  const RemotePath remote = what();
  transfer::Listing listing(
      {.name = remote.path, .recursive = recursive, .most_retries = static_cast<unsigned>(client.retries)});
  const auto ran = client.run(listing, remote.address, {.first = 1}, ProgressMeter::Kind::none);
  const auto complaints = listing.complaints();
  const bool is_complete = listing.over() && complaints.empty();
  std::vector<RemoteItem> items = listing.take_items();
  if (listing.is_file())
    items = {{.name = std::string(split_name(remote.path).last),
              .size = listing.facts()->size,
              .modified_ns = listing.facts()->modified_ns,
              .mode = listing.facts()->mode.value_or(0)}};
  if (as_json) {
    Json entries = Json::array();
    for (const RemoteItem& item : items) entries.push_back(json_of(item));
    print_list(Json{{"schema", "joust-listing/1"},
                    {"address", remote.address},
                    {"path", remote.path},
                    {"complete", is_complete},
                    {"entries", std::move(entries)},
                    {"left_out", listing.left_out()},
                    {"complaints", complaints}}
                   .dump(2) +
               '\n');
  } else {
    print_lines(items);
    if (listing.left_out() > 0)
      complain(program,
               fmt::format("{} left out on the server: links, devices, or names that cannot be asked for",
                           counted(listing.left_out(), "name")));
  }
  for (const std::string& complaint : complaints) complain(program, complaint);
  if (ran.interrupted) complain(program, "interrupted: the list is not complete");
  return is_complete ? kOk : kRunError;
}

}  // namespace

void add_list(Command root, const Program& program, int& exit_code) {
  auto list = std::make_shared<List>(program);
  Command command = root.add_command("list", "List what a 'receive' has, with sizes and times");
  command.add_words("HOST:PORT[/DIR]", list->words, "the directory on the server; or unix:SOCKET[//DIR]");
  command.add_flag("-r,--recursive", list->recursive, "with all that is below directories");
  command.add_flag("--json", list->as_json, "as JSON");
  add_engine(command, list->client.engine, "how to drive the sockets");
  list->client.add_retries_to(command);
  list->client.guard.add_to(command);
  command.footer(list_examples(program));
  command.callback([list, &exit_code] { exit_code = list->run(); });
}

}  // namespace joust
