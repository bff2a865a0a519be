// SPDX-License-Identifier: MIT
#include "joust/main.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "base/text.hpp"
#include "cli/common/command.hpp"

namespace joust {
namespace {

constexpr std::string_view kExamples = R"(Examples:
  joust race scenarios/first-look.toml
  joust race --server threads,epoll --client epoll -p echo -c 1000 -d 2s
  joust serve -e epoll -p echo --listen 127.0.0.1:9000
  joust load -e epoll -p echo --connect 127.0.0.1:9000 -c 100 -d 5s)";

int fail(ExitCode code, std::string_view what) {
  fmt::print(stderr, "joust: {}\n", what);
  return code;
}

// CLI11 would only say that a sub-command is required.
void refuse_unknown_command(const CLI::App& app, std::string_view word) {
  if (word.starts_with('-')) return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::ranges::find(names, word) != names.end()) return;
  const std::string near = nearest(word, names);
  throw UsageError(near.empty() ? fmt::format("no command '{}'; there are: {}", word, fmt::join(names, ", "))
                                : fmt::format("no command '{}'; did you mean '{}'?", word, near));
}

}  // namespace

const Protocol* Program::find_protocol(std::string_view wanted) const {
  const auto found = std::ranges::find(protocols, wanted, &Protocol::name);
  return found == protocols.end() ? nullptr : &*found;
}

int main(int argc, char** argv, std::vector<Protocol> protocols) {
  // A peer that has gone is an error of the send that meets it, and a file that may not grow one of the
  // write: not the end of the program.
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  ::sigaction(SIGXFSZ, &ignore, nullptr);
  const Program program{std::filesystem::path(argv[0]).filename().string(), std::move(protocols)};
  CLI::App app{"One protocol on every I/O engine, raced side by side on your own machine."};
  app.name(program.name);
  app.set_version_flag("--version", "joust " JOUST_VERSION);
  app.require_subcommand(1);
  app.footer(std::string(kExamples));
  int exit_code = kOk;
  add_race(app, program, exit_code);
  add_serve(app, program, exit_code);
  add_load(app, program, exit_code);
  add_engines(app, program, exit_code);
  add_protocols(app, program, exit_code);
  try {
    if (argc > 1) refuse_unknown_command(app, argv[1]);
    app.parse(argc, argv);
    // A full disk behind a redirection must not look like success.
    if (std::fflush(stdout) != 0) return fail(kRunError, "standard output: cannot be written");
    return exit_code;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  } catch (const UsageError& error) {
    return fail(kUsage, error.what());
  } catch (const std::invalid_argument& error) {  // an option of the protocol
    return fail(kUsage, error.what());
  } catch (const std::exception& error) {
    return fail(kRunError, error.what());
  }
}

}  // namespace joust
