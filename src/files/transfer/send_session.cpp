// SPDX-License-Identifier: MIT
#include "files/transfer/send_session.hpp"

#include <algorithm>
#include <utility>

#include "base/printable.hpp"
#include "session/least_rate.hpp"

namespace joust::transfer {
namespace {

constexpr Duration kReportEvery = std::chrono::seconds(5);

}  // namespace

SendSession::~SendSession() {
  SendSession::give_back_work();
}

void SendSession::give_back_work() {
  const std::uint64_t whole = wholes_.give_back();
  connection_.send.count().lost += whole - std::min(whole, outgoing().waiting());
  large_.give_back();
}

std::optional<Time> SendSession::due() const {
  const Time pause = connection_.go_on_at;
  const bool is_paused = pause > connection_.now;
  if (digesting_ && !large_.has_work() && !is_paused) return report_at_;
  return is_paused && outgoing().waiting() == 0 ? earlier(large_.due(), pause) : large_.due();
}

void SendSession::proceed(Time now) {
  connection_.now = now;
  if (large_.due() && now >= *large_.due()) alive(now);
  large_.go_on();
  SendTransfer& send = connection_.send;
  while (!large_.has_work() && wholes_.may_begin() && may_have_work() && !send.over()) {
    SendTransfer::Work work = send.next({.session = this, .only_whole = wholes_.any()});
    if (work.task == SendTransfer::Task::none) return report_digest();
    digesting_ = false;
    if (!busy()) alive(now);
    if (work.task == SendTransfer::Task::whole)
      wholes_.begin(work);
    else
      large_.begin(std::move(work));
  }
}

// Reports the progress of the digest: a server takes silence for a lost client.
void SendSession::report_digest() {
  const auto digested = busy() ? std::nullopt : connection_.send.digested();
  digesting_ = digested.has_value();
  if (!digested || connection_.now < report_at_) return;
  report_at_ = connection_.now + kReportEvery;
  outgoing().message({connection_.request, file::Working{*digested}});
}

void SendSession::take(const file::Message& message, Time now) {
  connection_.now = now;
  if (std::holds_alternative<file::Working>(message.body)) return;
  // The server ends the connection. It reports a client that is too slow in the answer to the request under
  // way, which may be no reason for it.
  const auto* error = std::get_if<file::Error>(&message.body);
  if (error != nullptr && (message.request == 0 || error->refusal.error == FileError::too_slow))
    return lose(words_of("connection", error->refusal), now);
  std::string objection = "an answer without a request";
  if (wholes_.any())
    objection = wholes_.take(message);
  else if (large_.awaits(message.request))
    objection = large_.take(message);
  if (!objection.empty()) lose(objection, now);
}

void SendSession::more_room(std::size_t sent) {
  progress_sent(sent);
  connection_.send.count().sent.fetch_add(sent, std::memory_order_relaxed);
  large_.sent(sent);
  large_.add_data();
}

// The frame that was announced cannot be completed, so the connection ends here.
void SendSession::on_source_failed(int error, Time now) {
  const std::string path = printable(large_.item().path);
  large_.source_failed(error);
  lose({Stage::send, error, path}, now);
}

}  // namespace joust::transfer
