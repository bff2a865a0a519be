// SPDX-License-Identifier: MIT
//
// Both sides of work, joined in memory under virtual time.
#include <functional>
#include <optional>
#include <vector>

#include "load/run.hpp"
#include "protocols/work/protocol.hpp"
#include "protocols/work_fixture.hpp"
#include "session/allocations.hpp"
#include "session/handler_session.hpp"
#include "session/pair.hpp"

namespace joust::work::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class WorkLoad : public testing::Test {
 protected:
  void load(const LoadPlan& plan, const Settings& options, std::unique_ptr<Service> answering) {
    run_.emplace(plan);
    server_ = std::move(answering);
    client_ = protocol().make_client(parameters(Role::dial, options), *run_);
  }
  std::unique_ptr<Pair> pair(Pair::Cut cut = Pair::whole) {
    return std::make_unique<Pair>(client_->open({}), server_->open({}), std::move(cut));
  }

  std::optional<LoadRun> run_;
  std::unique_ptr<Service> server_, client_;
};

TEST_F(WorkLoad, IsAnsweredWithAllOptions) {
  for (const char* writes : {"one", "two"})
    for (const char* kind : {"busy", "sleep"})
      for (const Pair::Cut& cut : {Pair::Cut(Pair::whole), Pair::Cut(Pair::single)}) {
        load({.messages = 100, .depth = 3}, {{"writes", writes}, {"workload", "2"}},
             server({{"writes", writes}, {"work", "1us"}, {"work-kind", kind}}));
        const auto both = pair(cut);
        both->pass(seconds(1));
        EXPECT_TRUE(both->over());
        EXPECT_EQ(run_->recorder().counts().verified, 100U);
        EXPECT_EQ(run_->recorder().counts().failed, 0U);
      }
}

// One request at a time, and three at a time that sleep together.
TEST_F(WorkLoad, AsleepTakesItsTimeForEachRequestOfAConnection) {
  for (const std::uint64_t depth : {1U, 3U}) {
    load({.messages = 30, .depth = depth}, {{"workload", "3"}},
         server({{"work", "5ms"}, {"work-kind", "sleep"}}));
    const auto both = pair();
    const Time begun = both->now();
    for (; !both->left().finished() && both->now() < begun + seconds(10);) both->pass(milliseconds(1));
    EXPECT_EQ(both->now() - begun, milliseconds(450) / static_cast<int>(depth));
  }
}

// A server that answers as it is told.
class TellingHandler : public Handler {
 public:
  using Tell = std::function<std::string(const JobRequest&)>;
  explicit TellingHandler(Tell tell) : tell_(std::move(tell)) {}
  bool on_message(Bytes message, Writer& replies) override {
    replies.send(tell_(std::get<JobRequest>(parse(message))));
    return true;
  }

 private:
  Tell tell_;
};

template <typename Message>
std::string text_of(const Message& message) {
  Room room;
  return std::string(as_text(serialize(message, room)));
}

TEST_F(WorkLoad, DetectsWrongResponses) {
  const auto fails = [this](const TellingHandler::Tell& tell, const std::string& why) {
    SCOPED_TRACE(why);
    load({.messages = 3}, {}, std::make_unique<HandlerService>(kFraming, [tell] {
           return std::make_unique<TellingHandler>(tell);
         }));
    pair()->pass(seconds(1));
    EXPECT_EQ(run_->recorder().counts().verified, 0U);
    ASSERT_EQ(run_->complaints().size(), 1U);
    EXPECT_TRUE(run_->complaints()[0].starts_with("verify: request 0 of connection 0: " + why + "; "))
        << run_->complaints()[0];
  };
  fails(
      [](const JobRequest& job) {
        return text_of(JobResponse{job.job_id + 1, true});
      },
      "a response is of another job");
  fails(
      [](const JobRequest& job) {
        return text_of(JobResponse{job.job_id, false});
      },
      "a job is not complete");
  fails([](const JobRequest& job) { return text_of(job); }, "a WorkRequest was sent to a client");
  fails([](const JobRequest&) { return std::string("\xff"); }, "a frame does not contain a WorkMessage");
  fails([](const JobRequest&) { return std::string(); }, "a WorkMessage is neither a request nor a response");
  fails([](const JobRequest&) { return std::string(257, 'x'); },
        "a frame is longer than the protocol allows");
}

TEST_F(WorkLoad, ConnectionsHaveDifferentJobs) {
  std::vector<std::uint32_t> jobs;
  load({.connections = 500, .messages = 4}, {}, std::make_unique<HandlerService>(kFraming, [&jobs] {
         return std::make_unique<TellingHandler>([&jobs](const JobRequest& job) {
           jobs.push_back(job.job_id);
           return text_of(JobResponse{job.job_id, true});
         });
       }));
  std::vector<std::unique_ptr<Pair>> pairs;
  while (pairs.size() < 500) pairs.push_back(pair());
  for (const auto& each : pairs) each->settle();
  ASSERT_EQ(jobs.size(), 2000U);
  std::ranges::sort(jobs);
  EXPECT_EQ(std::ranges::adjacent_find(jobs), jobs.end());
}

// Moves all that one side shows to the other, without memory of its own.
void carry(Session& from, Session& to, Time now) {
  for (Segment shown; from.output({&shown, 1}) > 0;) {
    const std::size_t taken = to.on_bytes(shown.bytes, now);
    from.consumed(taken);
    from.released(taken);
  }
}

TEST_F(WorkLoad, AllocatesNothingForARequest) {
  for (const char* writes : {"one", "two"})
    for (const char* kind : {"busy", "sleep"}) {
      SCOPED_TRACE(std::string(writes) + " " + kind);
      load({.duration = seconds(100), .depth = 8, .request_timeout = seconds(100)}, {{"writes", writes}},
           server({{"writes", writes}, {"work", "1us"}, {"work-kind", kind}}));
      const auto asking = client_->open({}), answering = server_->open({});
      Time now{seconds(1000)};
      asking->on_open(now);
      answering->on_open(now);
      const auto exchange = [&](std::uint64_t messages) {
        const std::uint64_t until = run_->recorder().counts().verified + messages;
        while (run_->recorder().counts().verified < until) {
          for (Session* session : {asking.get(), answering.get()})
            if (const auto due = session->deadline(); due && *due <= now) session->on_deadline(now);
          carry(*asking, *answering, now);
          carry(*answering, *asking, now);
          now += std::chrono::microseconds(1);
        }
      };
      exchange(1000);  // buffers get their size
      const std::size_t before = allocations();
      exchange(1000);
      EXPECT_EQ(allocations() - before, 0U);
      now += seconds(1000);
      asking->on_deadline(now);
    }
}

}  // namespace
}  // namespace joust::work::test
