// SPDX-License-Identifier: MIT
#include "connection/datagram.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "connection/message_connection.hpp"
#include "hostile/chance.hpp"

namespace joust {
namespace {

using Octets = std::vector<std::byte>;

Octets whole(const DatagramOut& out) {
  Octets bytes(out.front().begin(), out.front().end());
  bytes.insert(bytes.end(), out.tail.begin(), out.tail.end());
  return bytes;
}

Octets data(std::string_view payload, bool packed = false) {
  DatagramOut out;
  write_datagram({.kind = DatagramKind::data, .packed = packed, .token = 0x1122334455667788, .number = 7},
                 as_bytes(payload), out);
  return whole(out);
}

TEST(DatagramTest, IsReadAsItWasWritten) {
  const Octets bytes = data("the payload");
  const auto datagram = parse_datagram(bytes);
  ASSERT_TRUE(datagram);
  EXPECT_EQ(datagram->head.kind, DatagramKind::data);
  EXPECT_EQ(datagram->head.token, 0x1122334455667788U);
  EXPECT_EQ(datagram->head.number, 7U);
  EXPECT_EQ(as_text(datagram->payload), "the payload");
}

TEST(DatagramTest, TheWireIsAsItsHeaderDescribesIt) {
  const Octets bytes = data("ab");
  EXPECT_EQ(bytes.size(), DatagramHead::kBytes + 2);
  EXPECT_EQ(as_text(Bytes(bytes).first(2)), "J1");
  EXPECT_EQ(bytes[2], std::byte{4});
  EXPECT_EQ(bytes[8], std::byte{0x11});
  EXPECT_EQ(bytes[23], std::byte{7});
  EXPECT_EQ(bytes[25], std::byte{2});
  EXPECT_EQ(as_text(Bytes(bytes).subspan(26)), "ab");
}

TEST(DatagramTest, NoPartOfADatagramIsOne) {
  const Octets bytes = data("the payload");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto part = parse_datagram(Bytes(bytes).first(size));
    ASSERT_FALSE(part) << size;
    EXPECT_EQ(part.error(), NoDatagram::truncated) << size;
  }
}

TEST(DatagramTest, AFlippedBitIsNoticedWhereverItIs) {
  const Octets bytes = data("the payload");
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    Octets damaged = bytes;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(parse_datagram(damaged)) << bit;
  }
}

TEST(DatagramTest, WhatIsOfSomethingElseIsForeign) {
  const std::string other = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  EXPECT_EQ(parse_datagram(as_bytes(other)).error(), NoDatagram::foreign);
  DatagramOut out;
  write_datagram({.kind = static_cast<DatagramKind>(9)}, {}, out);
  EXPECT_EQ(parse_datagram(whole(out)).error(), NoDatagram::foreign);
  EXPECT_EQ(parse_datagram(data("")).error(), NoDatagram::foreign);  // without a message
}

TEST(DatagramTest, AJoinIsLongerThanWhateverAnswersIt) {
  DatagramOut join, shorter;
  write_signal({.kind = DatagramKind::join}, join);
  EXPECT_EQ(join.size(), kJoinBytes);
  EXPECT_TRUE(parse_datagram(whole(join)));
  for (const DatagramKind kind : {DatagramKind::challenge, DatagramKind::joined, DatagramKind::left}) {
    DatagramOut answer;
    write_signal({.kind = kind}, answer);
    EXPECT_LT(answer.size(), kJoinBytes);
  }
  write_datagram({.kind = DatagramKind::join}, {}, shorter);
  EXPECT_EQ(parse_datagram(whole(shorter)).error(), NoDatagram::foreign);
}

TEST(DatagramTest, PackedMessagesAreTakenOneByOne) {
  const Octets bytes = data(std::string("\0\3one\0\4four", 11), true);
  const auto datagram = parse_datagram(bytes);
  ASSERT_TRUE(datagram);
  Bytes rest = datagram->payload;
  EXPECT_EQ(as_text(take_message(datagram->head, rest).value()), "one");
  EXPECT_EQ(as_text(take_message(datagram->head, rest).value()), "four");
  EXPECT_FALSE(take_message(datagram->head, rest));
}

TEST(DatagramTest, PackedMessagesThatDoNotFillTheirDatagramAreForeign) {
  for (const std::string& payload :
       {std::string("\0\3on", 4), std::string("\0\0", 2), std::string("\0\1a\0", 4), std::string("\0", 1),
        std::string("\xff\xffmuch", 6), std::string("\0\1a\0\0", 5)})
    EXPECT_EQ(parse_datagram(data(payload, true)).error(), NoDatagram::foreign) << payload.size();
}

