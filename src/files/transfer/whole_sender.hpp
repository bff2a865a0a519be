// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "files/protocol/wire.hpp"
#include "files/transfer/send.hpp"
#include "files/transfer/send_connection.hpp"

namespace joust::transfer {

// The whole files and the directories that one connection sends, many without waiting for answers. The
// answers arrive in the order of the requests.
class WholeSender {
 public:
  explicit WholeSender(SendConnection& connection) : connection_(connection), send_(connection.send) {}

  bool any() const { return !pending_.empty(); }  // answers are awaited
  bool may_begin() const;
  void begin(const SendTransfer::Work& work);
  // Takes the answer to the oldest request. Returns an objection; empty if the frame is such an answer.
  std::string take(const file::Message& message);
  // Gives all work back. Returns the bytes of files in it, some of which may be in the output still.
  std::uint64_t give_back();

 private:
  // A whole file, or a directory, whose answer is awaited.
  struct Pending {
    std::uint32_t request = 0;
    SendTransfer::Work work{};
    Digest digest{};
    bool asked = false;       // the server was asked for the digest of its file of that name
    std::uint64_t check = 0;  // the check of the request, unless asked
  };

  const SourceItem& item_of(const Pending& pending) const { return send_.item(pending.work.item); }
  void ask_for_folder(const SendTransfer::Work& work);
  std::uint64_t send_bytes(const Pending& pending, const FileVersion& version, Bytes content);
  void ask(Pending pending);
  void compare(const Pending& pending, const file::Facts& facts);
  void refused(const Pending& pending, const FileRefusal& refusal);
  void send_unasked(SendTransfer::Work work);

  SendConnection& connection_;
  SendTransfer& send_;
  std::deque<Pending> pending_;
  std::vector<std::byte> content_;  // the file that is sent next
};

}  // namespace joust::transfer
