// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <list>
#include <thread>

#include "conformance/resources.hpp"
#include "conformance/running.hpp"
#include "hostile/attack.hpp"
#include "hostile/crowd.hpp"
#include "hostile/honest.hpp"
#include "hostile/messages.hpp"
#include "hostile/strict_service.hpp"
#include "hostile/watchdog.hpp"
#include "protocols/table.hpp"
#include "temporary_folder.hpp"

namespace joust::hostile {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<Service> service_of(const Setting& setting) {
  const std::vector<Protocol> all = builtin_protocols();
  return std::ranges::find(all, setting.protocol, &Protocol::name)->make_server(setting.parameters);
}

// One server and all who come to it.
class Attack {
 public:
  Attack(const Setting& setting, Findings& findings)
      : setting_(setting),
        findings_(findings),
        watchdog_(setting.replay() + ": " + setting.text()),
        inner_(service_of(setting)),
        service_(*inner_, findings),
        listener_(conformance::endpoint_of(setting.unix_socket ? conformance::unix_address() : "127.0.0.1:0"),
                  setting.socket),
        circumstances_{setting, conformance::endpoint_of(listener_.address())},
        run_(setting.variant, setting.limits, {.service = service_, .listeners = listeners_}),
        crowd_({setting.protocol, setting.seed, setting.appetite}) {
    for (std::uint64_t i = 0; i < setting.honest; ++i)
      honest_.emplace_back(circumstances_, i, findings, cut_off_);
  }

  void run();

 private:
  void turn();
  void stop();
  void check_books();
  std::uint64_t evicted() const;

  const Setting& setting_;
  Findings& findings_;
  Findings cut_off_;
  Watchdog watchdog_;
  std::unique_ptr<Service> inner_;
  StrictService service_;
  Listener listener_;
  const std::array<Listener*, 1> listeners_{&listener_};
  Circumstances circumstances_;
  conformance::Run run_;
  Crowd crowd_;
  std::list<HonestClient> honest_;
};

void Attack::run() {
  std::vector<std::jthread> clients;
  for (HonestClient& client : honest_) clients.emplace_back([&client] { client.run(); });
  watchdog_.phase("crowd");
  while (crowd_.begun() < setting_.stop_after && !run_.over_within({})) turn();
  // Nobody can be served who does not get in: where there is time, each honest client is waited for.
  watchdog_.phase("honest clients");
  if (setting_.stop_after == setting_.lives && !setting_.idle_is_short())
    for (const HonestClient& client : honest_)
      while (client.answered() == 0 && findings_.all().empty() && cut_off_.all().empty() &&
             !run_.over_within({}))
        turn();
  stop();
  watchdog_.phase("honest clients' end");
  clients.clear();
  check_books();
}

void Attack::turn() {
  while (crowd_.present() < setting_.at_once && crowd_.begun() < setting_.lives)
    crowd_.connect(circumstances_.server, setting_.peer_buffers);
  crowd_.turn();
}

// Peers go on while the engine drains; the second stop comes some turns after the first.
void Attack::stop() {
  watchdog_.phase("first stop");
  if (run_.over_within({})) findings_.add("run() has returned before the stop");
  circumstances_.stopping = true;
  run_.stop().request();
  int turns_left = static_cast<int>(setting_.seed % 8);
  while (!run_.over_within({}) && (!setting_.second_stop || turns_left-- > 0)) turn();
  watchdog_.phase("second stop");
  if (setting_.second_stop) run_.stop().request();
  while (!run_.over_within({})) turn();
  try {
    run_.wait();
  } catch (const std::exception& error) {
    findings_.add(fmt::format("run() threw: {}", error.what()));
  }
}

void Attack::check_books() {
  const Tally& tally = run_.tally();
  const auto expect = [this](bool kept, std::string what) {
    if (!kept) findings_.add(std::move(what));
  };
  // A second stop kills the processes that do not end in time, and their sessions with them.
  const bool may_be_killed = setting_.second_stop && setting_.variant.engine->separate_processes;
  expect(service_.alive() == 0 || may_be_killed,
         fmt::format("{} sessions left alive by run()", service_.alive()));
  expect(tally.opened == service_.opened(), fmt::format("{} connections counted as opened, {} sessions",
                                                        tally.opened.load(), service_.opened()));
  expect(setting_.balances(tally.sent, service_.consumed()),
         fmt::format("{} bytes counted as sent, {} consumed", tally.sent.load(), service_.consumed()));
  expect(tally.failures() <= tally.opened + tally.unopened,
         fmt::format("{} failures of {} connections", tally.failures(), tally.opened + tally.unopened));
  // A member that is behind the room by more than it keeps is put out, and who is idle for too long.
  if (evicted() == 0 && !setting_.idle_is_short())
    for (const std::string& text : cut_off_.all()) findings_.add(text);
  if (findings_.all().empty()) return;
  for (const std::string& complaint : tally.complaints()) findings_.add("the engine says: " + complaint);
}

std::uint64_t Attack::evicted() const {
  for (const ResultGroup& group : inner_->results())
    for (const auto& [name, figure] : group.figures)
      if (name == "evicted") return std::get<std::uint64_t>(figure);
  return 0;
}

// A server that was killed leaves such files behind; one that was stopped does not.
void check_directory(const std::string& root, Findings& findings) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.path().filename().string().starts_with(".joust-"))
      findings.add("left behind: " + entry.path().filename().string());
}

}  // namespace

std::vector<std::string> attack_server(const Setting& setting) {
  Findings findings;
  const test::TemporaryFolder folder;
  Setting placed = setting;
  if (placed.on_disk) placed.parameters.options["root"] = folder.path();
  if (placed.protocol == "http") std::ofstream(folder.file("sample"), std::ios::binary) << sample_text();
  conformance::let_library_begin(setting.variant);
  const auto before = conformance::Resources::now();
  Attack(placed, findings).run();
  for (std::string& left : before.not_back()) findings.add(std::move(left));
  check_directory(folder.path(), findings);
  return findings.all();
}

}  // namespace joust::hostile
