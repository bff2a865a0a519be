// SPDX-License-Identifier: MIT
//
// Datagrams as they come, and a connection that hears them. A datagram is not cut, so the first byte of an
// input says what it is. Whatever is damaged at random fails the check, so the check is made right again.
#include "connection/datagram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "connection/message_connection.hpp"
#include "fuzz/corpus.hpp"
#include "fuzz/entries.hpp"
#include "session/listening.hpp"

namespace joust::fuzz {
namespace {

// Counts the bytes of messages.
class Counting : public joust::test::Listening {
 public:
  explicit Counting(std::size_t& heard) : heard_(heard) {}
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    heard_ += chunk.empty() ? std::size_t{1} << 40 : chunk.size();
    return chunk.size();
  }

 private:
  std::size_t& heard_;
};

DatagramHead head_from(unsigned what) {
  return {.kind = static_cast<DatagramKind>(1 + what % 6),
          .packed = (what & 8) != 0,
          .keep_alive = (what & 16) != 0,
          .unknown = (what & 32) != 0,
          .token = 1,
          .number = what >> 6};
}

}  // namespace

std::string datagrams(Bytes input) {
  if (input.empty()) return {};
  (void)parse_datagram(input);  // as it is
  const Bytes payload = input.subspan(1, std::min(input.size() - 1, kLargestDatagram - DatagramHead::kBytes));
  DatagramOut out;
  write_datagram(head_from(std::to_integer<unsigned>(input[0])), payload, out);
  std::vector<std::byte> whole(out.front().begin(), out.front().end());
  whole.insert(whole.end(), out.tail.begin(), out.tail.end());
  const auto datagram = parse_datagram(whole);
  if (!datagram) return {};
  std::size_t heard = 0;
  const Limits limits;
  Tally tally;
  MessageLink link{.token = 1};
  link.delivery.lossy = true;  // or a number beyond the first would end the connection
  MessageConnection connection(std::make_unique<Counting>(heard), link, limits, tally, Time{});
  connection.received(*datagram, Time{});
  connection.received(*datagram, Time{});
  const bool data = datagram->head.kind == DatagramKind::data;
  if (!data) return heard == 0 ? "" : "a signal was taken for a message";
  if (heard == 0 || heard > payload.size()) return fmt::format("{} bytes of {}", heard, payload.size());
  return {};
}

std::vector<std::string> datagram_corpus() {
  return {std::string("\x03\0\0", 3),
          "\x03 one message",
          std::string("\x0b\0\3one\0\4four", 12),
          "\x04",
          "\x25",
          std::string(1, '\0') + std::string(kJoinBytes - DatagramHead::kBytes, '\0')};
}

}  // namespace joust::fuzz
