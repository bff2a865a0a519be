// SPDX-License-Identifier: MIT
#include "load/shown_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace joust {
namespace {

std::vector<std::byte> content_of(Outbox& outbox) {
  std::array<Segment, 4> segments;
  std::vector<std::byte> bytes;
  while (const std::size_t count = outbox.segments(segments)) {
    std::size_t taken = 0;
    for (const Segment& one : std::span(segments).first(count)) {
      bytes.insert(bytes.end(), one.bytes.begin(), one.bytes.end());
      taken += one.bytes.size();
    }
    outbox.consumed(taken);
    outbox.released(taken);
  }
  return bytes;
}

std::string_view words(MessageKind kind, std::string_view complaint) {
  switch (kind) {
    case MessageKind::wrong:
    case MessageKind::ends:
      return complaint;
    case MessageKind::greeting:
      return "right: the load begins";
    case MessageKind::other:
    case MessageKind::asks:
      return "right, and no reply to a request";
    case MessageKind::repeated:
      return "it has come before";
    case MessageKind::reply:
    case MessageKind::last_reply:
      break;
  }
  return "right";
}

class TracedExchange final : public Exchange {
 public:
  TracedExchange(std::unique_ptr<Exchange> inner, const MessageTrace& trace)
      : inner_(std::move(inner)), trace_(trace) {}

  bool write_greeting(Writer& greeting) override {
    bool has_greeting = false;
    show_written(What::sent_first, greeting,
                 [&](Writer& own) { has_greeting = inner_->write_greeting(own); });
    return has_greeting;
  }
  void write_more_greeting(Writer& greeting) override {
    show_written(What::sent_first, greeting, [&](Writer& own) { inner_->write_more_greeting(own); });
  }
  void write_request(std::uint64_t number, Writer& request) override {
    show_written(What::sent, request, [&](Writer& own) { inner_->write_request(number, own); });
  }
  void write_last(Writer& last) override {
    show_written(What::sent_last, last, [&](Writer& own) { inner_->write_last(own); });
  }
  void write_answer(Writer& answer) override {
    show_written(What::sent, answer, [&](Writer& own) { inner_->write_answer(own); });
  }
  void write_refusal(Writer& refusal) override {
    show_written(What::sent_last, refusal, [&](Writer& own) { inner_->write_refusal(own); });
  }
  MessageKind classify(std::uint64_t number, Bytes message) override {
    const MessageKind kind = inner_->classify(number, message);
    trace_.show(What::came, message, words(kind, inner_->complaint()));
    return kind;
  }

  std::size_t reply_size(std::uint64_t number) const override { return inner_->reply_size(number); }
  bool carries_numbers() const override { return inner_->carries_numbers(); }
  std::uint64_t number_of(Bytes reply) const override { return inner_->number_of(reply); }
  Bytes expected(std::uint64_t number) const override { return inner_->expected(number); }
  std::string_view complaint() const override { return inner_->complaint(); }
  void on_last_request() override { inner_->on_last_request(); }
  void on_withdrawn(std::uint64_t requests) override { inner_->on_withdrawn(requests); }
  void on_failure() override { inner_->on_failure(); }
  bool complete() const override { return inner_->complete(); }
  void on_silence() override { inner_->on_silence(); }

 private:
  using What = MessageTrace::What;

  template <class Write>
  void show_written(What what, Writer& writer, Write write) {
    Outbox outbox;
    const Framing none = Raw{};
    Writer own(none, outbox);
    write(own);
    const std::vector<std::byte> message = content_of(outbox);
    if (message.empty()) return;
    trace_.show(what, message, {});
    writer.send(message);
  }

  const std::unique_ptr<Exchange> inner_;
  const MessageTrace& trace_;
};

class TracedSession final : public Session {
 public:
  TracedSession(std::unique_ptr<Session> inner, const MessageTrace& trace)
      : inner_(std::move(inner)), trace_(trace) {}

  std::size_t on_bytes(Bytes chunk, Time now) override {
    trace_.came(chunk);
    std::size_t taken = 0;  // all of it, so that no byte is shown twice
    while (taken < chunk.size()) {
      const std::size_t more = inner_->on_bytes(chunk.subspan(taken), now);
      if (more == 0) break;
      taken += more;
    }
    return taken;
  }

  void on_open(Time now) override { inner_->on_open(now); }
  void on_published(Time now) override { inner_->on_published(now); }
  void on_peer_finished(Time now) override { inner_->on_peer_finished(now); }
  void on_deadline(Time now) override { inner_->on_deadline(now); }
  void on_drain(Time now) override { inner_->on_drain(now); }
  void on_failure(const Failure& failure, Time now) override { inner_->on_failure(failure, now); }
  std::size_t output(std::span<Segment> into) const override { return inner_->output(into); }
  Want want() const override { return inner_->want(); }
  std::optional<Time> deadline() const override { return inner_->deadline(); }
  bool finished() const override { return inner_->finished(); }
  std::string_view complaint() const override { return inner_->complaint(); }
  bool gives_up() const override { return inner_->gives_up(); }
  void consumed(std::size_t n) override { inner_->consumed(n); }
  void released(std::size_t n) override { inner_->released(n); }

 private:
  const std::unique_ptr<Session> inner_;
  const MessageTrace& trace_;
};

}  // namespace

std::unique_ptr<Session> traced(std::unique_ptr<Session> session, const MessageTrace& trace) {
  return std::make_unique<TracedSession>(std::move(session), trace);
}

std::unique_ptr<Exchange> traced(std::unique_ptr<Exchange> exchange, const MessageTrace& trace) {
  return std::make_unique<TracedExchange>(std::move(exchange), trace);
}

namespace {

constexpr std::size_t kShown = 64;
constexpr std::size_t kBefore = 16;  // bytes before a difference that lies behind the first ones

std::string quoted(Bytes bytes, std::size_t from) {
  const Bytes part = bytes.subspan(std::min(from, bytes.size()),
                                   std::min(kShown, bytes.size() - std::min(from, bytes.size())));
  return fmt::format("{}\"{}\"{}", from > 0 ? "..." : "", printable(as_text(part)),
                     from + part.size() < bytes.size() ? "..." : "");
}

std::size_t first_difference(Bytes one, Bytes other) {
  return static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
}

}  // namespace

std::string describe(const WrongReply& wrong) {
  const std::string where =
      fmt::format("request {} of connection {}: {}", wrong.request, wrong.connection, wrong.complaint);
  if (wrong.expected.empty())
    return fmt::format("{}; {} came: {}", where, counted(wrong.came.size(), "byte"), quoted(wrong.came, 0));
  const std::size_t differs = first_difference(wrong.expected, wrong.came);
  const std::size_t from = differs < kShown ? 0 : differs - kBefore;
  return fmt::format("{}; {} expected: {}, {} came: {}, different from byte {} on", where,
                     counted(wrong.expected.size(), "byte"), quoted(wrong.expected, from),
                     counted(wrong.came.size(), "byte"), quoted(wrong.came, from), differs);
}

}  // namespace joust
