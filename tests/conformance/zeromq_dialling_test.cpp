// SPDX-License-Identifier: MIT
//
// Clients on ZeroMQ and addresses where no server is.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/check.hpp"
#include "base/system/sockets.hpp"
#include "conformance/resources.hpp"
#include "conformance/services.hpp"
#include "conformance/zeromq_server.hpp"
#include "conformance/zmtp.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

class ZeroMqDialling : public EngineTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ZeroMqDialling);  // in a build without ZeroMQ
INSTANTIATE_TEST_SUITE_P(Engines, ZeroMqDialling, testing::ValuesIn(variants_over_streams(Role::dial)),
                         [](const auto& tested) { return tested.param.name; });

// A listener whose queue is full: the kernel answers no further connect.
class FullListener {
 public:
  FullListener() : socket_(stream_socket(AF_INET, 0)) {
    const Endpoint any = endpoint_of("127.0.0.1:0");
    checked(::bind(socket_.get(), any.raw(), any.size), "bind()");
    checked(::listen(socket_.get(), 0), "listen()");
    for (int i = 0; i < 4; ++i) queued_.push_back(begin_connect(own()));
  }
  Endpoint own() const { return name_of(socket_.get()); }

 private:
  Fd socket_;
  std::vector<Fd> queued_;
};

TEST_P(ZeroMqDialling, AnAddressThatAnswersNoConnectIsNotSaidToAcceptThem) {
  const FullListener full;
  EchoService nothing;
  Limits limits = brisk();
  limits.connect = milliseconds(1'500);
  Dialling dialling(GetParam(), nothing, {full.own()}, 8, limits);
  dialling.run().wait();
  EXPECT_EQ(dialling.tally().failures(Stage::connect), 8U);
  for (const std::string& note : dialling.tally().notes())
    EXPECT_EQ(note.find("accepts connections"), std::string::npos) << note;
}

// The first session leaves one descriptor, and gives back the others a moment later.
class LastDescriptor : public Service {
 public:
  class Opened : public Session {
   public:
    explicit Opened(LastDescriptor& shared) : shared_(shared) {}
    void on_open(Time now) override {
      if (shared_.opened++ == 0) shared_.few_.take_all(1);
      ends_at_ = now + milliseconds(100);
    }
    std::size_t on_bytes(Bytes chunk, Time /*now*/) override { return chunk.size(); }
    void on_deadline(Time /*now*/) override {
      shared_.few_.free_all();
      ends_at_.reset();
    }
    void on_drain(Time /*now*/) override {}
    std::size_t output(std::span<Segment> /*into*/) const override { return 0; }
    Want want() const override { return Want::bytes; }
    bool finished() const override { return !ends_at_; }
    std::optional<Time> deadline() const override { return ends_at_; }
    void consumed(std::size_t /*n*/) override {}
    void released(std::size_t /*n*/) override {}

   private:
    LastDescriptor& shared_;
    std::optional<Time> ends_at_;
  };
  std::unique_ptr<Session> open(const ConnectionInfo& /*info*/) override {
    return std::make_unique<Opened>(*this);
  }
  unsigned opened = 0;

 private:
  FewDescriptors few_;
};

// The library refuses a socket then, and what the loop has begun for the connection ends.
TEST_P(ZeroMqDialling, WithTheLastDescriptorFailsAlone) {
  if (GetParam().options.threads > 1) GTEST_SKIP() << "the loops dial at the same time";
  EchoService echo;
  Server server(variants_over_streams(Role::serve).front(), echo);
  LastDescriptor service;
  Limits limits = brisk();
  limits.dials_at_once = 1;
  Dialling dialling(GetParam(), service, {server.endpoint()}, 3, limits);
  dialling.run().wait();
  EXPECT_EQ(service.opened, 1U);
  EXPECT_EQ(dialling.tally().failures(), 2U);
  for (const std::string& complaint : dialling.tally().complaints())
    EXPECT_NE(complaint.find("Too many open files"), std::string::npos) << complaint;
}

}  // namespace
}  // namespace joust::conformance
