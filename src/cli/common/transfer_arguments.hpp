// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/arguments.hpp"
#include "cli/common/command.hpp"
#include "cli/common/guard_arguments.hpp"
#include "measure/usage.hpp"
#include "store/storage.hpp"
#include "transfer/transfer.hpp"

// What `send` and `get` have in common: their options, the run, and what is told of it.
namespace joust {

inline constexpr std::uint64_t kMostConnections = 256;  // of one client

// "HOST:PORT/PATH" taken apart. The last "//" ends a socket's path: "unix:/run/files.sock//PATH".
struct RemotePath {
  std::string address;
  std::string path;
};
// Throws UsageError for a URL, and for a path below a socket that has no "//" before it.
RemotePath split_remote(const std::string& text);
// Whether this is the address of a server, with or without a path, and no file that is here.
bool is_remote(const std::string& text);
// What parts the path from this address: "/", or "//".
std::string_view before_path(std::string_view address);

// The first of the engines that this machine can run and that have the role, the fastest one first.
std::string fastest_engine(Role role, const Protocol& protocol);

// -e of the file tool: without it, the fastest one. `what` is for --help.
void add_engine(Command command, std::string& engine, const std::string& what);

// What a transfer was, for the summary.
struct TransferStory {
  std::string command;  // "send"
  std::string verb;     // "sent"
  std::string what;     // "a.iso", or "12 files"
  std::optional<Digest> digest{};
  std::vector<std::string> notes{};  // told already
};

struct TransferArguments {
  explicit TransferArguments(const Program& owner) : program(owner) {}

  const Program& program;
  std::string engine;
  std::string connections = "auto";
  std::uint64_t limit = 0;  // bytes a second; 0: none
  std::uint64_t retries = 8;
  std::string fsync = "on";
  bool overwrite = false, skip_existing = false, dry_run = false;
  std::string progress;
  std::string json;
  std::optional<Option> json_option{};
  GuardArguments guard{GuardSide::client};

  void add_to(Command command);
  // `used`: files that the transfer reads or writes, none of which may be the result's. Throws UsageError.
  void check(std::span<const std::string> used);
  FileWishes wishes() const;  // of the user
  // The connections for so many bytes.
  std::size_t dials(std::uint64_t bytes) const;

  // Runs the transfer over so many connections, and tells of it. Returns the exit code.
  int run(transfer::Transfer& transfer, const std::string& address, transfer::DialPlan wanted,
          const std::function<TransferStory()>& story) const;

 private:
  struct Outcome {
    Outcome(const transfer::Transfer& transfer, double taken, bool stopped);
    bool did_something() const { return counts.files > 0 || counts.folders > 0; }

    const transfer::Counts& counts;
    const std::vector<std::string> complaints;
    const std::uint64_t kept;  // bytes of incomplete files
    const Usage used;
    const double seconds;
    const bool interrupted, complete, in_vain;
  };
  transfer::DialPlan possible(transfer::DialPlan dials, const Engine& chosen) const;
  int tell(const Outcome& outcome, const TransferStory& story, const std::string& address) const;
  void suggest(const Outcome& outcome) const;
  static std::string document(const Outcome& outcome, const TransferStory& story, const std::string& address);
  static std::string summary(const Outcome& outcome, const TransferStory& story);
};

}  // namespace joust
