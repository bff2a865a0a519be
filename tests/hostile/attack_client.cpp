// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>

#include "conformance/resources.hpp"
#include "conformance/running.hpp"
#include "hostile/attack.hpp"
#include "hostile/crowd.hpp"
#include "hostile/strict_service.hpp"
#include "hostile/watchdog.hpp"
#include "load/run.hpp"
#include "net/listener.hpp"
#include "protocols/table.hpp"

namespace joust::hostile {
namespace {

using std::chrono::milliseconds;

constexpr int kAccepts = 16;         // in one turn
constexpr std::uint64_t kTurns = 8;  // with accepting, or without

LoadPlan plan_of(const Setting& setting) {
  Chance chance(setting.seed, ~std::uint64_t{0});
  LoadPlan plan{.connections = setting.at_once, .messages = chance.size(50), .depth = chance.size(8)};
  plan.request_timeout = chance.pick<Duration>({milliseconds(50), milliseconds(300)});
  return plan;
}

// One client side and the server it has come to.
class ClientAttack {
 public:
  ClientAttack(const Setting& setting, Findings& findings)
      : setting_(setting),
        findings_(findings),
        watchdog_(setting.replay() + ": " + setting.text()),
        load_(plan_of(setting)),
        inner_(client_of(setting, load_)),
        service_(*inner_, findings),
        listener_(conformance::endpoint_of(setting.unix_socket ? conformance::unix_address() : "127.0.0.1:0"),
                  {.backlog = setting.seed % 4 == 0 ? 1 : 4096}),
        target_("the hostile server", {conformance::endpoint_of(listener_.address())}, setting.socket),
        run_(setting.variant, setting.limits,
             {.service = service_, .target = &target_, .dials = load_.plan().connections}),
        crowd_({setting.protocol, setting.seed, setting.appetite}) {}

  void run();

 private:
  static std::unique_ptr<Service> client_of(const Setting& setting, LoadRun& load) {
    const std::vector<Protocol> all = builtin_protocols();
    return std::ranges::find(all, setting.protocol, &Protocol::name)->make_client(setting.parameters, load);
  }
  void turn();
  void check_books();

  const Setting& setting_;
  Findings& findings_;
  Watchdog watchdog_;
  LoadRun load_;
  std::unique_ptr<Service> inner_;
  StrictService service_;
  Listener listener_;
  Target target_;
  conformance::Run run_;
  Crowd crowd_;
  std::uint64_t turns_ = 0;
};

// Accepts some of those who wait; and for a quarter of the time nobody.
void ClientAttack::turn() {
  const bool accepts = ++turns_ / kTurns % 4 != 3;
  if (!crowd_.turn(accepts ? listener_.fd() : -1)) return;
  for (int i = 0; i < kAccepts; ++i) {
    Fd socket(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) return;
    crowd_.add(std::move(socket));
  }
}

void ClientAttack::run() {
  watchdog_.phase("load");
  const bool stopped_early = setting_.stop_after < setting_.lives;
  const std::uint64_t last = setting_.stop_after % load_.plan().connections;
  while (!run_.over_within({}) && (!stopped_early || crowd_.begun() < last)) turn();
  watchdog_.phase("stop");
  run_.stop().request();
  if (setting_.second_stop) run_.stop().request();
  while (!run_.over_within({})) turn();
  try {
    run_.wait();
  } catch (const std::exception& error) {
    findings_.add(fmt::format("run() threw: {}", error.what()));
  }
  check_books();
}

void ClientAttack::check_books() {
  const auto expect = [this](bool kept, std::string what) {
    if (!kept) findings_.add(std::move(what));
  };
  const Tally& tally = run_.tally();
  const Recorder::Counts counts = load_.recorder().counts();
  expect(service_.alive() == 0, fmt::format("{} sessions left alive by run()", service_.alive()));
  expect(tally.opened == service_.opened(), fmt::format("{} connections counted as opened, {} sessions",
                                                        tally.opened.load(), service_.opened()));
  expect(setting_.balances(tally.sent, service_.consumed()),
         fmt::format("{} bytes counted as sent, {} consumed", tally.sent.load(), service_.consumed()));
  expect(service_.opened() + service_.refused() <= load_.plan().connections,
         fmt::format("{} opened and {} refused of {}", service_.opened(), service_.refused(),
                     load_.plan().connections));
  // A second stop, or the end of a short drain, breaks connections off wherever they are: what was in flight
  // there is not counted.
  const std::uint64_t settled = counts.verified + counts.failed + counts.in_flight;
  const bool broken_off = run_.stop().at_once() || setting_.limits.drain < milliseconds(300);
  expect(broken_off ? counts.sent >= settled : counts.sent == settled,
         fmt::format("{} sent, {} verified, {} failed, {} in flight", counts.sent, counts.verified,
                     counts.failed, counts.in_flight));
  expect(setting_.appetite.answers || counts.verified == 0,
         fmt::format("{} replies verified that nobody has given", counts.verified));
}

}  // namespace

std::vector<std::string> attack_client(const Setting& setting) {
  Findings findings;
  conformance::let_library_begin(setting.variant);
  const auto before = conformance::Resources::now();
  ClientAttack(setting, findings).run();
  for (std::string& left : before.not_back()) findings.add(std::move(left));
  return findings.all();
}

std::vector<std::string> attack(const Setting& setting) {
  return setting.role == Role::serve ? attack_server(setting) : attack_client(setting);
}

}  // namespace joust::hostile
