// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>

#include "base/text.hpp"
#include "files/protocol/wire.hpp"
#include "files/store/storage.hpp"
#include "files/transfer/get.hpp"
#include "files/transfer/transfer_session.hpp"
#include "session/handler_session.hpp"

namespace joust::transfer {
namespace {

constexpr Duration kDiskPoll = std::chrono::milliseconds(2);
constexpr unsigned kMostChecks = 40;  // attempts to give the file its name
constexpr int kMostSteps = 64;  // steps without a request to the server, such as for files that exist here

constexpr std::size_t kMostPipelined = 16;  // requests
constexpr std::uint64_t kMostPipelinedBytes = 4 << 20;
constexpr int kMostPipelinedSteps = 64;  // at a time

// The range that a connection fetches, asked for part by part: a rate limit makes the parts small.
class RangeParts {
 public:
  void begin(ByteRange range) {
    behind_ = range;
    part_ = left_ = {};
  }
  // Takes the next part, of at most so many bytes.
  ByteRange next(std::uint64_t most) {
    part_ = left_ = {behind_.offset, std::min(behind_.size, most)};
    behind_ = {part_.end(), behind_.size - part_.size};
    return part_;
  }
  bool fits(const file::Data& data) const { return data.size > 0 && data.size <= left_.size; }
  bool is_complete(const file::End& end) const { return left_.size == 0 && end.size == part_.size; }
  void stored(std::size_t n) { left_ = {left_.offset + n, left_.size - n}; }

  ByteRange part() const { return part_; }
  bool is_last() const { return behind_.size == 0; }
  std::uint64_t offset() const { return left_.offset; }                // of the next byte that arrives
  std::uint64_t missing() const { return left_.size + behind_.size; }  // bytes of the range

 private:
  ByteRange behind_{};  // the part of the range that is not asked for yet
  ByteRange part_{};    // the part that is asked for
  ByteRange left_{};    // the rest of part_, which has not arrived
};

constexpr std::size_t kMostFilesOnDisk = 64;  // files of a connection that wait for the disk

// One connection that fetches. Its local work (resuming, comparing, checking) is done in slices too.
class GetSession : public TransferSession {
 public:
  explicit GetSession(GetTransfer& getting) : TransferSession(getting), get_(getting) {}
  ~GetSession() override;

 private:
  using Task = FileDownload::Task;

  void proceed(Time now) override;
  void take(const file::Message& message, Time now) override;
  const std::string& any_name() const override { return get_.plan().items.front().name; }
  void requeue_work() override;
  bool busy() const override;
  void timed_out() override;
  std::optional<Time> due() const override;
  FileRange store() const override;
  void on_stored(std::size_t n, Bytes seen, Time now) override;
  void on_store_failed(int error, Time now) override;

  void begin(Time now);
  void begin_range(Time now);
  void take_part(Time now);
  void ask_for_part(Time now);
  bool take_work();
  bool is_local() const;
  enum class Step : std::uint8_t { done, goes_on, waits };
  Step local_step(GetTransfer::Work& work);
  Step resume(const GetTransfer::Work& work);
  Step compare(const GetTransfer::Work& work);
  Step check(GetTransfer::Work& work);
  void poll_disk(Time now);
  void take_error(const FileRefusal& refusal, Time now);
  void take_facts(const file::Facts& facts, Time now);
  void take_data(const file::Data& data, Time now);
  void take_end(const file::End& end, Time now);
  void done();
  bool may_pipeline() const;
  void pipeline(Time now);
  bool seals(const GetTransfer::Work& work);
  bool reserves(const GetTransfer::Work& work);
  void ask(const GetTransfer::Work& work, ByteRange part);

