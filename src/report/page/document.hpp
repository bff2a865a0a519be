// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "measure/distribution.hpp"
#include "report/page/figures.hpp"

// The result of a race as its faces need it, read from the JSON document (docs/result.schema.json).
namespace joust::report::page {

// The figures of a contestant in one trial that counts; one that the trial lacks is empty.
struct Generation {
  std::uint64_t round = 0;
  std::optional<double> throughput{}, cost{};
  std::map<std::string, double, std::less<>> latency_ns{};  // by percentile: "p99"
};

// CPU time of one side in all trials that count, seconds.
struct CpuTime {
  double user_s = 0, system_s = 0;
};

struct Place {
  std::uint64_t first = 0, last = 0;
};

enum class Kind { contestant, again, ceiling };

struct Runner {
  std::string name, reason{};  // reason: why it is not ranked
  Kind kind = Kind::contestant;
  bool ranked = false, at_least = false, limit_unknown = false;
  std::string server{}, client{};  // "epoll:trigger=level"; empty for programs that are not joust's engines
  std::optional<Place> place{}, cost_place{};
  Figures figures{};
  std::set<std::string, std::less<>> few_beyond{};  // percentiles that few samples lie beyond: "p999"
  std::vector<Generation> generations{};
  std::string failure{};                  // of its first trial that failed; empty if none
  std::vector<std::string> last_words{};  // the last lines that its processes wrote before it
  std::optional<CpuTime> server_cpu{}, client_cpu{};
  Distribution latency{};  // of all trials that count; empty if one of them has no histogram

  const Measured* figure(std::string_view key) const;
  // Returns a percentile of latency, such as "p99": the median of the rounds. Where each round has too few
  // samples for it, that of the samples of all rounds together. Null if that is not known either.
  const Measured* percentile(const std::string& key) const;
  // Returns whether its figures are valid; those at_least are valid as bounds.
  bool is_sound() const { return ranked || at_least; }
  // Returns whether its server may be faster than its throughput.
  bool may_be_faster() const { return at_least || limit_unknown; }
  bool has_result() const { return figures.contains("throughput_per_s"); }
};

struct Finding {
  std::uint64_t id = 0;
  std::string title{}, verdict{}, detail{};  // verdict: PASS, WARN or REFUSE
};

// The place of a case on a curve of cases that differ in one number.
struct AxisPoint {
  std::string axis{};   // connections, payload, depth, threads or rate
  std::string curve{};  // the same for all points of a curve
  double value = 0;
  std::optional<double> share{};  // of the capacity, where the rate was asked for as a share
};

struct Heat {
  std::string name{}, title{}, load{}, verdict{}, reference{};
  std::string identity{};   // protocol and load, without the length; equal in all races of one kind
  std::string ranked_by{};  // throughput, p99, p50 or mean
  bool moves_files = false;
  bool unverified = false;  // nothing says what a right reply is: any reply counted
  std::optional<AxisPoint> point{};
  std::vector<Runner> runners{};
  std::vector<Finding> findings{};

  const Runner* find(std::string_view name) const;
  std::vector<const Runner*> contestants() const;  // in the order of rows (report/row_order.hpp)
  // Return the key of the ratio that ranks.
  std::string ratio_key() const;
  bool by_latency() const { return ranked_by != "throughput"; }
  const char* unit() const { return moves_files ? "file" : "message"; }
};

struct Fact {
  std::string name{}, value{};
};

// A contestant beside a threshold of the race.
struct Threshold {
  std::string heat{}, contestant{}, figure{}, sentence{};
  std::string decision{};  // within, beyond or undecided
};

struct Document {
  std::string version{}, started{}, title{}, verdict{}, incomplete{};
  std::optional<std::uint64_t> exit_code{};  // of the race; earlier results have none
  std::string exit_reason{};                 // why it is not 0
  double took_s = 0, precision = 0;
  std::uint64_t rounds = 0, seed = 0;
  std::string server_cpus{}, client_cpus{};
  std::string network = "Loopback: no network was measured.";  // the sentence; earlier results have none
  std::string scenario_file{}, scenario_text{};
  std::string command{};      // as for a shell
  std::vector<Heat> heats{};  // the cases
  std::vector<Threshold> thresholds{};
  std::vector<Fact> environment{};
  std::string json{};  // the text it was read from

  const Heat* find(std::string_view name) const;
  // Returns whether the race has ended with another exit code than 0, or may have.
  bool fails() const { return exit_code != 0U; }
};

// Reads a document. The error names the key that is wrong, or the place where the text is no JSON.
std::expected<Document, std::string> read_document(std::string json);

}  // namespace joust::report::page
