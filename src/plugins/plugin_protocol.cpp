// SPDX-License-Identifier: MIT
#include "plugins/plugin_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "joust/handler.hpp"
#include "session/framing.hpp"
#include "session/handler_session.hpp"

namespace joust {
namespace {

constexpr std::size_t kUsualLargest = 1 << 20;      // bytes of a message
constexpr std::uint64_t kLeastRateOfPlugin = 1024;  // bytes per second; see RequestResponse::least_rate

using Table = joust_protocol_v1;

std::size_t largest_of(const Table& table) {
  return table.largest == 0 ? kUsualLargest : table.largest;
}

// Calls a function of a plug-in. Engines report exceptions of a session if these are std::exception; a
// plug-in in C++ may throw others, which would end the process.
template <class Call>
auto guarded(Call call) try {
  return call();
} catch (const std::exception&) {
  throw;
} catch (...) {
  throw std::runtime_error("the plug-in has thrown an exception that is no std::exception");
}

// The writer that a plug-in gets. An error in it may not pass through the plug-in's frames, so it is thrown
// behind the call, by finish().
class PluginWriter final : public joust_writer {
 public:
  PluginWriter(Writer& writer, std::size_t largest)
      : joust_writer{&PluginWriter::append}, writer_(writer), largest_(largest) {}

  // Returns the number of messages that were written.
  std::size_t finish() const {
    if (failed_) std::rethrow_exception(failed_);
    return messages_;
  }

 private:
  static void append(joust_writer* self, const void* bytes, std::size_t size) noexcept {
    static_cast<PluginWriter*>(self)->send({static_cast<const std::byte*>(bytes), size});
  }

  void send(Bytes message) noexcept try {
    if (failed_) return;
    if (message.size() > largest_)
      throw std::length_error(fmt::format("the plug-in wrote a message of {} bytes, and its largest is {}",
                                          message.size(), largest_));
    writer_.send(message);
    ++messages_;
  } catch (...) {
    failed_ = std::current_exception();
  }

  Writer& writer_;
  const std::size_t largest_;
  std::size_t messages_ = 0;
  std::exception_ptr failed_{};
};

// One side of a protocol with the values of its options.
class PluginSide {
 public:
  // Throws std::invalid_argument for values that the plug-in refuses.
  PluginSide(const Table& table, const Parameters& parameters) : table_(table) {
    for (std::uint32_t i = 0; i < table.options; ++i)
      texts_.push_back(parameters.option(table.option[i].name));
    for (const std::string& text : texts_) values_.push_back(text.c_str());
    if (table.objection == nullptr) return;
    if (const char* const why = guarded([&] { return table.objection(values_.data()); }))
      throw std::invalid_argument(fmt::format("protocol '{}': {}", table.name, why));
  }

  const Table& table() const { return table_; }
  const char* const* values() const { return values_.data(); }

 private:
  const Table& table_;
  std::vector<std::string> texts_;
  std::vector<const char*> values_;
};

using SharedSide = std::shared_ptr<const PluginSide>;

// The state that a plug-in keeps for one connection.
class PluginState {
 public:
  using Open = void* (*)(const joust_setup*);
  using Close = void (*)(void*);

  PluginState(Open open, Close close, const joust_setup& setup) : setup_(setup), close_(close) {
    if (open == nullptr) return;
    state_ = guarded([&] { return open(&setup_); });
    if (state_ == nullptr) throw std::runtime_error("the plug-in could not open a connection");
  }
  PluginState(const PluginState&) = delete;
  PluginState& operator=(const PluginState&) = delete;
  ~PluginState() {
    if (state_ == nullptr || close_ == nullptr) return;
    try {
      close_(state_);
    } catch (...) {  // the connection has ended anyway, and a destructor must not throw
    }
  }
  void* get() const { return state_; }

 private:
  const joust_setup setup_;
  const Close close_;
  void* state_ = nullptr;
};

class PluginHandler final : public Handler {
 public:
  explicit PluginHandler(SharedSide side)
      : side_(std::move(side)),
        state_(side_->table().open_server, side_->table().close_server,
               {.options = side_->values(), .payload = 0, .connection = 0}) {}

