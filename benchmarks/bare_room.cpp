// SPDX-License-Identifier: MIT
//
// A room over epoll with nothing around it: no sessions, no limits, no order of leaving, and a log that grows
// for as long as one member reads slowly. It speaks joust's `broadcast`
// (src/protocols/broadcast/protocol.cpp) and is what joust's servers of rooms are measured against. Nothing
// to build upon.
//
//     bare_room [ADDRESS:]PORT CPU
//
// The messages that one wait has reported are appended to one log, and then each member gets what it has not
// had, with one send.
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "bare.hpp"

namespace {

constexpr std::size_t kLength = 4, kKind = kLength, kWelcomed = 17;
constexpr char kJoin = 1, kWelcome = 2;

struct Member {
  int socket;
  bool joined = false;
  std::size_t had = 0;    // bytes of the log
  std::size_t begun = 0;  // bytes of a frame that is not complete
  std::array<char, 1 << 17> frame;
};

std::vector<char> room_log;
std::vector<std::unique_ptr<Member>> members;

std::size_t framed(const char* frame) {
  std::uint32_t size = 0;
  std::memcpy(&size, frame, sizeof size);
  return kLength + ntohl(size);
}

void take(Member& member, char* frame, std::size_t size) {
  if (frame[kKind] != kJoin) {
    room_log.insert(room_log.end(), frame, frame + size);
    return;
  }
  frame[kKind] = kWelcome;
  ::send(member.socket, frame, kWelcomed, MSG_NOSIGNAL);
  member.had = room_log.size();
  member.joined = true;
}

// False when the peer has gone.
bool receive(Member& member) {
  for (;;) {
    const std::size_t space = member.frame.size() - member.begun;
    const ssize_t count = ::recv(member.socket, member.frame.data() + member.begun, space, MSG_DONTWAIT);
    if (count <= 0) return count < 0 && (errno == EAGAIN || errno == EINTR);
    const std::size_t have = member.begun + static_cast<std::size_t>(count);
    char* at = member.frame.data();
    char* const end = at + have;
    while (end - at >= static_cast<ssize_t>(kLength) && end - at >= static_cast<ssize_t>(framed(at))) {
      const std::size_t size = framed(at);
      take(member, at, size);
      at += size;
    }
    member.begun = static_cast<std::size_t>(end - at);
    std::memmove(member.frame.data(), at, member.begun);
    if (static_cast<std::size_t>(count) < space) return true;
  }
}

// A member whose socket is full is reported when it has room again.
void send_to_all() {
  bool all = true;
  for (const auto& member : members) {
    if (!member->joined) continue;
    const std::size_t rest = room_log.size() - member->had;
    if (rest == 0) continue;
    const ssize_t sent =
        ::send(member->socket, room_log.data() + member->had, rest, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) member->had += static_cast<std::size_t>(sent);
    all = all && member->had == room_log.size();
  }
  if (!all) return;
  room_log.clear();
  for (const auto& member : members) member->had = 0;
}

void accept_all(int poll, int listener) {
  for (int peer = 0; (peer = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
    members.push_back(std::make_unique<Member>());
    members.back()->socket = peer;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    event.data.ptr = members.back().get();
    if (::epoll_ctl(poll, EPOLL_CTL_ADD, peer, &event) < 0) bare::fail("epoll_ctl");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: bare_room [ADDRESS:]PORT CPU\n", stderr), 2;
  bare::pin_to(argv[2]);
  const int listener = bare::listening_socket(argv[1], SOCK_NONBLOCK);
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event accepting{};
  accepting.events = EPOLLIN;
  if (::epoll_ctl(poll, EPOLL_CTL_ADD, listener, &accepting) < 0) bare::fail("epoll_ctl");
  std::array<epoll_event, 1024> events;
  for (;;) {
    const int count = ::epoll_wait(poll, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      Member* const ready = static_cast<Member*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (ready == nullptr) {
        accept_all(poll, listener);
      } else if (!receive(*ready)) {
        ::close(ready->socket);
        std::erase_if(members, [ready](const auto& member) { return member.get() == ready; });
      }
    }
    send_to_all();
  }
}
