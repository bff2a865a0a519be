// SPDX-License-Identifier: MIT
//
// The client side of file: a load that carries transfers.
#include "files/protocol/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/bytes.hpp"
#include "base/utc.hpp"
#include "files/protocol/client_session.hpp"
#include "files/protocol/protocol.hpp"
#include "files/store/name.hpp"
#include "files/store/upload/local_files.hpp"

namespace joust::file {
namespace {

// Returns range number `i` of `count` ranges of `size` bytes, divided as evenly as possible.
ByteRange cut(std::uint64_t size, std::uint64_t count, std::uint64_t i) {
  const std::uint64_t each = size / count, larger = size % count;
  return {.offset = each * i + std::min(i, larger), .size = each + (i < larger ? 1 : 0)};
}

}  // namespace

Transfers::Transfers(TransferOptions options, LoadRun& run, TransferFiles& local)
    : options_(std::move(options)),
      run_(run),
      local_(local),
      group_size_(std::min<std::uint64_t>(options_.segments, run.plan().connections)),
      groups_((run.plan().connections + group_size_ - 1) / group_size_),
      first_id_(random_number()) {
  for (std::uint64_t i = 0; i < run.plan().connections; ++i) ++group(i).members;
  if (options_.operation == Operation::put)
    set_facts({.size = local.source().version.size, .digest = local.source().digest});
}

void Transfers::set_facts(const Facts& facts) {
  facts_ = facts;
  facts_known_.store(true, std::memory_order_release);
}

// Returns at most one range for each byte, and at least one range.
std::uint64_t Transfers::segments() const {
  return std::clamp<std::uint64_t>(facts_.size, 1, options_.segments);
}

std::optional<RangeTask> Transfers::next(ConnectionGroup& group, bool recorded) {
  const auto& wanted = run_.plan().messages;
  auto& counter = recorded ? group.next : group.next_unrecorded;
  const RangeTask next = task(counter.fetch_add(1), recorded);
  if (recorded && wanted && next.transfer >= *wanted) return std::nullopt;
  return next;
}

std::optional<RangeTask> Transfers::next_in_turn(ConnectionGroup& group, Turns::Number turn, bool recorded) {
  const std::lock_guard lock(group.mutex);
  if (std::exchange(group.turn, turn) != turn) group.left = run_.messages_in_turn() * segments();
  if (group.left == 0) return std::nullopt;
  --group.left;
  return task(group.next.fetch_add(1), recorded);
}

RangeTask Transfers::task(std::uint64_t number, bool recorded) const {
  return {number / segments(), cut(facts_.size, segments(), number % segments()), recorded};
}

FileAnswer<File*> Transfers::sink(ConnectionGroup& group) {
  const std::lock_guard lock(group.mutex);
  if (!group.sink) {
    auto sink = local_.sink(facts_.size);
    if (!sink) return std::unexpected(sink.error());
    group.sink = std::move(*sink);
  }
  return &group.sink->file();
}

std::uint64_t Transfers::upload_id(std::uint64_t connection, const RangeTask& task) const {
  return first_id_ + (connection / group_size_ << 32) + task.transfer * 2 + (task.recorded ? 1 : 0);
}

std::uint64_t Transfers::completed() const {
  std::uint64_t sum = 0;
  for (const ConnectionGroup& group : groups_) sum += group.done / segments();
  return sum;
}

void LoadPhases::opened(Time now) {
  phase_ = Phase::waiting;
  run_.opened(now);
}

bool LoadPhases::in_window(Time now) const {
  if (phase_ != Phase::measuring) return false;
  const auto closes = run_.closes();
  return plan_.messages || plan_.turns || (closes && now < *closes);
}

void LoadPhases::begin() {
  turn_ = run_.turn();
  const bool recorded = plan_.turns ? run_.turn_is_recorded() : plan_.warmup == Duration{};
  phase_ = recorded ? Phase::measuring : Phase::warming;
}

// Passes through every phase that `now` has reached.
void LoadPhases::advance(Time now) {
  if (phase_ == Phase::waiting && begins()) begin();
  if (plan_.turns) return;
  if (phase_ == Phase::warming && now >= *run_.start() + plan_.warmup) {
    phase_ = plan_.messages ? Phase::settling : Phase::measuring;
    if (phase_ == Phase::measuring && busy()) run_.recorder().sent(1);
  }
  if (phase_ == Phase::measuring && !plan_.messages) run_.entered_window();
  if (phase_ == Phase::settling && !busy()) {
    phase_ = Phase::ready;
    run_.settled(now);
  }
  if (phase_ == Phase::ready && run_.opens()) phase_ = Phase::measuring;
  if (phase_ == Phase::measuring && !in_window(now)) leave_window(now);
}

void LoadPhases::began(Time now, Time intended) {
  intended_ = intended;
  if (in_window(now)) run_.recorder().sent(1);
}

void LoadPhases::verified(Time now) {
  const Time intended = *std::exchange(intended_, std::nullopt);
  Recorder& recorder = run_.recorder();
  if (plan_.turns) recorder.replied(now, !in_window(now));
  if (!in_window(now)) {
    if (plan_.turns) recorder.beside();
    return;
  }
  recorder.verified(now - intended, run_.windows_before() + (now - *run_.opens()));
  if (!std::exchange(answered_, true)) recorder.answered();
}

void LoadPhases::rest(Time now) {
  phase_ = Phase::waiting;
  run_.rested(now);
}

bool LoadPhases::at_rest() const {
  return plan_.turns && phase_ == Phase::waiting && !begins();
}

void LoadPhases::leave_window(Time now) {
  const bool was_inside = phase_ == Phase::measuring;
  if (phase_ < Phase::ready && plan_.messages && plan_.warmup != Duration{}) run_.settled(now);
  phase_ = Phase::over;
  if (std::exchange(left_, true)) return;
  if (was_inside && busy()) {
    const Time closed = std::min(run_.closes().value_or(now), now);
    run_.recorder().in_flight(1, closed - *intended_);
  }
  if (!plan_.turns) run_.measured(now);
}

void LoadPhases::failed(const Failure& failure, Time now) {
  if (phase_ == Phase::connecting) {
    phase_ = Phase::over;
    return run_.not_opened(failure, now);
  }
  run_.failed(failure);
  if (in_window(now) && busy()) run_.recorder().failed(1);
  intended_.reset();
  if (plan_.turns && phase_ != Phase::over) run_.gone(turn_, phase_ == Phase::waiting, now);
  leave_window(now);
}

void LoadPhases::moved(std::uint64_t sent, std::uint64_t received, Time now) {
  if (!in_window(now)) return;
  if (sent > 0) run_.recorder().bytes_sent(sent);
  if (received > 0) run_.recorder().bytes_received(received);
}

std::optional<Time> LoadPhases::deadline() const {
  switch (phase_) {
    case Phase::waiting:
      return begins() ? run_.start() : std::nullopt;  // due at once when it is known
    case Phase::warming:
      return plan_.turns ? std::nullopt : std::optional(*run_.start() + plan_.warmup);
    case Phase::ready:
      return run_.opens();
    case Phase::measuring:
      return plan_.messages ? std::nullopt : run_.closes();
    default:
      return std::nullopt;
  }
}

namespace {

constexpr std::uint64_t kMostSegments = 1'000'000;

Operation operation_of(const Parameters& parameters) {
  const std::string& op = parameters.option("op");
  return op == "put" ? Operation::put : op == "info" ? Operation::info : Operation::get;
}

std::string name_of(const Parameters& parameters, Operation operation) {
  if (const std::string& given = parameters.option("name"); !given.empty()) return given;
  if (operation != Operation::put) return kSampleName;
  const std::string& file = parameters.option("file");
  return file.empty() ? "upload" : std::string(split_name(file).last);
}

// Parses --segments; 0 means a range for each connection.
std::uint64_t segments_of(const Parameters& parameters, const LoadPlan& plan) {
  const std::uint64_t given = count_of(parameters, "segments");
  if (given > kMostSegments) throw std::invalid_argument("--segments: 0 to 1M");
  return given == 0 ? std::min<std::uint64_t>(plan.connections, kMostSegments) : given;
}

}  // namespace

TransferOptions transfer_options(const Parameters& parameters, const LoadPlan& plan) {
  if (plan.open_loop())
    throw std::invalid_argument(
        "-R: files have no open loop, because a transfer that is late cannot be made up for; -i keeps an "
        "interval between transfers");
  const Operation op = operation_of(parameters);
  TransferOptions options{.operation = op,
                          .segments = op == Operation::info ? 1 : segments_of(parameters, plan),
                          .requests_per_connection = count_of(parameters, "requests-per-connection")};
  options.name = name_of(parameters, options.operation);
  if (const auto objection = objection_to(options.name); !objection.empty())
    throw std::invalid_argument("--name: " + std::string(objection));
  if (op == Operation::info && parameters.option("segments") != "1")
    throw std::invalid_argument("--segments is for --op get and --op put: a query transfers nothing");
  if (plan.connections > options.segments && plan.connections % options.segments != 0)
    throw std::invalid_argument(fmt::format(
        "--segments {0}: {0} connections carry a transfer, and {1} are no multiple of that; say {2} or "
        "{3} with -c",
        options.segments, plan.connections, plan.connections / options.segments * options.segments,
        (plan.connections / options.segments + 1) * options.segments));
  const std::uint64_t at_most = options.requests_per_connection;
  const std::uint64_t carriers = std::min<std::uint64_t>(options.segments, plan.connections);
  if (options.operation != Operation::info && at_most > 0 && plan.messages &&
      *plan.messages * options.segments > at_most * carriers)
    throw std::invalid_argument(
        "--requests-per-connection: too few connections for so many ranges; say more with -c, or fewer with "
        "-m or --segments");
  if (options.operation != Operation::info && at_most > 0 && !plan.messages)
    throw std::invalid_argument(
        "--requests-per-connection: connections would end before the time does; say how many transfers with "
        "-m");
  return options;
}

Demands demands_of(const Parameters& parameters, const LoadPlan* plan) {
  const bool by_ring = file_write(parameters) == FileWrite::writev;
  const bool by_mapping = file_read(parameters) == FileRead::mmap;
  if (plan == nullptr)
    return {.file_ring = by_ring,
            .file_mapping = by_mapping,
            .common_sessions = parameters.option("access") == "read"
                                   ? ""
                                   : "uploads need them in one (--access read takes no uploads)"};
  const Operation op = operation_of(parameters);
  if (op != Operation::put) return {.file_ring = by_ring && op == Operation::get};
  return {.file_mapping = by_mapping};
}

LocalFilesRules local_files_rules(const Parameters& parameters, const TransferOptions& options,
                                  const LoadPlan& plan) {
  LocalFilesRules rules{.output = parameters.option("output"),
                        .source = parameters.option("file"),
                        .read = file_read(parameters),
                        .write = file_write(parameters)};
  const std::string& sink = parameters.option("sink");
  if (sink == "file" || (sink.empty() && !rules.output.empty())) rules.sink = SinkKind::file;
  if (sink == "memory") rules.sink = SinkKind::memory;
  const bool puts = options.operation == Operation::put;
  if ((rules.sink == SinkKind::file) != !rules.output.empty())
    throw std::invalid_argument("--sink file and --output FILE belong together");
  if (options.operation != Operation::get && (!sink.empty() || !rules.output.empty()))
    throw std::invalid_argument("--sink and --output are for --op get");
  if (rules.sink == SinkKind::file && plan.connections > options.segments)
    throw std::invalid_argument("--output is for one get: say -c 1, or as many --segments as connections");
  if (rules.sink == SinkKind::file && !plan.messages)
    throw std::invalid_argument(
        "--output is for whole files: say -m 1, not a time that may end in the middle");
  if (!parameters.option("bytes").empty()) rules.bytes = bytes_of(parameters, "bytes");
  if (puts != (!rules.source.empty() || rules.bytes))
    throw std::invalid_argument("--op put goes with --file LOCALFILE or --bytes N");
  if (!rules.source.empty() && rules.bytes) throw std::invalid_argument("--file or --bytes: one of them");
  return rules;
}

namespace {

class FileClient : public Service {
 public:
  FileClient(const Parameters& parameters, const TransferOptions& options, const LocalFilesRules& rules,
             LoadRun& run)
      : parameters_(parameters), run_(run), local_(rules), transfers_(options, run, local_) {}

