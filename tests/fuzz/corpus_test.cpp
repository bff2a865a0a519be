// SPDX-License-Identifier: MIT
//
// What the fuzzers do, for a moment and with any compiler.
#include "fuzz/corpus.hpp"

#include <gtest/gtest.h>

#include <random>

#include "fuzz/cuts.hpp"
#include "fuzz/entries.hpp"

namespace joust::fuzz {
namespace {

struct Target {
  const char* name;
  Entry entry;
  std::vector<std::string> (*corpus)();
  int damaged = 20'000;  // inputs
};

class Fuzzing : public testing::TestWithParam<Target> {};

INSTANTIATE_TEST_SUITE_P(
    Targets, Fuzzing,
    testing::Values(
        Target{"FileFrames", file_frames, file_corpus}, Target{"FileServer", file_server, file_corpus},
        Target{"FileLister", file_lister, listing_corpus},
        Target{"BroadcastFrames", broadcast_frames, broadcast_corpus},
        Target{"BroadcastRoom", broadcast_room, broadcast_corpus},
        Target{"Datagrams", datagrams, datagram_corpus}, Target{"Journals", journals, journal_corpus},
        Target{"RelayFrames", relay_frames, relay_corpus},
        Target{"HostMessages", host_messages, host_message_corpus, 5'000},
        Target{"TlsServer", tls_server, handshake_corpus, 2'000},
        Target{"TlsClient", tls_client, handshake_corpus, 2'000},
        Target{"WorkServer", work_server, work_corpus}, Target{"HttpServer", http_server, http_corpus},
        Target{"HttpClient", http_client, http_corpus, 2'000}, Target{"RespServer", resp_server, resp_corpus},
        Target{"RespClient", resp_client, resp_corpus, 2'000},
        Target{"WebSocketRoom", websocket_room, websocket_room_corpus},
        Target{"WebSocketServer", websocket_server, websocket_corpus},
        Target{"WebSocketClient", websocket_client, websocket_corpus, 2'000},
        Target{"WorkClient", work_client, work_corpus, 2'000}),  // each with the records of a load
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(Fuzzing, HearsTheSameHoweverKnownInputsAreCut) {
  for (std::string input : GetParam().corpus())
    for (int seed = 0; seed < 256; ++seed) {
      input[0] = static_cast<char>(seed);
      ASSERT_EQ(GetParam().entry(as_bytes(input)), "");
    }
}

std::string changed(std::string input, std::minstd_rand& random) {
  for (auto changes = 1 + random() % 4; changes > 0; --changes) {
    const std::size_t at = random() % input.size();
    switch (random() % 4) {
      case 0:
        input[at] = static_cast<char>(random());
        break;
      case 1:
        input[at] = static_cast<char>(random() % 2 ? 0xff : 0);
        break;
      case 2:
        input.insert(at, 1 + random() % 20, static_cast<char>(random()));
        break;
      default:
        input.erase(at, 1 + random() % 20);
    }
    if (input.empty()) input = "x";
  }
  return input;
}

TEST_P(Fuzzing, HearsTheSameOfInputsThatAreDamaged) {
  std::minstd_rand random(20260101);
  const auto corpus = GetParam().corpus();
  for (int i = 0; i < GetParam().damaged; ++i) {
    const std::string input = changed(corpus[random() % corpus.size()], random);
    ASSERT_EQ(GetParam().entry(as_bytes(input)), "") << testing::PrintToString(input);
  }
}

// An oracle that cannot fail is none.
TEST(FuzzingItself, FindsADecoderThatMindsTheCuts) {
  struct Careless {
    void take(Bytes piece) { text += std::to_string(piece.size()); }
    std::string heard() const { return text; }
    static std::string wrong() { return {}; }
    std::string text;
  };
  EXPECT_NE(compare<Careless>(as_bytes("xabc")), "");
}

}  // namespace
}  // namespace joust::fuzz
