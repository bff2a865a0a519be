// SPDX-License-Identifier: MIT
//
// The server side of resp: a store in memory, and the commands that load generators and redis-cli send.
#include "protocols/resp/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "protocols/resp/protocol.hpp"
#include "session/framing.hpp"
#include "session/handler_session.hpp"

namespace joust::resp {

namespace {

using Objection = std::unexpected<std::string_view>;

// Takes a line of a type and a number, such as "$3\r\n". The message was cut by RespFinder, so its lines are
// complete.
std::optional<std::int64_t> take_number(char type, std::string_view& text) {
  std::int64_t number = 0;
  if (!text.starts_with(type)) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 2);
  return number;
}

char upper(char letter) {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

}  // namespace

std::expected<Command, std::string_view> Command::read(Bytes message) {
  std::string_view text = as_text(message);
  Command command;
  const auto words = take_number('*', text);
  if (!words) {
    constexpr std::string_view kSpaces = " \t\r\n";
    while (text.find_first_not_of(kSpaces) != text.npos) {
      text.remove_prefix(text.find_first_not_of(kSpaces));
      const std::size_t end = std::min(text.find_first_of(kSpaces), text.size());
      if (!command.add(text.substr(0, end))) return Objection("Protocol error: too many arguments");
      text.remove_prefix(end);
    }
    return command;
  }
  for (std::int64_t word = 0; word < *words; ++word) {
    const auto size = take_number('$', text);
    if (!size || *size < 0) return Objection("Protocol error: expected '$' and a size");
    if (!command.add(text.substr(0, static_cast<std::size_t>(*size))))
      return Objection("Protocol error: too many arguments");
    text.remove_prefix(static_cast<std::size_t>(*size) + 2);
  }
  return command;
}

bool Command::is(std::string_view upper_case_name) const {
  return std::ranges::equal(name(), upper_case_name, {}, upper);
}

bool Command::add(std::string_view word) {
  if (count_ == kMostWords) return false;
  words_[count_++] = word;
  return true;
}

bool Store::set(std::string_view key, std::string_view value) {
  Part& part = part_of(key);
  const std::lock_guard lock(part.mutex);
  const auto found = part.values.find(key);
  const std::uint64_t before = found == part.values.end() ? 0 : bytes_of(key, found->second);
  const std::uint64_t after = bytes_of(key, value);
  if (after > before && !reserve(after - before)) return false;
  if (after < before) release(before - after);
  if (found == part.values.end()) {
    part.values.emplace(key, value);
    return true;
  }
  std::string& old = found->second;
  if (old.capacity() / 2 > value.size())
    old = std::string(value);  // the memory of a large value is not kept for a small one
  else
    old.assign(value);
  return true;
}

bool Store::erase(std::string_view key) {
  Part& part = part_of(key);
  const std::lock_guard lock(part.mutex);
  const auto found = part.values.find(key);
  if (found == part.values.end()) return false;
  release(bytes_of(key, found->second));
  part.values.erase(found);
  return true;
}

void Store::clear() {
  for (Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    for (const auto& [key, value] : part.values) release(bytes_of(key, value));
    part.values.clear();
  }
}

std::uint64_t Store::size() {
  std::uint64_t keys = 0;
  for (Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    keys += part.values.size();
  }
  return keys;
}

bool Store::reserve(std::uint64_t bytes) {
  if (bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most_) return true;
  release(bytes);
  return false;
}

namespace {

constexpr std::uint64_t kLeastRate = 1024;  // bytes per second; see RequestResponse::least_rate
constexpr std::size_t kShownName = 60;      // bytes of a command's name in an error

// Answers one command. `reply_` is where its reply goes.
class RespHandler final : public Handler {
 public:
  explicit RespHandler(Store& store) : store_(store) {}

  bool on_message(Bytes message, Writer& replies) override {
    const auto command = Command::read(message);
    if (!command) {
      complaint_ = command.error();
      replies.send(fmt::format("-ERR {}\r\n", complaint_));
      return false;
    }
    if (command->name().empty()) return true;  // an empty line has no reply
    if (command->is("QUIT")) {
      replies.send("+OK\r\n");
      return false;
    }
    answer(*command, replies);
    return true;
  }
  std::string_view complaint() const override { return complaint_; }

 private:
  using Arguments = std::span<const std::string_view>;

  struct Row {
    std::string_view name;
    std::size_t least, most;  // arguments
    void (RespHandler::*answer)(Arguments, Writer&);

    std::string takes() const {
      if (least == most) return most == 0 ? "no arguments" : counted(most, "argument");
      return fmt::format("{} to {} arguments", least, most);
    }
  };
  static constexpr std::size_t kAny = Command::kMostWords;
  static const std::array<Row, 11> kRows;

