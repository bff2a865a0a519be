// SPDX-License-Identifier: MIT
//
// The client side of resp: SET and GET of keys, whose values it knows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "load/request_service.hpp"
#include "load/run.hpp"
#include "load/schedule.hpp"
#include "protocols/resp/protocol.hpp"
#include "session/framing.hpp"

namespace joust::resp {
namespace {

// The writes of a load: for each key the number of the last one, and of the last confirmed one. Each key
// has one writer, whose writes the server applies in order, so a reader knows which values are right: those
// from the write that was confirmed when the request was made, to the last one that has been sent. Keys are
// 0, 1, 2 ... Any thread; the writing methods only by the key's writer.
class Ledger {
 public:
  explicit Ledger(std::uint64_t keys) : keys_(keys) {}

  // Begins a write, and returns its number: 1, 2, 3 ...
  std::uint64_t begin(std::uint64_t key) {
    return keys_[key].begun.fetch_add(1, std::memory_order_release) + 1;
  }
  // The last write will never be sent.
  void take_back(std::uint64_t key) { keys_[key].begun.fetch_sub(1, std::memory_order_release); }
  void confirm(std::uint64_t key, std::uint64_t write) {
    if (!in_doubt(key)) keys_[key].confirmed.store(write, std::memory_order_release);
  }
  // A connection was lost, and with it what became of its writes: the server may apply them at any time.
  void doubt(std::uint64_t key) { keys_[key].confirmed.store(kInDoubt, std::memory_order_release); }

  std::uint64_t begun(std::uint64_t key) const { return keys_[key].begun.load(std::memory_order_acquire); }
  // Returns the last write that is certain; 0: none.
  std::uint64_t confirmed(std::uint64_t key) const {
    const std::uint64_t write = keys_[key].confirmed.load(std::memory_order_acquire);
    return write == kInDoubt ? 0 : write;
  }
  bool in_doubt(std::uint64_t key) const {
    return keys_[key].confirmed.load(std::memory_order_acquire) == kInDoubt;
  }

 private:
  static constexpr std::uint64_t kInDoubt = UINT64_MAX;

  struct Key {
    std::atomic<std::uint64_t> begun = 0, confirmed = 0;
  };

  std::vector<Key> keys_;
};

constexpr std::size_t kKeyDigits = 12;
constexpr std::size_t kShownReply = 80;  // bytes of a reply in a complaint

// Writes of the fill that are under way on a connection: more of them would only wait in memory.
constexpr std::uint64_t kFillStepBytes = 256 << 10;

// Right replies to GET.
struct GetCounts {
  std::uint64_t hits = 0, misses = 0;
  std::uint64_t not_verified = 0;  // hits with a value that this load has not written
};

// The state that all connections of a load share.
struct Common {
  Common(Workload requests, std::uint64_t connection_count)
      : workload(std::move(requests)),
        connections(connection_count),
        ledger(workload.keys),
        next_filled(connection_count) {
    for (std::uint64_t i = 0; i < connections; ++i) next_filled[i] = i;
    const std::size_t size = workload.prefix.size() + kKeyDigits;
    set_head = fmt::format("*3\r\n$3\r\nSET\r\n${}\r\n{}", size, workload.prefix);
    get_head = fmt::format("*2\r\n$3\r\nGET\r\n${}\r\n{}", size, workload.prefix);
  }

  const Workload workload;
  const std::uint64_t connections;
  Ledger ledger;
  // For each connection the first of its keys whose fill has no reply yet. Used by the connection only.
  std::vector<std::uint64_t> next_filled;
  std::string set_head, get_head;  // a command up to the number of its key
  // Marks the values of this load: a server may still have those of another one.
  const std::uint32_t mark = static_cast<std::uint32_t>(random_key().low);
  const std::shared_ptr<const Pattern> pattern = Pattern::of(workload.largest_value, Pattern::Alphabet::any);

