// SPDX-License-Identifier: MIT
#include "secure/challenge_session.hpp"

#include <algorithm>

#include "secure/first_bytes.hpp"

namespace joust {
namespace {

constexpr std::string_view kNoProof =
    "the server does not prove that it knows the token: was it started with one?";

}  // namespace

void ChallengeSession::on_open(Time now) {
  fill_randomly(own_);
  if (!is_server()) {
    out_.append(kChallengeGreeting);
    out_.append(own_);
  }
  GuardedSession::on_open(now);
}

// The size of the next message of the proof.
std::size_t ChallengeSession::awaited() const {
  if (!is_server()) return kRandom + kProof;
  return answered_ ? kProof : kChallengeGreeting.size() + kRandom;
}

std::size_t ChallengeSession::on_bytes(Bytes chunk, Time now) {
  if (over()) return chunk.size();
  if (is_open()) return inner().on_bytes(chunk, now);
  const Bytes part = chunk.first(std::min(chunk.size(), awaited() - held_size_));
  std::ranges::copy(part, held_.begin() + static_cast<std::ptrdiff_t>(held_size_));
  held_size_ += part.size();
  if (is_server() && !answered_ && !is_greeted()) {
    out_.append(kChallengeGreeting);
    fail("the peer does not begin with a proof that it knows the token", now);
  } else if (held_size_ == awaited()) {
    take(now);
  }
  const Bytes rest = chunk.subspan(part.size());
  return part.size() + (rest.empty() || want() != Want::bytes ? 0 : on_bytes(rest, now));
}

// As far as its bytes have come.
bool ChallengeSession::is_greeted() const {
  const std::string_view come = as_text(Bytes(held_).first(held_size_));
  return kChallengeGreeting.starts_with(come.substr(0, kChallengeGreeting.size()));
}

void ChallengeSession::take(Time now) {
  const Bytes message = Bytes(held_).first(held_size_);
  held_size_ = 0;
  if (!is_server()) {
    std::ranges::copy(message.first(kRandom), others_.begin());
    return expect_proof(message.subspan(kRandom), GuardSide::server, now);
  }
  if (answered_) return expect_proof(message, GuardSide::client, now);
  std::ranges::copy(message.subspan(kChallengeGreeting.size()), others_.begin());
  answered_ = true;
  out_.append(own_);
  out_.append(proof_of(GuardSide::server));
}

Token::Key ChallengeSession::proof_of(GuardSide side) const {
  const Random& clients = is_server() ? others_ : own_;
  const Random& servers = is_server() ? own_ : others_;
  const std::string_view name = side == GuardSide::server ? "server" : "client";
  return authenticated(challenge_.key, {as_bytes(name), clients, servers});
}

// A server of another protocol may say more than a proof has.
void ChallengeSession::expect_proof(Bytes proof, GuardSide of, Time now) {
  if (!are_equal(proof, proof_of(of)))
    return fail(!is_server() && is_text(others_) ? std::string(kNoProof)
                                                 : "the peer does not know the token: the tokens differ",
                now);
  if (!is_server()) out_.append(proof_of(GuardSide::client));
  let_in(now);
}

void ChallengeSession::on_peer_finished(Time now) {
  if (is_open()) return inner().on_peer_finished(now);
  peer_left(now);
}

// A server that has said something has refused what it got. One that has not may be full, or about to end.
void ChallengeSession::peer_left(Time now) {
  const Bytes said = Bytes(held_).first(held_size_);
  if (is_server() || said.empty())
    return fail("the peer left before it had proven that it knows the token", now, Stage::receive);
  fail(begins_alert(said) ? "the server speaks TLS: leave out --tls off here, or say it there too"
                          : std::string(kNoProof),
       now);
}

std::size_t ChallengeSession::output(std::span<Segment> into) const {
  if (!out_.empty()) return out_.segments(into);
  return is_open() && !over() ? inner().output(into) : 0;
}

void ChallengeSession::consumed(std::size_t n) {
  const std::size_t own = std::min(n, out_.size());
  out_.consumed(own);
  unreleased_ += own;
  if (n > own) inner().consumed(n - own);
}

void ChallengeSession::released(std::size_t n) {
  const std::size_t own = std::min(n, unreleased_);
  out_.released(own);
  unreleased_ -= own;
  if (n > own) inner().released(n - own);
}

}  // namespace joust
