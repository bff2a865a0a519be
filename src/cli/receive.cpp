// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/watches.hpp"
#include "cli/common/arguments.hpp"
#include "cli/common/descriptors.hpp"
#include "cli/common/output.hpp"
#include "cli/common/signals.hpp"
#include "cli/file_tool/client_arguments.hpp"
#include "connection/tally.hpp"
#include "hosting/accounting.hpp"
#include "hosting/options.hpp"
#include "net/listener.hpp"
#include "report/facts_json.hpp"

namespace joust {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kReceiveBytes = 512 << 10;  // a file's data comes in large pieces
constexpr unsigned kMostLoops = 4;                // threads that joust chooses by itself
// Engines that withstand hostile clients and move files inside the kernel.
const std::array<std::string, 3> kEngines{"epoll", "io-uring", "threads"};
// Files go into a directory of the user's own: their limit is the free space, which is always checked.
constexpr auto kNoLimit = "1000000TiB";

std::string receive_examples(const Program& program) {
  return fmt::format(R"(Examples:
  {0} receive --into incoming
  {0} receive --into photos --listen 127.0.0.1:9000 --read-only
  {0} receive --new-token token
  {0} receive --into incoming --listen 0.0.0.0:9000 --public --token-file token

Clients of this machine may then say '{0} send FILE ADDRESS' and '{0} get ADDRESS/FILE'. Names lead nowhere
outside of the directory. Files that were interrupted stay hidden (.joust-partial-..., .joust-journal-...)
until their name is sent again.
SIGTERM and Ctrl-C drain: what was begun is finished, for at most 2 s. A second one ends at once.)",
                     program.name);
}

struct Receive {
  const Program& program;
  std::string into = ".", listen = "127.0.0.1:0", engine{};
  std::uint64_t threads = 0;  // 0: not given
  std::string new_token{};
  std::optional<Option> new_token_option{};
  std::optional<std::uint64_t> memory{};
  bool read_only = false, write_only = false, is_public = false, events = false;
  GuardArguments guard{GuardSide::server};

  int run();
  const Engine& chosen_engine(const Protocol& protocol) const;
  std::vector<Endpoint> where(const Engine& chosen, const EngineOptions& options) const;
  Settings settings() const;
  unsigned threads_for(const Engine& chosen) const;
  void tell(const Tally& tally, const Service& service) const;
  std::unique_ptr<Periodic> progress(const Service& service) const;
  std::unique_ptr<Service> server(const Protocol& protocol) const;
  void check_directory() const;
  void check_descriptors(const DescriptorRoom& room, std::size_t uploads) const;
  std::string greeting(const Engine& chosen, const Listeners& listeners) const;
};

// Returns the device and the inode of a directory. Empty if there is none.
std::optional<std::pair<dev_t, ino_t>> identity_of(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return std::pair(facts.st_dev, facts.st_ino);
}

// Returns a count of the service by its name.
std::uint64_t count_of(const Service& service, std::string_view name) {
  for (const ResultGroup& group : service.results())
    for (const auto& [key, value] : group.figures)
      if (const auto* const number = std::get_if<std::uint64_t>(&value); key == name && number != nullptr)
        return *number;
  return 0;
}

// Returns an address in the form that clients on other machines would write.
std::string reachable(const std::string& address) {
  for (const std::string_view all : {"0.0.0.0:", "[::]:"})
    if (address.starts_with(all)) return "HOST:" + address.substr(all.size());
  return address;
}

const Engine& Receive::chosen_engine(const Protocol& protocol) const {
  const std::string fastest = fastest_engine(Role::serve, protocol);
  const std::string& name = engine.empty() ? fastest : engine;
  if (find_engine(name) != nullptr && name != fastest && std::ranges::find(kEngines, name) == kEngines.end())
    throw UsageError(fmt::format("-e {}: files are received by {}; '{} serve -p file' has every engine", name,
                                 join(kEngines), program.name));
  return checked_engine(name, {}, Role::serve, protocol);
}

