// SPDX-License-Identifier: MIT
#include "transfer/transfer_session.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "session/least_rate.hpp"

namespace joust::transfer {
namespace {

constexpr Duration kLongestSilence = std::chrono::seconds(30);  // a server at work says so every second

}  // namespace

std::string words_of(const std::string& name, const FileRefusal& refusal) {
  std::string words = fmt::format("{}: the server says: {}", printable(name), error_name(refusal.error));
  if (!refusal.text.empty()) words += " (" + printable(refusal.text) + ")";
  return words;
}

void TransferSession::on_open(Time now) {
  last_sign_ = now;
  transfer_.connected();
  conclude(now);
}

Want TransferSession::want() const {
  if (finished_) return Want::nothing;
  return data_left_ > 0 ? Want::file : Want::bytes;
}

std::size_t TransferSession::on_bytes(Bytes chunk, Time now) {
  last_sign_ = now;
  std::size_t taken = 0;
  while (taken < chunk.size() && want() == Want::bytes) {
    const auto step = decoder_.next(chunk.subspan(taken));
    if (!step) {
      lose("not the file protocol: " + step.error().refusal.text, now);
      break;
    }
    taken += step->taken;
    if (step->message) take(*step->message, now);
  }
  conclude(now);
  return finished_ ? chunk.size() : taken;
}

void TransferSession::on_published(Time now) {
  conclude(now);
}

void TransferSession::on_peer_finished(Time now) {
  if (!finished_) lose({Stage::receive, 0, "the server closed the connection"}, now);
}

void TransferSession::on_failure(const Failure& failure, Time now) {
  if (!finished_) lose(failure, now);
}

void TransferSession::on_deadline(Time now) {
  if (std::exchange(sent_, false)) last_sign_ = now;
  if (!finished_ && busy() && now >= last_sign_ + kLongestSilence)
    lose({Stage::timeout, 0, "nothing moved for " + format_duration(kLongestSilence)}, now);
  conclude(now);
}

// What was begun can be gone on with later: the connection ends at once.
void TransferSession::on_drain(Time /*now*/) {
  if (finished_) return;
  finished_ = gives_up_ = true;
  give_back_work();
}

void TransferSession::lose(const Failure& failure, Time now) {
  if (finished_) return;
  const bool idle = !busy();
  finished_ = gives_up_ = true;
  data_left_ = 0;
  give_back_work();
  transfer_.lost(failure, idle, now);
  transfer_.announce();  // the others may take what it had
}

void TransferSession::consumed(std::size_t n) {
  outgoing_.consumed(n);
  sent_ = true;
  if (!finished_) more_room(n);
}

void TransferSession::conclude(Time now) {
  if (!finished_ && !transfer_.over()) proceed(now);
  if (!transfer_.over() || finished_) return;
  finished_ = true;
  give_back_work();
}

std::optional<Time> TransferSession::deadline() const {
  if (finished_) return std::nullopt;
  return earlier(due(), busy() ? std::optional(last_sign_ + kLongestSilence) : std::nullopt);
}

}  // namespace joust::transfer