  GetTransfer& get_;
  GetTransfer::Work work_{};
  // Work that waits for the disk. The disk takes many files at a time, so other files are fetched meanwhile.
  struct Waiting {
    GetTransfer::Work work{};
    Time at{};  // when to look next
  };
  std::deque<Waiting> on_disk_;
  // Requests for small files that follow the work in hand. The answers arrive in this order.
  struct Pipelined {
    std::uint32_t request = 0;
    GetTransfer::Work work{};
  };
  std::deque<Pipelined> pipelined_;
  std::uint64_t pipelined_bytes_ = 0;
  std::uint32_t asked_ = 0;    // the last request
  Duration wait_{};            // pause of the work that waits
  bool is_in_middle_ = false;  // interrupted, so that other connections get their turn
  std::uint32_t request_ = 0;  // request of the work in hand
  RangeParts parts_;           // of the range in hand
  bool is_begun_ = false;      // the work in hand is begun
  // The answer to the work in hand: it has not begun, or is of this file or of another one.
  enum class Answer : std::uint8_t { none, begun, of_another } answer_ = Answer::none;
  bool waiting_ = false;  // until go_on_at_, to ask for the part
  Time go_on_at_{};       // set by the rate limit
  Time next_slice_{};
};

GetSession::~GetSession() {
  requeue_work();
  get_.gone(this);
}

bool GetSession::busy() const {
  return work_.task == Task::ask || work_.task == Task::digest || (work_.task == Task::range && !waiting_);
}

void GetSession::timed_out() {
  if (work_.task == Task::digest) work_.of->digest_missed();
}

bool GetSession::is_local() const {
  return work_.task == Task::resume || work_.task == Task::compare || work_.task == Task::check;
}

std::optional<Time> GetSession::due() const {
  std::optional<Time> due;
  if (waiting_) due = go_on_at_;
  if (is_local() || is_in_middle_) due = next_slice_;
  for (const Waiting& waiting : on_disk_) due = earlier(due, waiting.at);
  return due;
}

void GetSession::requeue_work() {
  if (work_.task != Task::none)
    work_.of->give_back(work_, work_.range.size - std::min(work_.range.size, parts_.missing()));
  for (const Pipelined& one : std::exchange(pipelined_, {})) one.work.of->give_back(one.work, 0);
  for (const Waiting& waiting : std::exchange(on_disk_, {})) waiting.work.of->give_back(waiting.work, 0);
  pipelined_bytes_ = 0;
  done();
}

bool GetSession::take_work() {
  if (!may_have_work() || get_.over() || on_disk_.size() >= kMostFilesOnDisk) return false;
  work_ = get_.next(this, false);
  return work_.task != Task::none;
}

void GetSession::proceed(Time now) {
  if (!on_disk_.empty()) poll_disk(now);
  next_slice_ = now;
  is_in_middle_ = false;
  for (int steps = 0; work_.task != Task::none || take_work(); ++steps) {
    is_in_middle_ = steps == kMostSteps;
    if (is_in_middle_) return;
    if (!is_begun_) begin(now);
    if (waiting_ && now >= go_on_at_) ask_for_part(now);
    if (!is_local()) {
      if (work_.task != Task::none) return pipeline(now);
      continue;
    }
    const Step step = local_step(work_);
    if (step == Step::goes_on) return;
    if (step == Step::waits) on_disk_.push_back({work_, now + wait_});
    done();
  }
}

void GetSession::poll_disk(Time now) {
  for (std::size_t left = on_disk_.size(); left > 0; --left) {
    Waiting waiting = std::move(on_disk_.front());
    on_disk_.pop_front();
    const bool is_over = now >= waiting.at && local_step(waiting.work) == Step::done;
    if (is_over) continue;
    if (now >= waiting.at) waiting.at = now + wait_;
    on_disk_.push_back(std::move(waiting));
  }
}

GetSession::Step GetSession::local_step(GetTransfer::Work& work) {
  wait_ = Duration::zero();
  if (work.task == Task::resume) return resume(work);
  return work.task == Task::compare ? compare(work) : check(work);
}

void GetSession::begin(Time now) {
  is_begun_ = true;
  alive(now);
  answer_ = Answer::none;
  if (work_.task == Task::begin) {
    const std::shared_ptr<FileDownload> of = work_.of;
    done();
    return of->begin();
  }
  // The probe distinguishes a server that ignores the question from one that does not answer at all.
  if (work_.task == Task::digest) probe();
  if (work_.task == Task::ask || work_.task == Task::digest) {
    ask(work_, {});
    request_ = asked_;
  }
  if (work_.task == Task::check && !seals(work_)) done();
  if (work_.task == Task::range) begin_range(now);
}

// Seals the upload before the check: without a seal, the check would expect no digest.
bool GetSession::seals(const GetTransfer::Work& work) {
  if (work.into->over()) return true;
  const auto sealed = work.into->seal(work.of->expected());
  if (!sealed) work.of->give_up(sealed.error().text);
  return sealed.has_value();
}

bool GetSession::reserves(const GetTransfer::Work& work) {
  auto taken = work.into->take(work.range);
  if (taken) taken = work.into->make_room(work.range);
  if (!taken)
    work.of->give_up(fmt::format("{}: {} ({})", printable(work.of->item().file),
                                 error_name(taken.error().error), taken.error().text));
  return taken.has_value();
}

void GetSession::ask(const GetTransfer::Work& work, ByteRange part) {
  const std::string& name = work.of->item().name;
  if (work.task == Task::range)
    queue().message({++asked_, file::Fragment{part, name}});
  else
    queue().message({++asked_, file::Query{name, work.task == Task::digest}});
}

void GetSession::begin_range(Time now) {
  parts_.begin(work_.range);
  reserves(work_) ? take_part(now) : done();
}

// The server sends as fast as it can, so under a limit it is asked for no more than may arrive at once.
void GetSession::take_part(Time now) {
  RateLimit& limit = get_.limit();
  const ByteRange part = parts_.next(limit.applies() ? limit.portion(kRangeBytes) : UINT64_MAX);
  go_on_at_ = limit.applies() ? limit.reserve(part.size, now) : now;
  waiting_ = go_on_at_ > now;
  if (!waiting_) ask_for_part(now);
}

void GetSession::ask_for_part(Time now) {
  alive(now);
  waiting_ = false;
  answer_ = Answer::none;
  ask(work_, parts_.part());
  request_ = asked_;
}

GetSession::Step GetSession::resume(const GetTransfer::Work& work) {
  const Upload::Resumption resumption = work.into->resume();
  if (!resumption.complete) return Step::goes_on;
  work.of->resumed(resumption);
  return Step::done;
}

GetSession::Step GetSession::compare(const GetTransfer::Work& work) {
  const FileDownload::Compared so_far = work.of->compare();
  if (so_far == FileDownload::Compared::completely) return Step::done;
  wait_ = kDiskPoll;
  return so_far == FileDownload::Compared::partly ? Step::goes_on : Step::waits;
}

GetSession::Step GetSession::check(GetTransfer::Work& work) {
  const auto check = work.into->check();
  if (check && !check->digest) {
    wait_ = kDiskPoll;
    return check->waits ? Step::waits : Step::goes_on;
  }
  // Naming the file takes descriptors or memory, which are short at present.
  if (!check && check.error().error == FileError::busy && ++work.attempts < kMostChecks &&
      work.into->seal(work.of->expected())) {
    wait_ = kAskAgain;
    return Step::waits;
  }
  work.of->checked(check);
  return Step::done;
}

void GetSession::take(const file::Message& message, Time now) {
  if (!busy() || message.request != request_) return lose("an answer without a request", now);
  if (const auto* error = std::get_if<file::Error>(&message.body)) return take_error(error->refusal, now);
  if (std::holds_alternative<file::Working>(message.body)) return;
  if (const auto* facts = std::get_if<file::Facts>(&message.body)) return take_facts(*facts, now);
  if (const auto* data = std::get_if<file::Data>(&message.body)) return take_data(*data, now);
  if (const auto* end = std::get_if<file::End>(&message.body)) return take_end(*end, now);
  lose("a frame that is no answer", now);
}

void GetSession::take_error(const FileRefusal& refusal, Time now) {
  const std::shared_ptr<FileDownload> of = work_.of;
  // The server sends zeros for bytes that it could not read.
  if (work_.task == Task::range && answer_ != Answer::none) work_.into->distrust(work_.range);
  if (refusal.error == FileError::busy) return lose(words_of(of->item().name, refusal), now);
  done();
  if (refusal.error == FileError::beyond_end || refusal.error == FileError::shrunk)
    return of->changed_on_server();
  const bool is_file = refusal.error != FileError::not_a_file;
  of->give_up(words_of(of->item().name, refusal) + (is_file ? "" : "; -r fetches a directory"));
}

void GetSession::take_facts(const file::Facts& facts, Time now) {
  if (answer_ != Answer::none) return lose("a frame that is no answer", now);
  const std::shared_ptr<FileDownload> of = work_.of;
  if (work_.task == Task::ask) {
    done();
    return of->learned(facts);
  }
  const auto known = of->facts();
  const bool is_same = facts.size == known->size && facts.modified_ns == known->modified_ns;
  answer_ = is_same ? Answer::begun : Answer::of_another;
  if (work_.task == Task::digest) {
    done();
    if (!is_same) return of->changed_on_server();
    if (!facts.digest) return of->give_up_digest("gives no");
    return of->learned_digest(*facts.digest);
  }
  if (is_same && facts.digest && is_small(of->item())) of->learned_digest(*facts.digest);
  if (is_same || is_small(of->item())) return;
  of->changed_on_server();
  lose("the bytes of another file follow", now);  // they would have to be thrown away
}

void GetSession::take_data(const file::Data& data, Time now) {
  if (work_.task != Task::range || answer_ == Answer::none || !parts_.fits(data))
    return lose("bytes without a request", now);
  receive_data(data.size);
}

void GetSession::take_end(const file::End& end, Time now) {
  if (work_.task != Task::range || answer_ == Answer::none || !parts_.is_complete(end))
    return lose("the answer ends too early", now);
  if (!parts_.is_last()) return take_part(now);
  const GetTransfer::Work work = work_;
  const bool is_another = answer_ == Answer::of_another;
  if (!is_another) work.into->finish(work.range);
  done();
  if (!is_another) return work.of->finished(work.range);
  work.of->changed_on_server();
  work.of->give_back(work, work.range.size);  // after that no other connection takes the range
}

FileRange GetSession::store() const {
  return {&work_.into->file(), parts_.offset(), data_left()};
}

void GetSession::on_stored(std::size_t n, Bytes seen, Time now) {
  work_.into->stored({parts_.offset(), n}, seen);
  parts_.stored(n);
  data_stored(n);
  get_.moved(n);
  alive(now);
}

// Ends the connection, because no more of its bytes can be stored.
void GetSession::on_store_failed(int error, Time now) {
  receive_data(0);
  const std::string why =
      fmt::format("{}: cannot be written: {}", printable(work_.of->item().file), std::strerror(error));
  work_.of->give_up(why);
  lose({Stage::local, error, why}, now);
}

// Ends the work in hand, and takes the next request of pipelined_ in hand.
void GetSession::done() {
  work_ = {};
  is_begun_ = waiting_ = false;
  if (pipelined_.empty()) return;
  request_ = pipelined_.front().request;
  work_ = std::move(pipelined_.front().work);
  pipelined_.pop_front();
  is_begun_ = true;
  answer_ = Answer::none;
  parts_.begin(work_.range);
  parts_.next(UINT64_MAX);
  pipelined_bytes_ -= work_.range.size;
}

bool GetSession::may_pipeline() const {
  return busy() && work_.of->is_listed() && !get_.limit().applies() && get_.was_answered() && !get_.over() &&
         on_disk_.size() < kMostFilesOnDisk && pipelined_.size() < kMostPipelined &&
         pipelined_bytes_ < kMostPipelinedBytes;
}

// Asks for other small files meanwhile: a small file takes two requests, and on a slow link each answer takes
// long.
void GetSession::pipeline(Time now) {
  for (int steps = 0; may_pipeline() && steps < kMostPipelinedSteps; ++steps) {
    GetTransfer::Work work = get_.next(this, true);
    if (work.task == Task::none) return;
    if (work.task == Task::begin) {
      work.of->begin();
    } else if (work.task == Task::digest || (work.task == Task::range && reserves(work))) {
      ask(work, work.range);
      pipelined_bytes_ += work.range.size;
      pipelined_.push_back({asked_, std::move(work)});
    } else if (work.task == Task::resume || work.task == Task::compare ||
               (work.task == Task::check && seals(work))) {
      if (local_step(work) != Step::done) on_disk_.push_back({std::move(work), now + wait_});
    }
  }
}

}  // namespace

std::unique_ptr<Session> get_session(GetTransfer& transfer) {
  return std::make_unique<GetSession>(transfer);
}

}  // namespace joust::transfer
