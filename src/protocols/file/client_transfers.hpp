// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "load/run.hpp"
#include "protocols/file/wire.hpp"
#include "store/storage.hpp"

namespace joust::file {

enum class Operation : std::uint8_t { get, put, info };

// What the connections of one load are to do.
struct TransferOptions {
  Operation operation = Operation::get;
  std::string name{};                         // on the server
  std::uint64_t segments = 1;                 // of one transfer
  std::uint64_t requests_per_connection = 0;  // 0: no limit
};

// One range of one transfer.
struct RangeTask {
  std::uint64_t transfer = 0;
  ByteRange range{};
  bool recorded = true;  // not of the warm-up
};

// As many connections as a transfer has ranges, or one connection that carries them all: whoever is free
// takes the next range, so that a slow connection holds up no other. Any thread.
struct ConnectionGroup {
  std::atomic<std::uint64_t> next{0}, next_unrecorded{0};  // range
  std::atomic<std::uint64_t> done{0};                      // ranges
  std::atomic<std::uint64_t> members{0};                   // that have not come to their end
  std::atomic<std::uint64_t> stored{0};                    // whole files, as the server said
  std::atomic<bool> failed{false};
  std::mutex mutex{};
  std::unique_ptr<Sink> sink{};  // of a get; made when it is first needed
};

// What they share. Any thread.
class Transfers {
 public:
  Transfers(TransferOptions options, LoadRun& run, TransferFiles& local);

  const TransferOptions& options() const { return options_; }
  LoadRun& run() { return run_; }
  TransferFiles& local() { return local_; }
  ConnectionGroup& group(std::uint64_t connection) { return groups_[connection / group_size_]; }
  bool is_first_group(const ConnectionGroup& group) const { return &group == &groups_.front(); }
  std::uint64_t segments() const;                                            // of a transfer
  // One transfer of the group at least.
  bool complete(const ConnectionGroup& group) const { return group.done >= segments(); }

  // What the server said of the file before the start, or what is to be sent. Set before any connection asks.
  void set_facts(const Facts& facts);
  const Facts* facts() const { return facts_known_.load(std::memory_order_acquire) ? &facts_ : nullptr; }

  // The next range of a group; nothing when all that were asked for are under way.
  std::optional<RangeTask> next(ConnectionGroup& group, bool recorded);
  // Where a group's bytes go.
  FileAnswer<File*> sink(ConnectionGroup& group);
  // The ranges of one upload have the same.
  std::uint64_t upload_id(std::uint64_t connection, const RangeTask& task) const;

  // For the results.
  std::atomic<std::uint64_t> bytes{0};       // of files, in the window
  std::atomic<std::uint64_t> digested{0};    // transfers' digests found right
  std::atomic<bool> moved_by_kernel{false};  // some bytes were stored without being seen
  std::uint64_t completed() const;           // transfers

 private:
  const TransferOptions options_;
  LoadRun& run_;
  TransferFiles& local_;
  const std::uint64_t group_size_;
  std::vector<ConnectionGroup> groups_;
  const std::uint64_t first_id_;
  Facts facts_{};
  std::atomic<bool> facts_known_{false};
};

}  // namespace joust::file
