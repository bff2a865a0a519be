// SPDX-License-Identifier: MIT
#include "session/length_first.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "base/bytes.hpp"
#include "joust/framing.hpp"
#include "session/segments.hpp"

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

}  // namespace joust