// Returns where to listen. A server of files for other machines needs a secret that only its users know.
std::vector<Endpoint> Receive::where(const Engine& chosen, const EngineOptions& options) const {
  constexpr std::string_view kWhy =
      "any program that reaches it could read and write below the directory. --public allows that, with a "
      "token for the permitted users: {0} receive --new-token FILE makes one; then --token-file FILE here, "
      "and the same for {0} send and {0} get";
  const std::string why = fmt::format(fmt::runtime(kWhy), program.name);
  if (is_public && !guard.has_token()) throw UsageError(fmt::format("--public without a token: {}", why));
  try {
    return checked_listen(listen, is_public, chosen, options.knobs);
  } catch (const std::invalid_argument& refusal) {
    if (std::string_view(refusal.what()).contains("--public"))
      throw UsageError(
          fmt::format("--listen {}: other machines can reach this address, and {}", listen, why));
    throw;
  }
}

Settings Receive::settings() const {
  if (read_only && write_only) throw UsageError("--read-only and --write-only: one of them");
  return {{"root", into},
          {"overwrite", "yes"},
          {"file-write", "splice"},  // if the engine supports it; another core digests meanwhile
          {"max-file-bytes", kNoLimit},
          {"max-stored-bytes", kNoLimit},
          {"max-uploads", std::to_string(Limits{}.connections)},  // one on each of many connections
          {"access", read_only    ? "read"
                     : write_only ? "write"
                                  : "both"}};
}

// Returns a loop for each core, so that the connections of one file share the cores.
unsigned Receive::threads_for(const Engine& chosen) const {
  if (threads > 0) return static_cast<unsigned>(threads);
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1U, kMostLoops);
  return chosen.several_loops ? std::max(cores, chosen.least_threads) : 1;
}

// Makes the service. Reports errors of the protocol's option --root as errors of --into.
std::unique_ptr<Service> Receive::server(const Protocol& protocol) const {
  try {
    return protocol.make_server(parameters_of(protocol, settings(), Role::serve));
  } catch (const std::invalid_argument& refusal) {
    constexpr std::string_view kRoot = "--root: ";
    const std::string_view why = refusal.what();
    if (!why.starts_with(kRoot)) throw;
    throw UsageError(fmt::format("--into: {}", why.substr(kRoot.size())));
  }
}

