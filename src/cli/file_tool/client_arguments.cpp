// SPDX-License-Identifier: MIT
#include "cli/file_tool/client_arguments.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "cli/common/arguments.hpp"
#include "cli/common/command.hpp"
#include "cli/common/descriptors.hpp"
#include "cli/common/signals.hpp"
#include "connection/tally.hpp"
#include "hosting/mismatch.hpp"
#include "hosting/options.hpp"
#include "net/address.hpp"
#include "net/target.hpp"

namespace joust {
namespace {

constexpr std::string_view kUnix = "unix:";

// Refuses a path behind a socket after a single slash. No file is below a socket, so the path is meant for
// its server.
void refuse_single_slash(const std::string& text) {
  std::error_code none;
  for (std::size_t end = text.rfind('/'); end != std::string::npos && end > kUnix.size();
       end = text.rfind('/', end - 1))
    if (const std::string socket = text.substr(0, end);
        std::filesystem::is_socket(socket.substr(kUnix.size()), none))
      throw UsageError(fmt::format("'{0}': {1} is the socket; // is before what is behind it: {1}//{2}",
                                   printable(text), printable(socket), printable(text.substr(end + 1))));
}

}  // namespace

// Splits the text. A name has no empty part, but a socket's path may have one, so the last "//" separates.
RemotePath split_remote(const std::string& text) {
  if (const std::size_t scheme = text.find("://"); scheme != std::string::npos && !text.starts_with(kUnix))
    throw UsageError(fmt::format("'{}': is a URL; without {}:// it is the address of a 'receive': {}",
                                 printable(text), printable(text.substr(0, scheme)),
                                 printable(text.substr(scheme + 3))));
  const bool is_path = text.starts_with(kUnix);
  const std::size_t end = is_path ? text.rfind("//") : text.find('/');
  if (is_path && end == std::string::npos) refuse_single_slash(text);
  if (end == std::string::npos || end == kUnix.size()) return {text, "", true};
  std::string path = text.substr(end + (is_path ? 2 : 1));
  const bool is_folder = path.empty() || path.ends_with('/');
  while (path.ends_with('/')) path.pop_back();
  return {text.substr(0, end), path, is_folder};
}

bool is_remote(const std::string& text) {
  std::error_code none;
  return (text.starts_with(kUnix) || !text.contains("://")) && !std::filesystem::exists(text, none) &&
         objection_to_address(split_remote(text).address).empty();
}

std::string_view before_path(std::string_view address) {
  return address.starts_with(kUnix) ? "//" : "/";
}

namespace {

constexpr auto kVariable = "JOUST_TOKEN";
constexpr std::size_t kLargestFile = 4096;  // bytes

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
  throw UsageError(fmt::format("--token-file {}: {}", path, why));
}

// Reads a file. O_NONBLOCK: opening a FIFO without a writer must not block.
std::string token_in(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat facts {};
  if (!file.is_open() || ::fstat(file.get(), &facts) != 0) refuse_file(path, std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) refuse_file(path, "is no regular file");
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0)
    refuse_file(path, fmt::format("belongs to another user (uid {}), who knows it: make one of your own with "
                                  "'receive --new-token'",
                                  facts.st_uid));
  if ((facts.st_mode & 077) != 0)
    refuse_file(path, fmt::format("others may read or write it (mode {:04o}): chmod 600 {}",
                                  facts.st_mode & 07777, path));
  std::array<char, kLargestFile + 1> text;
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size < 0) refuse_file(path, std::strerror(errno));
  if (static_cast<std::size_t>(size) > kLargestFile) refuse_file(path, "is no token: it is too large");
  return {text.data(), static_cast<std::size_t>(size)};
}

// Overwrites the bytes. A compiler may leave out a memset() of bytes that are never read afterwards, but no
// volatile write.
void wipe(std::span<char> bytes) {
  for (volatile char& byte : bytes) byte = 0;
}

// Takes the variable out of the environment. The system shows the environment of a program
// (/proc/PID/environ) from its memory, so the bytes are overwritten too.
std::optional<std::string> taken_variable() {
  char* const variable = std::getenv(kVariable);
  if (variable == nullptr) return std::nullopt;
  std::string text = variable;
  wipe({variable, text.size()});
  ::unsetenv(kVariable);
  return text;
}

}  // namespace

void GuardArguments::add_to(Command command) {
  const auto take_file = [this](const std::string& path) {
    file_ = path;
    return std::string(path.empty() ? "the value is empty" : "");
  };
  command
      .add_option("--token-file", take_file,
                  "a file with the secret that both sides know, for its owner only; or the variable "
                  "JOUST_TOKEN has it. With it everything is inside TLS 1.3")
      .type_name("FILE");
}

void GuardArguments::complete() {
  const std::optional<std::string> variable = taken_variable();
  std::string from_variable = variable.value_or("");
  if (!file_.empty() && !from_variable.empty())
    throw UsageError(
        fmt::format("--token-file and the variable {} both give a token: leave one out", kVariable));
  // A script whose secret is missing must not go on without one.
  if (file_.empty() && variable && from_variable.empty())
    throw UsageError(
        fmt::format("the variable {} is set and empty: put a token into it, or unset it", kVariable));
  const bool wanted = !file_.empty() || !from_variable.empty();
  if (!wanted) return;
  try {
    token_.emplace(file_.empty() ? from_variable : token_in(file_));
    wipe(from_variable);
  } catch (const WeakToken& weak) {
    throw UsageError(fmt::format("{}: {}", file_.empty() ? kVariable : "--token-file " + file_, weak.what()));
  }
}