  bool on_message(Bytes message, Writer& replies) override {
    const Table& table = side_->table();
    PluginWriter writer(replies, largest_of(table));
    const char* const end =
        guarded([&] { return table.on_message(state_.get(), message.data(), message.size(), &writer); });
    writer.finish();
    if (end == nullptr) return true;
    complaint_ = end;
    return false;
  }
  std::string_view complaint() const override { return complaint_; }

 private:
  const SharedSide side_;
  PluginState state_;
  std::string complaint_;
};

class PluginExchange final : public Exchange {
 public:
  PluginExchange(SharedSide side, const Parameters& parameters)
      : side_(std::move(side)),
        state_(side_->table().open_client, side_->table().close_client,
               {.options = side_->values(),
                .payload = std::min(parameters.payload, side_->table().largest_payload),
                .connection = parameters.connection}) {}

  void write_request(std::uint64_t number, Writer& request) override {
    PluginWriter writer(request, largest_of(side_->table()));
    guarded([&] { side_->table().write_request(state_.get(), number, &writer); });
    if (const std::size_t messages = writer.finish(); messages != 1)
      throw std::runtime_error(fmt::format(
          "the plug-in wrote {} messages for request {}, and a request is one message", messages, number));
  }
  bool verify(std::uint64_t number, Bytes reply) override {
    const char* const wrong =
        guarded([&] { return side_->table().verify(state_.get(), number, reply.data(), reply.size()); });
    if (wrong != nullptr) complaint_ = wrong;
    return wrong == nullptr;
  }
  std::size_t reply_size(std::uint64_t number) const override {
    const std::size_t size = guarded([&] { return side_->table().reply_size(state_.get(), number); });
    const std::size_t most = largest_of(side_->table());
    if (size == 0 || size > most)
      throw std::runtime_error(
          fmt::format("the plug-in says that the reply to request {} has {} bytes; allowed: 1 to {}", number,
                      size, most));
    return size;
  }
  std::string_view complaint() const override { return complaint_; }

 private:
  const SharedSide side_;
  PluginState state_;
  std::string complaint_;
};

class PluginFinder final : public Finder {
 public:
  explicit PluginFinder(const Table& table) : table_(table) {}

  Found find(Bytes message) override {
    const std::size_t size = guarded([&] { return table_.cut(message.data(), message.size()); });
    if (size == JOUST_MALFORMED) return {.complaint = "no message of the protocol begins like this"};
    if (size > message.size()) return {.complaint = "cut() of the plug-in found an end behind the bytes"};
    return {.size = size};
  }

