// SPDX-License-Identifier: MIT
#include "hosting/mismatch.hpp"

#include <gtest/gtest.h>

namespace joust {
namespace {

constexpr Engine kStream{.name = "stream", .summary = {}, .threads = {}, .wait_ignored = {}, .knobs = {}};
constexpr Engine kMessages{.name = "messages",
                           .summary = {},
                           .delivery = Delivery::Kind::message,
                           .threads = {},
                           .wait_ignored = {},
                           .knobs = {}};
constexpr Engine kProcesses{.name = "processes",
                            .summary = {},
                            .separate_processes = true,
                            .threads = {},
                            .wait_ignored = {},
                            .knobs = {}};

Protocol protocol(bool over_stream, bool over_message, bool stands_alone) {
  Protocol protocol;
  protocol.over_stream = over_stream;
  protocol.over_message = over_message;
  protocol.sessions_stand_alone = stands_alone;
  return protocol;
}

TEST(Mismatch, IsNoneWhereTheEngineCarriesWhatTheProtocolNeeds) {
  for (const Engine* engine : {&kStream, &kMessages, &kProcesses})
    EXPECT_EQ(mismatch(*engine, protocol(true, true, true), Role::serve), "");
  EXPECT_EQ(mismatch(kStream, protocol(true, false, false), Role::serve), "");
  EXPECT_EQ(mismatch(kMessages, protocol(false, true, false), Role::serve), "");
}

TEST(Mismatch, IsADeliveryTheProtocolCannotUse) {
  EXPECT_EQ(mismatch(kStream, protocol(false, true, true), Role::serve),
            "unsupported: the engine carries a stream, and the protocol needs whole messages");
  EXPECT_EQ(mismatch(kMessages, protocol(true, false, true), Role::serve),
            "unsupported: the engine carries messages, and the protocol needs a stream");
}

TEST(Mismatch, IsProcessesBetweenSessionsThatNeedEachOther) {
  EXPECT_EQ(mismatch(kProcesses, protocol(true, true, false), Role::serve),
            "unsupported: sessions live in different processes");
  EXPECT_EQ(mismatch(kProcesses, protocol(true, true, false), Role::dial), "") << "a load is one process";
}

}  // namespace
}  // namespace joust
