// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joust/load_plan.hpp"
#include "joust/time.hpp"
#include "load/settings.hpp"
#include "race/model/catalogue.hpp"

// The race to be run, from a scenario file or from the flags of `joust race`.
namespace joust::race {

// Files that whole commands move from one folder to another, in place of a load.
struct FilePlan {
  std::uint64_t count = 1;
  std::uint64_t bytes = 0;    // size of each file
  std::string on = "memory";  // place of both folders: memory or disk
  auto operator<=>(const FilePlan&) const = default;

  std::uint64_t all_bytes() const { return count * bytes; }
};

inline constexpr std::uint64_t kMostFiles = 100'000;
inline constexpr std::uint64_t kMostBytesOfFiles = 1ULL << 40;  // bytes of all files together

// Return the words for FilePlan::on, and the folder that a word stands for.
std::span<const std::string> file_places();
std::string folder_of(const FilePlan& files);

// Describes the files: "10,000 files of 16 kB in memory (/dev/shm)".
std::string files_text(const FilePlan& files);

// Returns the bytes that these files take.
std::uint64_t room_for(const FilePlan& files);

// Either messages per second, of all connections together, or a share of the capacity: 0.3 is 30 %.
struct Rate {
  std::optional<double> per_s{}, share{};
  bool operator==(const Rate&) const = default;
};

// The throughput of the slowest contestant of a case in a closed loop.
struct Capacity {
  double per_s = 0;
  std::string contestant{};
  std::map<std::string, double> measured{};  // messages per second of all contestants, by name
};

// The unit of a turn's size: all contestants send for the same time, or the same number of transfers or
// messages.
enum class TurnUnit : std::uint8_t { time, transfers, messages };

// How the contestants of a case take turns within a generation (LoadPlan::turns). The race's plan sets it.
// The turns of a contestant in a generation add up to LoadPlan::duration.
struct TurnPlan {
  TurnUnit unit = TurnUnit::time;
  std::uint64_t count = 0;  // messages of each connection in a counted turn; 0: not chosen yet
  Duration rest{};          // the longest time between two turns of a contestant
  Duration ramp{};          // of the turns; 0: not chosen, or a share of the turn (kRampShare)
};

// Returns the load of a race that gives no other.
LoadPlan standard_load();

// Return times between two messages of a connection by the schedule: the mean, at most 1e6 s, and a time that
// is hardly ever exceeded. 0 in a closed loop.
Duration pause_of(const LoadPlan& load);
Duration longest_pause_of(const LoadPlan& load);

// TCP options of all contestants of a case. A contestant may have a nodelay of its own (EngineChoice)
// instead. Options that are not given have the engines' common default.
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
  std::optional<Duration> trial_timeout{};  // for a whole trial, which is then killed and reported
};

// CPU lists ("0", "0-1,3"). Empty: chosen by joust; "any": not pinned.
struct CpuPlan {
  std::string server{};
  std::string client{};
  std::vector<std::string> remarks{};  // why the chosen places are unequal or slow, in words
  bool apart = false;          // both sides have machines of their own: equal numbers are different CPUs
  std::size_t load_hosts = 1;  // hosts on which clients have these CPUs
};

struct Case;

struct Contestant {
  std::string name{};
  EngineChoice server{};             // unused if `command` or `transfer` is given
  std::string command{};             // an external server: a shell command; see server_command()
  std::vector<std::string> needs{};  // the programs that its commands run
  EngineChoice client{};
  std::string transfer{};            // a shell command that moves the files of a case, from {from} to {into}
  std::vector<std::string> cases{};  // the cases that it takes part in; empty: all of its kind
  bool moves_files = true;           // false: shows a bound and moves no files, so it is not ranked
  std::optional<Duration> warmup{};  // in place of the load's, for this contestant alone
  std::string ready{};  // its command prints a line with this text when it listens; empty: connections tell
  std::optional<Duration> ready_timeout{};  // until its server listens; empty: see ProcessSetup

  bool external() const { return !command.empty() || !transfer.empty(); }
  bool takes_part_in(const Case& one) const;
};

// A number of the load that is measured at several values.
struct Sweep {
  std::string axis{};  // connections, payload, depth, threads (of the servers) or rate
  std::vector<double> values{};
};

// One value of a sweep.
struct SweepPoint {
  std::string axis{};
  double value = 0;
  std::string of{};  // the name of the case that had the sweep
};

// The share of the capacity above which an open loop is measured in whole trials. A turn begins without a
// queue, and nobody waits behind its end, so near the capacity the p99 of turns is too small.
inline constexpr double kMostInTurns = 0.70;

