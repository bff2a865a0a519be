// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "net/socket_options.hpp"
#include "race/checks/checks.hpp"
#include "race/figures/wording.hpp"
#include "race/model/result.hpp"
#include "race/set_up/placement.hpp"

namespace joust::race {
namespace {

// Returns true for builds whose speed is meaningful. An empty type is CMake's unoptimized default.
bool optimized(const BuildInfo& build) {
  return build.type == "Release" || build.type == "RelWithDebInfo" || build.type == "MinSizeRel";
}

void check_build(const BuildInfo& build, std::set<std::string>& told, Findings& findings) {
  if (build == BuildInfo{}) return;  // an external server does not report its build
  if (!build.sanitizers.empty() && told.insert("sanitizers").second)
    findings.refuse("built with sanitizers ({}), which slow some engines more than others", build.sanitizers);
  if (!optimized(build) && told.insert("type").second)
    findings.refuse("a {} build: only optimized builds are raced",
                    build.type.empty() ? "non-optimized" : build.type);
}

// Settings as text: "trigger=level, threads=2".
std::string settings_text(const Settings& settings) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : settings) parts.push_back(name + "=" + value);
  return parts.empty() ? "nothing" : join(parts);
}

// Compares the child's report with the settings asked for. Settings that were not asked for may have any
// value.
void check_side(const std::string& name, const char* side, const EngineChoice& asked,
                const ChildFacts& reported, Findings& findings) {
  if (reported.engine.empty()) return;
  if (reported.engine != asked.engine)
    findings.bar(name, fmt::format("its {} fell back from {} to {}", side, asked.engine, reported.engine));
  for (const auto& [knob, value] : asked.knobs) {
    const auto found = reported.knobs.find(knob);
    if (found != reported.knobs.end() && found->second != value)
      findings.bar(name, fmt::format("its {} fell back from {}={} to {}", side, knob, value, found->second));
  }
  if (reported.threads != 0 && reported.threads != asked.threads)
    findings.warn("{}: its {} ran {} threads where {} were asked for", name, side, reported.threads,
                  asked.threads);
  if (!reported.wait.empty() && reported.wait != asked.wait)
    findings.warn("{}: its {} waited by {} where {} was asked for", name, side, reported.wait, asked.wait);
}

// Bars an engine that ran without the kernel features it is built on.
void check_missing(const std::string& name, const Contestant& who, const Trial& trial, Findings& findings) {
  for (const std::string& feature : trial.server.missing)
    findings.bar(name, fmt::format("{} ran without {}", who.server.engine, feature));
  for (const std::string& feature : trial.load->missing)
    findings.bar(name, fmt::format("its client {} ran without {}", who.client.engine, feature));
}

// Compares the options of one side over all trials of all contestants. Sockets of different kinds have
// different options, and are not compared with one another.
class Options {
 public:
  // Adds the options of one side, except those that the contestant has of its own: check_own() checks these.
  void add(const std::string& contestant, const Settings& socket, const EngineChoice& choice) {
    std::string kind;
    for (const auto& [option, value] : socket) kind += option + ' ';
    for (const auto& [option, value] : socket)
      if (option != "nodelay" || !choice.nodelay) seen_[{kind, option}][value].insert(contestant);
  }
  void compare(const char* side, Findings& findings) const {
    for (const auto& [place, values] : seen_) {
      if (values.size() < 2) continue;
      std::vector<std::string> parts;
      for (const auto& [value, contestants] : values) {
        const std::vector<std::string> names(contestants.begin(), contestants.end());
        parts.push_back(fmt::format("{} for {}", value, join(names, " and ")));
      }
      findings.refuse("the {} sockets differ in {}: {}", side, place.second, join(parts));
    }
  }
  Settings common() const {
    std::map<std::string, std::set<std::string>> all;
    for (const auto& [place, values] : seen_)
      for (const auto& [value, contestants] : values) all[place.second].insert(value);
    Settings common;
    for (const auto& [option, values] : all)
      if (values.size() == 1) common[option] = *values.begin();
    return common;
  }

 private:
  // The values by kind of socket and option, with the contestants that had each value.
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::set<std::string>>> seen_;
};

// Refuses a trial that ran without the option that the contestant has of its own.
void check_own(const std::string& name, const char* side, const EngineChoice& asked, const Settings& socket,
               Findings& findings) {
  const auto found = socket.find("nodelay");
  if (!asked.nodelay || found == socket.end() || found->second == (*asked.nodelay ? "true" : "false")) return;
  findings.refuse("{}: nodelay of its {} sockets is {}, which is not what it asked for", name, side,
                  found->second);
}