  // Adds the counts of a connection at its end. Any thread.
  void add(const GetCounts& counts) {
    const std::lock_guard lock(mutex_);
    gets_.hits += counts.hits;
    gets_.misses += counts.misses;
    gets_.not_verified += counts.not_verified;
  }
  GetCounts get_counts() const {
    const std::lock_guard lock(mutex_);
    return gets_;
  }

 private:
  mutable std::mutex mutex_;
  GetCounts gets_;
};

// The value that a write gives to a key: the numbers of both, the mark, and bytes that depend on them.
class Value {
 public:
  Value(const Common& common, std::uint64_t key, std::uint64_t write)
      : size_(size_of(common.workload, key, write)), rest_(common.pattern->message(key, write)) {
    write_big_endian(write, head_.data());
    write_big_endian(static_cast<std::uint32_t>(key), head_.data() + 8);
    write_big_endian(common.mark, head_.data() + 12);
    rest_ = rest_.first(size_ - kLeastValue);
  }

  // Returns the number of the write in a value; nothing if another load has written it.
  static std::optional<std::uint64_t> write_of(Bytes value, std::uint32_t mark) {
    if (value.size() < kLeastValue || read_big_endian<std::uint32_t>(value.data() + 12) != mark)
      return std::nullopt;
    return read_big_endian<std::uint64_t>(value.data());
  }

  std::size_t size() const { return size_; }
  std::byte* copy_to(std::byte* to) const {
    to = std::ranges::copy(head_, to).out;
    return std::ranges::copy(rest_, to).out;
  }
  bool is(Bytes other) const {
    return other.size() == size_ && same_bytes(other.first(kLeastValue), head_) &&
           same_bytes(other.subspan(kLeastValue), rest_);
  }

 private:
  static std::size_t size_of(const Workload& workload, std::uint64_t key, std::uint64_t write) {
    const std::size_t more = workload.largest_value - workload.least_value;
    return more == 0 ? workload.least_value
                     : workload.least_value + mixed(key * kMixStep ^ write) % (more + 1);
  }

  std::size_t size_;
  std::array<std::byte, kLeastValue> head_;
  Bytes rest_;
};

// Each connection writes keys of its own, those whose number divided by the connections leaves its number,
// and reads all. So a key has one writer.
class RespExchange final : public Exchange {
 public:
  RespExchange(std::shared_ptr<Common> common, const Parameters& parameters)
      : common_(std::move(common)),
        ledger_(common_->ledger),
        own_(parameters.connection % common_->connections),
        first_(parameters.first_request) {}
  ~RespExchange() override {
    doubt_writes();
    common_->add(gets_);
  }

  bool write_greeting(Writer& greeting) override {
    if (!common_->workload.fills) return false;
    next_filled_ = common_->next_filled[own_];
    write_more_greeting(greeting);
    return filling_ > 0;
  }

  void write_more_greeting(Writer& greeting) override {
    const Workload& workload = common_->workload;
    const std::uint64_t step = std::max<std::uint64_t>(1, kFillStepBytes / workload.largest_value);
    for (; next_filled_ < workload.keys && filling_ < step; next_filled_ += common_->connections) {
      write_set(next_filled_, greeting);
      ++filling_;
    }
  }

  void write_request(std::uint64_t number, Writer& request) override {
    const Workload& workload = common_->workload;
    const std::uint64_t random = mixed((own_ << 40) + (first_ + number) * kMixStep);
    const std::uint64_t key = pick(number, mixed(random + kMixStep));
    if (random % (workload.sets + workload.gets) < workload.sets)
      write_set(own_key_near(key), request);
    else
      write_get(key, request);
  }

