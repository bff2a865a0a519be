// SPDX-License-Identifier: MIT
//
// Two protocols on two engines in one program with a main() of its own, and a client that verifies each.
#include <joust/client.hpp>
#include <joust/server.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace {

// A protocol is made of a function: a line comes, and its answer goes back.
using Answer = std::string (*)(std::string_view line);

std::string reversed(std::string_view line) {
  return {line.rbegin(), line.rend()};
}

std::string counted(std::string_view line) {
  return std::to_string(std::ranges::count(line, 'o')) + " times the letter o";
}

class Answering : public joust::Handler {
 public:
  explicit Answering(Answer answer) : answer_(answer) {}
  bool on_message(joust::Bytes line, joust::Writer& replies) override {
    replies.send(answer_(joust::as_text(line)));
    return true;
  }

 private:
  const Answer answer_;
};

class Asking : public joust::Exchange {
 public:
  Asking(Answer answer, std::uint64_t connection) : answer_(answer), connection_(connection) {}
  void write_request(std::uint64_t number, joust::Writer& request) override {
    request.send(question(number));
  }
  bool verify(std::uint64_t number, joust::Bytes reply) override {
    return joust::as_text(reply) == answer_(question(number));
  }

 private:
  std::string question(std::uint64_t number) const {
    return "question " + std::to_string(number) + " of connection " + std::to_string(connection_);
  }

  const Answer answer_;
  const std::uint64_t connection_;
};

joust::Protocol protocol_of(const char* name, const char* summary, Answer answer) {
  return joust::request_response({
      .name = name,
      .summary = summary,
      .framing = joust::Line{.largest = 1000},
      .handler = [answer] { return std::make_unique<Answering>(answer); },
      .exchange =
          [answer](const joust::Parameters& p) { return std::make_unique<Asking>(answer, p.connection); },
  });
}

// True when every reply was right.
bool ask(const joust::Protocol& protocol, const std::string& address) {
  joust::Client client(protocol, {.connect = address, .load = {.connections = 10, .messages = 100}});
  const joust::ClientResult result = client.run();
  for (const std::string& complaint : result.complaints) std::fprintf(stderr, "%s\n", complaint.c_str());
  std::printf("%s at %s: %llu replies verified\n", protocol.name.c_str(), address.c_str(),
              static_cast<unsigned long long>(result.messages_verified));
  return result.clean();
}

}  // namespace

int main() try {
  const joust::Protocol reverse = protocol_of("reverse", "the line from its end to its start", reversed);
  const joust::Protocol count = protocol_of("count", "how often a letter is in the line", counted);
  joust::Server first(reverse, {.engine = "epoll"});
  joust::Server second(count, {.engine = "threads"});
  first.start();
  second.start();
  const bool right = ask(reverse, first.address()) && ask(count, second.address());
  first.stop();
  second.stop();
  return right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "two_servers: %s\n", error.what());
  return 1;
}
