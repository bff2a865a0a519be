// SPDX-License-Identifier: MIT
//
// Echo, or a room in which every message goes to all, with Boost.Beast: beast echo|room PORT
//
// One thread, a coroutine for each connection, and in a room a second one that writes. Echo does not read
// while it writes. A member of a room that falls more than 64 MiB behind is disconnected.
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>
#include <iostream>
#include <memory>
#include <set>
#include <string>

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::awaitable;
using asio::ip::tcp;
using WebSocket = beast::websocket::stream<tcp::socket>;

constexpr std::size_t kLargestMessage = 1 << 20, kMostWaiting = 64 << 20;

awaitable<void> shake_hands(WebSocket& socket) {
  socket.next_layer().set_option(tcp::no_delay(true));
  socket.read_message_max(kLargestMessage);
  socket.auto_fragment(false);
  co_await socket.async_accept(asio::use_awaitable);
}

awaitable<void> echo(tcp::socket accepted) {
  WebSocket socket(std::move(accepted));
  co_await shake_hands(socket);
  for (beast::flat_buffer message;; message.clear()) {
    co_await socket.async_read(message, asio::use_awaitable);
    socket.binary(socket.got_binary());
    co_await socket.async_write(message.data(), asio::use_awaitable);
  }
}

struct Message {
  std::string bytes;
  bool is_binary;
};

class Member : public std::enable_shared_from_this<Member> {
 public:
  Member(tcp::socket accepted, std::set<Member*>& members)
      : socket_(std::move(accepted)), members_(members) {}
  ~Member() { members_.erase(this); }

  awaitable<void> run() {
    const auto self = shared_from_this();
    co_await shake_hands(socket_);
    members_.insert(this);
    for (beast::flat_buffer buffer;; buffer.clear()) {
      co_await socket_.async_read(buffer, asio::use_awaitable);
      const auto message =
          std::make_shared<const Message>(beast::buffers_to_string(buffer.data()), socket_.got_binary());
      for (Member* const member : members_) member->send(message);
    }
  }

 private:
  void send(const std::shared_ptr<const Message>& message) {
    waiting_ += message->bytes.size();
    if (waiting_ > kMostWaiting) return socket_.next_layer().close();
    messages_.push_back(message);
    if (messages_.size() == 1) asio::co_spawn(socket_.get_executor(), write(), asio::detached);
  }
  awaitable<void> write() {
    for (const auto self = shared_from_this(); !messages_.empty(); messages_.pop_front()) {
      const Message& next = *messages_.front();
      socket_.binary(next.is_binary);
      co_await socket_.async_write(asio::buffer(next.bytes), asio::use_awaitable);
      waiting_ -= next.bytes.size();
    }
  }

  WebSocket socket_;
  std::set<Member*>& members_;
  std::deque<std::shared_ptr<const Message>> messages_;  // the first one is being written
  std::size_t waiting_ = 0;                              // bytes of them
};

awaitable<void> serve(bool is_room, unsigned short port) {
  const auto loop = co_await asio::this_coro::executor;
  tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), port});
  for (std::set<Member*> members;;) {
    tcp::socket accepted = co_await acceptor.async_accept(asio::use_awaitable);
    if (is_room)
      asio::co_spawn(loop, std::make_shared<Member>(std::move(accepted), members)->run(), asio::detached);
    else
      asio::co_spawn(loop, echo(std::move(accepted)), asio::detached);
  }
}

int main(int count, char** arguments) {
  if (count != 3) return std::cerr << "usage: beast echo|room PORT\n", 2;
  asio::io_context loop(1);
  const auto port = static_cast<unsigned short>(std::stoi(arguments[2]));
  asio::co_spawn(loop, serve(arguments[1] == std::string("room"), port),
                 [](const std::exception_ptr& failed) {
                   if (failed) std::rethrow_exception(failed);
                 });
  loop.run();
}
