// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/common/output.hpp"
#include "cli/file_tool/client_arguments.hpp"
#include "cli/file_tool/transfer_arguments.hpp"
#include "files/store/file_version.hpp"
#include "files/store/name.hpp"
#include "files/transfer/listing.hpp"
#include "files/transfer/send.hpp"
#include "files/transfer/source_files.hpp"

namespace joust {
namespace {

constexpr std::size_t kPart = 1 << 20;  // bytes

// Returns whether the input is a file at its start: a read would return only the bytes that have not been
// read yet.
bool is_whole_file(int fd) {
  struct stat facts {};
  return ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && ::lseek(fd, 0, SEEK_CUR) == 0;
}

int write_all(int fd, const std::byte* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t n = retry_interrupted([&] { return ::write(fd, bytes, size); });
    if (n < 0) return errno;
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return 0;
}

// Copies the input to a file without a name. Throws std::runtime_error.
Fd spool(int from) {
  const std::string folder = temporary_directory();
  std::string name = folder + "/joust-send-XXXXXX";
  Fd file(::mkstemp(name.data()));
  const auto cannot_keep = [&](int error) {
    return std::runtime_error(
        fmt::format("-: standard input cannot be kept in {}: {}; set TMPDIR to another directory",
                    printable(folder), std::strerror(error)));
  };
  if (!file.is_open()) throw cannot_keep(errno);
  ::unlink(name.c_str());
  std::vector<std::byte> part(kPart);
  for (;;) {
    const ssize_t n = retry_interrupted([&] { return ::read(from, part.data(), part.size()); });
    if (n < 0) throw std::runtime_error(fmt::format("-: standard input: {}", std::strerror(errno)));
    if (n == 0) return file;
    if (const int error = write_all(file.get(), part.data(), static_cast<std::size_t>(n)); error != 0)
      throw cannot_keep(error);
  }
}

// Returns standard input as a file that is sent under this name. A regular file is sent as it is. Other input
// is read to its end into a nameless file of the temporary directory, because its size and digest come before
// its bytes. The error, for people, reports that standard input is closed. Throws std::runtime_error if it
// cannot be read or kept.
std::expected<transfer::SourceList, std::string> standard_input(const std::string& name) {
  // A closed standard input is refused: the next file that is opened would get its number.
  if (::fcntl(STDIN_FILENO, F_GETFD) < 0) return std::unexpected("-: standard input is closed");
  const bool is_file = is_whole_file(STDIN_FILENO);
  Fd file = is_file ? Fd(checked(::dup(STDIN_FILENO), "-: standard input")) : spool(STDIN_FILENO);
  FileVersion version = version_of(file.get());
  if (!is_file) version.mode = usual_mode();
  transfer::SourceList list{.bytes = version.size};
  list.items.push_back(
      {.path = "-", .name = name, .opened = std::make_shared<const Fd>(std::move(file)), .version = version});
  return list;
}

std::string send_examples(const Program& program) {
  return fmt::format(R"(Examples:
  {0} send disk.img 127.0.0.1:9000
  {0} send -r photos 127.0.0.1:9000/backup --skip-existing
  {0} send disk.img 127.0.0.1:9000 -c 8 --limit 100MB
  {0} send disk.img 127.0.0.1:9000/backup/monday.img
  tar c photos | {0} send - 127.0.0.1:9000/photos.tar

One file goes into HOST:PORT/PATH where that is a directory, and otherwise gets that name; with a / at the
end it is a directory, and so it is for several files and -r. What is not there of it is made. - is standard
input: it is read to its end first, into TMPDIR, and an interruption begins anew.
Files keep their time and their permissions. Each gets its name there when all of it has arrived and its
digest is the one read here. Interrupted, by whatever, the same command goes on where it was. -r makes
directories with their permissions, empty ones too. It follows a link that is named, leaves out the links
below it, and leaves out FIFOs, sockets and devices.
Exit code 0: all files are there. 1: some are not, and what has arrived is kept. 2: wrong usage.)",
                     program.name);
}

struct Send {
  explicit Send(const Program& owner) : program(owner), common(owner) {}

  const Program& program;
  TransferArguments common;
  std::vector<std::string> words;  // files, and the address
  bool recursive = false;

