// SPDX-License-Identifier: MIT
//
// A protocol of one's own: a line such as "12 + 30" is answered by a line such as "42". Linked with joust it
// is a whole program: `calculator serve`, `calculator load` and `calculator race` work as joust's own do.
#include <joust/joust.hpp>

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace {

// "12 + 30" -> 42; nothing for what is not a sum of two numbers.
std::optional<long> evaluate(std::string_view line) {
  long left = 0;
  long right = 0;
  const char* const end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, left);
  if (first.ec != std::errc{} || end - first.ptr < 4) return std::nullopt;
  const std::string_view between(first.ptr, 3);
  const auto second = std::from_chars(first.ptr + 3, end, right);
  if (second.ec != std::errc{} || second.ptr != end) return std::nullopt;
  long result = 0;
  bool overflow = true;
  if (between == " + ") overflow = __builtin_add_overflow(left, right, &result);
  if (between == " * ") overflow = __builtin_mul_overflow(left, right, &result);
  if (overflow) return std::nullopt;
  return result;
}

// The server's side: a whole line in, a line out. It never sees a socket, whatever engine drives it.
class Calculator : public joust::Handler {
 public:
  bool on_message(joust::Bytes line, joust::Writer& replies) override {
    const auto result = evaluate(joust::as_text(line));
    replies.send(result ? std::to_string(*result)
                        : "error: write a sum or a product of two numbers, like 12 + 30");
    return true;
  }
};

// The client's side: what to ask as request number n, and whether the answer is right.
class Sums : public joust::Exchange {
 public:
  explicit Sums(const joust::Parameters& parameters)
      : start_(static_cast<long>(parameters.connection) * 1000) {}

  void write_request(std::uint64_t number, joust::Writer& request) override {
    request.send(std::to_string(start_ + static_cast<long>(number)) + " + 30");
  }
  bool verify(std::uint64_t number, joust::Bytes reply) override {
    return joust::as_text(reply) == std::to_string(start_ + static_cast<long>(number) + 30);
  }

 private:
  const long start_;
};

}  // namespace

int main(int argc, char** argv) {
  return joust::main(argc, argv,
                     joust::request_response({
                         .name = "calculator",
                         .summary = "sums and products of two numbers, a line each",
                         .framing = joust::Line{.largest = 100},
                         .handler = [] { return std::make_unique<Calculator>(); },
                         .exchange = [](const joust::Parameters& p) { return std::make_unique<Sums>(p); },
                     }));
}
