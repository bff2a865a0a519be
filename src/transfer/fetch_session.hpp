// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/fetch.hpp"
#include "transfer/transfer_session.hpp"

namespace joust::transfer {

// One connection that fetches. Its work of here (recalling, checking) is done in slices too.
class FetchSession : public TransferSession {
 public:
  explicit FetchSession(Fetch& fetch) : TransferSession(fetch), fetch_(fetch) {}
  ~FetchSession() override;

 private:
  using Task = Fetch::Task;

  void proceed(Time now) override;
  void take(const file::Message& message, Time now) override;
  void give_back_work() override;
  bool busy() const override;
  std::optional<Time> due() const override;
  FileRange store() const override;
  void on_stored(std::size_t n, Bytes seen, Time now) override;
  void on_store_failed(int error, Time now) override;

  void begin(Time now);
  void begin_range();
  void recall();
  void check();
  void take_facts(const file::Facts& facts, Time now);
  void take_data(const file::Data& data, Time now);
  void take_end(const file::End& end, Time now);
  void done() { work_ = {}; }

  Fetch& fetch_;
  Fetch::Work work_{};
  std::uint32_t request_ = 0;
  ByteRange left_{};    // of the range
  bool found_ = false;  // the answer has begun
  Time next_slice_{};
};

}  // namespace joust::transfer
