// SPDX-License-Identifier: MIT
#pragma once

#include <deque>

#include "transfer/fetch.hpp"
#include "transfer/transfer_session.hpp"

namespace joust::transfer {

inline constexpr std::size_t kMostFilesOnDisk = 64;  // files of a connection that wait for the disk

// One connection that fetches. Its local work (recalling, comparing, checking) is done in slices too.
class FetchSession : public TransferSession {
 public:
  explicit FetchSession(Fetch& fetch) : TransferSession(fetch), fetch_(fetch) {}
  ~FetchSession() override;

 private:
  using Task = FileFetch::Task;

  void proceed(Time now) override;
  void take(const file::Message& message, Time now) override;
  const std::string& any_name() const override { return fetch_.plan().items.front().name; }
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
  Step step_here(Fetch::Work& work);
  Step recall(const Fetch::Work& work);
  Step compare(const Fetch::Work& work);
  Step check(Fetch::Work& work);
  void look_at_disk(Time now);
  void take_error(const FileRefusal& refusal, Time now);
  void take_facts(const file::Facts& facts, Time now);
  void take_data(const file::Data& data, Time now);
  void take_end(const file::End& end, Time now);
  void done();
  bool may_go_ahead() const;
  void go_ahead(Time now);
  bool seals(const Fetch::Work& work);
  bool reserves(const Fetch::Work& work);
  void ask(const Fetch::Work& work, ByteRange part);

  Fetch& fetch_;
  Fetch::Work work_{};
  // Work that waits for the disk. The disk takes many files at a time, so other files are fetched meanwhile.
  struct Waiting {
    Fetch::Work work{};
    Time at{};  // when to look next
  };
  std::deque<Waiting> on_disk_;
  // Requests for small files that follow the work in hand. The answers arrive in this order.
  struct Ahead {
    std::uint32_t request = 0;
    Fetch::Work work{};
  };
  std::deque<Ahead> ahead_;
  std::uint64_t bytes_ahead_ = 0;
  std::uint32_t asked_ = 0;    // the last request
  Duration wait_{};            // pause of the work that waits
  bool is_in_middle_ = false;  // interrupted, so that other connections get their turn
  std::uint32_t request_ = 0;  // request of the work in hand
  ByteRange behind_{};         // the part of the range that is not asked for yet
  ByteRange part_{};           // the part of the range that is asked for at a time: all of it without a limit
  ByteRange left_{};           // the rest of part_, which has not arrived
  bool is_begun_ = false;      // the work in hand is begun
  bool found_ = false;         // the answer has begun
  bool waiting_ = false;       // until go_on_at_, to ask for the part
  Time go_on_at_{};            // set by the rate limit
  Time next_slice_{};
};

}  // namespace joust::transfer