  std::unique_ptr<Session> open(const ConnectionInfo& /*info*/) override {
    return std::make_unique<ClientSession>(transfers_, run_.channels().take().number);
  }
  void not_opened(const Failure& failure, Time now) override { run_.not_opened(failure, now); }
  Publications* publications() override { return &run_.publications(); }
  std::vector<ResultGroup> results() const override;

 private:
  std::string way() const;
  ResultGroup carried() const;
  std::vector<ResultGroup> described() const;

  const Parameters parameters_;
  LoadRun& run_;
  LocalFiles local_;
  Transfers transfers_;
};

std::vector<ResultGroup> FileClient::results() const {
  return transfers_.options().operation == Operation::info ? described() : std::vector{carried()};
}

ResultGroup FileClient::carried() const {
  // A load that fails ends before its window closes.
  const double seconds = std::chrono::duration<double>(run_.windows(Clock::now())).count();
  const std::uint64_t bytes = transfers_.bytes;
  const Facts* const facts = transfers_.facts();
  const bool digested = transfers_.digested > 0 && facts != nullptr && facts->digest;
  ResultGroup group{.name = "transfer", .figures = {{"bytes", bytes}, {"seconds", seconds}}};
  // If every connection has failed, the time until then does not give a rate.
  const bool all_failed = run_.connections_failed() >= run_.plan().connections;
  if (bytes > 0 && seconds > 0 && !all_failed)
    group.figures.emplace_back("mb_per_s", static_cast<double>(bytes) / seconds / 1e6);
  group.figures.emplace_back("transfers", transfers_.completed());
  group.figures.emplace_back("digest", digested ? to_hex(*facts->digest) : std::string("not verified"));
  group.figures.emplace_back("way", way());
  return group;
}

// Describes the queried file.
std::vector<ResultGroup> FileClient::described() const {
  const Facts* const facts = transfers_.facts();
  if (facts == nullptr) return {};
  return {
      {"file",
       {{"name", transfers_.options().name},
        {"bytes", facts->size},
        {"modified", utc_text(std::chrono::nanoseconds(facts->modified_ns))},
        {"digest", facts->digest ? to_hex(*facts->digest) : std::string("not known to the server yet")}}}};
}

std::string FileClient::way() const {
  const PlainBytes& plain = local_.plain_bytes();
  if (transfers_.options().operation == Operation::put)
    return way_used(parameters_.option("file-read"), "read", plain.read > 0);
  const std::string& wish = parameters_.option("file-write");
  // Bytes that arrive together with the head before them are always written, and never spliced.
  const bool otherwise = wish == "splice" ? transfers_.moved_by_kernel.load() : plain.gathered > 0;
  return way_used(wish, "write", wish == "splice" ? !otherwise : plain.written > 0 && !otherwise);
}

}  // namespace

std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run) {
  const TransferOptions options = transfer_options(parameters, run.plan());
  const LocalFilesRules rules = local_files_rules(parameters, options, run.plan());
  try {
    return std::make_unique<FileClient>(parameters, options, rules, run);
  } catch (const std::system_error& error) {
    throw std::invalid_argument(fmt::format("--{}: {}", rules.bytes ? "bytes" : "file", error.what()));
  } catch (const UnusableFile& error) {
    throw std::invalid_argument(
        fmt::format("--{} {}", rules.output.empty() ? "file" : "output", error.what()));
  }
}

}  // namespace joust::file