 private:
  const Table& table_;
};

Framing framing_of(const Table& table) {
  const std::size_t largest = largest_of(table);
  if (table.framing == JOUST_LENGTH4) return Length4{.largest = largest};
  if (table.framing == JOUST_LINE) return Line{.largest = largest};
  if (table.framing == JOUST_RAW) return Raw{};
  return Own{.cutter = [&table, largest] {
    return std::make_unique<FoundCutter>(std::make_unique<PluginFinder>(table), largest);
  }};
}

bool is_name(const char* name) {
  const std::string_view text(name);
  return !text.empty() && text.front() >= 'a' && text.front() <= 'z' && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

std::string objection_to_options(const Table& table) {
  if (table.options > 0 && table.option == nullptr)
    return fmt::format("it has {} options, and `option` is null", table.options);
  for (std::uint32_t i = 0; i < table.options; ++i) {
    const joust_option& option = table.option[i];
    if (option.name == nullptr || option.standard == nullptr || option.summary == nullptr)
      return fmt::format("option {} has no name, standard or summary", i);
    if (!is_name(option.name))
      return fmt::format("the name of option {} is '{}'; allowed: lower-case letters, digits and '-'", i,
                         option.name);
    for (std::uint32_t j = 0; j < i; ++j)
      if (std::string_view(table.option[j].name) == option.name)
        return fmt::format("two options are called '{}'", option.name);
  }
  return {};
}

}  // namespace

std::string objection_to(const joust_protocol_v1& table) {
  if (table.version != JOUST_PROTOCOL_VERSION)
    return fmt::format(
        "its table has version {}, and this joust knows version {}; build it again with the joust/plugin.h "
        "of this joust",
        table.version, JOUST_PROTOCOL_VERSION);
  const auto lacks = [](std::string_view what, std::string_view why) {
    return fmt::format("its table has no {}: it is null, and {}", what, why);
  };
  if (table.name == nullptr) return lacks("name", "every protocol has one");
  if (!is_name(table.name))
    return fmt::format("its name is '{}'; allowed: lower-case letters, digits and '-'", table.name);
  if (table.summary == nullptr) return lacks("summary", "every protocol has one");
  if (table.on_message == nullptr) return lacks("on_message()", "every protocol has one");
  if (table.write_request == nullptr) return lacks("write_request()", "every protocol has one");
  if (table.verify == nullptr) return lacks("verify()", "every reply is verified");
  if (table.framing > JOUST_CUT)
    return fmt::format(
        "its framing is {}; allowed: JOUST_RAW, JOUST_LENGTH4, JOUST_LINE or JOUST_CUT, which are 0 to 3",
        table.framing);
  if (table.framing == JOUST_RAW && table.reply_size == nullptr)
    return lacks("reply_size()", "JOUST_RAW needs it");
  if (table.framing == JOUST_CUT && table.cut == nullptr) return lacks("cut()", "JOUST_CUT needs it");
  if (table.largest_payload > 0 && table.largest_payload < Parameters{}.payload)
    return fmt::format("its largest_payload is {}; allowed: 0, or {} and more, which is the usual payload",
                       table.largest_payload, Parameters{}.payload);
  if (table.largest_payload > largest_of(table))
    return fmt::format("its largest_payload is {}, and its largest message {}", table.largest_payload,
                       largest_of(table));
  if ((table.properties & ~(JOUST_SHARED_STATE | JOUST_NEEDS_STREAM)) != 0)
    return fmt::format("its properties are {}; allowed: 0, JOUST_SHARED_STATE | JOUST_NEEDS_STREAM",
                       table.properties);
  return objection_to_options(table);
}

Protocol protocol_of(const joust_protocol_v1& table) {
  Protocol protocol;
  protocol.name = table.name;
  protocol.summary = table.summary;
  if ((table.properties & JOUST_NEEDS_STREAM) != 0)
    protocol.no_messages = "its plug-in needs every message in order";
  protocol.sessions_stand_alone = (table.properties & JOUST_SHARED_STATE) == 0;
  protocol.takes_turns = true;
  protocol.no_reconnect.clear();
  if (table.largest_payload == 0)
    protocol.no_payload = "its plug-in chooses the sizes of messages";
  else
    protocol.largest_payload = table.largest_payload;
  protocol.verified = "by its plug-in";
  for (std::uint32_t i = 0; i < table.options; ++i)
    protocol.options.push_back({.name = table.option[i].name,
                                .summary = table.option[i].summary,
                                .standard = table.option[i].standard});
  protocol.check_server = [&table](const Parameters& parameters) { PluginSide(table, parameters); };
  protocol.check_client = [&table](const Parameters& parameters, const LoadPlan&) {
    PluginSide(table, parameters);
  };
  protocol.make_server = [&table](const Parameters& parameters) {
    const auto side = std::make_shared<const PluginSide>(table, parameters);
    return std::make_unique<HandlerService>(
        framing_of(table), [side] { return std::make_unique<PluginHandler>(side); },
        RateRules::of(kLeastRateOfPlugin));
  };
  protocol.make_client = [&table](const Parameters& parameters, LoadRun& run) {
    const auto side = std::make_shared<const PluginSide>(table, parameters);
    const MakeExchange make = [side](const Parameters& connection) {
      return std::make_unique<PluginExchange>(side, connection);
    };
    return exchange_client(framing_of(table), make)(parameters, run);
  };
  return protocol;
}

}  // namespace joust