  int run();
  void check_order() const;
  std::expected<transfer::SourceList, std::string> sources(const RemotePath& remote) const;
  std::optional<int> settle_target(transfer::SourceList& list, const RemotePath& remote) const;
  void complain_of(const std::vector<std::string>& notes) const;
};

std::string listed(const transfer::SourceItem& item) {
  return fmt::format("{}  {} -> {}\n", item.is_folder ? "directory" : grouped(item.version.size),
                     printable(item.path), printable(item.name));
}

// Refuses a wrong order of words. The last word is the destination; other programs use "send HOST:PORT FILE".
void Send::check_order() const {
  if (words.size() < 2) throw UsageError("send FILE... HOST:PORT[/PATH]: at least one file, and where to");
  const auto address = std::ranges::find_if(words, is_remote);
  if (address == words.end() || is_remote(words.back())) return;
  std::vector<std::string> files = words;
  files.erase(files.begin() + (address - words.begin()));
  throw UsageError(fmt::format("'{0}': the address comes last: {1} send {2}{3} {0}", printable(*address),
                               program.name, recursive ? "-r " : "", printable(join(files, " "))));
}

// Reports the first notes. A tree may have thousands of links; the result has all notes.
void Send::complain_of(const std::vector<std::string>& notes) const {
  constexpr std::size_t kMostNotes = 20;
  const std::size_t told = std::min(notes.size(), kMostNotes);
  for (std::size_t i = 0; i < told; ++i) complain(program, notes[i]);
  if (notes.size() > told) complain(program, fmt::format("left out: and {} more", notes.size() - told));
}

std::expected<transfer::SourceList, std::string> Send::sources(const RemotePath& remote) const {
  if (std::ranges::find(words, "-") == words.end())
    return transfer::list_sources(words, recursive, remote.path);
  if (words.size() > 1 || recursive)
    return std::unexpected(
        "-: standard input cannot be sent together with files; ./- is a file of that name");
  if (remote.is_folder)
    return std::unexpected(fmt::format("-: standard input has no name; say one: {}{}{}NAME",
                                       printable(remote.address), before_path(remote.address),
                                       remote.path.empty() ? "" : printable(remote.path) + "/"));
  return standard_input(remote.path);
}

// Decides whether one file goes into a directory. It does if the directory exists, as with cp(1). Otherwise
// the path is the file's name. A server that does not report its files (--write-only) is treated as if the
// path were as written. Returns the exit code if the server cannot be asked.
std::optional<int> Send::settle_target(transfer::SourceList& list, const RemotePath& remote) const {
  if (remote.is_folder || recursive || words.size() > 1 || words.front() == "-" || common.dry_run)
    return std::nullopt;
  transfer::Listing kind(
      {.name = remote.path, .only_kind = true, .most_retries = static_cast<unsigned>(common.client.retries)});
  const auto asked = common.client.run(kind, remote.address, {.first = 1}, ProgressMeter::Kind::none);
  transfer::SourceItem& item = list.items.front();
  if (!kind.over() || !kind.complaints().empty())
    return common.tell(kind, asked, {"send", "sent", printable(item.path)}, remote.address);
  if (!kind.is_folder()) item.name = remote.path;
  return std::nullopt;
}

int Send::run() {
  check_order();
  common.check(words);
  const RemotePath remote = split_remote(words.back());
  words.pop_back();
  if (!remote.path.empty())
    if (const auto objection = objection_to(remote.path); !objection.empty())
      throw UsageError(fmt::format("'{}': {}", printable(remote.path), objection));
  auto list = sources(remote);
  if (!list) throw UsageError(list.error());
  if (const auto code = settle_target(*list, remote)) return *code;
  if (list->items.empty())
    list->notes.insert(list->notes.begin(), "there is nothing to send, so " + printable(remote.address) +
                                                " is not asked for anything");
  complain_of(list->notes);
  if (common.dry_run) {
    if (!common.json.empty())
      complain(program, fmt::format("--json {}: a dry run writes no result", common.json));
    for (const transfer::SourceItem& item : list->items)
      if (!item.is_parent) print_list(listed(item));
    if (list->items.size() == 1 && !remote.is_folder && !recursive && words.front() != "-")
      print_list(fmt::format("or -> {0}, if {0} is no directory on the server\n", printable(remote.path)));
    print_list(fmt::format("{}, {}: nothing was sent\n", counted_files(list->files(), list->folders),
                           format_data(static_cast<double>(list->bytes))));
    for (const std::string& why : list->missing) complain(program, why);
    return list->missing.empty() ? kOk : kRunError;
  }
  const bool single = list->files() == 1 && list->folders == 0;
  const std::string what =
      single ? fmt::format("{} to {}{}{}", printable(list->items.back().path), printable(remote.address),
                           before_path(remote.address), printable(list->items.back().name))
             : "";
  const std::uint64_t bytes = list->bytes;
  transfer::SendPlan plan{.items = std::move(list->items),
                          .missing = std::move(list->missing),
                          .wishes = common.wishes(),
                          .bytes_per_s = common.limit,
                          .most_retries = static_cast<unsigned>(common.client.retries)};
  plan.wishes.makes_parents = recursive || !remote.path.empty();
  transfer::SendTransfer sending(std::move(plan));
  return common.run(sending, remote.address, {.first = common.dials(bytes)}, [&] {
    const std::string sent = single ? what : counted_files(sending.counts().files, sending.counts().folders);
    return TransferStory{"send", "sent", sent, single ? sending.digest() : std::nullopt, list->notes};
  });
}

}  // namespace

void add_send(Command root, const Program& program, int& exit_code) {
  auto send = std::make_shared<Send>(program);
  Command command =
      root.add_command("send", "Send files over several connections, verified, and go on if interrupted");
  command.add_words("FILE... HOST:PORT[/PATH]", send->words,
                    "the files (- is standard input), and where to; or unix:SOCKET[//PATH]");
  command.add_flag("-r,--recursive", send->recursive, "send what is below directories");
  send->common.add_to(command);
  command.footer(send_examples(program));
  command.callback([send, &exit_code] { exit_code = send->run(); });
}

}  // namespace joust
