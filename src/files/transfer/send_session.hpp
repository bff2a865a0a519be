// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "files/transfer/large_sender.hpp"
#include "files/transfer/send.hpp"
#include "files/transfer/send_connection.hpp"
#include "files/transfer/transfer_session.hpp"
#include "files/transfer/whole_sender.hpp"

namespace joust::transfer {

// One connection that sends files: many whole ones, or a piece of a large one.
class SendSession : public TransferSession {
 public:
  explicit SendSession(SendTransfer& sending)
      : TransferSession(sending),
        connection_{sending, outgoing()},
        wholes_(connection_),
        large_(connection_) {}
  ~SendSession() override;

 private:
  void proceed(Time now) override;
  void take(const file::Message& message, Time now) override;
  const std::string& any_name() const override { return connection_.send.item(0).name; }
  void give_back_work() override;
  bool busy() const override { return wholes_.any() || large_.awaits_answer(); }
  void more_room(std::size_t sent) override;
  std::optional<Time> due() const override;
  void on_source_failed(int error, Time now) override;

  void report_digest();

  SendConnection connection_;
  WholeSender wholes_;
  LargeSender large_;
  bool digesting_ = false;  // only the digest of a large file is missing
  Time report_at_{};        // when to report next that it is being made
};

}  // namespace joust::transfer
