// SPDX-License-Identifier: MIT
#include "plugins/plugin_protocol.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "joust/client.hpp"

namespace joust {
namespace {

// Each message is a size of one byte, and that many bytes: a framing of its own.
std::size_t cut(const void* bytes, std::size_t size) {
  const unsigned needed = *static_cast<const unsigned char*>(bytes);
  if (needed == 0) return JOUST_MALFORMED;
  return size > needed ? needed + 1 : 0;
}

void* open_state(const joust_setup* setup) {
  return new std::string(setup->options[0] + std::to_string(setup->payload));
}
void close_state(void* state) {
  delete static_cast<std::string*>(state);
}

const char* send_back(void*, const void* bytes, std::size_t size, joust_writer* replies) {
  joust_write(replies, bytes, size);
  return nullptr;
}

void write_text(void* state, std::uint64_t number, joust_writer* request) {
  std::string text = *static_cast<std::string*>(state) + std::to_string(number);
  text.insert(0, 1, static_cast<char>(text.size()));
  joust_write(request, text.data(), text.size());
}

const char* verify_text(void* state, std::uint64_t number, const void* bytes, std::size_t size) {
  const std::string text = *static_cast<std::string*>(state) + std::to_string(number);
  const bool right = size == text.size() + 1 &&
                     std::memcmp(static_cast<const char*>(bytes) + 1, text.data(), text.size()) == 0;
  return right ? nullptr : "a reply is another one";
}

constexpr std::array kOptions{joust_option{"greeting", "hello", "the first word"}};

joust_protocol_v1 usual_table() {
  joust_protocol_v1 table{};
  table.version = JOUST_PROTOCOL_VERSION;
  table.framing = JOUST_CUT;
  table.options = 1;
  table.name = "short";
  table.summary = "short messages";
  table.largest = 200;
  table.largest_payload = 100;
  table.option = kOptions.data();
  table.cut = cut;
  table.open_server = table.open_client = open_state;
  table.close_server = table.close_client = close_state;
  table.on_message = send_back;
  table.write_request = write_text;
  table.verify = verify_text;
  return table;
}

ClientResult load(const joust_protocol_v1& table, Settings options = {}) {
  Client client(
      protocol_of(table),
      {.engine = "null", .load = {.connections = 2, .messages = 50}, .options = std::move(options)});
  return client.run();
}

// The first complaint of a load in which every connection fails.
std::string complaint(const joust_protocol_v1& table) {
  const ClientResult result = load(table);
  EXPECT_EQ(result.connections_failed, 2U);
  EXPECT_EQ(result.messages_verified, 0U);
  return result.complaints.empty() ? "" : result.complaints.front();
}

TEST(PluginProtocol, VerifiesMessagesThatItCutsItself) {
  const joust_protocol_v1 table = usual_table();
  ASSERT_EQ(objection_to(table), "");
  const ClientResult result = load(table, {{"greeting", "hi"}});
  EXPECT_TRUE(result.clean());
  EXPECT_EQ(result.messages_verified, 100U);
}

TEST(PluginProtocol, CarriesEveryOtherFraming) {
  for (const std::uint32_t framing : {JOUST_RAW, JOUST_LENGTH4, JOUST_LINE}) {
    joust_protocol_v1 table = usual_table();
    table.framing = framing;
    table.reply_size = [](void*, std::uint64_t number) { return number < 10 ? std::size_t{9} : 10; };
    ASSERT_EQ(objection_to(table), "");
    const ClientResult result = load(table);
    EXPECT_TRUE(result.clean()) << framing << ": " << (result.complaints.empty() ? "" : result.complaints[0]);
    EXPECT_EQ(result.messages_verified, 100U) << framing;
  }
}

// A plug-in in C++ may throw what is no std::exception. It ends the connection, and not the process.
TEST(PluginProtocol, MayThrowAnything) {
  constexpr auto kWords = "the plug-in has thrown an exception that is no std::exception";
  const auto fails = [&](auto change) {
    joust_protocol_v1 table = usual_table();
    change(table);
    try {
      return complaint(table).contains(kWords);
    } catch (const std::exception& thrown) {  // of the server's side, which is in this process too
      return std::string_view(thrown.what()).contains(kWords);
    }
  };
  EXPECT_TRUE(fails([](auto& table) {
    table.on_message = [](void*, const void*, std::size_t, joust_writer*) -> const char* { throw 1; };
  }));
  EXPECT_TRUE(
      fails([](auto& table) { table.write_request = [](void*, std::uint64_t, joust_writer*) { throw 1; }; }));
  EXPECT_TRUE(fails([](auto& table) {
    table.verify = [](void*, std::uint64_t, const void*, std::size_t) -> const char* { throw 1; };
  }));
  EXPECT_TRUE(
      fails([](auto& table) { table.cut = [](const void*, std::size_t) -> std::size_t { throw 1; }; }));
  EXPECT_TRUE(fails([](auto& table) { table.open_client = [](const joust_setup*) -> void* { throw 1; }; }));
}

TEST(PluginProtocol, MayChooseTheSizesOfItsMessages) {
  joust_protocol_v1 table = usual_table();
  table.largest_payload = 0;
  EXPECT_TRUE(load(table).clean());
  EXPECT_NE(protocol_of(table).no_payload, "");
}

TEST(PluginProtocol, ReportsTheComplaintOfAWrongReply) {
  joust_protocol_v1 table = usual_table();
  table.on_message = [](void*, const void*, std::size_t, joust_writer* replies) -> const char* {
    joust_write(replies, "\x02no", 3);
    return nullptr;
  };
  EXPECT_NE(complaint(table).find("a reply is another one"), std::string::npos);
}

// The error that ends a load, which the engine `null` leaves to its caller.
std::string error(const joust_protocol_v1& table) {
  try {
    load(table);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

TEST(PluginProtocol, SaysWhatAPluginDidWrong) {
  joust_protocol_v1 table = usual_table();
  table.write_request = [](void*, std::uint64_t, joust_writer*) {};
  EXPECT_NE(error(table).find("wrote 0 messages for request 0"), std::string::npos);
  table.write_request = [](void*, std::uint64_t, joust_writer* request) {
    const std::string text(300, 'x');
    joust_write(request, text.data(), text.size());
  };
  EXPECT_NE(error(table).find("a message of 300 bytes, and its largest is 200"), std::string::npos);
  table = usual_table();
  table.open_client = [](const joust_setup*) -> void* { return nullptr; };
  EXPECT_NE(error(table).find("could not open a connection"), std::string::npos);
}

TEST(PluginProtocol, RefusesOptionsWithThePluginsWords) {
  joust_protocol_v1 table = usual_table();
  table.objection = [](const char* const* options) -> const char* {
    return std::strcmp(options[0], "hello") == 0 ? nullptr : "only hello is polite";
  };
  EXPECT_TRUE(load(table).clean());
  try {
    load(table, {{"greeting", "hey"}});
    FAIL() << "the option was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string_view(error.what()).find("only hello is polite"), std::string_view::npos);
  }
}

TEST(PluginProtocol, SaysWhatATableLacks) {
  static constexpr std::array kTwice{joust_option{"a", "", ""}, joust_option{"a", "", ""}};
  static constexpr std::array kBad{joust_option{"A b", "", ""}};
  static constexpr std::array kNull{joust_option{"a", nullptr, ""}};
  using Change = void (*)(joust_protocol_v1&);
  const std::map<std::string, Change> changes{
      {"version 2, and this joust knows version 1", [](joust_protocol_v1& t) { t.version = 2; }},
      {"no name", [](joust_protocol_v1& t) { t.name = nullptr; }},
      {"its name is 'My Own'", [](joust_protocol_v1& t) { t.name = "My Own"; }},
      {"no summary", [](joust_protocol_v1& t) { t.summary = nullptr; }},
      {"no on_message()", [](joust_protocol_v1& t) { t.on_message = nullptr; }},
      {"no write_request()", [](joust_protocol_v1& t) { t.write_request = nullptr; }},
      {"no verify()", [](joust_protocol_v1& t) { t.verify = nullptr; }},
      {"its framing is 7", [](joust_protocol_v1& t) { t.framing = 7; }},
      {"no reply_size()", [](joust_protocol_v1& t) { t.framing = JOUST_RAW; }},
      {"no cut()", [](joust_protocol_v1& t) { t.cut = nullptr; }},
      {"its largest_payload is 8", [](joust_protocol_v1& t) { t.largest_payload = 8; }},
      {"its properties are 64", [](joust_protocol_v1& t) { t.properties = 64; }},
      {"1 options, and `option` is null", [](joust_protocol_v1& t) { t.option = nullptr; }},
      {"option 0 has no name", [](joust_protocol_v1& t) { t.option = kNull.data(); }},
      {"the name of option 0 is 'A b'", [](joust_protocol_v1& t) { t.option = kBad.data(); }},
      {"two options are called 'a'",
       [](joust_protocol_v1& t) {
         t.options = 2;
         t.option = kTwice.data();
       }},
  };
  for (const auto& [words, change] : changes) {
    joust_protocol_v1 table = usual_table();
    change(table);
    EXPECT_NE(objection_to(table).find(words), std::string::npos) << words << ": " << objection_to(table);
  }
}

}  // namespace
}  // namespace joust
