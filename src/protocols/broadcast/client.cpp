// SPDX-License-Identifier: MIT
//
// The client side of broadcast. Its members share only the number of members and the number of messages
// published.
#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "base/sequence_window.hpp"
#include "load/request_service.hpp"
#include "load/run.hpp"
#include "load/schedule.hpp"
#include "protocols/broadcast/protocol.hpp"
#include "protocols/broadcast/room_copy.hpp"
#include "protocols/websocket/client.hpp"

namespace joust::broadcast {
namespace {

// The numbers of one sender's messages.
using Sequence = SequenceWindow<64>;

constexpr std::string_view kNotOfThisProtocol = "what came is not of this protocol";

// The counts that the members of one load share.
struct SharedCounts {
  explicit SharedCounts(LoadRun& load) : run(load), members(load.plan().connections), copy(members) {}

  LoadRun& run;
  const std::size_t members;
  RoomCopy copy;                            // of what the server sends to all
  std::atomic<std::uint64_t> joined{0};     // members
  std::atomic<std::uint64_t> ended{0};      // sum over all members: turns, or the load
  std::atomic<bool> broken{false};          // a member has failed
  std::atomic<std::uint64_t> published{0};  // messages written by all members
  std::atomic<std::uint64_t> received{0}, duplicated{0}, out_of_order{0};  // received by all members
};

// A member's side of WebSocket, with the framing of that name.
struct OverWebSocket {
  explicit OverWebSocket(const Parameters& parameters)
      : side(parameters.connection), target(websocket::handshake_target(parameters)) {}

  websocket::ClientSide side;
  const websocket::HandshakeTarget target;
  bool owes_join = false;  // the handshake is complete
};

class MemberExchange : public Exchange {
 public:
  MemberExchange(const Parameters& parameters, std::shared_ptr<SharedCounts> counts)
      : counts_(std::move(counts)),
        member_(static_cast<std::uint32_t>(parameters.connection)),
        lossy_(parameters.delivery.lossy),
        pattern_(Pattern::of(parameters.payload, Pattern::Alphabet::any)) {
    if (stream_framing_of(parameters) == StreamFraming::websocket) websocket_.emplace(parameters);
    follows_copy_ = !websocket_ && !parameters.delivery.by_message();
  }
  ~MemberExchange() override { counts_->received += received_; }
  MemberExchange(const MemberExchange&) = delete;
  MemberExchange& operator=(const MemberExchange&) = delete;

  bool write_greeting(Writer& greeting) override {
    websocket_ ? websocket_->side.write_handshake(websocket_->target, greeting) : write_join(greeting);
    return true;
  }
  void write_request(std::uint64_t number, Writer& request) override {
    send({Kind::message, member_, number, pattern_->message(member_, number)}, request);
    counts_->published.fetch_add(1);
  }
  void write_answer(Writer& answer) override {
    websocket_->side.write_answer(answer);
    if (std::exchange(websocket_->owes_join, false)) write_join(answer);
  }
  void write_refusal(Writer& refusal) override {
    if (websocket_) websocket_->side.write_refusal(refusal);
  }
  void write_last(Writer& last) override {
    if (websocket_) websocket_->side.write_last(last);
  }
  MessageKind classify(std::uint64_t number, Bytes message) override;
  bool verify(std::uint64_t number, Bytes reply) override {
    return classify(number, reply) == MessageKind::reply;
  }
  std::size_t take_known(Bytes chunk) override;
  bool carries_numbers() const override { return true; }
  std::uint64_t number_of(Bytes reply) const override { return parse(reply)->number; }
  std::string_view complaint() const override { return complaint_; }
  void on_last_request() override {
    ++ended_;
    counts_->ended.fetch_add(1);
    if (all_have_ended()) counts_->run.publications().announce();
  }
  void on_withdrawn(std::uint64_t requests) override { counts_->published.fetch_sub(requests); }
  // The last messages of a failed member may not have been sent, so the number of messages to wait for is
  // unknown.
  void on_failure() override { counts_->broken = true; }
  bool complete() const override {
    if (counts_->broken) return true;
    return all_have_ended() && received_ + given_up_ >= counts_->published.load();
  }
  void on_silence() override;

 private:
  // True if no member writes another message before the next turn.
  bool all_have_ended() const { return counts_->ended.load() >= ended_ * counts_->joined.load(); }
  void send(const Frame& frame, Writer& into);
  void write_join(Writer& into) { send({.kind = Kind::join, .member = member_, .payload = {}}, into); }
  MessageKind classify_websocket(Bytes bytes);
  MessageKind classify_frame(Bytes message);
  MessageKind joined(const Frame& frame);
  MessageKind welcomed();
  MessageKind wrong(std::string_view why);
  bool in_order(const Frame& frame);
  bool is_new(const Frame& frame);

