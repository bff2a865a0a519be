// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/common/command_line.hpp"
#include "cli/load/plan_and_url.hpp"

namespace joust {
namespace {

TEST(MeantOption, IsNearOrBeginsSo) {
  const std::vector<std::string> options{"--rounds", "--connections", "--connect-timeout", "--listen",
                                         "--root"};
  EXPECT_EQ(meant_option("--rouds", options), "--rounds");
  EXPECT_EQ(meant_option("--rouds=5", options), "--rounds");
  EXPECT_EQ(meant_option("--conections", options), "--connections");
  EXPECT_EQ(meant_option("-listen", options), "--listen");
  EXPECT_EQ(meant_option("--lis", options), "--listen");
  EXPECT_EQ(meant_option("--connect-", options), "--connect-timeout");
  EXPECT_EQ(meant_option("--conn", options), "") << "two begin so";
  EXPECT_EQ(meant_option("--nothing", options), "");
  EXPECT_EQ(meant_option("--", options), "");
}

TEST(MeantOption, IsTheOneOfTheSameMeaning) {
  EXPECT_EQ(meant_option("--port", std::vector<std::string>{"--root", "--listen"}), "--listen");
  EXPECT_EQ(meant_option("--port", std::vector<std::string>{"--connect"}), "--connect");
  EXPECT_EQ(meant_option("--timeout=1s", std::vector<std::string>{"--idle-timeout"}), "--idle-timeout");
  EXPECT_EQ(meant_option("--port", std::vector<std::string>{"--rounds"}), "");
}

std::string parts(std::string_view text) {
  const auto url = parse_load_url(text);
  return url ? url->address + " " + url->host + " " + url->path : url.error();
}

TEST(LoadUrl, HasAnAddressAHostAndAPath) {
  EXPECT_EQ(parts("http://127.0.0.1:8080/"), "127.0.0.1:8080 127.0.0.1:8080 /");
  EXPECT_EQ(parts("http://localhost"), "localhost:80 localhost /");
  EXPECT_EQ(parts("HTTP://Localhost"), "Localhost:80 Localhost /");
  EXPECT_EQ(parts("wSs://a"), "a:443 a /");
  EXPECT_EQ(parts("http://host.example/a/b?c=d#e"), "host.example:80 host.example /a/b?c=d");
  EXPECT_EQ(parts("http://host.example?c=/d"), "host.example:80 host.example /?c=/d");
  EXPECT_EQ(parts("http://[::1]:9000/x"), "[::1]:9000 [::1]:9000 /x");
  EXPECT_EQ(parts("http://[::1]/x"), "[::1]:80 [::1] /x");
  EXPECT_EQ(parts("https://a/b"), "a:443 a /b");
  EXPECT_EQ(parts("ws://a/b"), "a:80 a /b");
  EXPECT_EQ(parts("wss://a:1"), "a:1 a:1 /");
}

TEST(LoadUrl, HasAProtocol) {
  const auto protocol = [](std::string_view text) {
    const auto url = parse_load_url(text);
    return url->protocol + (url->secure ? " inside TLS" : "");
  };
  EXPECT_EQ(protocol("http://a"), "http");
  EXPECT_EQ(protocol("https://a"), "http inside TLS");
  EXPECT_EQ(protocol("ws://a"), "websocket");
  EXPECT_EQ(protocol("wss://a"), "websocket inside TLS");
}

TEST(LoadUrl, IsRefusedWithTheReason) {
  EXPECT_TRUE(parts("ftp://a/").contains("is no address such as"));
  EXPECT_TRUE(parts("127.0.0.1:80").contains("is no address such as http://127.0.0.1:8080/"));
  EXPECT_TRUE(parts("http:///x").contains("has no host"));
  EXPECT_TRUE(parts("http://me:secret@host/").contains("has no host, or a user"));
}

}  // namespace
}  // namespace joust
