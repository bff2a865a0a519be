// SPDX-License-Identifier: MIT
//
// The handshake of TLS. Nobody who only plays back what was said to others may be let in.
#include <memory>

#include "fuzz/corpus.hpp"
#include "fuzz/cuts.hpp"
#include "fuzz/entries.hpp"
#include "joust/outbox.hpp"
#include "secure/guard.hpp"
#include "session/listening.hpp"

namespace joust::fuzz {
namespace {

const Token& known_token() {
  static const Token token("00112233445566778899aabbccddeeff");
  return token;
}

// Counts who was let in.
class Inside : public Service {
 public:
  std::unique_ptr<Session> open(const ConnectionInfo&) override {
    class Idle : public joust::test::Listening {
      std::size_t on_bytes(Bytes chunk, Time) override { return chunk.size(); }
    };
    ++let_in;
    return std::make_unique<Idle>();
  }
  unsigned let_in = 0;
};

// What the session has to say now, which it is told was sent.
std::string said_by(Session& session) {
  std::string all;
  for (Segment segment; session.output({&segment, 1}) > 0;) {
    all += as_text(segment.bytes);
    const std::size_t size = segment.size();
    session.consumed(size);
    session.released(size);
  }
  return all;
}

template <GuardSide kSide>
class Stranger {
 public:
  Stranger() { session_->on_open(now_); }
  void take(Bytes piece) {
    while (!piece.empty() && !session_->finished()) {
      const std::size_t taken = session_->on_bytes(piece, now_);
      said_by(*session_);
      if (taken == 0) break;
      piece = piece.subspan(taken);
    }
  }
  // What it answers is random, and its length may depend on where it has given up.
  std::string heard() const { return std::string(session_->complaint()); }
  std::string wrong() const { return inside_.let_in > 0 ? "a stranger was let in" : ""; }

 private:
  const Time now_{std::chrono::hours(1)};
  Inside inside_;
  std::unique_ptr<Service> service_ = inside_tls(inside_, kSide, known_token());
  std::unique_ptr<Session> session_ = service_->open({});
};

// A whole handshake as each side has said it, once with the right token.
void add_talk(char first, std::vector<std::string>& corpus) {
  const Time now{std::chrono::hours(1)};
  Inside inside;
  const auto server_side = inside_tls(inside, GuardSide::server, known_token());
  const auto client_side = inside_tls(inside, GuardSide::client, known_token());
  const auto server = server_side->open({}), client = client_side->open({});
  server->on_open(now), client->on_open(now);
  std::string from_client(1, first), from_server(1, first);
  for (int round = 0; round < 4; ++round) {
    const std::string asked = said_by(*client);
    if (!asked.empty()) server->on_bytes(as_bytes(asked), now);
    const std::string answered = said_by(*server);
    if (!answered.empty()) client->on_bytes(as_bytes(answered), now);
    from_client += asked, from_server += answered;
  }
  corpus.push_back(from_client);
  corpus.push_back(from_server);
}

}  // namespace

std::vector<std::string> handshake_corpus() {
  std::vector<std::string> corpus{"a",
                                  std::string("b") + std::string("\x16\x03\x01\x00\x04\x01\x02\x01\x44", 9),
                                  "cGET / HTTP/1.1\r\nHost: a\r\n\r\n"};
  add_talk('d', corpus);
  return corpus;
}

std::string tls_server(Bytes input) {
  return compare<Stranger<GuardSide::server>>(input);
}

std::string tls_client(Bytes input) {
  return compare<Stranger<GuardSide::client>>(input);
}

}  // namespace joust::fuzz
