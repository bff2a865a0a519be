// SPDX-License-Identifier: MIT
#include "cli/file_tool/guard_arguments.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "cli/common/command.hpp"

namespace joust {
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

}  // namespace joust