  void answer(const Command& command, Writer& replies) {
    const auto row = std::ranges::find_if(kRows, [&](const Row& one) { return command.is(one.name); });
    if (row == kRows.end())
      return replies.send(
          fmt::format("-ERR unknown command '{}'\r\n", printable(command.name().substr(0, kShownName))));
    const Arguments arguments = command.arguments();
    if (arguments.size() < row->least || arguments.size() > row->most)
      return replies.send(fmt::format("-ERR '{}' takes {} here\r\n", row->name, row->takes()));
    (this->*row->answer)(arguments, replies);
  }

  void get(Arguments arguments, Writer& replies) {
    const bool found = store_.get(arguments[0], [&](std::string_view value) { send_bulk(value, replies); });
    if (!found) replies.send("$-1\r\n");
  }
  void set(Arguments arguments, Writer& replies) {
    if (store_.set(arguments[0], arguments[1])) return replies.send("+OK\r\n");
    replies.send("-OOM command not allowed when used memory > 'maxmemory'.\r\n");
  }
  void ping(Arguments arguments, Writer& replies) {
    if (arguments.empty()) return replies.send("+PONG\r\n");
    send_bulk(arguments[0], replies);
  }
  void echo(Arguments arguments, Writer& replies) { send_bulk(arguments[0], replies); }
  void del(Arguments arguments, Writer& replies) {
    send_number(static_cast<std::uint64_t>(std::ranges::count_if(
                    arguments, [&](std::string_view key) { return store_.erase(key); })),
                replies);
  }
  void exists(Arguments arguments, Writer& replies) {
    send_number(static_cast<std::uint64_t>(std::ranges::count_if(
                    arguments, [&](std::string_view key) { return store_.get(key, [](auto) {}); })),
                replies);
  }
  void size(Arguments /*none*/, Writer& replies) { send_number(store_.size(), replies); }
  void clear(Arguments /*none*/, Writer& replies) {
    store_.clear();
    replies.send("+OK\r\n");
  }
  // There is one database.
  void select(Arguments arguments, Writer& replies) {
    replies.send(arguments[0] == "0" ? "+OK\r\n" : "-ERR DB index is out of range\r\n");
  }
  // Some programs ask for settings when they begin: none has a value here.
  void config(Arguments arguments, Writer& replies) {
    if (arguments.size() != 2) return replies.send("*0\r\n");
    replies.send("*2\r\n");
    send_bulk(arguments[1], replies);
    send_bulk("", replies);
  }
  void nothing(Arguments /*any*/, Writer& replies) { replies.send("*0\r\n"); }

  static void send_number(std::uint64_t number, Writer& replies) {
    replies.send(fmt::format(":{}\r\n", number));
  }
  static void send_bulk(std::string_view value, Writer& replies) {
    std::array<char, 24> size;
    const char* const end = fmt::format_to(size.data(), "${}\r\n", value.size());
    const std::string_view head(size.data(), end);
    std::byte* to = replies.extend(head.size() + value.size() + 2).data();
    for (const std::string_view part : {head, value, std::string_view("\r\n")})
      to = std::ranges::copy(as_bytes(part), to).out;
  }

  Store& store_;
  std::string_view complaint_;
};

constexpr std::array<RespHandler::Row, 11> RespHandler::kRows{{{"GET", 1, 1, &RespHandler::get},
                                                               {"SET", 2, 2, &RespHandler::set},
                                                               {"PING", 0, 1, &RespHandler::ping},
                                                               {"ECHO", 1, 1, &RespHandler::echo},
                                                               {"DEL", 1, kAny, &RespHandler::del},
                                                               {"EXISTS", 1, kAny, &RespHandler::exists},
                                                               {"DBSIZE", 0, 0, &RespHandler::size},
                                                               {"FLUSHALL", 0, 1, &RespHandler::clear},
                                                               {"SELECT", 1, 1, &RespHandler::select},
                                                               {"CONFIG", 1, kAny, &RespHandler::config},
                                                               {"COMMAND", 0, kAny, &RespHandler::nothing}}};

class RespServer final : public HandlerService {
 public:
  explicit RespServer(std::unique_ptr<Store> store)
      : HandlerService(
            Own{[] {
              return std::make_unique<FoundCutter>(resp_finder(InlineCommands::taken), kLargestMessage);
            }},
            [&store = *store] { return std::make_unique<RespHandler>(store); }, RateRules::of(kLeastRate)),
        store_(std::move(store)) {}

 private:
  const std::unique_ptr<Store> store_;
};

}  // namespace

std::unique_ptr<Service> make_server(const Parameters& parameters) {
  return std::make_unique<RespServer>(std::make_unique<Store>(most_memory(parameters)));
}

}  // namespace joust::resp