// Checks write access through the kernel, so that a read-only file system counts for root too.
void Receive::check_directory() const {
  if (read_only || ::faccessat(AT_FDCWD, into.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return;
  throw std::runtime_error(
      fmt::format("--into {}: nothing can be written there: {}; --read-only gives what is there", into,
                  std::strerror(errno)));
}

// Warns if fewer connections are possible than one client may open.
void Receive::check_descriptors(const DescriptorRoom& room, std::size_t uploads) const {
  room.check(0);
  if (uploads < kMostConnections)
    complain(program,
             fmt::format("{} open files (ulimit -n) allow {} at a time that upload files; others wait",
                         room.limit(), counted(uploads, "connection")));
}

std::string Receive::greeting(const Engine& chosen, const Listeners& listeners) const {
  const std::vector<std::string> addresses = listeners.addresses();
  const std::string& address = addresses.front();
  if (events)
    return text_of(Json{{"event", "listening"},
                        {"address", address},
                        {"addresses", addresses},
                        {"engine", chosen.name},
                        {"guard", guard.words()},
                        {"pid", ::getpid()}});
  std::string text = fmt::format("listening on {} with {}, {}; files are below {}\n",
                                 join(addresses, " and "), chosen.name, guard.words(), into);
  const std::string to = reachable(address), token = guard.words_for_clients();
  if (!read_only) text += fmt::format("  {} send FILE {}{}\n", program.name, to, token);
  if (!write_only) text += fmt::format("  {} get {}{}FILE{}\n", program.name, to, before_path(to), token);
  return text;
}

int Receive::run() {
  if (new_token_option->given()) {
    write_new_token(new_token);
    print_list(fmt::format("{} has a new token: copy it to the users who may send and get\n", new_token));
    return kOk;
  }
  guard.complete();
  const Protocol& protocol = *program.find_protocol("file");
  const Engine& chosen = chosen_engine(protocol);
  if (threads > 0) check_threads(chosen, threads);
  const EngineOptions options = engine_options(chosen, threads_for(chosen), Wait::block, {});
  const std::vector<Endpoint> endpoints = where(chosen, options);
  raise_descriptor_limit();
  const DescriptorRoom room(chosen.several_loops ? options.threads : 1, !chosen.several_loops);
  room.check_before();
  const auto begun = identity_of(into);
  const auto service = server(protocol);
  check_directory();
  const auto guarded = guard.guard(*service);
  const std::size_t most_uploads = room.uploads();  // at a time
  const Limits limits{.connections = std::min(Limits{}.connections, room.connections()),
                      .memory = memory,
                      .read_bytes = kReceiveBytes,
                      .read_bytes_per_turn = 4 * kReceiveBytes};
  Stop stop;
  const Signals signals(stop);
  Tally tally;
  SocketOptions socket;
  for (const Endpoint& endpoint : endpoints) settle_socket(socket, false, endpoint, chosen.transport, tally);
  const Listeners listeners(endpoints, socket, chosen.transport);
  for (const std::string& address : listeners.left_out()) complain(program, "not listening on " + address);
  Accounting accounting(chosen, options.threads, limits, tally);
  const auto meter = progress(*service);
  chosen.run({.service = guarded ? *guarded : *service,
              .options = options,
              .limits = limits,
              .tally = tally,
              .listeners = listeners.all(),
              .on_ready =
                  [&] {
                    check_descriptors(room, most_uploads);
                    print_out(greeting(chosen, listeners));
                  },
              .account = accounting.account(),
              .chore = accounting.chore()},
             stop);
  if (identity_of(into) != begun)
    complain(program,
             fmt::format("--into {0}: this name has led to another directory meanwhile: files went into "
                         "the one that had it at the start; a new '{1} receive' takes the new one",
                         printable(into), program.name));
  if (!events) {
    tell(tally, *service);
    return kOk;
  }
  print_list(text_of(stopped_event(tally, listeners, service->results())));
  return kOk;
}

// Writes progress lines to a log while bytes move. At a terminal, the other side shows the progress.
std::unique_ptr<Periodic> Receive::progress(const Service& service) const {
  if (events || ::isatty(STDERR_FILENO) == 1) return nullptr;
  return std::make_unique<Periodic>(kFewLinesEvery, [&service, before = std::uint64_t{0}]() mutable {
    const std::uint64_t received = count_of(service, "bytes_stored"), sent = count_of(service, "bytes_sent");
    if (received + sent == std::exchange(before, received + sent)) return;
    print_to_stderr(fmt::format("so far {} of files received, {} sent\n",
                                format_data(static_cast<double>(received)),
                                format_data(static_cast<double>(sent))));
  });
}

// Reports the totals. Clients without the token count among the connections that failed.
void Receive::tell(const Tally& tally, const Service& service) const {
  print_list(fmt::format("received {}, sent {} over {}\n",
                         format_data(static_cast<double>(tally.received.load())),
                         format_data(static_cast<double>(tally.sent.load())),
                         counted(tally.opened + tally.unopened, "connection")));
  if (const std::uint64_t unfinished = count_of(service, "unfinished"); unfinished > 0)
    print_list(fmt::format(
        "{} unfinished: what has come is kept until its name is sent again; the same '{} send' goes "
        "on with it if its file has not changed\n",
        counted(unfinished, "upload"), program.name));
  complain_of_failures(program, tally);
}

}  // namespace

void add_receive(Command root, const Program& program, int& exit_code) {
  auto receive = std::make_shared<Receive>(program);
  Command command =
      root.add_command("receive", "Take files from 'send' and give them to 'get', until told to stop");
  command.add_option("--into", receive->into, "the directory of the files").type_name("DIR").show_default();
  command
      .add_option("--listen", receive->listen,
                  "where: 127.0.0.1:9000, [::1]:9000, :0 (any free port), unix:PATH")
      .type_name("ADDRESS")
      .show_default();
  add_engine(command, receive->engine, join(kEngines));
  add_count(command, "-t,--threads", receive->threads,
            "event loops or workers, for engines that have several [a loop for each core, up to 4]", 0, 1024);
  add_memory_limit(command, receive->memory);
  command.add_flag("--read-only", receive->read_only, "files can be fetched, and none sent");
  command.add_flag("--write-only", receive->write_only, "files can be sent, and none fetched");
  command.add_flag("--public", receive->is_public,
                   "allow an address that other machines can reach; needs a token");
  receive->guard.add_to(command);
  receive->new_token_option =
      command.add_option("--new-token", receive->new_token, "make a token in a new file, and do nothing else")
          .type_name("FILE");
  command.add_flag("--events", receive->events, "print JSON lines, as 'serve --json' does");
  command.footer(receive_examples(program));
  command.callback([receive, &exit_code] { exit_code = receive->run(); });
}

}  // namespace joust
