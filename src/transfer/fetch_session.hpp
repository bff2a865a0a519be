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
  const std::string& any_name() const override { return fetch_.plan().name; }
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
  void recall();
  void changed_on_server();
  void compare();
  void check();
  void take_facts(const file::Facts& facts, Time now);
  void take_data(const file::Data& data, Time now);
  void take_end(const file::End& end, Time now);
  void done() {
    work_ = {};
    waiting_ = false;
  }

  Fetch& fetch_;
  Fetch::Work work_{};
  bool is_first_ = false;  // it has asked for the facts
  std::uint32_t request_ = 0;
  ByteRange behind_{};    // of the range: nobody has asked for it
  ByteRange part_{};      // of the range: what is asked for at a time, all of it without a limit
  ByteRange left_{};      // of the part
  bool found_ = false;    // the answer has begun
  bool waiting_ = false;  // for go_on_at_, to ask for the part
  Time go_on_at_{};       // by the limit of the rate
  Time next_slice_{};
  unsigned attempts_ = 0;  // to give the file its name
};

}  // namespace joust::transfer
