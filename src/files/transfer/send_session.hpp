// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "files/protocol/output_queue.hpp"
#include "files/protocol/wire.hpp"
#include "files/transfer/send.hpp"

namespace joust::transfer {

// A connection that sends files, as its parts see it: the output with its numbers, the time and the pauses.
struct SendConnection {
  SendTransfer& send;
  file::OutputQueue& queue;
  std::uint32_t request = 0;  // the number of the latest one
  Time now{};                 // of the latest input
  Time go_on_at{};            // when the rate limit allows more, or a busy server is asked again

  std::uint64_t ask(const file::Body& body) { return queue.message({++request, body}); }  // the check
};

// The time for which a busy server is asked. It may still hold the work that a lost connection has begun, or
// have no slot for more. It may need its idle limit, a minute, to notice that a connection is lost.
inline constexpr Duration kLongestBusy = std::chrono::seconds(100);

// The user's wishes for a file of this version.
FileWishes wishes_for(const SendTransfer& send, const FileVersion& version);
// True if the server's file has the time and mode that the server was asked to give it.
bool has_same_metadata(const FileVersion& version, const file::Facts& facts);
// True if the server has left an existing file as it is, as the user wishes.
bool is_skipped(const SendTransfer& send, const file::Offered& offered);
// Describes a refusal, for people.
std::string words_on(const std::string& name, const FileRefusal& refusal);

// The server has a file with the same bytes: this transfer has stored it (`by_this`), or it existed before.
void note_there(SendTransfer& send, const SendTransfer::Work& work, const Digest& digest, bool by_this);
// The server has another file of that name.
void note_other(SendTransfer& send, const SendTransfer::Work& work);
// A server from which nothing can be fetched has a file of that name. `answer_lost`: it may be this one.
void note_unknown(SendTransfer& send, const SendTransfer::Work& work, bool answer_lost);

// One connection that sends files: many whole ones, or a piece of a large one. `send` is borrowed.
std::unique_ptr<Session> send_session(SendTransfer& send);

}  // namespace joust::transfer
