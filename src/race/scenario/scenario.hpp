// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joust/time.hpp"
#include "race/scenario/catalogue.hpp"

// What is to be raced: the struct behind a scenario file and behind the flags of `joust race`.
namespace joust::race {

// Knobs as they are handed to the children: name to value.
using Settings = std::map<std::string, std::string>;

// What the client side does. Either `messages` (each connection's) or `duration` ends it.
struct LoadPlan {
  std::uint64_t connections = 64;
  std::optional<std::uint64_t> messages{};
  std::optional<Duration> duration{};
  Duration warmup = std::chrono::milliseconds(300);
  Duration interval{0};  // between the messages of one connection; 0: a closed loop
  std::uint64_t depth = 1;
  std::optional<std::uint64_t> payload_bytes{};
};

// TCP options for every contestant alike. What is not given is left to the engines' common default.
struct SocketPlan {
  std::optional<bool> nodelay{};
  std::optional<std::string> congestion{};
  std::optional<std::uint64_t> send_buffer_bytes{};
  std::optional<std::uint64_t> receive_buffer_bytes{};
  std::optional<std::uint64_t> backlog{};
};

struct LimitPlan {
  std::optional<Duration> connect_timeout{};
  std::optional<Duration> request_timeout{};
  std::optional<Duration> idle_timeout{};
  std::optional<Duration> trial_timeout{};  // a whole trial; what takes longer is killed and reported
};

// CPU lists ("0", "0-1,3"). Empty: joust chooses; "any": not pinned.
struct CpuPlan {
  std::string server{};
  std::string client{};
};

// An engine in one role, with its knobs.
struct EngineChoice {
  std::string engine{};
  std::uint64_t threads = 1;
  std::string wait = "block";
  Settings knobs{};
  Settings options{};  // of the protocol, for this contestant alone
};

struct Contestant {
  std::string name{};
  EngineChoice server{};  // meaningless when `command` is given
  std::string command{};  // an external server: a shell command that holds {port}
  EngineChoice client{};

  bool external() const { return !command.empty(); }
};

// One load under which all contestants meet. Figures of different cases are never compared.
struct Case {
  std::string name = "main";
  std::string title{};
  std::string protocol{};
  Settings options{};  // of the protocol, for both sides of every contestant
  LoadPlan load{};
};

struct Scenario {
  std::string file{};  // where it was read from; empty for a race described by flags
  std::string title{};
  std::string description{};
  std::uint64_t rounds = 10;
  std::optional<std::uint64_t> seed{};
  bool quick = false;       // warn of disturbed rounds instead of running them again
  std::string reference{};  // the contestant the others are compared with; empty: the first that can run
  SocketPlan socket{};
  LimitPlan limits{};
  CpuPlan cpus{};
  std::vector<Case> cases{};
  std::vector<Contestant> contestants{};
};

inline constexpr std::uint64_t kQuickRounds = 3;
inline constexpr std::string_view kDefaultClient = "epoll";

enum class Role { serve, dial };

// All of these return what is wrong in words that name what is allowed and the nearest match.
std::expected<EngineChoice, std::string> parse_engine(std::string_view text, Role role,
                                                      const Catalogue& catalogue);
std::optional<std::string> check_engine(const std::string& name, Role role, const Catalogue& catalogue);
std::optional<std::string> check_knob(const std::string& engine, const std::string& knob,
                                      const std::string& value, const Catalogue& catalogue);
std::optional<std::string> check_protocol(const std::string& name, const Catalogue& catalogue);
std::optional<std::string> check_load(const LoadPlan& load);
std::optional<std::string> check_end(const Case& one);  // apart, as a flag may give what a file leaves out
std::optional<std::string> check_payload(const Case& one, const Catalogue& catalogue);
std::optional<std::string> check_cpus(const std::string& list);

// An option of the protocol that the case speaks.
std::optional<std::string> check_option(const std::string& protocol, const std::string& option,
                                        const std::string& value, const Catalogue& catalogue);

// The options of a side: what the contestant says, and otherwise the case.
Settings options_of(const Case& one, const EngineChoice& choice, Role role, const Catalogue& catalogue);

// The knobs all engines have are in EngineChoice, not among its knobs. What is no knob of the engine may be
// an option of a protocol; complete() sees whether it is one of the protocol that is raced.
std::expected<void, std::string> set_knob(EngineChoice& choice, const std::string& knob,
                                          const std::string& value, const Catalogue& catalogue);

// Every server against every client, named by what differs.
std::vector<Contestant> every_pair(const std::vector<EngineChoice>& servers,
                                   const std::vector<EngineChoice>& clients);

// "epoll", or "epoll:trigger=level": the engine and what is not default about it.
std::string describe(const EngineChoice& choice);

// Puts the last things in place and checks what only the whole can show: names that are unique, a reference
// that exists, at least one contestant and one case.
std::optional<std::string> complete(Scenario& scenario, const Catalogue& catalogue);

// Reads a scenario file. The error is one line per problem, each "file:line:column: key 'x': ...".
std::expected<Scenario, std::string> read_scenario(const std::string& path, const Catalogue& catalogue);

}  // namespace joust::race
