// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "files/protocol/wire.hpp"
#include "files/store/storage.hpp"
#include "files/store/upload/local_files.hpp"
#include "joust/load_plan.hpp"
#include "joust/protocol.hpp"
#include "load/run.hpp"

namespace joust::file {

enum class Operation : std::uint8_t { get, put, info };

// The work of the connections of one load.
struct TransferOptions {
  Operation operation = Operation::get;
  std::string name{};                         // the server's file
  std::uint64_t segments = 1;                 // ranges of one transfer
  std::uint64_t requests_per_connection = 0;  // 0: no limit
};

// One range of one transfer.
struct RangeTask {
  std::uint64_t transfer = 0;
  ByteRange range{};
  bool recorded = true;  // false in the warm-up
};

// Either one connection for each range of a transfer, or one connection for all. A free connection takes the
// next range, so that a slow one does not delay the others. Any thread.
struct ConnectionGroup {
  std::atomic<std::uint64_t> next{0}, next_unrecorded{0};  // range
  std::atomic<std::uint64_t> done{0};                      // ranges
  std::atomic<std::uint64_t> members{0};                   // connections that have not ended
  std::atomic<std::uint64_t> stored{0};                    // files that the server has reported as complete
  std::atomic<bool> failed{false};
  std::mutex mutex{};
  std::unique_ptr<Sink> sink{};  // destination of a get; made when first needed
  Turns::Number turn = 0;        // the last turn in which a range was handed out
  std::uint64_t left = 0;        // ranges of that turn that are left
};

// The state that the connections of a load share. Any thread.
class Transfers {
 public:
  Transfers(TransferOptions options, LoadRun& run, TransferFiles& local);

  const TransferOptions& options() const { return options_; }
  LoadRun& run() { return run_; }
  TransferFiles& local() { return local_; }
  ConnectionGroup& group(std::uint64_t connection) { return groups_[connection / group_size_]; }
  bool is_first_group(const ConnectionGroup& group) const { return &group == &groups_.front(); }
  std::uint64_t segments() const;  // ranges of a transfer
  // True after at least one transfer of the group.
  bool complete(const ConnectionGroup& group) const { return group.done >= segments(); }

  // The facts about the file: from the server, or from the source of a put. Set before any connection reads
  // them.
  void set_facts(const Facts& facts);
  const Facts* facts() const { return facts_known_.load(std::memory_order_acquire) ? &facts_ : nullptr; }

  // Returns the next range of a group; nothing if all have been handed out.
  std::optional<RangeTask> next(ConnectionGroup& group, bool recorded);
  // Returns the next range of this turn; nothing if all of its ranges have been handed out. The transfers of
  // a turn follow those of the turn before.
  std::optional<RangeTask> next_in_turn(ConnectionGroup& group, Turns::Number turn, bool recorded);
  // Returns the destination of a group's bytes.
  FileAnswer<File*> sink(ConnectionGroup& group);
  // Returns the number of an upload, which is the same for all ranges of the upload.
  std::uint64_t upload_id(std::uint64_t connection, const RangeTask& task) const;

  // For the results.
  std::atomic<std::uint64_t> bytes{0};       // bytes of files, in the window
  std::atomic<std::uint64_t> digested{0};    // correct digests of transfers
  std::atomic<bool> moved_by_kernel{false};  // some bytes were stored without passing user space
  std::uint64_t completed() const;           // transfers

 private:
  RangeTask task(std::uint64_t number, bool recorded) const;

  const TransferOptions options_;
  LoadRun& run_;
  TransferFiles& local_;
  const std::uint64_t group_size_;
  std::vector<ConnectionGroup> groups_;
  const std::uint64_t first_id_;
  Facts facts_{};
  std::atomic<bool> facts_known_{false};
};

// The phase of one connection in its load: connecting, warm-up, timed window, the end. In turns it waits for
// the next turn after each. Records the one outstanding request.
class LoadPhases {
 public:
  explicit LoadPhases(LoadRun& run) : run_(run), plan_(run.plan()) {}

  enum class Phase : std::uint8_t {
    connecting,
    waiting,    // waits for the start, or the next turn
    warming,    // requests that are not recorded
    settling,   // no new request (messages only)
    ready,      // waits for the window (messages only)
    measuring,  // the timed window
    over,       // no new request
  };
  Phase phase() const { return phase_; }
  bool busy() const { return intended_.has_value(); }

  void opened(Time now);
  void advance(Time now);  // called first in every input
  void began(Time now, Time intended);
  void verified(Time now);                        // the outstanding request is answered
  void leave_window(Time now);                    // no request follows
  void rest(Time now);                            // no request follows in this turn
  bool at_rest() const;                           // between two turns, or before the first
  Turns::Number turn() const { return turn_; }    // the turn entered last
  void failed(const Failure& failure, Time now);  // the connection has failed; at most once
  void stopped(Time now) { run_.stopped(now); }
  bool in_window(Time now) const;
  void moved(std::uint64_t sent, std::uint64_t received, Time now);  // bytes
  std::optional<Time> deadline() const;                              // when to call advance()

 private:
  bool begins() const { return plan_.turns ? run_.turn() != turn_ : run_.start().has_value(); }
  void begin();

  LoadRun& run_;
  const LoadPlan& plan_;
  Phase phase_ = Phase::connecting;
  std::optional<Time> intended_;  // the intended send of the outstanding request
  bool answered_ = false;         // a request was answered in the window
  bool left_ = false;             // the window is left
  Turns::Number turn_ = 0;
};

// Parse the options of a load. Both throw std::invalid_argument for invalid options.
TransferOptions transfer_options(const Parameters& parameters, const LoadPlan& plan);
LocalFilesRules local_files_rules(const Parameters& parameters, const TransferOptions& options,
                                  const LoadPlan& plan);

// Returns the demands of a side's options on engines; the plan of a server is null. Throws
// std::invalid_argument.
Demands demands_of(const Parameters& parameters, const LoadPlan* plan);

}  // namespace joust::file