  MessageKind classify(std::uint64_t /*number*/, Bytes reply) override {
    if (pending_.empty()) {
      complaint_ = "a reply to no request";
      return MessageKind::wrong;
    }
    const Pending& request = pending_.front();
    complaint_ = request.is_set ? objection_to_set(request, reply) : objection_to_get(request, reply);
    if (!complaint_.empty()) return MessageKind::wrong;
    if (request.is_set) ledger_.confirm(request.key, request.write);
    if (filling_ > 0) common_->next_filled[own_] = request.key + common_->connections;
    pending_.pop_front();
    if (filling_ == 0) return MessageKind::reply;
    return --filling_ == 0 && !has_more_to_fill() ? MessageKind::greeting : MessageKind::other;
  }

  void on_withdrawn(std::uint64_t requests) override {
    for (; requests > 0 && !pending_.empty(); --requests) {
      if (pending_.back().is_set) ledger_.take_back(pending_.back().key);
      pending_.pop_back();
    }
  }
  void on_failure() override { doubt_writes(); }
  std::string_view complaint() const override { return complaint_; }

 private:
  struct Pending {
    std::uint64_t key = 0;
    std::uint64_t write = 0;  // of a GET: the oldest write that it may return; 0: there may be none
    bool is_set = false;
  };

  std::uint64_t pick(std::uint64_t number, std::uint64_t random) const {
    const Workload& workload = common_->workload;
    switch (workload.pattern) {
      case KeyPattern::uniform:
        return random % workload.keys;
      case KeyPattern::zipf:
        return workload.zipf->rank(random) - 1;
      case KeyPattern::sequential:
        break;
    }
    return (own_ * workload.keys / common_->connections + first_ + number) % workload.keys;
  }

  std::uint64_t own_key_near(std::uint64_t key) const {
    const std::uint64_t near = key - key % common_->connections + own_;
    return near < common_->workload.keys ? near : near - common_->connections;
  }

  void write_set(std::uint64_t key, Writer& writer) {
    const std::uint64_t write = ledger_.begin(key);
    const Value value(*common_, key, write);
    std::array<char, 24> size;
    const char* const end = fmt::format_to(size.data(), "\r\n${}\r\n", value.size());
    const std::string_view value_head(size.data(), end);
    std::byte* to =
        writer.extend(common_->set_head.size() + kKeyDigits + value_head.size() + value.size() + 2).data();
    to = write_key(key, put(common_->set_head, to));
    put("\r\n", value.copy_to(put(value_head, to)));
    pending_.push_back({.key = key, .write = write, .is_set = true});
  }

  // The connection's own writes are applied before its reads; those of others once they are confirmed.
  void write_get(std::uint64_t key, Writer& writer) {
    std::byte* const to = writer.extend(common_->get_head.size() + kKeyDigits + 2).data();
    put("\r\n", write_key(key, put(common_->get_head, to)));
    const bool is_own = key % common_->connections == own_ && !ledger_.in_doubt(key);
    pending_.push_back({.key = key, .write = is_own ? ledger_.begun(key) : ledger_.confirmed(key)});
  }

  static std::byte* put(std::string_view text, std::byte* to) {
    return std::ranges::copy(as_bytes(text), to).out;
  }

  static std::byte* write_key(std::uint64_t key, std::byte* to) {
    for (std::size_t digit = kKeyDigits; digit-- > 0; key /= 10)
      to[digit] = static_cast<std::byte>('0' + key % 10);
    return to + kKeyDigits;
  }

  // Return why a reply is wrong; empty if it is right.

  std::string objection_to_set(const Pending& request, Bytes reply) const {
    return as_text(reply) == "+OK\r\n" ? "" : unexpected_reply("SET", request, reply);
  }

