// SPDX-License-Identifier: MIT
//
// The server side of work.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/units.hpp"
#include "protocols/work/messages.hpp"
#include "protocols/work/protocol.hpp"
#include "session/handler_session.hpp"
#include "session/message_wise.hpp"

namespace joust {
namespace {

// Each round is a multiplication and an addition that wait for those before, so a round takes as long as
// these, three or four cycles. An empty loop takes as long as its jump, and on processors that predict two in
// a cycle its speed depends on where the loop and all else of the program lie: two servers of one program,
// started one after the other, would differ by 5 %.
[[gnu::noinline]] void go_round(std::uint64_t rounds) {
  std::uint64_t value = rounds;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    value = value * 6364136223846793005U + 1;
    asm volatile("" : "+r"(value));  // computed in each round, whoever reads it
  }
}

}  // namespace

double busy_loop_rounds_per_us() {
  constexpr int kTrials = 50;
  std::uint64_t rounds = 400'000;
  asm volatile("" : "+r"(rounds));  // not a constant, for which the compiler might make a function of its own
  std::chrono::duration<double, std::micro> shortest = std::chrono::hours(1);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Time begun = Clock::now();
    go_round(rounds);
    shortest = std::min<decltype(shortest)>(shortest, Clock::now() - begun);
  }
  return static_cast<double>(rounds) / shortest.count();
}

void BusyLoop::spend(Duration time) const {
  go_round(
      static_cast<std::uint64_t>(std::chrono::duration<double, std::micro>(time).count() * rounds_per_us_));
}

}  // namespace joust

namespace joust::work {
namespace {

// The rules that all connections of a server share.
struct JobRules {
  explicit JobRules(const WorkRules& rules)
      : work(rules),
        too_long(fmt::format("a workload takes longer than the {} that --most-work allows",
                             format_duration(rules.most))) {
    if (!work.computes()) return;
    const auto given = static_cast<double>(work.rounds_per_us);
    loop.emplace(given > 0 ? given : busy_loop_rounds_per_us());
  }

  const WorkRules work;
  const std::string too_long;  // the complaint
  std::optional<BusyLoop> loop;
};

class JobHandler : public Handler {
 public:
  explicit JobHandler(const JobRules& rules) : rules_(rules) {}

  bool on_message(Bytes message, Writer& replies) override {
    const Parsed parsed = parse(message);
    if (const auto* wrong = std::get_if<std::string_view>(&parsed)) return refuse(*wrong);
    if (const auto* request = std::get_if<JobRequest>(&parsed)) return work_on(*request, replies);
    return refuse("a WorkResponse was sent to a server");
  }
  Duration delay() const override { return delay_; }
  Duration spent() const override { return spent_; }
  std::string_view complaint() const override { return complaint_; }

 private:
  bool work_on(const JobRequest& request, Writer& replies) {
    const Duration unit = rules_.work.time;
    if (request.workload < 0) return refuse("a workload is negative");
    if (unit > Duration::zero() && request.workload > rules_.work.most / unit) return refuse(rules_.too_long);
    const Duration time = request.workload * unit;
    if (rules_.loop)
      rules_.loop->spend(spent_ = time);
    else
      delay_ = time;
    Room room;
    replies.send(serialize(JobResponse{request.job_id, true}, room));
    return true;
  }

  bool refuse(std::string_view complaint) {
    complaint_ = complaint;
    delay_ = spent_ = {};
    return false;
  }

  const JobRules& rules_;
  Duration delay_{};
  Duration spent_{};
  std::string_view complaint_;
};

class WorkServer : public HandlerService {
 public:
  explicit WorkServer(std::unique_ptr<const JobRules> rules)
      : HandlerService(kFraming, [&rules = *rules] { return std::make_unique<JobHandler>(rules); }),
        rules_(std::move(rules)) {}

 private:
  const std::unique_ptr<const JobRules> rules_;
};

}  // namespace

std::unique_ptr<Service> make_server(const Parameters& parameters) {
  auto server = std::make_unique<WorkServer>(std::make_unique<const JobRules>(work_rules(parameters)));
  if (in_two_writes(parameters)) return std::make_unique<LengthFirstService>(std::move(server));
  return server;
}

}  // namespace joust::work
