// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/common/command.hpp"
#include "cli/file_tool/progress_meter.hpp"
#include "engines/engine.hpp"
#include "files/transfer/transfer.hpp"
#include "secure/guard.hpp"

// The file tool's access to a server, which `send`, `get` and `list` have in common: the address, the token
// and the engine.
namespace joust {

// The parts of "HOST:PORT/PATH". The last "//" ends a socket's path: "unix:/run/files.sock//PATH".
struct RemotePath {
  std::string address;
  std::string path;        // without slashes at its end
  bool is_folder = false;  // the text had a slash at its end, or the path is empty
};
// Throws UsageError for a URL, and for a path below a socket that has no "//" before it.
RemotePath split_remote(const std::string& text);
// Returns whether this is the address of a server, with or without a path, and no existing local file.
bool is_remote(const std::string& text);
// Returns the separator of this address and a path: "/", or "//".
std::string_view before_path(std::string_view address);

// The token that admits peers: --token-file or the variable JOUST_TOKEN. A token is never an argument,
// because every user of the machine can see arguments.
class GuardArguments {
 public:
  explicit GuardArguments(GuardSide side) : side_(side) {}
  void add_to(Command command);

  // Reads the token. Call after parsing, once. Throws UsageError for a token that cannot be read or is
  // invalid. Removes the variable, so that no child inherits it.
  void complete();

  bool has_token() const { return token_.has_value(); }
  // Describes the guard: "TLS 1.3 and a token" or "no token".
  std::string words() const;
  // Returns the arguments that clients need: " --token-file TOKEN", or none.
  std::string words_for_clients() const;

  // Returns the service, which is borrowed, inside TLS; null without a token.
  std::unique_ptr<Service> guard(Service& service) const;

 private:
  const GuardSide side_;
  std::string file_;
  std::optional<Token> token_;
};

// Writes a new token to a new file that only its owner can read. Throws UsageError if a file of that name
// exists, and std::system_error.
void write_new_token(const std::string& path);

inline constexpr std::uint64_t kMostConnections = 256;  // connections of one client

// Returns the fastest of the engines that this machine can run and that have the role.
std::string fastest_engine(Role role, const Protocol& protocol);

// Adds -e of the file tool: without it, the fastest engine is used. `what` is for --help.
void add_engine(Command command, std::string& engine, const std::string& what);

struct ClientArguments {
  explicit ClientArguments(const Program& owner) : program(owner) {}

  const Program& program;
  std::string engine;
  std::uint64_t retries = 8;
  GuardArguments guard{GuardSide::client};

  void add_retries_to(Command command);

  // The result of run(), which runs the transfer over the wanted connections until its end or a signal.
  struct Run {
    double seconds = 0;
    bool interrupted = false;
  };
  Run run(transfer::Transfer& transfer, const std::string& address, transfer::DialPlan wanted,
          ProgressMeter::Kind meter) const;

 private:
  transfer::DialPlan possible(transfer::DialPlan dials, const Engine& chosen) const;
};

}  // namespace joust
