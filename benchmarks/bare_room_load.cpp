// SPDX-License-Identifier: MIT
//
// A client of rooms over epoll with nothing around it: each member has one message in flight, and sends the
// next when its own has come back. It counts the messages of all members and looks at no byte but the number
// of the sender. No checks, no limits, no schedule. It is what `joust load -p broadcast` is measured against.
// Nothing to build upon.
//
//     bare_room_load PORT CPU MEMBERS PAYLOAD MILLISECONDS
//
// Prints the messages that the members have received, all together, from the first to the last, and the
// median round trip in microseconds.
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <vector>

#include "bare.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kHead = 17;  // length 4, kind 1, member 4, number 8
constexpr char kJoin = 1, kWelcome = 2, kMessage = 4;

struct Member {
  int socket;
  std::uint32_t number;
  std::uint64_t said = 0;
  Clock::time_point sent;
  std::size_t skip = 0;   // bytes of a frame whose head has come
  std::size_t begun = 0;  // bytes of a head that is not complete
  std::array<char, kHead> head;
};

std::vector<char> frame;
std::uint64_t received = 0, welcomed = 0;
std::vector<float> round_trips;  // microseconds

void put(std::size_t at, std::uint32_t value) {
  value = htonl(value);
  std::memcpy(frame.data() + at, &value, sizeof value);
}

std::uint32_t number_at(const char* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return ntohl(value);
}

void say(Member& member, char kind, std::size_t size) {
  put(0, static_cast<std::uint32_t>(size - 4));
  frame[4] = kind;
  put(5, member.number);
  put(9, static_cast<std::uint32_t>(member.said >> 32));
  put(13, static_cast<std::uint32_t>(member.said));
  if (kind == kMessage) ++member.said;
  member.sent = Clock::now();
  if (::send(member.socket, frame.data(), size, MSG_NOSIGNAL) < 0) bare::fail("send");
}

// True if the member's own message has come.
bool take(const Member& member, const char* head) {
  if (head[4] == kWelcome) ++welcomed;
  if (head[4] != kMessage) return false;
  ++received;
  return number_at(head + 5) == member.number;
}

bool receive(Member& member) {
  static std::array<char, 1 << 16> bytes;
  const ssize_t count = ::recv(member.socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count <= 0) bare::fail("recv");
  const char *at = bytes.data(), *const end = at + count;
  bool own = false;
  while (at < end) {
    const auto left = static_cast<std::size_t>(end - at);
    if (member.skip > 0 || (member.begun == 0 && left >= kHead)) {
      if (member.skip == 0) {
        own |= take(member, at);
        member.skip = 4 + number_at(at);
      }
      const std::size_t now = std::min(member.skip, left);
      member.skip -= now;
      at += now;
      continue;
    }
    member.head[member.begun++] = *at++;
    if (member.begun < kHead) continue;
    member.begun = 0;
    own |= take(member, member.head.data());
    member.skip = 4 + number_at(member.head.data()) - kHead;
  }
  return own;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6)
    return std::fputs("usage: bare_room_load PORT CPU MEMBERS PAYLOAD MILLISECONDS\n", stderr), 2;
  bare::pin_to(argv[2]);
  const std::size_t payload = bare::number(argv[4], 1 << 16);
  const std::chrono::milliseconds length(bare::number(argv[5], 3'600'000));
  frame.resize(kHead + payload, 'x');
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<Member> members(std::max(1U, bare::number(argv[3], 20'000)));
  const sockaddr_in address = bare::address_of(argv[1]);
  for (Member& member : members) {
    member.number = static_cast<std::uint32_t>(&member - members.data());
    member.socket = bare::tcp_socket(0);
    if (::connect(member.socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
      bare::fail("connect");
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &member;
    if (::epoll_ctl(poll, EPOLL_CTL_ADD, member.socket, &event) < 0) bare::fail("epoll_ctl");
    say(member, kJoin, kHead);
  }
  std::array<epoll_event, 512> events;
  const auto serve = [&](bool says) {
    const int count = ::epoll_wait(poll, events.data(), events.size(), 1000);
    for (int i = 0; i < count; ++i) {
      Member& ready = *static_cast<Member*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (!receive(ready)) continue;
      round_trips.push_back(std::chrono::duration<float, std::micro>(Clock::now() - ready.sent).count());
      if (says) say(ready, kMessage, frame.size());
    }
  };
  while (welcomed < members.size()) serve(false);
  for (Member& member : members) say(member, kMessage, frame.size());
  for (const auto until = Clock::now() + length; Clock::now() < until;) serve(true);
  std::uint64_t said = 0;
  for (const Member& member : members) said += member.said;
  while (received < said * members.size()) serve(false);
  std::ranges::nth_element(round_trips,
                           round_trips.begin() + static_cast<std::ptrdiff_t>(round_trips.size() / 2));
  std::printf("%llu %.0f\n", static_cast<unsigned long long>(received),
              static_cast<double>(round_trips[round_trips.size() / 2]));
}
