// SPDX-License-Identifier: MIT
#include "cli/hosts/reach.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>

#include "base/words.hpp"
#include "measure/environment.hpp"
#include "race/trial/child.hpp"

namespace joust {
namespace {

constexpr Duration kPatience = std::chrono::seconds(15);
constexpr const char* kAgent = "OMPI_MCA_plm_rsh_agent";

// Returns the words of the program that starts others on a host: those of the first choice.
std::vector<std::string> agent_words() {
  const char* const given = std::getenv(kAgent);
  std::istringstream text(given == nullptr ? "ssh -o BatchMode=yes -o ConnectTimeout=10" : given);
  std::vector<std::string> words;
  for (std::string word; text >> word && word != ":";) words.push_back(word);
  return words;
}

std::string reason_of(const race::Child& child) {
  if (!child.ended()) return fmt::format("no answer within {} s", kPatience / std::chrono::seconds(1));
  const std::vector<std::string> words = child.last_words();
  return words.empty() ? child.how_it_ended() : words.back();
}

}  // namespace

std::string unreachable_of(const std::vector<std::string>& hosts) {
  const std::vector<std::string> agent = agent_words();
  std::map<std::string, std::unique_ptr<race::Child>> tries;
  for (const std::string& host : hosts) {
    if (host == host_name() || agent.empty()) continue;
    std::vector<std::string> words = agent;
    words.insert(words.end(), {host, "true"});
    auto made = std::make_unique<race::Child>(race::ChildCommand{.program = agent.front(), .words = words});
    tries.emplace(host, std::move(made));
  }
  const Time deadline = Clock::now() + kPatience;
  std::vector<std::string> sentences;
  for (const auto& [host, child] : tries) {
    for (race::Child* const waited = child.get(); !child->ended() && Clock::now() < deadline;)
      race::Child::wait_any({&waited, 1}, -1, deadline);
    if (child->exit_code() != 0)
      sentences.push_back(fmt::format("host {} cannot be reached ({} {} true: {})", host, join(agent, " "),
                                      host, reason_of(*child)));
  }
  return join(sentences, "; ");
}

}  // namespace joust
