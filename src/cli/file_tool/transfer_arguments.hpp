// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/common/command.hpp"
#include "cli/file_tool/client_arguments.hpp"
#include "files/store/storage.hpp"
#include "files/transfer/transfer.hpp"
#include "measure/usage.hpp"

// The common part of `send` and `get`: their options, the run, and the report of its outcome.
namespace joust {

// The description of a transfer for the summary.
struct TransferStory {
  std::string command;  // "send"
  std::string verb;     // "sent"
  std::string what;     // "a.iso", or "12 files"
  std::optional<Digest> digest{};
  std::vector<std::string> notes{};  // reported already
};

// Formats the numbers: "12 files", or "12 files and 1 empty directory".
std::string counted_files(std::uint64_t files, std::uint64_t folders);

struct TransferArguments {
  explicit TransferArguments(const Program& owner) : program(owner), client(owner) {}

  const Program& program;
  ClientArguments client;
  std::string connections = "auto";
  std::uint64_t limit = 0;  // bytes a second; 0: none
  std::string fsync = "on";
  bool overwrite = false, skip_existing = false, dry_run = false;
  bool bytes_on_output = false;  // standard output is a file's: the report goes to standard error
  std::string progress;
  std::string json;
  std::optional<Option> json_option{};

  void add_to(Command command);
  // Checks the arguments. `used`: files that the transfer reads or writes, none of which may be the result's.
  // Throws UsageError.
  void check(std::span<const std::string> used);
  FileWishes wishes() const;  // the user's wishes
  // Returns the number of connections for so many bytes.
  std::size_t dials(std::uint64_t bytes) const;

  // Runs the transfer over so many connections, and reports it. Returns the exit code.
  int run(transfer::Transfer& transfer, const std::string& address, transfer::DialPlan wanted,
          const std::function<TransferStory()>& story) const;
  // The steps of run().
  ClientArguments::Run dial(transfer::Transfer& transfer, const std::string& address,
                            transfer::DialPlan wanted) const;
  int tell(const transfer::Transfer& transfer, const ClientArguments::Run& run, const TransferStory& story,
           const std::string& address) const;

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
  int tell(const Outcome& outcome, const TransferStory& story, const std::string& address) const;
  void suggest(const Outcome& outcome) const;
  static std::string document(const Outcome& outcome, const TransferStory& story, const std::string& address);
  static std::string summary(const Outcome& outcome, const TransferStory& story);
};

}  // namespace joust
