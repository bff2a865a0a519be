// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "base/digest.hpp"
#include "base/printable.hpp"
#include "cli/common/output.hpp"
#include "cli/file_tool/remote_path.hpp"
#include "cli/file_tool/transfer_arguments.hpp"
#include "cli/get/standard_output.hpp"
#include "cli/get/tree.hpp"
#include "files/store/name.hpp"
#include "files/transfer/get.hpp"
#include "files/transfer/obstacle.hpp"

namespace joust {
namespace {

std::string get_examples(const Program& program) {
  return fmt::format(R"(Examples:
  {0} get 127.0.0.1:9000/images/disk.img
  {0} get 127.0.0.1:9000/images/disk.img -o copy.img -c 8 --overwrite
  {0} get 127.0.0.1:9000/images/disk.img --limit 10MB
  {0} get unix:/run/files.sock//images/disk.img
  {0} get -r 127.0.0.1:9000/photos -o back
  {0} get 127.0.0.1:9000/photos.tar -o - | tar x

The file gets its name when all of it is there and its digest is the server's. Interrupted, by whatever, the
same command goes on where it was. A small file comes over one connection. Of a larger one -c says how many
carry it at the most; there is another one for the digest, unless the server knows it. -r fetches what is
below a directory, empty directories too; -o then names the directory that becomes the server's. -o - writes
the file to standard output, once all of it is in TMPDIR and verified; an interruption begins anew.
Exit code 0: the file is there. 1: it is not, and what is there is kept. 2: wrong usage.)",
                     program.name);
}

struct Get {
  explicit Get(const Program& owner) : program(owner), common(owner) {}

  const Program& program;
  TransferArguments common;
  std::vector<std::string> words;  // the file on the server
  std::string output;
  bool recursive = false;

