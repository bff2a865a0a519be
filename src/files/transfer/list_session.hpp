// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "files/transfer/listing.hpp"
#include "files/transfer/transfer_session.hpp"

namespace joust::transfer {

// One connection that lists directories, several of them without waiting for answers.
class ListSession : public TransferSession {
 public:
  explicit ListSession(Listing& listing) : TransferSession(listing), listing_(listing) {}
  ~ListSession() override;

 private:
  // A directory whose answer is awaited, and the part of the answer that has arrived.
  struct Pending {
    std::uint32_t request = 0;
    Listing::Work work{};
    std::optional<file::Facts> facts{};
    std::vector<FolderEntry> entries{};
  };

  void proceed(Time now) override;
  void take(const file::Message& message, Time now) override;
  const std::string& any_name() const override { return listing_.plan().name; }
  void give_back_work() override;
  bool busy() const override { return !pending_.empty(); }

  // Each returns false for a frame that is no answer.
  bool take_facts(const file::Facts& facts);
  bool take_entries(const file::Entries& part);
  bool take_end(const file::Listed& listed);

  Listing& listing_;
  std::deque<Pending> pending_;
  std::uint32_t request_ = 0;
};

}  // namespace joust::transfer