// One load for all contestants. Figures of different cases are never compared.
struct Case {
  std::string name = "main";
  std::string title{};
  std::string protocol{};           // unused if `files` is given
  std::string plugin{};             // the absolute path of the protocol's plug-in; empty if it has none
  std::optional<FilePlan> files{};  // the files that its contestants move
  Settings options{};               // options of the protocol, for both sides of every contestant
  LoadPlan load = standard_load();
  bool warmup_given = false;           // otherwise a race that ends by time may shorten it
  std::vector<Rate> rates{};           // an open loop for each rate; a case of a plan has none
  std::optional<double> rate_share{};  // the share of the capacity that the load's rate is, or will be
  TurnPlan turn{};
  SocketPlan socket{};                 // the scenario's, with what the case changes
  std::string one_of{};                // in a case of one rate of several: the name of the case that had them
  std::optional<Capacity> capacity{};  // of an open loop, once it is measured
  std::optional<Sweep> sweep{};        // a case for each value; a case of a plan has none
  std::optional<SweepPoint> point{};   // in a case of one value of a sweep: the value
  std::optional<std::uint64_t>
      server_threads{};  // in place of the contestants' own, where an engine has loops

  bool is_called(const std::string& name_of_case) const;
  // Returns whether requests are due by a rate, which may not be known yet.
  bool open_loop() const;
  // Returns whether the rate of an open loop is above kMostInTurns of its capacity, as far as that is known.
  bool is_near_capacity() const;
  // Returns the load with an arbitrary rate where the rate is not known yet, for questions that do not depend
  // on it.
  LoadPlan load_at_some_rate() const;
  // Returns the unit that its figures count.
  const char* unit() const { return files ? "file" : "message"; }
};

// The consequence of a ratio of which it is not known on which side of a threshold it is.
enum class Undecided : std::uint8_t { ok, fail };

// The ratios to the reference beyond which a contestant fails the race.
struct Thresholds {
  std::optional<double> below{};       // of throughput: 0.97
  std::optional<double> cost_above{};  // of CPU time per message: 1.03
  Undecided undecided = Undecided::ok;
};

// The consequence of a host that is lost in a round: the round is run again, or the race ends.
enum class LostHost : std::uint8_t { again, end };

struct Scenario {
  std::string file{};  // its path; empty for a race described by flags
  std::string title{};
  std::string description{};
  std::uint64_t rounds = 0;        // 0: until `precision` or `time` is reached; kStandardRounds without turns
  double precision = 0.03;         // half the interval of every ratio; contestants within it are equal
  double least_difference = 0.02;  // the smallest difference that counts
  bool allow_unranked = false;     // a contestant that is not ranked is no failure
  bool allow_nothing = false;      // nor is a race that tells nothing of its contestants
  Duration time = std::chrono::seconds(60);  // for the whole race, where rounds are not given
  std::optional<std::uint64_t> seed{};
  bool quick = false;       // disturbed rounds are told, and not run again
  bool few_rounds = false;  // whole trials without a number of rounds have kQuickRounds, whatever they take
  bool turns = true;  // contestants take turns where the load allows it; false: a window of its own each
  std::optional<Duration> turn{};  // the length of a turn; empty: chosen from the latency
  std::string reference{};         // the contestant to compare with; empty: the first that can run
  Thresholds thresholds{};
  LostHost lost_host = LostHost::again;
  SocketPlan socket{};  // for cases that give no other
  LimitPlan limits{};
  CpuPlan cpus{};
  std::vector<Case> cases{};
  std::vector<Contestant> contestants{};
};

// A quick race has at most this time for each case, or so many rounds where trials are whole ones, or a
// number of rounds is given.
inline constexpr Duration kQuickTime = std::chrono::seconds(10);
inline constexpr std::uint64_t kQuickRounds = 3;
inline constexpr std::uint64_t kStandardRounds = 10;
inline constexpr std::uint64_t kMostRounds = 1000;
// The most contestants, and the most entries of any list in a scenario; and the most trials of a round, which
// are those of all contestants in all cases. More are a mistake, and would take minutes before the first
// round.
inline constexpr std::size_t kMostEntries = 1000, kMostTrialsOfRound = 10'000;
inline constexpr Duration kLongestTurn = std::chrono::seconds(10);  // the longest that may be asked for

// The tables [quick] and [full] of a file change its cases where this size is asked for.
enum class Size { usual, quick, full };

// Replaces settings of the case's load, and the settings that exclude these. With `rates` the case becomes an
// open loop for each rate.
void replace(const SettingTexts& given, const std::vector<Rate>& rates, Case& one);

// Returns the protocol options of a side: the contestant's, then the case's.
Settings options_of(const Case& one, const EngineChoice& choice, Role role, const Catalogue& catalogue);

}  // namespace joust::race
