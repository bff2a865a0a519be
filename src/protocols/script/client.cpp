// SPDX-License-Identifier: MIT
//
// The client side of script: writes the messages of a script, and checks their replies.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "load/request_service.hpp"
#include "load/run.hpp"
#include "protocols/script/script.hpp"

namespace joust::script {
namespace {

class ScriptExchange final : public Exchange {
 public:
  ScriptExchange(std::shared_ptr<const Script> script, const Parameters& parameters)
      : script_(std::move(script)),
        connection_(parameters.connection),
        first_(parameters.first_request),
        keeps_reply_(script_->takes_reply()),
        lossy_(parameters.delivery.lossy) {}

  bool write_greeting(Writer& greeting) override {
    if (script_->first_expect.empty()) return false;
    ++greetings_;
    if (script_->first) write(*script_->first, number(0), greeting);
    return true;
  }

  void write_request(std::uint64_t index, Writer& request) override {
    const MessageNumber message = number(index);
    write(script_->message(message).send, message, request);
    written_ = index + 1;
  }

  void write_last(Writer& last) override {
    if (script_->last) write(*script_->last, number(written_), last);
  }

  MessageKind classify(std::uint64_t index, Bytes reply) override {
    if (greeted_ < script_->first_expect.size()) return classify_first(reply);
    if (script_->id) {
      const auto own = own_index(reply);
      if (!own && repeats_first(reply)) return MessageKind::repeated;
      if (!own) return refuse(fmt::format("a reply has no number of a request: {}", shown(reply)));
      if (lossy_)
        index = *own;
      else if (*own != index)
        return refuse(
            fmt::format("a reply has the number of request {}, and answers request {}", *own, index));
    }
    const MessageNumber message = number(index);
    const Message& kind = script_->message(message);
    if (!is_right(kind, message, reply)) {
      if (repeats_first(reply)) return MessageKind::repeated;
      return refuse_reply(kind, message);
    }
    if (keeps_reply_) reply_.assign(reply.begin(), reply.end());
    return script_->frame.ends_connection || is_last(reply) ? MessageKind::last_reply : MessageKind::reply;
  }

  bool carries_numbers() const override { return lossy_ && script_->id.has_value(); }
  std::uint64_t number_of(Bytes reply) const override { return own_index(reply).value_or(0); }
  std::string_view complaint() const override { return complaint_; }

 private:
  MessageNumber number(std::uint64_t index) const { return {connection_, first_ + index, script_->seed}; }

  // Returns the number on this connection of the request whose number is in a reply.
  std::optional<std::uint64_t> own_index(Bytes reply) const {
    const auto own = script_->id->number_in(reply, first_ + written_);
    return own && *own >= first_ ? std::optional(*own - first_) : std::nullopt;
  }

  // Returns whether the server ends the connection with this reply. Nearly all have the same bytes.
  bool is_last(Bytes reply) {
    if (!script_->frame.is_last) return false;
    if (!same_bytes(reply, judged_)) {
      judged_.assign(reply.begin(), reply.end());
      judged_is_last_ = script_->frame.is_last(reply);
    }
    return judged_is_last_;
  }

  void write(const Template& form, const MessageNumber& message, Writer& writer) {
    if (const auto made = form.render(message, nullptr, reply_, request_); !made && missing_.empty())
      missing_ = made.error();
    writer.send(request_.bytes);
  }

  MessageKind classify_first(Bytes reply) {
    const Expectation& expect = script_->first_expect[greeted_];
    if (!expect.right(reply, number(0), nullptr, wanted_))
      return refuse(
          fmt::format("the first reply is {}; a right one {}", shown(reply), expect.description(wanted_)));
    if (keeps_reply_) reply_.assign(reply.begin(), reply.end());
    return ++greeted_ == script_->first_expect.size() ? MessageKind::greeting : MessageKind::other;
  }

  // Over datagrams the first words are said again until they are answered, and each of them may have an
  // answer.
  bool repeats_first(Bytes reply) {
    if (!lossy_ || greetings_ <= 1 ||
        !script_->first_expect.front().right(reply, number(0), nullptr, wanted_))
      return false;
    --greetings_;
    return true;
  }

  bool is_right(const Message& kind, const MessageNumber& message, Bytes reply) {
    if (!missing_.empty()) return false;
    if (!kind.expect.checks()) return true;
    if (kind.expect.needs_request() && !kind.send.render(message, nullptr, {}, request_)) return false;
    return kind.expect.right(reply, message, &request_, wanted_);
  }

  MessageKind refuse_reply(const Message& kind, const MessageNumber& message) {
    if (!missing_.empty()) return refuse(missing_);
    (void)kind.send.render(message, nullptr, reply_, request_);
    return refuse(fmt::format("the reply to {} is wrong; a right one {}", shown(request_.bytes),
                              kind.expect.description(wanted_)));
  }

  MessageKind refuse(std::string complaint) {
    complaint_ = std::move(complaint);
    return MessageKind::wrong;
  }

  const std::shared_ptr<const Script> script_;
  const std::uint64_t connection_, first_;
  const bool keeps_reply_, lossy_;
  std::size_t greeted_ = 0;        // replies to the first words that have come
  std::size_t greetings_ = 0;      // first words that were sent, and have had one answer at most
  std::vector<std::byte> judged_;  // the reply that is_last() has looked at
  bool judged_is_last_ = false;
  std::uint64_t written_ = 0;     // requests
  std::vector<std::byte> reply_;  // the reply that came last, for {reply}
  Rendered request_, wanted_;     // memory that is used again
  std::string missing_;           // what {reply} did not find in the reply before
  std::string complaint_;
};

}  // namespace

std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run) {
  auto script = script_of(parameters);
  check_client(*script, run.plan());
  return std::make_unique<RequestService>(
      Own{script->frame.cutter}, parameters,
      [script](const Parameters& own) { return std::make_unique<ScriptExchange>(script, own); }, run);
}

}  // namespace joust::script