// Warns of options that the kernel did not grant to any contestant.
void check_wishes(const char* side, const SocketPlan& wanted, const Settings& granted, Findings& findings) {
  const auto compare = [&](const char* option, const std::string& wish, const char* who) {
    const auto found = granted.find(option);
    if (found != granted.end() && !wish.empty() && found->second != wish)
      findings.warn("the {} {} is {} where {} asked for {}", side, option, found->second, who, wish);
  };
  if (wanted.nodelay) compare("nodelay", *wanted.nodelay ? "true" : "false", "the scenario");
  // joust's default is compared too: a machine without cubic uses another algorithm.
  compare("congestion", wanted.congestion.value_or(SocketOptions{}.congestion),
          wanted.congestion ? "the scenario" : "joust");
}

// Reports the contestants for which the common options of TCP were left out.
void tell_left_out(const CaseResult& one, Findings& findings) {
  std::vector<std::string> options, names;
  if (one.plan.socket.nodelay) options.emplace_back("nodelay");
  if (one.plan.socket.congestion) options.emplace_back("congestion");
  for (const Entry* entry : contestants_of(one))
    if (!entry->server_tcp || !entry->client_tcp) names.push_back(entry->contestant.name);
  if (!options.empty() && !names.empty())
    findings.say("{} left out for {}, whose sockets are not of TCP", join(options, " and "),
                 join(names, " and "));
}

// Warns of threads that do not run where, or as, the race has asked for: an external server may pin itself to
// other CPUs.
void check_threads(const std::string& name, const char* side, const std::vector<ThreadGroup>& groups,
                   const ThreadGroup& race, const std::string& asked, const std::string& of_other,
                   Findings& findings) {
  const std::set<int> own = cpus_in(asked), others = cpus_in(of_other);
  for (const ThreadGroup& group : groups) {
    const std::set<int> cpus = cpus_in(group.cpus);
    std::vector<std::string> wrong;
    if (!own.empty() && !std::ranges::includes(own, cpus)) {
      const bool on_other = std::ranges::any_of(cpus, [&](int cpu) { return others.contains(cpu); });
      wrong.push_back(fmt::format("CPU {} where CPU {} was asked for{}", group.cpus, asked,
                                  on_other ? " (CPUs of the other side are among them)" : ""));
    }
    if (group.nice != race.nice)
      wrong.push_back(fmt::format("nice {} where the race has {}", group.nice, race.nice));
    if (group.policy != race.policy)
      wrong.push_back(fmt::format("policy {} where the race has {}", group.policy, race.policy));
    if (!wrong.empty())
      findings.warn("{}: {} of its {} had {}", name, counted(group.threads, "thread"), side, join(wrong));
  }
}

void check_scheduling(const std::string& name, const std::vector<const Trial*>& trials, const CpuPlan& plan,
                      Findings& findings) {
  const auto found =
      std::ranges::find_if(trials, [](const Trial* trial) { return trial->scheduling.has_value(); });
  if (found == trials.end()) return;
  const Scheduling& threads = *(*found)->scheduling;
  check_threads(name, "server", threads.server, threads.race, plan.server, plan.client, findings);
  check_threads(name, "client", threads.client, threads.race, plan.client, plan.server, findings);
}

}  // namespace

CheckResult check_parity(const RaceResult& race, const CaseResult& one) {
  Findings findings(10, "parity read back");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  if (one.plan.files) {
    findings.doubt("every command has its own options, sockets and build, which are not read back");
    return findings.take();
  }
  Options server, client;
  std::set<std::string> told;
  std::vector<std::string> unread;
  for (const Entry* entry : contestants_of(one)) {
    const Contestant& who = entry->contestant;
    for (const Trial* trial : usable_trials(*entry)) {
      check_build(trial->server.build, told, findings);
      check_build(trial->client.build, told, findings);
      server.add(who.name, trial->server.socket, who.server);
      client.add(who.name, trial->client.socket, who.client);
    }
    if (usable_trials(*entry).empty()) continue;
    const Trial& first = *usable_trials(*entry).front();
    if (who.external()) unread.push_back(in_list(who.name));
    check_own(who.name, "server's", who.server, first.server.socket, findings);
    check_own(who.name, "client's", who.client, first.client.socket, findings);
    check_scheduling(who.name, usable_trials(*entry), race.cpus, findings);
    if (!who.external()) check_side(who.name, "server", who.server, first.server, findings);
    check_side(who.name, "client", who.client, first.client, findings);
  }
  server.compare("server's", findings);
  client.compare("client's", findings);
  check_wishes("server's", one.plan.socket, server.common(), findings);
  check_wishes("client's", one.plan.socket, client.common(), findings);
  for (const Entry* entry : entries_of_contestants(one))
    if (const auto trials = usable_trials(*entry); !trials.empty())
      check_missing(answerable(*entry), entry->contestant, *trials.front(), findings);
  if (!unread.empty())
    findings.doubt("{}: options, sockets and build of an external server are not read back", join(unread));
  tell_left_out(one, findings);
  if (findings.verdict() == Verdict::pass)
    findings.say("optimized builds; server sockets: {}; client sockets: {}", settings_text(server.common()),
                 settings_text(client.common()));
  return findings.take();
}

}  // namespace joust::race
