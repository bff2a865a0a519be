// SPDX-License-Identifier: MIT
#include "secure/guarded_session.hpp"

namespace joust {

void GuardedSession::on_open(Time now) {
  due_ = now + kLongestHandshake;
  proceed(now);
}

void GuardedSession::on_published(Time now) {
  if (is_open()) inner_->on_published(now);
  proceed(now);
}

void GuardedSession::on_deadline(Time now) {
  if (is_open()) {
    inner_->on_deadline(now);
  } else if (due_ && now >= *due_) {
    too_late_ = true;
    fail(late_words(), now, Stage::timeout);
  }
  proceed(now);
}

void GuardedSession::on_drain(Time now) {
  if (is_open())
    inner_->on_drain(now);
  else
    end();
  proceed(now);
}

void GuardedSession::on_failure(const Failure& failure, Time now) {
  end();
  tell(failure, now);
}

std::optional<Time> GuardedSession::deadline() const {
  if (over_) return std::nullopt;
  return is_open() ? inner_->deadline() : due_;
}

std::string_view GuardedSession::complaint() const {
  return complaint_.empty() && is_open() ? inner_->complaint() : complaint_;
}

void GuardedSession::let_in(Time now) {
  inner_ = service_.open(info_);
  inner_->on_open(now);
}

void GuardedSession::fail(std::string complaint, Time now, Stage stage) {
  if (over_) return;
  end();
  complaint_ = std::move(complaint);
  tell({stage, 0, complaint_}, now);
}

void GuardedSession::tell(const Failure& failure, Time now) {
  if (std::exchange(told_failure_, true)) return;
  if (is_open())
    inner_->on_failure(failure, now);
  else
    service_.not_opened(failure, now);
}

}  // namespace joust