std::string GuardArguments::words() const {
  return has_token() ? "TLS 1.3 and a token" : "no token";
}

std::string GuardArguments::words_for_clients() const {
  return has_token() ? " --token-file TOKEN" : "";
}

std::unique_ptr<Service> GuardArguments::guard(Service& service) const {
  return has_token() ? inside_tls(service, side_, *token_) : nullptr;
}

void write_new_token(const std::string& path) {
  const Token token = Token::make();
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    if (errno == EEXIST)
      throw UsageError(fmt::format("--new-token {}: is there already, and is kept; name a new file", path));
    throw UsageError(fmt::format("--new-token {}: {}", path, std::strerror(errno)));
  }
  const std::string line = token.text() + '\n';
  const auto fail = [&](const char* call) {
    const int error = errno;
    ::unlink(path.c_str());
    throw std::system_error(error, std::generic_category(), fmt::format("{}({})", call, path));
  };
  if (::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) fail("write");
  if (::fsync(file.get()) != 0) fail("fsync");
}

namespace {

constexpr auto kServer = "the server";
constexpr std::size_t kReadBytes = 512 << 10;  // a file's data comes in large pieces

Limits limits_of_transfer() {
  Limits limits;
  limits.read_bytes = kReadBytes;
  limits.read_bytes_per_turn = 4 * kReadBytes;
  limits.idle = std::chrono::hours(24);  // sessions have limits of their own
  return limits;
}

}  // namespace

std::string fastest_engine(Role role, const Protocol& protocol) {
  static constexpr std::array<std::string_view, 5> kByRate{"epoll", "kqueue", "poll", "select", "threads"};
  for (const std::string_view name : kByRate) {
    const Engine* const engine = find_engine(name);
    if (engine == nullptr || !mismatch(*engine, protocol, role).empty()) continue;
    if (engine->unavailable == nullptr || engine->unavailable().empty()) return std::string(name);
  }
  return std::string(kByRate.front());
}

void add_engine(Command command, std::string& engine, const std::string& what) {
  const auto take = [&engine](const std::string& name) {
    engine = name;
    return std::string(name.empty() ? "the value is empty" : "");
  };
  command.add_option("-e,--engine", take, what + " [the fastest one here]").type_name("NAME");
}

void ClientArguments::add_retries_to(Command command) {
  add_count(command, "--retries", retries, "dials in a row for lost connections [8]; 0: none", 0, 1000);
}

// Reduces the number of dials: connections for which no descriptor is free are not dialled.
transfer::DialPlan ClientArguments::possible(transfer::DialPlan dials, const Engine& chosen) const {
  raise_descriptor_limit();
  const std::uint64_t most = client_connections(chosen);
  if (dials.first + dials.later <= most) return dials;
  joust::complain(program, fmt::format("{} open files (ulimit -n) allow {} at a time",
                                       descriptor_limit().rlim_cur, counted(most, "connection")));
  dials.first = std::min<std::size_t>(dials.first, most);
  return {.first = dials.first, .later = std::min<std::size_t>(dials.later, most - dials.first)};
}

ClientArguments::Run ClientArguments::run(transfer::Transfer& transfer, const std::string& address,
                                          transfer::DialPlan wanted, ProgressMeter::Kind meter) const {
  const Protocol& protocol = *program.find_protocol("file");
  const Engine& chosen = checked_engine(engine.empty() ? fastest_engine(Role::dial, protocol) : engine, {},
                                        Role::dial, protocol);
  if (chosen.in_process) throw UsageError(fmt::format("-e {}: has no sockets", chosen.name));
  const EngineOptions options = engine_options(chosen, 1, Wait::block, {});
  std::vector<Endpoint> endpoints = resolved_target(address, Limits{}.resolve, kServer);
  Tally tally;
  SocketOptions socket;
  settle_socket(socket, false, endpoints.front(), chosen.transport, tally);
  const std::unique_ptr<Service> guarded = guard.guard(transfer);
  const Target target(address, std::move(endpoints), socket, chosen.transport);
  const Limits limits = limits_of_transfer();
  const transfer::DialPlan dials = possible(wanted, chosen);

  const Time begun = Clock::now();
  Stop stop;
  const Signals signals(stop);
  transfer.expect(
      dials,
      {.address = address,
       .if_silent = ": another program listens there, or all connections that the server takes are in use",
       .if_closed = guard.has_token() ? "; are all its connections in use?"
                                      : "; does the server want a token (--token-file), or are all its "
                                        "connections in use?"});
  if (!transfer.over()) {
    const ProgressMeter shown(meter, transfer.counts());
    chosen.run({.service = guarded ? *guarded : transfer,
                .options = options,
                .limits = limits,
                .tally = tally,
                .target = &target,
                .dials = dials.first,
                .vacancies = dials.later},
               stop);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  return {seconds, stop.requested() && !transfer.over()};
}

}  // namespace joust
