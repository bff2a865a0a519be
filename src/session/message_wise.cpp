// SPDX-License-Identifier: MIT
#include "session/message_wise.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "joust/framing.hpp"
#include "session/framing.hpp"

namespace joust {
namespace {

class LengthFirst : public Session {
 public:
  explicit LengthFirst(std::unique_ptr<Session> inner) : inner_(std::move(inner)) {
    assert(inner_->files() == nullptr);  // a range of a file has no length in the stream
  }

  void on_open(Time now) override { inner_->on_open(now); }
  std::size_t on_bytes(Bytes chunk, Time now) override { return inner_->on_bytes(chunk, now); }
  void on_published(Time now) override { inner_->on_published(now); }
  void on_peer_finished(Time now) override { inner_->on_peer_finished(now); }
  void on_deadline(Time now) override { inner_->on_deadline(now); }
  void on_drain(Time now) override { inner_->on_drain(now); }
  void on_failure(const Failure& failure, Time now) override { inner_->on_failure(failure, now); }

  std::size_t output(std::span<Segment> into) const override {
    return first_bytes(into.first(inner_->output(into)), left_);
  }
  Want want() const override { return inner_->want(); }
  std::optional<Time> deadline() const override { return inner_->deadline(); }
  bool finished() const override { return inner_->finished(); }
  std::string_view complaint() const override { return inner_->complaint(); }
  std::uint64_t memory() const override { return inner_->memory(); }
  bool gives_up() const override { return inner_->gives_up(); }
  void consumed(std::size_t n) override {
    if (in_length_) read_length(n);
    inner_->consumed(n);
    left_ -= std::min(n, left_);
    if (left_ > 0) return;
    in_length_ = !in_length_ || read_big_endian<std::uint32_t>(length_.data()) == 0;
    left_ = in_length_ ? Length4::kSizeBytes : read_big_endian<std::uint32_t>(length_.data());
  }
  void released(std::size_t n) override { inner_->released(n); }

 private:
  // Copies the next n bytes of the length before they are released. A session that has withdrawn its output
  // does not show them any more, and then no length is needed.
  void read_length(std::size_t n) {
    std::array<Segment, Length4::kSizeBytes> segments;
    const std::size_t count = first_bytes(std::span(segments).first(inner_->output(segments)), n);
    std::byte* place = length_.data() + Length4::kSizeBytes - left_;
    for (const Segment& segment : std::span(segments).first(count))
      place = std::ranges::copy(segment.bytes, place).out;
  }

  const std::unique_ptr<Session> inner_;
  bool in_length_ = true;
  std::size_t left_ = Length4::kSizeBytes;  // bytes left of the length, or of the payload
  std::array<std::byte, Length4::kSizeBytes> length_{};
};

}  // namespace

std::unique_ptr<Session> LengthFirstService::open(const ConnectionInfo& info) {
  auto session = inner_->open(info);
  if (info.delivery.by_message()) return session;
  return std::make_unique<LengthFirst>(std::move(session));
}

namespace {

constexpr std::size_t kStretches = 4;         // segments of the inner output that are read at a time
constexpr std::size_t kSmallFrame = 2 << 10;  // bytes; needs no memory from the heap

// Calls step(message) for each frame of the output until it returns false. Frames are never split between
// segments: an outbox and a room's log keep each in one piece.
template <typename Step>
void each_message(const Session& inner, Step&& step) {
  std::array<Segment, kStretches> stretches;
  const std::size_t count = inner.output(stretches);
  for (const Segment& stretch : std::span(stretches).first(count))
    for (Bytes rest = stretch.bytes; !rest.empty();) {
      const Bytes message = rest.subspan(Length4::kSizeBytes, read_big_endian<std::uint32_t>(rest.data()));
      if (!step(message)) return;
      rest = rest.subspan(Length4::kSizeBytes + message.size());
    }
}

class MessageWise : public Session {
 public:
  MessageWise(std::unique_ptr<Session> inner, std::size_t largest)
      : inner_(std::move(inner)), largest_(largest) {
    assert(inner_->files() == nullptr);
  }

