// SPDX-License-Identifier: MIT
//
// The first bytes of a connection to a server without a token, cut at every place.
#include <filesystem>

#include "files/protocol/server_fixture.hpp"

namespace joust::file {
namespace {

using test::Decoded;
using test::describe;
using test::wire;

class FileStrangers : public test::FileServerTest {
 protected:
  // Of the bytes that travel the first `place` come in two parts; with 0 each byte comes by itself.
  static Pair::Cut cut_at(std::size_t place) {
    if (place == 0) return Pair::single;
    return [left = place](std::size_t available) mutable {
      const std::size_t part = left == 0 ? available : std::min(left, available);
      left -= std::min(left, part);
      return part;
    };
  }
};

TEST_F(FileStrangers, AreToldWhatIsSpokenHereHoweverTheirBytesAreCut) {
  const std::string noise = "\xd3 is what nobody begins with";
  const std::string of_tls = std::string("\x16\x03\x01\x00\xff\x01\x00\x00\xfb\x03\x03", 11) + noise;
  for (const std::string& says : {std::string("GET /old HTTP/1.1\r\nHost: there\r\n\r\n"), of_tls,
                                  "joust token 1\n" + noise, "SSH-2.0-OpenSSH_9.2\r\n" + noise, noise})
    for (std::size_t place = 0; place <= says.size(); ++place) {
      const Decoded heard = ask(says, cut_at(place));
      ASSERT_EQ(heard.messages.size(), 1U) << says << ", cut at " << place;
      const auto* const error = std::get_if<Error>(&heard.messages[0].body);
      ASSERT_NE(error, nullptr) << says << ", cut at " << place;
      EXPECT_EQ(error->refusal.error, FileError::version);
      EXPECT_EQ(error->refusal.text, "version 2 is spoken here");
    }
}

TEST_F(FileStrangers, AreNoneWhoseRequestsComeInPieces) {
  const std::string says = upload("new", "text") + wire({2, Query{"new", false}});
  for (std::size_t place = 0; place <= says.size(); ++place) {
    const Decoded heard = ask(says, cut_at(place));
    ASSERT_EQ(heard.messages.size(), 2U) << "cut at " << place;
    EXPECT_TRUE(std::holds_alternative<Stored>(heard.messages[0].body)) << describe(heard.messages[0]);
    EXPECT_EQ(std::get<Facts>(heard.messages[1].body).size, 4U);
    std::filesystem::remove(path("new"));
  }
}

}  // namespace
}  // namespace joust::file
