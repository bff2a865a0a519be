// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "files/protocol/wire.hpp"
#include "files/store/storage.hpp"
#include "files/transfer/get.hpp"
#include "files/transfer/transfer_session.hpp"

namespace joust::transfer {

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

inline constexpr std::size_t kMostFilesOnDisk = 64;  // files of a connection that wait for the disk

// One connection that fetches. Its local work (recalling, comparing, checking) is done in slices too.
class GetSession : public TransferSession {
 public:
  explicit GetSession(GetTransfer& getting) : TransferSession(getting), get_(getting) {}
  ~GetSession() override;

 private:
  using Task = FileDownload::Task;

  void proceed(Time now) override;
  void take(const file::Message& message, Time now) override;
  const std::string& any_name() const override { return get_.plan().items.front().name; }
  void give_back_work() override;
  bool busy() const override;
  void fell_silent() override;
  std::optional<Time> due() const override;
  FileRange store() const override;
  void on_stored(std::size_t n, Bytes seen, Time now) override;
  void on_store_failed(int error, Time now) override;

  void begin(Time now);
  void begin_range(Time now);
  void take_part(Time now);
  void ask_for_part(Time now);
  bool take_work();
  bool is_done_here() const;
  enum class Step : std::uint8_t { done, goes_on, waits };
  Step step_here(GetTransfer::Work& work);
  Step recall(const GetTransfer::Work& work);
  Step compare(const GetTransfer::Work& work);
  Step check(GetTransfer::Work& work);
  void look_at_disk(Time now);
  void take_error(const FileRefusal& refusal, Time now);
  void take_facts(const file::Facts& facts, Time now);
  void take_data(const file::Data& data, Time now);
  void take_end(const file::End& end, Time now);
  void done();
  bool may_go_ahead() const;
  void go_ahead(Time now);
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
  struct Ahead {
    std::uint32_t request = 0;
    GetTransfer::Work work{};
  };
  std::deque<Ahead> ahead_;
  std::uint64_t bytes_ahead_ = 0;
  std::uint32_t asked_ = 0;    // the last request
  Duration wait_{};            // pause of the work that waits
  bool is_in_middle_ = false;  // interrupted, so that other connections get their turn
  std::uint32_t request_ = 0;  // request of the work in hand
  RangeParts parts_;           // of the range in hand
  bool is_begun_ = false;      // the work in hand is begun
  bool found_ = false;         // the answer has begun
  bool waiting_ = false;       // until go_on_at_, to ask for the part
  Time go_on_at_{};            // set by the rate limit
  Time next_slice_{};
};

}  // namespace joust::transfer