// The reference value of the authors' paper.
TEST(KeyedHashTest, IsSipHash) {
  std::array<std::byte, 15> message;
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i);
  EXPECT_EQ(keyed_hash({0x0706050403020100U, 0x0f0e0d0c0b0a0908U}, message), 0xa129ca6149be45e5U);
  EXPECT_NE(keyed_hash(random_key(), message), keyed_hash(random_key(), message));
}

TEST(AdmissionTest, ACookieIsOfOneAddressOneTokenAndOneMinute) {
  const Admission admission(HashKey{5, 6});
  const Time now{std::chrono::hours(5)};
  const auto cookie_for = [&](std::string_view address, std::uint64_t token) {
    const DatagramHead join{.kind = DatagramKind::join, .token = token};
    return admission.answer(join, as_bytes(address), now).reply.value().number;
  };
  const auto admits = [&](std::string_view address, std::uint64_t token, std::uint64_t cookie, Time when) {
    const DatagramHead join{.kind = DatagramKind::join, .token = token, .number = cookie};
    return admission.answer(join, as_bytes(address), when).admitted;
  };
  const std::uint64_t cookie = cookie_for("one", 1);
  EXPECT_TRUE(admits("one", 1, cookie, now));
  EXPECT_TRUE(admits("one", 1, cookie, now + Admission::kPeriod));
  EXPECT_FALSE(admits("one", 1, cookie, now + 2 * Admission::kPeriod));
  EXPECT_FALSE(admits("two", 1, cookie, now));
  EXPECT_FALSE(admits("one", 2, cookie, now));
  EXPECT_FALSE(admits("one", 1, cookie + 1, now));
  EXPECT_FALSE(admits("one", 1, 0, now));
}

TEST(PeerTableTest, FindsPeersByTheirWholeAddress) {
  PeerTable<int> table(HashKey{1, 1});
  int one = 1, two = 2;
  table.add(as_bytes("an address longer than a short string"), one);
  table.add(as_bytes("b"), two);
  EXPECT_EQ(table.find(as_bytes("b")), &two);
  EXPECT_EQ(table.find(as_bytes("an address longer than a short string")), &one);
  EXPECT_EQ(table.find(as_bytes("an address")), nullptr);
  table.remove(as_bytes("b"), one);  // not its place
  EXPECT_EQ(table.find(as_bytes("b")), &two);
  table.remove(as_bytes("b"), two);
  EXPECT_EQ(table.find(as_bytes("b")), nullptr);
  EXPECT_EQ(table.size(), 1U);
}

// Against a set of all numbers, which has no window.
TEST(ReceivedNumbersTest, AgreeWithASetWithinTheWindow) {
  using Arrival = ReceivedNumbers::Arrival;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    hostile::Chance chance(seed, 0);
    ReceivedNumbers numbers;
    std::set<std::uint64_t> all;
    std::uint64_t highest = 0;
    for (int i = 0; i < 5'000; ++i) {
      const std::uint64_t ahead = chance.one_in(100) ? chance.below(3'000) : chance.below(3);
      const std::uint64_t back = chance.one_in(4) ? chance.below(1'000) : 0;
      const std::uint64_t number = highest + ahead - std::min(highest + ahead, back);
      const Arrival arrival = numbers.look_at(number);
      EXPECT_EQ(arrival == Arrival::duplicate, all.contains(number)) << number;
      EXPECT_EQ(arrival == Arrival::next, all.empty() || number > *all.rbegin()) << number;
      if (arrival != Arrival::duplicate) {
        numbers.add(number);
        all.insert(number);
      }
      highest = *all.rbegin();
    }
    EXPECT_EQ(numbers.received(), all.size());
    EXPECT_EQ(numbers.expected(), highest + 1);
    EXPECT_EQ(numbers.missing(), highest + 1 - all.size());
  }
}

TEST(ReceivedNumbersTest, ADatagramTooOldToTellIsADuplicate) {
  ReceivedNumbers numbers;
  numbers.add(ReceivedNumbers::kWindow - 1);
  EXPECT_EQ(numbers.look_at(0), ReceivedNumbers::Arrival::late);
  numbers.add(ReceivedNumbers::kWindow);
  EXPECT_EQ(numbers.look_at(0), ReceivedNumbers::Arrival::duplicate);
  EXPECT_EQ(numbers.look_at(1), ReceivedNumbers::Arrival::late);
}

TEST(ReceivedNumbersTest, DoNotBelieveAnAbsurdNumber) {
  ReceivedNumbers numbers;
  numbers.add(0);
  EXPECT_EQ(numbers.look_at(std::uint64_t{1} << 60), ReceivedNumbers::Arrival::absurd);
  numbers.announce(std::uint64_t{1} << 60);
  EXPECT_EQ(numbers.expected(), 1U);
  numbers.announce(10);
  EXPECT_EQ(numbers.expected(), 10U);
  numbers.announce(3);  // an older word
  EXPECT_EQ(numbers.missing(), 9U);
}

}  // namespace
}  // namespace joust
