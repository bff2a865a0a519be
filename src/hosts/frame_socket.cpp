// SPDX-License-Identifier: MIT
#include "hosts/frame_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/check.hpp"

namespace joust::hosts {
namespace {

constexpr std::size_t kLongestHead = 80;
// Bytes that have come and were not taken. More stay with the sender.
constexpr std::size_t kMostHeld = 4 * kMostMessageBytes;
constexpr const char* kClosed = "the connection was closed";

std::string head_of(const Frame& frame) {
  return fmt::format("{} {} {} {}\n", frame.kind == Frame::Kind::message ? "message" : "ended", frame.rank,
                     frame.body.size(), frame.quiet.count());
}

// Reads a head. `bytes`: the length of the body.
std::optional<Frame> frame_of(const std::string& head, std::size_t& bytes) {
  std::istringstream words(head);
  std::string kind;
  Frame frame;
  std::int64_t length = 0, quiet_ms = 0;
  if (!(words >> kind >> frame.rank >> length >> quiet_ms)) return std::nullopt;
  if (kind != "message" && kind != "ended") return std::nullopt;
  if (frame.rank < 0 || quiet_ms < 0 || length < 0) return std::nullopt;
  bytes = static_cast<std::size_t>(length);
  if (bytes > kMostMessageBytes) return std::nullopt;
  frame.kind = kind == "message" ? Frame::Kind::message : Frame::Kind::ended;
  frame.quiet = std::chrono::milliseconds(quiet_ms);
  return frame;
}

}  // namespace

FrameSocket::FrameSocket(Fd socket) : socket_(std::move(socket)) {
  checked(::fcntl(socket_.get(), F_SETFL, O_NONBLOCK), "fcntl(O_NONBLOCK)");
  checked(::fcntl(socket_.get(), F_SETFD, FD_CLOEXEC), "fcntl(FD_CLOEXEC)");  // it came through exec
}

bool FrameSocket::wait(short events, Time deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  pollfd event{socket_.get(), events, 0};
  return ::poll(&event, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000))) > 0;
}

std::expected<void, std::string> FrameSocket::read_some() {
  std::array<char, 65536> buffer;
  const ssize_t got =
      retry_interrupted([&] { return ::recv(socket_.get(), buffer.data(), buffer.size(), 0); });
  if (got == 0) return std::unexpected(kClosed);
  if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return std::unexpected(std::strerror(errno));
  if (got > 0) came_.append(buffer.data(), static_cast<std::size_t>(got));
  return {};
}

std::expected<void, std::string> FrameSocket::send(const Frame& frame, Time deadline) {
  if (frame.body.size() > kMostMessageBytes)
    return std::unexpected(
        fmt::format("a message of {} bytes is longer than {} bytes", frame.body.size(), kMostMessageBytes));
  const std::string bytes = head_of(frame) + frame.body;
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t sent = retry_interrupted(
        [&] { return ::send(socket_.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL); });
    if (sent > 0) {
      at += static_cast<std::size_t>(sent);
      continue;
    }
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return std::unexpected(std::strerror(errno));
    if (Clock::now() >= deadline) return std::unexpected("a message was not taken in time");
    const bool has_room = came_.size() < kMostHeld;
    wait(static_cast<short>(has_room ? POLLOUT | POLLIN : POLLOUT), deadline);
    if (!has_room) continue;
    if (const auto read = read_some(); !read) return read;
  }
  return {};
}

std::expected<std::optional<Frame>, std::string> FrameSocket::take() {
  const std::size_t end = came_.find('\n');
  if (end == std::string::npos && came_.size() < kLongestHead) return std::nullopt;
  std::size_t bytes = 0;
  auto frame = end > kLongestHead ? std::nullopt : frame_of(came_.substr(0, end), bytes);
  if (!frame) return std::unexpected("what came is no message");
  if (came_.size() < end + 1 + bytes) return std::nullopt;
  frame->body = came_.substr(end + 1, bytes);
  came_.erase(0, end + 1 + bytes);
  return frame;
}

std::expected<std::optional<Frame>, std::string> FrameSocket::receive(Time deadline) {
  for (;;) {
    if (auto frame = take(); !frame || *frame) return frame;
    const bool is_ready = wait(POLLIN, deadline);
    if (is_ready)
      if (const auto read = read_some(); !read) return std::unexpected(read.error());
    if (!is_ready && Clock::now() >= deadline) return std::nullopt;
  }
}

}  // namespace joust::hosts
