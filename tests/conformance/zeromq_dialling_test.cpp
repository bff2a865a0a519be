// SPDX-License-Identifier: MIT
//
// Clients on ZeroMQ and addresses where no server is.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <vector>

#include "base/check.hpp"
#include "base/system/sockets.hpp"
#include "conformance/services.hpp"
#include "conformance/zeromq_server.hpp"
#include "conformance/zmtp.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

class ZeroMqDialling : public EngineTest {};
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

}  // namespace
}  // namespace joust::conformance
