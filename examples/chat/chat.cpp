// SPDX-License-Identifier: MIT
//
// Rooms in which people talk: a protocol with a service, sessions and publications of its own. The first line
// of a guest is "join ROOM NAME"; its answer is "welcome". Every further line is passed on as "NAME: LINE" to
// all guests of the room, the speaker included.
#include <joust/joust.hpp>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace {

const joust::Framing kFraming = joust::Line{.largest = 1000};  // bytes
constexpr std::size_t kMostRooms = 100;
constexpr std::size_t kLinesKept = 1000;        // of a room; a guest who is further behind is put out
constexpr std::size_t kMostUnread = 256 << 10;  // bytes that wait for one guest

// What was said in one room.
struct Room {
  std::deque<std::string> lines;
  std::uint64_t first = 0;  // number of the oldest line kept
};

// What the guests share. Different threads may serve them, so the rooms are touched under the lock.
struct Chat : joust::Service {
  std::unique_ptr<joust::Session> open(const joust::ConnectionInfo& info) override;
  joust::Publications* publications() override { return &published; }

  joust::Publications published;
  std::mutex mutex;
  std::map<std::string, Room> rooms;
};

// The server's side of one guest.
class Guest : public joust::Session {
 public:
  explicit Guest(Chat& chat) : chat_(chat) {}

  std::size_t on_bytes(joust::Bytes chunk, joust::Time /*now*/) override {
    std::size_t taken = 0;
    while (taken < chunk.size() && !leaving_) {
      const joust::Deframer::Step step = deframer_.next(chunk.subspan(taken));
      taken += step.taken;
      if (step.status == joust::Deframer::Status::need_more) continue;
      const bool whole = step.status == joust::Deframer::Status::message;
      leaving_ = !whole || !hear(joust::as_text(step.message));
    }
    return taken;
  }
  void on_published(joust::Time /*now*/) override { listen(); }
  void on_peer_finished(joust::Time /*now*/) override { leaving_ = true; }
  void on_drain(joust::Time /*now*/) override { leaving_ = true; }

  std::size_t output(std::span<joust::Segment> into) const override { return outbox_.segments(into); }
  joust::Want want() const override { return leaving_ ? joust::Want::nothing : joust::Want::bytes; }
  bool finished() const override { return leaving_; }
  bool gives_up() const override { return behind_; }
  void consumed(std::size_t n) override {
    outbox_.consumed(n);
    listen();
  }
  void released(std::size_t n) override { outbox_.released(n); }

 private:
  bool hear(std::string_view line) {
    if (room_ == nullptr) return join(std::string(line));
    const std::lock_guard lock(chat_.mutex);
    room_->lines.push_back(name_ + ": " + std::string(line));
    for (; room_->lines.size() > kLinesKept; ++room_->first) room_->lines.pop_front();
    chat_.published.announce();  // every session hears of it by on_published
    return true;
  }
  bool join(const std::string& line) {
    const std::size_t space = line.find(' ', 5);
    if (!line.starts_with("join ") || space == std::string::npos) return false;
    const std::string room = line.substr(5, space - 5);
    const std::lock_guard lock(chat_.mutex);
    if (chat_.rooms.size() >= kMostRooms && !chat_.rooms.contains(room)) return false;
    name_ = line.substr(space + 1);
    room_ = &chat_.rooms[room];
    next_ = room_->first + room_->lines.size();
    joust::Writer(kFraming, outbox_).send("welcome");
    return true;
  }
  void listen() {
    if (room_ == nullptr || leaving_) return;
    joust::Writer guest(kFraming, outbox_);
    const std::lock_guard lock(chat_.mutex);
    behind_ = next_ < room_->first;
    for (; !behind_ && next_ < room_->first + room_->lines.size() && outbox_.size() < kMostUnread; ++next_)
      guest.send(room_->lines[next_ - room_->first]);
  }

  Chat& chat_;
  joust::Deframer deframer_{kFraming};
  joust::Outbox outbox_;
  Room* room_ = nullptr;
  std::string name_;
  std::uint64_t next_ = 0;  // line of the room that the guest gets next
  bool leaving_ = false;
  bool behind_ = false;
};

std::unique_ptr<joust::Session> Chat::open(const joust::ConnectionInfo& /*info*/) {
  return std::make_unique<Guest>(*this);
}

// The client's side: joins one of three rooms, says numbers, and hears every guest's numbers in order.
class Visitor : public joust::Exchange {
 public:
  explicit Visitor(std::uint64_t connection)
      : name_(std::to_string(connection)), room_(std::to_string(connection % 3)) {}

  bool write_greeting(joust::Writer& greeting) override {
    greeting.send("join " + room_ + " " + name_);
    return true;
  }
  void write_request(std::uint64_t number, joust::Writer& request) override {
    request.send(std::to_string(number));
  }
  joust::MessageKind classify(std::uint64_t /*number*/, joust::Bytes message) override {
    const std::string_view line = joust::as_text(message);
    if (line == "welcome") return joust::MessageKind::greeting;
    const std::string speaker(line.substr(0, line.find(':')));
    if (line != speaker + ": " + std::to_string(heard_[speaker]++)) return joust::MessageKind::wrong;
    return speaker == name_ ? joust::MessageKind::reply : joust::MessageKind::other;
  }

 private:
  const std::string name_, room_;
  std::map<std::string, std::uint64_t> heard_;  // lines of each speaker
};

}  // namespace

int main(int argc, char** argv) {
  joust::Protocol chat;
  chat.name = "chat";
  chat.summary = "rooms in which every line reaches all";
  chat.no_messages = "a visitor must get every line";
  chat.make_server = [](const joust::Parameters&) { return std::make_unique<Chat>(); };
  chat.make_client = joust::exchange_client(
      kFraming, [](const joust::Parameters& p) { return std::make_unique<Visitor>(p.connection); });
  return joust::main(argc, argv, chat);
}
