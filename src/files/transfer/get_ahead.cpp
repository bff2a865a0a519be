// SPDX-License-Identifier: MIT
//
// Requests for small files, sent before the answers on other files have arrived.
#include <utility>

#include "files/transfer/get_session.hpp"

namespace joust::transfer {
namespace {

constexpr std::size_t kMostAhead = 16;  // requests
constexpr std::uint64_t kMostBytesAhead = 4 << 20;
constexpr int kMostStepsAhead = 64;  // at a time

}  // namespace

// Ends the work in hand, and takes the next request of ahead_ in hand.
void GetSession::done() {
  work_ = {};
  is_begun_ = waiting_ = false;
  if (ahead_.empty()) return;
  request_ = ahead_.front().request;
  work_ = std::move(ahead_.front().work);
  ahead_.pop_front();
  is_begun_ = true;
  found_ = false;
  part_ = left_ = work_.range;
  behind_ = {work_.range.end(), 0};
  bytes_ahead_ -= work_.range.size;
}

bool GetSession::may_go_ahead() const {
  return busy() && work_.of->is_listed() && !get_.limit().applies() && get_.was_answered() && !get_.over() &&
         on_disk_.size() < kMostFilesOnDisk && ahead_.size() < kMostAhead && bytes_ahead_ < kMostBytesAhead;
}

// Asks for other small files meanwhile: a small file takes two requests, and on a slow link each answer takes
// long.
void GetSession::go_ahead(Time now) {
  for (int steps = 0; may_go_ahead() && steps < kMostStepsAhead; ++steps) {
    GetTransfer::Work work = get_.next(this, true);
    if (work.task == Task::none) return;
    if (work.task == Task::begin) {
      work.of->begin();
    } else if (work.task == Task::digest || (work.task == Task::range && reserves(work))) {
      ask(work, work.range);
      bytes_ahead_ += work.range.size;
      ahead_.push_back({asked_, std::move(work)});
    } else if (work.task == Task::recall || work.task == Task::compare ||
               (work.task == Task::check && seals(work))) {
      if (step_here(work) != Step::done) on_disk_.push_back({std::move(work), now + wait_});
    }
  }
}

}  // namespace joust::transfer
