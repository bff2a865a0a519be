// SPDX-License-Identifier: MIT
#include "conformance/peer.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <linux/sockios.h>

#include "base/check.hpp"
#include "net/socket_options.hpp"

namespace joust::conformance {
namespace {

void be_patient(int socket) {
  const timeval most{.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(kPatience).count(),
                     .tv_usec = 0};
  checked(::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most), "setsockopt(SO_RCVTIMEO)");
  checked(::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most), "setsockopt(SO_SNDTIMEO)");
}

Duration patience() {
  constexpr Duration kUsual = std::chrono::seconds(60);  // spinning threads may share one core
  const char* const wanted = std::getenv("JOUST_PATIENCE_MS");
  return wanted == nullptr ? kUsual : std::chrono::milliseconds(std::stoi(wanted));
}

bool is_gone(int error) {
  return error == ECONNRESET || error == EPIPE;
}

}  // namespace

const Duration kPatience = patience();

Peer::Peer(const Endpoint& to, int buffers)
    : socket_(checked(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()")) {
  apply({.send_buffer = buffers, .receive_buffer = buffers}, socket_.get());
  be_patient(socket_.get());
  checked(retry_interrupted([&] { return ::connect(socket_.get(), to.raw(), to.size); }), "connect({})",
          to_text(to));
}

Peer::Peer(Fd connected) : socket_(std::move(connected)) {
  be_patient(socket_.get());
}

bool Peer::try_send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n =
        retry_interrupted([&] { return ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
    if (n < 0 && is_gone(errno)) return false;
    bytes.remove_prefix(static_cast<std::size_t>(checked(n, "send({} bytes)", bytes.size())));
  }
  return true;
}

void Peer::send(std::string_view bytes) {
  if (!try_send(bytes)) throw std::runtime_error("the connection is gone while sending");
}

std::size_t Peer::send_until_full(std::string_view again_and_again, std::size_t most) {
  std::size_t taken = 0;
  pollfd room{.fd = fd(), .events = POLLOUT, .revents = 0};
  while (taken < most && ::poll(&room, 1, 50) == 1) {
    const std::string_view rest = again_and_again.substr(taken % again_and_again.size());
    const ssize_t n = ::send(fd(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN) checked(n, "send({} bytes)", rest.size());
    if (n > 0) taken += static_cast<std::size_t>(n);
  }
  return taken;
}

void Peer::send_and_see_read(std::string_view bytes) {
  send(bytes);
  const Time give_up = Clock::now() + kPatience;
  for (int unread = 1; unread > 0;) {
    checked(::ioctl(fd(), SIOCOUTQ, &unread), "ioctl(SIOCOUTQ)");
    if (Clock::now() > give_up) throw std::runtime_error("the other side does not read");
    std::this_thread::yield();
  }
}

std::string Peer::receive_some(std::size_t most) {
  std::string bytes(most, '\0');
  const ssize_t n = retry_interrupted([&] { return ::recv(fd(), bytes.data(), bytes.size(), 0); });
  bytes.resize(static_cast<std::size_t>(checked(n, "recv({} bytes)", most)));
  return bytes;
}

std::string Peer::receive(std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) {
    const std::string more = receive_some(size - bytes.size());
    if (more.empty())
      throw std::runtime_error("the stream ended after " + std::to_string(bytes.size()) + " of " +
                               std::to_string(size) + " bytes");
    bytes += more;
  }
  return bytes;
}

std::string Peer::receive_to_end() {
  std::string bytes;
  for (;;) {
    const std::string more = receive_some(64 << 10);
    if (more.empty()) return bytes;
    bytes += more;
  }
}

Next Peer::next() {
  std::array<char, 1> byte{};
  const ssize_t n = retry_interrupted([&] { return ::recv(fd(), byte.data(), byte.size(), MSG_PEEK); });
  if (n < 0 && is_gone(errno)) return Next::reset;
  return checked(n, "recv(1 byte)") == 0 ? Next::end : Next::data;
}

bool Peer::hears_within(Duration time) const {
  pollfd wanted{.fd = fd(), .events = POLLIN, .revents = 0};
  return ::poll(&wanted, 1, static_cast<int>(time / std::chrono::milliseconds(1))) > 0;
}

void Peer::finish() {
  checked(::shutdown(fd(), SHUT_WR), "shutdown()");
}

void Peer::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  checked(::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), "setsockopt(SO_LINGER)");
  socket_.close();
}

Fd begin_connect(const Endpoint& to) {
  Fd socket(checked(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket()"));
  const int result = ::connect(socket.get(), to.raw(), to.size);
  if (result < 0 && errno != EINPROGRESS) checked(result, "connect({})", to_text(to));
  return socket;
}

// By hand, because a generator of the library is many calls for each letter where nothing is inlined.
std::string pattern(std::size_t size, unsigned seed) {
  std::string text(size, '\0');
  char* const letters = text.data();
  std::uint32_t random = seed;
  for (std::size_t i = 0; i < size; ++i) {
    random = random * 1'664'525U + 1'013'904'223U;
    letters[i] = static_cast<char>('a' + (random >> 16U) % 26U);
  }
  return text;
}

std::string framed(const Framing& framing, std::string_view text) {
  Outbox bytes;
  write_frame(framing, as_bytes(text), bytes);
  std::string all;
  std::array<Segment, 4> segments;
  for (const Segment& segment : std::span(segments).first(bytes.segments(segments)))
    all += as_text(segment.bytes);
  return all;
}

Endpoint endpoint_of(std::string_view address) {
  const auto found = resolve(address);
  if (!found) throw std::runtime_error(found.error().detail);
  return found->front();
}

}  // namespace joust::conformance