  const std::shared_ptr<SharedCounts> counts_;
  const std::uint32_t member_;
  const bool lossy_;  // the delivery may lose messages
  const std::shared_ptr<const Pattern> pattern_;
  std::optional<OverWebSocket> websocket_;
  bool follows_copy_ = false;               // its frames come over a stream, as the copy has them
  std::optional<RoomCopy::Reader> reader_;  // once it is welcomed: the numbers that are expected
  std::vector<Sequence> sequences_;         // if the delivery is lossy instead: the numbers that have arrived
  bool welcomed_ = false;
  bool silent_ = false;      // nothing has arrived for a while after all had ended
  std::uint64_t ended_ = 0;  // turns, or the load
  std::uint64_t received_ = 0;
  std::uint64_t given_up_ = 0;  // messages that are lost
  std::string_view complaint_ = kNotOfThisProtocol;
};

void MemberExchange::send(const Frame& frame, Writer& into) {
  if (!websocket_) return write(frame, into);
  websocket_->side.write_frame({.opcode = websocket::Opcode::binary}, {head_of(frame), frame.payload}, into);
}

MessageKind MemberExchange::classify(std::uint64_t /*number*/, Bytes message) {
  return websocket_ ? classify_websocket(message) : classify_frame(message);
}

// The answer to the handshake wants the join as its answer, and then comes the welcome.
MessageKind MemberExchange::classify_websocket(Bytes bytes) {
  const auto message = websocket::Message::read(bytes);
  if (message.kind == websocket::Message::Kind::binary) return classify_frame(message.payload);
  if (message.kind == websocket::Message::Kind::text)
    return wrong("a message is text, and those of a room are binary");
  const MessageKind kind = *websocket_->side.classify(message);
  complaint_ = websocket_->side.complaint();
  if (kind != MessageKind::greeting) return kind;
  websocket_->owes_join = true;
  return MessageKind::asks;
}

MessageKind MemberExchange::classify_frame(Bytes message) {
  complaint_ = kNotOfThisProtocol;
  const auto frame = parse(message);
  if (!frame) return MessageKind::wrong;
  if (frame->kind == Kind::welcome && frame->member == member_ && frame->number == 0) return welcomed();
  if (frame->kind == Kind::join && websocket_) return joined(*frame);
  if (frame->kind == Kind::refused)
    return wrong(
        "not let in: another load is in the room, or a stranger that has the number of a member; the "
        "numbers of members that send nothing are free after 30 s");
  if (frame->kind != Kind::message) return MessageKind::wrong;
  if (!welcomed_ || frame->member >= counts_->members)
    return wrong("a message of somebody who is not of this load");
  silent_ = false;
  if (lossy_ && !is_new(*frame)) return MessageKind::repeated;
  if (!lossy_ && !in_order(*frame)) return wrong("a message came twice, or another before its turn");
  if (!same_bytes(frame->payload, pattern_->message(frame->member, frame->number)))
    return wrong("a message does not have the bytes its sender gave it");
  if (reader_) reader_->checked(*frame, message);
  ++received_;
  return frame->member == member_ ? MessageKind::reply : MessageKind::other;
}

std::size_t MemberExchange::take_known(Bytes chunk) {
  if (!reader_) return 0;
  const RoomCopy::Known known = reader_->known(chunk);
  received_ += known.messages;
  if (known.messages > 0) silent_ = false;
  return known.bytes;
}

MessageKind MemberExchange::wrong(std::string_view why) {
  complaint_ = why;
  return MessageKind::wrong;
}

// A server that sends each message to all members does so with joins too. A member that hears its own is in.
MessageKind MemberExchange::joined(const Frame& frame) {
  if (frame.member != member_) return MessageKind::other;
  return welcomed_ ? wrong("a join came twice") : welcomed();
}

MessageKind MemberExchange::welcomed() {
  if (std::exchange(welcomed_, true)) return MessageKind::greeting;
  if (lossy_)
    sequences_.resize(counts_->members);
  else
    reader_.emplace(counts_->copy, member_, follows_copy_);
  counts_->joined.fetch_add(1);
  return MessageKind::greeting;
}

// Messages may be under way when the last member ends, so only a second silence shows that they are lost. (A
// message that arrives even later counts as received too: in later turns this member is then complete one
// message early.)
void MemberExchange::on_silence() {
  if (!all_have_ended() || !std::exchange(silent_, true)) return;
  given_up_ = counts_->published.load() - std::min(received_, counts_->published.load());
}

bool MemberExchange::in_order(const Frame& frame) {
  const std::uint32_t expected = reader_->expected(frame.member);
  if (frame.number == expected) return true;
  ++(frame.number < expected ? counts_->duplicated : counts_->out_of_order);
  return false;
}

bool MemberExchange::is_new(const Frame& frame) {
  switch (sequences_[frame.member].arrived(frame.number)) {
    case Sequence::Order::repeated:
      ++counts_->duplicated;
      return false;
    case Sequence::Order::out_of_order:
      ++counts_->out_of_order;
      return true;
    case Sequence::Order::in_order:
      return true;
  }
  return true;
}

class BroadcastClient : public RequestService {
 public:
  BroadcastClient(const Parameters& parameters, const std::shared_ptr<SharedCounts>& counts, LoadRun& run)
      : RequestService(
            framing_of(stream_framing_of(parameters), Role::serve), parameters,
            [counts](const Parameters& own) { return std::make_unique<MemberExchange>(own, counts); }, run),
        counts_(counts) {}

  std::vector<ResultGroup> results() const override {
    const std::uint64_t expected = counts_->published * counts_->joined;
    const std::uint64_t received = counts_->received;
    return {{"deliveries",
             {{"expected", expected},
              {"received", received},
              {"lost", expected - std::min(expected, received)},
              {"duplicated", counts_->duplicated.load()},
              {"out_of_order", counts_->out_of_order.load()}},
             "of the whole run"}};
  }

 private:
  const std::shared_ptr<SharedCounts> counts_;
};

}  // namespace

void check_client(const Parameters& parameters) {
  if (stream_framing_of(parameters) == StreamFraming::websocket) websocket::handshake_target(parameters);
}

std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run) {
  return std::make_unique<BroadcastClient>(parameters, std::make_shared<SharedCounts>(run), run);
}

}  // namespace joust::broadcast
