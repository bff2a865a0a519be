// SPDX-License-Identifier: MIT
//
// An echo server on Boost.Asio with coroutines, as a user of the library writes it: one coroutine accepts,
// and one for each client reads and then writes. It is the yardstick of the engine asio-coroutines. It has no
// limits, no deadlines and no way to stop, and does not read from a peer that does not read.
//
//     plain_asio_coroutines_echo PORT
#include <boost/asio.hpp>

#include <array>
#include <exception>
#include <utility>

#include "bare.hpp"

namespace {

using boost::asio::awaitable;
using boost::asio::use_awaitable;
using boost::asio::ip::tcp;

awaitable<void> echo(tcp::socket peer) {
  std::array<char, 1024> bytes;
  try {
    for (;;) {
      const std::size_t n = co_await peer.async_read_some(boost::asio::buffer(bytes), use_awaitable);
      co_await boost::asio::async_write(peer, boost::asio::buffer(bytes, n), use_awaitable);
    }
  } catch (const std::exception&) {  // the peer has ended its stream, or has gone
  }
}

awaitable<void> accept(tcp::acceptor& acceptor) {
  for (;;) {
    tcp::socket peer = co_await acceptor.async_accept(use_awaitable);
    boost::asio::co_spawn(acceptor.get_executor(), echo(std::move(peer)), boost::asio::detached);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: plain_asio_coroutines_echo PORT\n", stderr), 2;
  boost::asio::io_context context(1);
  tcp::acceptor acceptor(context, tcp::v4(), bare::listening_socket(argv[1], SOCK_NONBLOCK));
  boost::asio::co_spawn(context, accept(acceptor), boost::asio::detached);
  context.run();
}
