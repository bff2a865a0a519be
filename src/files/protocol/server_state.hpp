// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "files/protocol/wire.hpp"
#include "files/store/storage.hpp"
#include "session/least_rate.hpp"

namespace joust::file {

// The state that the sessions of a server share. It may be shared by processes: see SharedMemory.
struct ServerState {
  Storage& storage;
  // The digests being made now, for queries and checks. Not shared by processes: a killed process would keep
  // its turn for ever.
  std::atomic<unsigned>& digests;
  std::uint64_t requests_per_connection = 0;  // counts fragments and uploads; 0: no limit
  RateRules rates{};
  bool gives = true;  // answers queries and sends files
  bool takes = true;  // receives files

  std::atomic<std::uint64_t> turns_refused{0};  // refused turns for a digest

  std::atomic<std::uint64_t> queries{0}, fragments{0}, uploads{0};
  std::atomic<std::uint64_t> refused{0};    // requests answered by an error
  std::atomic<std::uint64_t> abandoned{0};  // requests and uploads cut off by the end of a connection
  std::atomic<std::uint64_t> too_slow{0};   // connections ended for a rate below the least
  std::atomic<std::uint64_t> bytes_sent{0}, bytes_stored{0}, bytes_digested{0};  // bytes of files
};

// The refusal of a server that only gives.
inline FileRefusal takes_nothing() {
  return {FileError::not_permitted, "this server only sends files"};
}

}  // namespace joust::file