  int run();
  int run_file(const RemotePath& remote) const;
  int run_to_output(const RemotePath& remote);
  transfer::GetPlan plan_of(const RemotePath& remote) const;
  transfer::DialPlan dials() const;
  std::string tree_here(const RemotePath& remote) const;
  std::string source() const;
  transfer::GetPlan plan(const RemotePath& remote) const;
};

// Returns the plan without the local destination.
transfer::GetPlan Get::plan_of(const RemotePath& remote) const {
  return {.server = checksum(as_bytes(remote.address)),
          .wishes = common.wishes(),
          .connections = [this](std::uint64_t bytes) { return common.dials(bytes); },
          .bytes_per_s = common.limit,
          .most_retries = static_cast<unsigned>(common.client.retries),
          .only_asks = common.dry_run};
}

// Returns the connections: one asks for the facts, which show how many others are useful; one of them is for
// the digest.
transfer::DialPlan Get::dials() const {
  return {.first = 1, .later = common.dials(UINT64_MAX)};
}

// Returns the plan of one file. Only the last part of the server's path names the local file, so that no name
// from the server leads to another directory.
transfer::GetPlan Get::plan(const RemotePath& remote) const {
  namespace fs = std::filesystem;
  const std::string last(split_name(remote.path).last);
  const fs::path here = output.empty() ? fs::path(last) : fs::path(output);
  std::error_code none;
  const bool is_folder = output.ends_with('/');
  if (is_folder && !fs::exists(here, none))
    throw UsageError(
        fmt::format("-o {}: there is no such directory; make it first, and name the file: -o {}{}",
                    printable(output), printable(output), printable(last)));
  if (is_folder || (!output.empty() && fs::is_directory(here, none)))
    throw UsageError(fmt::format("-o {0}: is a directory; name the file: -o {0}{1}{2}", printable(output),
                                 is_folder ? "" : "/", printable(last)));
  if (const std::string obstacle = transfer::obstacle_at(here); !obstacle.empty())
    throw UsageError(fmt::format("{}{} {}", output.empty() ? "" : "-o ", printable(here.string()), obstacle));
  transfer::GetPlan plan = plan_of(remote);
  plan.items = {{.name = remote.path, .file = here.filename().string()}};
  plan.folder = here.has_parent_path() ? here.parent_path().string() : ".";
  if (const auto objection = objection_to(plan.items.front().file); !objection.empty())
    throw UsageError(fmt::format("-o {}: {}", printable(here.string()), objection));
  return plan;
}

// Returns the source. The word orders of other programs, "get HOST:PORT/PATH FILE" or "get FILE
// HOST:PORT/PATH", are refused with the right form.
std::string Get::source() const {
  const char* const form = "HOST:PORT/PATH, or unix:SOCKET//PATH";
  if (words.empty()) throw UsageError(fmt::format("get {}: which file?", form));
  const auto remote = std::ranges::find_if(words, is_remote);
  const bool is_one = words.size() == 1 && (remote != words.end() || !is_remote(output));
  if (is_one) return words.front();
  if (words.size() > 2 || (remote == words.end() && !is_remote(output)))
    throw UsageError(fmt::format("get takes one file, {}; -o names the one to be made", form));
  const std::string& other = remote == words.begin() ? words.back() : words.front();
  throw UsageError(fmt::format("the file to be made is named by -o: {} get {} -o {}", program.name,
                               printable(remote == words.end() ? output : *remote), printable(other)));
}

int Get::run() {
  const std::string from = source();
  const RemotePath remote = split_remote(from);
  const std::array made{output.empty() ? std::string(split_name(remote.path).last) : output};
  common.check(made);
  if (recursive) {
    if (const auto objection = objection_to(remote.path); !remote.path.empty() && !objection.empty())
      throw UsageError(fmt::format("'{}': {}", printable(remote.path), objection));
    const TreeGet tree{common, remote, tree_here(remote)};
    if (const auto code = tree.run()) return *code;
  }
  if (remote.path.empty())
    throw UsageError(fmt::format("'{}': which file? Say {}{}PATH", printable(from),
                                 from.starts_with("unix:") ? "unix:SOCKET" : "HOST:PORT", before_path(from)));
  if (const auto objection = objection_to(remote.path); !objection.empty())
    throw UsageError(fmt::format("'{}': {}", printable(remote.path), objection));
  return output == "-" ? run_to_output(remote) : run_file(remote);
}

// Returns the local directory that becomes a copy of the server's. It may exist: the same command continues
// in it.
std::string Get::tree_here(const RemotePath& remote) const {
  if (output == "-") throw UsageError("-r -o -: a directory cannot go to standard output; name one: -o DIR");
  std::string here = output.empty() ? std::string(split_name(remote.path).last) : output;
  while (here.size() > 1 && here.ends_with('/')) here.pop_back();
  if (here.empty())
    throw UsageError(fmt::format("get -r {}: the server's own directory has no name; say one: -o DIR",
                                 printable(remote.address)));
  return here;
}

// Writes the file's bytes, and nothing else, to standard output.
int Get::run_to_output(const RemotePath& remote) {
  if (common.json == "-" || common.progress == "json")
    throw UsageError("-o -: standard output is the file's; say --json FILE, and another --progress");
  common.bytes_on_output = true;
  const OutputSpool spool;
  transfer::GetPlan plan = plan_of(remote);
  plan.items = {{.name = remote.path, .file = OutputSpool::kFile}};
  plan.folder = spool.folder();
  plan.wishes = {};
  transfer::GetTransfer getting(plan);
  const auto run = common.dial(getting, remote.address, dials());
  const auto digest = getting.fetched();
  if (digest) spool.copy();
  return common.tell(getting, run, {"get", "fetched", printable(remote.path), digest}, remote.address);
}

int Get::run_file(const RemotePath& remote) const {
  const transfer::GetPlan fetched = plan(remote);
  std::unique_ptr<transfer::GetTransfer> getting;
  try {
    getting = std::make_unique<transfer::GetTransfer>(fetched);
  } catch (const std::system_error& error) {
    throw UsageError(
        fmt::format("-o {}: its directory cannot be opened: {}", printable(output), error.code().message()));
  }
  return common.run(*getting, remote.address, dials(), [&] {
    return TransferStory{"get", "fetched", printable(fetched.items.front().file), getting->fetched()};
  });
}

}  // namespace

void add_get(Command root, const Program& program, int& exit_code) {
  auto get = std::make_shared<Get>(program);
  Command command =
      root.add_command("get", "Fetch files over several connections, verified, and go on if interrupted");
  command.add_words("HOST:PORT/PATH", get->words,
                    "the file on the server, with -r a directory; or unix:SOCKET//PATH");
  command
      .add_option("-o,--output", get->output,
                  "the file to make, with -r the directory [the last part of PATH, here]")
      .type_name("FILE");
  command.add_flag("-r,--recursive", get->recursive, "fetch what is below a directory");
  get->common.add_to(command);
  command.footer(get_examples(program));
  command.callback([get, &exit_code] { exit_code = get->run(); });
}

}  // namespace joust
