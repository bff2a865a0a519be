// SPDX-License-Identifier: MIT
#include "hosts/frame.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/check.hpp"

namespace joust::hosts {
namespace {

constexpr std::size_t kLongestHead = 80;
constexpr std::array<std::string_view, 3> kKinds{"message", "ended", "interrupt"};  // by Frame::Kind

std::string head_of(const Frame& frame) {
  return fmt::format("{} {} {}\n", kKinds[static_cast<std::size_t>(frame.kind)], frame.rank,
                     frame.body.size());
}

// Reads a head. `bytes`: the length of the body.
std::optional<Frame> frame_of(const std::string& head, std::size_t& bytes) {
  std::istringstream words(head);
  std::string kind;
  Frame frame;
  std::int64_t length = 0;
  if (!(words >> kind >> frame.rank >> length)) return std::nullopt;
  const auto known = std::ranges::find(kKinds, kind);
  if (known == kKinds.end()) return std::nullopt;
  if (frame.rank < 0 || length < 0) return std::nullopt;
  bytes = static_cast<std::size_t>(length);
  if (bytes > kMostMessageBytes) return std::nullopt;
  frame.kind = static_cast<Frame::Kind>(known - kKinds.begin());
  return frame;
}

}  // namespace

std::string bytes_of(const Frame& frame) {
  return head_of(frame) + frame.body;
}

std::expected<std::optional<Frame>, std::string> FrameReader::next() {
  const std::size_t end = came_.find('\n');
  if (end == std::string::npos && came_.size() < kLongestHead) return std::nullopt;
  std::size_t bytes = 0;
  auto frame = end >= kLongestHead ? std::nullopt : frame_of(came_.substr(0, end), bytes);
  if (!frame) return std::unexpected("what came is no message");
  if (came_.size() < end + 1 + bytes) return std::nullopt;
  frame->body = came_.substr(end + 1, bytes);
  came_.erase(0, end + 1 + bytes);
  return frame;
}

namespace {

// Bytes that have come and were not taken. More stay with the sender.
constexpr std::size_t kMostHeld = 4 * kMostMessageBytes;

}  // namespace

FrameSocket::FrameSocket(Fd socket) : socket_(std::move(socket)) {
  checked(::fcntl(socket_.get(), F_SETFL, O_NONBLOCK), "fcntl(O_NONBLOCK)");
  checked(::fcntl(socket_.get(), F_SETFD, FD_CLOEXEC), "fcntl(FD_CLOEXEC)");  // it came through exec
}

std::optional<bool> FrameSocket::wait(short events, Time deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  pollfd event{socket_.get(), events, 0};
  const int ready = ::poll(&event, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000)));
  return ready < 0 ? std::nullopt : std::optional(ready > 0);
}

std::expected<void, std::string> FrameSocket::read_some() {
  std::array<char, 65536> buffer;
  const ssize_t got =
      retry_interrupted([&] { return ::recv(socket_.get(), buffer.data(), buffer.size(), 0); });
  if (got == 0 || (got < 0 && errno == ECONNRESET))  // closed before it had read all
    return std::unexpected(kClosed);
  if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return std::unexpected(std::strerror(errno));
  if (got > 0) reader_.take({buffer.data(), static_cast<std::size_t>(got)});
  return {};
}

std::expected<std::size_t, std::string> FrameSocket::send_some(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t sent = retry_interrupted(
        [&] { return ::send(socket_.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL); });
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return std::unexpected(std::strerror(errno));
    if (sent < 0) break;
    at += static_cast<std::size_t>(sent);
  }
  return at;
}

std::expected<void, std::string> FrameSocket::send(const Frame& frame, Time deadline) {
  if (frame.body.size() > kMostMessageBytes)
    return std::unexpected(
        fmt::format("a message of {} bytes is longer than {} bytes", frame.body.size(), kMostMessageBytes));
  const std::string bytes = bytes_of(frame);
  for (std::string_view rest = bytes;;) {
    const auto sent = send_some(rest);
    if (!sent) return std::unexpected(sent.error());
    rest.remove_prefix(*sent);
    if (rest.empty()) return {};
    if (Clock::now() >= deadline) return std::unexpected("a message was not taken in time");
    const bool has_room = reader_.held() < kMostHeld;
    wait(static_cast<short>(has_room ? POLLOUT | POLLIN : POLLOUT), deadline);
    if (!has_room) continue;
    if (const auto read = read_some(); !read) return read;
  }
}

std::expected<std::optional<Frame>, std::string> FrameSocket::receive(Time deadline) {
  for (;;) {
    if (auto frame = reader_.next(); !frame || *frame) return frame;
    const auto is_ready = wait(POLLIN, deadline);
    if (is_ready.value_or(false))
      if (const auto read = read_some(); !read) return std::unexpected(read.error());
    if (!is_ready || (!*is_ready && Clock::now() >= deadline)) return std::nullopt;
  }
}

}  // namespace joust::hosts
