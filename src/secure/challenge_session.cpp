// SPDX-License-Identifier: MIT
#include "secure/challenge_session.hpp"

#include <algorithm>
#include <string_view>

namespace joust {
namespace {

constexpr std::string_view kGreeting = "joust token 1\n";

}  // namespace

void ChallengeSession::on_open(Time now) {
  fill_randomly(own_);
  if (!is_server()) {
    out_.append(kGreeting);
    out_.append(own_);
  }
  GuardedSession::on_open(now);
}

// The size of the next message of the proof.
std::size_t ChallengeSession::awaited() const {
  if (!is_server()) return kRandom + kProof;
  return answered_ ? kProof : kGreeting.size() + kRandom;
}

std::size_t ChallengeSession::on_bytes(Bytes chunk, Time now) {
  if (over()) return chunk.size();
  if (is_open()) return inner().on_bytes(chunk, now);
  const Bytes part = chunk.first(std::min(chunk.size(), awaited() - held_size_));
  std::ranges::copy(part, held_.begin() + static_cast<std::ptrdiff_t>(held_size_));
  held_size_ += part.size();
  if (held_size_ == awaited()) take(now);
  const Bytes rest = chunk.subspan(part.size());
  return part.size() + (rest.empty() || want() != Want::bytes ? 0 : on_bytes(rest, now));
}

void ChallengeSession::take(Time now) {
  const Bytes message = Bytes(held_).first(held_size_);
  held_size_ = 0;
  if (!is_server()) {
    std::ranges::copy(message.first(kRandom), others_.begin());
    return expect_proof(message.subspan(kRandom), GuardSide::server, now);
  }
  if (answered_) return expect_proof(message, GuardSide::client, now);
  if (!std::ranges::equal(message.first(kGreeting.size()), as_bytes(kGreeting)))
    return fail("the peer does not begin with a proof that it knows the token", now);
  std::ranges::copy(message.subspan(kGreeting.size()), others_.begin());
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

void ChallengeSession::expect_proof(Bytes proof, GuardSide of, Time now) {
  if (!are_equal(proof, proof_of(of))) return fail("the peer does not know the token", now);
  if (!is_server()) out_.append(proof_of(GuardSide::client));
  let_in(now);
}

void ChallengeSession::on_peer_finished(Time now) {
  if (is_open()) return inner().on_peer_finished(now);
  fail("the peer left before it had proven that it knows the token", now);
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
