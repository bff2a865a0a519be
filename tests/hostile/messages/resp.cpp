// SPDX-License-Identifier: MIT
//
// resp: commands in both of their forms, and what no client may send.
#include <fmt/format.h>

#include "hostile/messages.hpp"

namespace joust::hostile {
namespace {

std::string command(std::initializer_list<std::string_view> words) {
  std::string text = fmt::format("*{}\r\n", words.size());
  for (const std::string_view word : words) text += fmt::format("${}\r\n{}\r\n", word.size(), word);
  return text;
}

class RespMessages : public Messages {
 public:
  explicit RespMessages(Chance& chance) : chance_(chance) {}
  // There are few keys, so that they do not fill the store of the honest clients.
  std::string valid() override {
    const char* const key = chance_.pick({"hostile:1", "hostile:2", "hostile:3"});
    switch (chance_.below(5)) {
      case 0:
        return command({"SET", key, chance_.bytes(chance_.size(100'000))});
      case 1:
        return command({"GET", key});
      case 2:
        return command({"DEL", key, "hostile:none"});
      case 3:
        return fmt::format("ECHO {}\r\n", key);
      default:
        return command({chance_.pick({"NONE", "get", "SELECT", "CONFIG"}), key});
    }
  }
  std::string small() override {
    return chance_.pick({"PING\r\n", "*1\r\n$4\r\nPING\r\n", "GET hostile:1\r\n"});
  }
  std::string invalid() override {
    const std::string some = chance_.bytes(chance_.size(300));
    switch (chance_.below(7)) {
      case 0:  // numbers of words that are none, or beyond the limit
        return fmt::format("*{}\r\n", chance_.pick({"-1", "65", "2147483648", "9223372036854775808", "x"})) +
               some;
      case 1:  // sizes, likewise
        return fmt::format("*1\r\n${}\r\n",
                           chance_.pick({"-1", "536870913", "18446744073709551616", "+1", ""})) +
               some;
      case 2:  // a word that ends elsewhere
        return "*2\r\n$3\r\nGET\r\n$1\r\n" + some;
      case 3:  // what only a server says
        return chance_.pick({"+OK\r\n", "$-1\r\n", ":1\r\n", "_\r\n", "*-1\r\n"}) + some;
      case 4:  // a line without an end
        return std::string(chance_.size(100'000), 'x');
      case 5:  // arrays in arrays
        return "*1\r\n*1\r\n$4\r\nPING\r\n" + some;
      default:
        return some;
    }
  }

 private:
  Chance& chance_;
};

}  // namespace

std::unique_ptr<Messages> resp_messages(Chance& chance) {
  return std::make_unique<RespMessages>(chance);
}

}  // namespace joust::hostile
