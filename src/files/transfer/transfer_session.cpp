// SPDX-License-Identifier: MIT
#include "files/transfer/transfer_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/text.hpp"
#include "base/units.hpp"
#include "secure/first_bytes.hpp"
#include "session/handler_session.hpp"

namespace joust::transfer {
namespace {

constexpr Duration kLongestSilence = std::chrono::seconds(30);  // a busy server reports that every second
// The patience with a server that has never answered: short, so that a wrong address is noticed soon. Bytes
// that the kernel has taken may be under way for long, so each kSlowBytesPerS of them add a second.
constexpr Duration kFirstAnswer = std::chrono::seconds(10);
constexpr std::uint64_t kSlowBytesPerS = 64 << 10;
constexpr Duration kAnswerBesideOthers = std::chrono::seconds(3);  // if other connections are answered
constexpr std::uint32_t kProbe = UINT32_MAX;                       // its request number; others count from 1
constexpr Duration kLook = std::chrono::milliseconds(100);  // period of looking whether bytes were sent

constexpr std::string_view kStranger =
    "what answers there does not speak the file protocol, as 'receive' does: is it another program, or "
    "another version of joust?";

}  // namespace

std::string words_of(const std::string& name, const FileRefusal& refusal) {
  std::string words = fmt::format("{}: the server says: {}", printable(name), error_name(refusal.error));
  if (!refusal.text.empty()) words += " (" + printable(refusal.text) + ")";
  return words;
}

// A full disk may report that at the sync only, and then it is unknown which bytes it has.
bool is_all_gone(FileError error, bool at_end) {
  return error == FileError::digest_differs || error == FileError::input_output ||
         (at_end && error == FileError::no_space);
}

void TransferSession::on_open(Time now) {
  last_sign_ = looked_ = now;
  transfer_.connected();
  conclude(now);
}

Want TransferSession::want() const {
  if (finished_) return Want::nothing;
  return data_left_ > 0 ? Want::file : Want::bytes;
}

// Recognises a server by its first byte, which is the same in all messages. A foreign peer may send fewer
// bytes than a message has, one by one.
bool TransferSession::is_server(Bytes chunk, Time now) {
  if (is_known_) return true;
  is_known_ = first_.empty() && std::to_integer<std::uint8_t>(chunk.front()) == file::kVersion;
  if (is_known_) {
    transfer_.no_longer_first(this);
    transfer_.heard();
    return true;
  }
  first_ += as_text(chunk.first(std::min(chunk.size(), kBeginsAlert.size() - first_.size())));
  if (!begins_alert(as_bytes(first_)) || first_.size() == kBeginsAlert.size()) lose(stranger(), now);
  return false;
}

Failure TransferSession::stranger() const {
  const std::string_view words =
      begins_alert(as_bytes(first_)) ? "the server speaks TLS: give its token (--token-file)" : kStranger;
  return {Stage::verify, 0, std::string(words)};
}

// A peer that has begun to send something else is a foreign program, whatever ends the connection.
void TransferSession::lose_peer(const Failure& failure, Time now) {
  if (!finished_) lose(first_.empty() ? failure : stranger(), now);
}

std::size_t TransferSession::on_bytes(Bytes chunk, Time now) {
  last_sign_ = now;
  if (!chunk.empty() && !finished_ && !is_server(chunk, now)) return chunk.size();
  std::size_t taken = 0;
  while (taken < chunk.size() && want() == Want::bytes) {
    const auto step = decoder_.next(chunk.subspan(taken));
    if (!step) {
      take_wrong_frame(step.error().refusal, now);
      break;
    }
    taken += step->taken;
    if (!step->message) continue;
    if (const auto* error = std::get_if<file::Error>(&step->message->body)) take_refusal(error->refusal, now);
    if (finished_) break;
    const bool of_probe = step->message->request == kProbe && probe_ == Probe::sent;
    of_probe ? take_probe_answer(*step->message, now) : take(*step->message, now);
    if (!finished_) transfer_.answered();
  }
  conclude(now);
  return finished_ ? chunk.size() : taken;
}

// Asks a question on a connection without work, to learn whether it is accepted. The answer takes little
// time: it arrives together with the answer on the first connection.
void TransferSession::probe() {
  if (is_known_ || probe_ != Probe::none) return;
  probe_ = Probe::sent;
  queue_.message({kProbe, file::Query{any_name(), false}});
}

void TransferSession::take_probe_answer(const file::Message& message, Time now) {
  if (std::holds_alternative<file::Working>(message.body)) return;
  probe_ = Probe::answered;
  const bool is_answer =
      std::holds_alternative<file::Facts>(message.body) || std::holds_alternative<file::Error>(message.body);
  if (!is_answer) lose("a frame that is no answer", now);
}

// Bytes that were damaged on the way are sent again over the next connection.
void TransferSession::take_wrong_frame(const FileRefusal& refusal, Time now) {
  if (refusal.error == FileError::damaged)
    return lose({Stage::receive, 0, fmt::format("{} was damaged on the way", refusal.text)}, now);
  lose("a wrong frame: " + refusal.text, now);
}

// A peer that does not understand the requests will not understand them the next time. Any other refusal is
// the answer of a server.
void TransferSession::take_refusal(const FileRefusal& refusal, Time now) {
  if (refusal.error == FileError::damaged) {
    transfer_.answered();
    return lose({Stage::send, 0, fmt::format("{} was damaged on the way", printable(refusal.text))}, now);
  }
  const bool is_strange = refusal.error == FileError::malformed || refusal.error == FileError::version;
  if (!is_strange || transfer_.was_answered()) return transfer_.answered();
  const auto why = fmt::format("the server does not understand this program ({})", printable(refusal.text));
  lose({Stage::verify, 0, why}, now);
}

void TransferSession::on_published(Time now) {
  conclude(now);
}

void TransferSession::on_peer_finished(Time now) {
  lose_peer({Stage::receive, 0, "the server closed the connection"}, now);
}

void TransferSession::on_failure(const Failure& failure, Time now) {
  lose_peer(failure, now);
}

void TransferSession::on_deadline(Time now) {
  looked_ = now;
  if (std::exchange(sent_, false)) last_sign_ = now;
  if (!finished_ && busy() && now >= last_sign_ + patience()) {
    if (is_known_) timed_out();
    lose_peer({Stage::timeout, 0,
               (is_known_ ? "nothing moved for " : "no answer within ") + format_duration(patience())},
              now);
  }
  conclude(now);
}

// Ends the connection at once: work that was begun can be resumed later.
void TransferSession::on_drain(Time /*now*/) {
  if (finished_) return;
  finished_ = gives_up_ = true;
  requeue_work();
  leave();
}

// Lets another session become the first one.
void TransferSession::leave() {
  if (std::exchange(is_known_, false)) transfer_.heard_last();
  transfer_.no_longer_first(this);
}

void TransferSession::lose(const Failure& failure, Time now) {
  if (finished_) return;
  const bool idle = !busy();
  finished_ = gives_up_ = true;
  data_left_ = 0;
  requeue_work();
  leave();
  transfer_.lost(failure, idle, now);
  transfer_.announce();  // other connections may take its work
}

// A peer whose first answer is wrong is a foreign program: for example one that sends back the bytes it gets.
void TransferSession::lose(const std::string& why, Time now) {
  const bool is_known = transfer_.was_answered();
  lose({Stage::verify, 0, is_known ? why : fmt::format("{} ({})", kStranger, why)}, now);
}

void TransferSession::consumed(std::size_t n) {
  queue_.consumed(n);
  if (!finished_) more_room(n);
}

void TransferSession::conclude(Time now) {
  if (!finished_ && !transfer_.over()) proceed(now);
  if (finished_) return;
  if (!transfer_.over()) {
    if (!busy()) probe();
    return;
  }
  finished_ = true;
  requeue_work();
}

// A connection that was never answered has less time: it may wait to be accepted, with work that other
// connections could do.
Duration TransferSession::patience() const {
  if (is_known_) return kLongestSilence;
  const Duration first = transfer_.is_any_heard() ? kAnswerBesideOthers : kFirstAnswer;
  return std::min(kLongestSilence, first + std::chrono::seconds(sent_bytes_ / kSlowBytesPerS));
}

std::optional<Time> TransferSession::deadline() const {
  if (finished_) return std::nullopt;
  if (!busy()) return due();
  const bool looks = sent_ && !is_known_;
  return earlier(due(),
                 earlier(last_sign_ + patience(), looks ? std::optional(looked_ + kLook) : std::nullopt));
}

}  // namespace joust::transfer