  void on_open(Time now) override {
    inner_->on_open(now);
    look(now);
  }
  std::size_t on_bytes(Bytes message, Time now) override {
    std::array<std::byte, kSmallFrame> small;
    std::vector<std::byte> large;
    const std::size_t size = Length4::kSizeBytes + message.size();
    if (size > small.size()) large.resize(size);
    const std::span<std::byte> frame = large.empty() ? std::span(small).first(size) : std::span(large);
    write_big_endian(static_cast<std::uint32_t>(message.size()), frame.data());
    std::memcpy(frame.data() + Length4::kSizeBytes, message.data(), message.size());
    inner_->on_bytes(frame, now);
    look(now);
    return message.size();
  }
  void on_published(Time now) override {
    inner_->on_published(now);
    look(now);
  }
  void on_peer_finished(Time now) override {
    inner_->on_peer_finished(now);
    look(now);
  }
  void on_deadline(Time now) override {
    inner_->on_deadline(now);
    look(now);
  }
  void on_drain(Time now) override {
    inner_->on_drain(now);
    look(now);
  }
  void on_failure(const Failure& failure, Time now) override {
    if (!misfit_) inner_->on_failure(failure, now);
  }

  std::size_t output(std::span<Segment> into) const override {
    if (misfit_) return 0;
    std::size_t filled = 0;
    each_message(*inner_, [&](Bytes message) {
      if (filled == into.size() || !fits(message)) return false;
      into[filled++] = {.bytes = message};
      return true;
    });
    return filled;
  }
  Want want() const override { return misfit_ ? Want::nothing : inner_->want(); }
  std::optional<Time> deadline() const override { return misfit_ ? std::nullopt : inner_->deadline(); }
  bool finished() const override { return misfit_ || inner_->finished(); }
  std::string_view complaint() const override {
    return misfit_ ? "a message is empty, or too large for one of the transport" : inner_->complaint();
  }
  std::uint64_t memory() const override { return inner_->memory(); }
  bool gives_up() const override { return misfit_ || inner_->gives_up(); }

  // A session that has withdrawn its output shows no more frames. Then none are asked for either.
  void consumed(std::size_t n) override {
    std::size_t framed = 0;
    each_message(*inner_, [&](Bytes message) {
      if (message.size() > n || n == 0) return false;
      n -= message.size();
      framed += Length4::kSizeBytes + message.size();
      unreleased_.push_back(message.size());
      return true;
    });
    inner_->consumed(framed + n);
    look(last_input_);
  }
  void released(std::size_t n) override {
    std::size_t framed = 0;
    auto message = unreleased_.begin();
    for (; message != unreleased_.end() && *message <= n && n > 0; ++message) {
      n -= *message;
      framed += Length4::kSizeBytes + *message;
    }
    unreleased_.erase(unreleased_.begin(), message);
    inner_->released(framed + n);
  }

 private:
  bool fits(Bytes message) const { return !message.empty() && message.size() <= largest_; }

  // Checks the next message only. The messages behind it are checked when it has been sent.
  void look(Time now) {
    last_input_ = now;
    if (misfit_) return;
    bool fit = true;
    each_message(*inner_, [&](Bytes message) {
      fit = fits(message);
      return false;
    });
    if (fit) return;
    misfit_ = true;
    inner_->on_failure({Stage::local, EMSGSIZE, "a message of the protocol"}, now);
  }

  const std::unique_ptr<Session> inner_;
  const std::size_t largest_;
  std::vector<std::size_t> unreleased_;  // sizes of consumed messages
  Time last_input_{};
  bool misfit_ = false;
};

}  // namespace

std::unique_ptr<Session> message_wise(std::unique_ptr<Session> inner, std::size_t largest) {
  return std::make_unique<MessageWise>(std::move(inner), largest);
}

}  // namespace joust
