// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>

#include "joust/outbox.hpp"
#include "secure/guarded_session.hpp"

namespace joust {

class ChallengeSession;

// The key of both sides for a proof without TLS.
class Challenge {
 public:
  using GuardSession = ChallengeSession;

  Challenge(GuardSide of, const Token& token) : side(of), key(token.key_for("joust challenge")) {}

  const GuardSide side;
  const Token::Key key;
};

// A session behind a mutual proof that both sides know the token. Nothing is encrypted: whoever is on the way
// reads and changes what comes after the proof. All sizes are fixed, so there is nothing to decode:
//
//     client:  "joust token 1\n" and 32 random bytes
//     server:  32 random bytes and a proof (HMAC-SHA-256 over its name and the random bytes of both)
//     client:  a proof
//
// To anything else the server answers with its greeting and ends, so that a client learns what it lacks.
// Afterwards the bytes of the inner session pass as they are, those of files by the engine's own ways.
class ChallengeSession : public GuardedSession, private SessionFiles {
 public:
  // The challenge and the service are borrowed.
  ChallengeSession(const Challenge& challenge, Service& service, const Opening& opening)
      : GuardedSession(service, opening), challenge_(challenge) {}

  void on_open(Time now) override;
  std::size_t on_bytes(Bytes chunk, Time now) override;
  void on_peer_finished(Time now) override;

  std::size_t output(std::span<Segment> into) const override;
  Want want() const override { return is_open() && !over() ? inner().want() : Want::bytes; }
  SessionFiles* files() override { return this; }
  bool finished() const override { return over() || (is_open() && inner().finished()); }
  void consumed(std::size_t n) override;
  void released(std::size_t n) override;

 private:
  static constexpr std::size_t kRandom = 32, kProof = 32;
  using Random = std::array<std::byte, kRandom>;

  FileRange store() const override { return inner().files()->store(); }
  void on_stored(std::size_t n, Bytes seen, Time now) override { inner().files()->on_stored(n, seen, now); }
  void on_store_failed(int error, Time now) override { inner().files()->on_store_failed(error, now); }
  void on_source_failed(int error, Time now) override { inner().files()->on_source_failed(error, now); }

  void proceed(Time) override {}
  bool is_server() const { return challenge_.side == GuardSide::server; }
  std::size_t awaited() const;
  bool is_greeted() const;
  void take(Time now);
  void peer_left(Time now);
  Token::Key proof_of(GuardSide side) const;
  void expect_proof(Bytes proof, GuardSide of, Time now);

  const Challenge& challenge_;
  Random own_{}, others_{};
  bool answered_ = false;  // a server's proof is in the output
  std::array<std::byte, 64> held_{};
  std::size_t held_size_ = 0;   // of the message that is awaited
  Outbox out_;                  // of the proof
  std::size_t unreleased_ = 0;  // bytes of out_
};

}  // namespace joust
