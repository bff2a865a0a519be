// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "files/transfer/send.hpp"
#include "files/transfer/transfer_session.hpp"

namespace joust::transfer {

// One connection that sends files.
class SendSession : public TransferSession {
 public:
  explicit SendSession(SendTransfer& sending) : TransferSession(sending), send_(sending) {}
  ~SendSession() override;

 private:
  using Task = SendTransfer::Task;

  void proceed(Time now) override;
  void take(const file::Message& message, Time now) override;
  const std::string& any_name() const override { return send_.item(0).name; }
  void give_back_work() override;
  bool busy() const override;
  void more_room(std::size_t sent) override;
  std::optional<Time> due() const override;
  void on_source_failed(int error, Time now) override;

  // A whole file, or a directory, whose answer is awaited.
  struct Pending {
    std::uint32_t request = 0;
    SendTransfer::Work work{};
    Digest digest{};
    bool asked = false;       // the server was asked for the digest of its file of that name
    std::uint64_t check = 0;  // the check of the request, unless asked
  };

  bool may_begin() const;
  void say_working(Time now);
  void begin(SendTransfer::Work work, Time now);
  void begin_whole(const SendTransfer::Work& work, Time now);
  void ask_for_folder(const SendTransfer::Work& work);
  std::uint64_t send_whole(const Pending& pending, const FileVersion& version, Bytes content, Time now);
  void ask(Pending pending);
  void begin_large(Time now);
  void seal();
  void send_range();
  FileWishes wishes_of(const FileVersion& version) const;

  void take_of_whole(const file::Message& message, Time now);
  bool is_of_folder(const Pending& pending) const { return send_.item(pending.work.item).is_folder; }
  void refused_whole(const Pending& pending, const FileRefusal& refusal);
  void take_of_large(const file::Message& message, Time now);
  void compare_whole(const Pending& pending, const file::Facts& facts);
  void send_unasked(SendTransfer::Work work);
  void compare_large(const file::Facts& facts);
  bool may_skip(const file::Offered& offered) const {
    return offered.skipped && send_.wishes().skips_existing;
  }
  bool replaces() const { return send_.wishes().overwrites; }
  bool has_same_looks(const SendTransfer::Work& work, const file::Facts& facts) const;
  // True if the server is to be asked for its file before it replaces that: it may have this file already.
  bool is_to_compare() const;
  void offer_compared();
  void refused_large(const FileRefusal& refusal);
  void wait();
  void is_there(const SendTransfer::Work& work, const Digest& digest, bool by_this);
  void exists(const SendTransfer::Work& work);
  void untold(const SendTransfer::Work& work, bool answer_lost);

  SendTransfer& send_;
  std::deque<Pending> pending_;
  std::vector<std::byte> content_;  // the small file that is sent next
  SendTransfer::Work work_{};       // work on a large file
  std::uint32_t request_ = 0;
  std::uint64_t check_ = 0;  // the check of the latest request for a large file
  ByteRange left_{};         // the part of the range that is not sent yet
  std::uint64_t sent_ = 0;   // bytes sent for the work on the large file
  bool sending_ = false;     // the end of the range has not been written
  bool waiting_ = false;     // until again_at_, to ask once more
  bool digesting_ = false;   // only the digest is missing
  Time say_at_{};            // when to report next that it is being made
  // The latest question about the file that the server has under the name of an offered one.
  enum class Asked : std::uint8_t { nothing, size, digest } asked_ = Asked::nothing;
  Time again_at_{};
  Time go_on_at_{};  // when the rate limit allows more, or a busy server is asked again
  Time now_{};
};

}  // namespace joust::transfer