  std::string objection_to_get(const Pending& request, Bytes reply) {
    const std::string_view text = as_text(reply);
    if (text == "$-1\r\n" || text == "_\r\n") {
      ++gets_.misses;
      return request.write == 0
                 ? ""
                 : fmt::format(
                       "{} has been written, and the server has no value for it: does it evict "
                       "keys, for want of memory, or does another program delete them?",
                       name(request.key));
    }
    const auto value = bulk(reply);
    if (!value) return unexpected_reply("GET", request, reply);
    ++gets_.hits;
    const auto write = Value::write_of(*value, common_->mark);
    if (!write && request.write == 0) {
      ++gets_.not_verified;  // the value of an earlier load, or of somebody else
      return {};
    }
    if (!write)
      return fmt::format(
          "{} has a value of {} bytes that this load has not written: does another load or program write the "
          "same keys? --key-prefix says others",
          name(request.key), value->size());
    if (write && *write < request.write)
      return fmt::format("{} has the value of write {}, but write {} came before the request",
                         name(request.key), *write, request.write);
    if (*write > ledger_.begun(request.key) || !Value(*common_, request.key, *write).is(*value))
      return fmt::format("{} has a value of {} bytes that was never written to it", name(request.key),
                         value->size());
    return {};
  }

  // Returns the bytes of a bulk string; nothing if the reply is none.
  static std::optional<Bytes> bulk(Bytes reply) {
    const std::string_view text = as_text(reply);
    std::size_t size = 0;
    if (!text.starts_with('$')) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), size);
    const auto at = static_cast<std::size_t>(end - text.data()) + 2;
    if (error != std::errc() || at + size + 2 != text.size()) return std::nullopt;
    return reply.subspan(at, size);
  }

  std::string unexpected_reply(std::string_view command, const Pending& request, Bytes reply) const {
    const std::string_view text = as_text(reply);
    const bool is_error = text.starts_with('-');
    return fmt::format("the server answers {} {} by {}'{}'{}", command, name(request.key),
                       is_error ? "the error " : "", printable(text.substr(is_error ? 1 : 0, kShownReply)),
                       hint(text));
  }

  static std::string_view hint(std::string_view error) {
    if (error.starts_with("-NOAUTH") || error.starts_with("-NOPERM"))
      return "; this protocol sends no password: load a server without one (requirepass), or say -p script "
             "with "
             "--first 'AUTH PASSWORD\\r\\n'";
    if (error.starts_with("-OOM")) return "; give the server more memory (maxmemory), or take fewer keys";
    return {};
  }

  // Returns whether a key is left that write_more_greeting() would write.
  bool has_more_to_fill() const { return next_filled_ < common_->workload.keys; }

  std::string name(std::uint64_t key) const {
    return fmt::format("{}{:0{}}", printable(common_->workload.prefix), key, kKeyDigits);
  }

  void doubt_writes() {
    for (const Pending& request : pending_)
      if (request.is_set) ledger_.doubt(request.key);
    pending_.clear();
  }

  const std::shared_ptr<Common> common_;
  Ledger& ledger_;
  const std::uint64_t own_, first_;
  std::deque<Pending> pending_;
  std::uint64_t next_filled_ = 0;  // the next key to be written before the load
  std::uint64_t filling_ = 0;      // writes before the load that are not confirmed yet
  GetCounts gets_{};
  std::string complaint_;
};

// Adds the counts of GETs to the results.
class RespClient final : public RequestService {
 public:
  RespClient(std::shared_ptr<Common> common, const Parameters& parameters, LoadRun& run)
      : RequestService(
            Own{[] { return std::make_unique<FoundCutter>(resp_finder(), kLargestMessage); }}, parameters,
            [common](const Parameters& own) { return std::make_unique<RespExchange>(common, own); }, run),
        common_(std::move(common)) {}

  std::vector<ResultGroup> results() const override {
    const GetCounts gets = common_->get_counts();
    return {{"gets",
             {{"hits", gets.hits}, {"misses", gets.misses}, {"not_verified", gets.not_verified}},
             gets.not_verified > 0 ? "of the whole run; this load has not written what is not verified"
                                   : "of the whole run"}};
  }

 private:
  const std::shared_ptr<Common> common_;
};

}  // namespace

std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run) {
  const std::uint64_t connections = run.plan().of_all_hosts();
  auto common = std::make_shared<Common>(workload(parameters, connections), connections);
  return std::make_unique<RespClient>(std::move(common), parameters, run);
}

}  // namespace joust::resp
