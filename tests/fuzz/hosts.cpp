// SPDX-License-Identifier: MIT
//
// Other hosts of a race or a load that say anything: the frames between joust and its relay, and the messages
// in them.
#include <fmt/format.h>

#include "base/document.hpp"
#include "fuzz/corpus.hpp"
#include "fuzz/cuts.hpp"
#include "fuzz/entries.hpp"
#include "hosts/agent.hpp"
#include "hosts/frame.hpp"
#include "hosts/link.hpp"
#include "race/hosts/meeting.hpp"
#include "race/hosts/remote_sides.hpp"
#include "race/hosts/side_json.hpp"
#include "session/allocations.hpp"

namespace joust::fuzz {
namespace {

using nlohmann::json;

class RelayFrames {
 public:
  void take(Bytes piece) {
    if (over_) return;
    came_ += piece.size();
    largest_allocation_since();
    reader_.take(as_text(piece));
    while (!over_) {
      const auto frame = reader_.next();
      if (!frame) {
        over_ = true;
        heard_ += frame.error();
      } else if (*frame) {
        heard_ += fmt::format("{} {} {}\n", static_cast<int>((*frame)->kind), (*frame)->rank, (*frame)->body);
      } else {
        break;
      }
    }
    if (largest_allocation_since() > 4 * came_ + 4096) wrong_ = "more memory than the input accounts for";
  }
  const std::string& heard() const { return heard_; }
  const std::string& wrong() const { return wrong_; }

 private:
  hosts::FrameReader reader_;
  std::string heard_, wrong_;
  std::size_t came_ = 0;
  bool over_ = false;
};

template <typename Result>
std::string heard_of(const json& reply) {
  const auto step = race::step_of<Result>("h", reply);
  return step ? std::string("read") : step.error().what;
}

// Reads a text as each message that a host may send.
class HostMessages {
 public:
  void take(Bytes piece) { text_ += as_text(piece); }
  std::string heard() const {
    const json message = documents::parsed<json>(text_);
    std::string heard = hosts::answer(message, {}).dump(-1, ' ', false, json::error_handler_t::replace);
    if (!message.is_object()) return heard;
    heard += heard_of<void>(message) + heard_of<double>(message) + heard_of<race::ServerStart>(message) +
             heard_of<race::ServerEnd>(message) + heard_of<race::LoadEnd>(message) +
             heard_of<race::LoadTurn>(message) + heard_of<race::SideTurn>(message) +
             heard_of<race::HostReport>(message) + heard_of<race::ServerOrder>(message) +
             heard_of<race::LoadOrder>(message);
    if (const auto end = race::step_of<race::LoadEnd>("h", message)) {
      const std::array<race::HostDocument, 2> both{{{"h", end->document}, {"i", end->document}}};
      const auto merged = race::merged_document(both);
      heard += merged ? "merged" : merged.error();
    }
    return heard;
  }
  static std::string wrong() { return {}; }

 private:
  std::string text_;
};

}  // namespace

std::vector<std::string> relay_corpus() {
  using hosts::bytes_of, hosts::Frame;
  const std::string one = bytes_of({.rank = 2, .body = "hello"});
  const std::string end = bytes_of({.kind = Frame::Kind::ended, .rank = 0, .body = "signal 9"});
  return {"a" + one + end + one,
          "b" + bytes_of({}) + bytes_of({.rank = 1, .body = std::string(500, '\n')}),
          "cmessage 1 67108865\n",
          "dmessage -1 0\n",
          "e" + std::string(80, '1') + "\n",
          "fended 99999999999999999999 1\nx"};
}

std::vector<std::string> host_message_corpus() {
  const auto text = [](const char* first, const json& message) { return first + message.dump(); };
  race::LoadEnd end;
  end.cpu_s = 0.5;
  end.document = R"({"schema": "joust-load/1"})";
  return {
      text("a", race::reply_of(race::Step<race::LoadTurn>(race::LoadTurn{.window_s = 1, .verified = 5}))),
      text("b", race::reply_of(race::Step<race::ServerStart>(race::ServerStart{.address = "a:1"}))),
      text("c", race::reply_of(race::Step<race::SideTurn>(race::SideTurn{.cpu_s = 1}))),
      text("d", race::reply_of(race::Step<race::LoadEnd>(end))),
      text("e", race::reply_of(race::Step<>(std::unexpected(race::SideFailure{.what = "it ended"})))),
      text("f", {{"failed", "no such process was started"}, {"number", 3}}),
      text("g", race::reply_of(race::Step<race::HostReport>(race::HostReport{.machine = "m"}))),
      text("h", {{"result", race::ServerOrder{}}, {"do", "side"}, {"number", 1}}),
      text("i", {{"result", race::LoadOrder{}}, {"do", 5}}),
      "j" + std::string(3000, '[') + std::string(3000, ']'),
  };
}

std::string relay_frames(Bytes input) {
  return compare<RelayFrames>(input);
}

std::string host_messages(Bytes input) {
  return compare<HostMessages>(input);
}

}  // namespace joust::fuzz
