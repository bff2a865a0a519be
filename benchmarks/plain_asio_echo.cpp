// SPDX-License-Identifier: MIT
//
// An echo server on Boost.Asio, as a user of the library writes it: an io_context that several threads run,
// and a session that reads, writes and reads again. It is the yardstick of scenarios/plain-programs.toml for
// the engine asio-pool. It has no limits, no deadlines and no way to stop, and does not read from a peer that
// does not read.
//
//     plain_asio_echo PORT THREADS
#include <array>
#include <boost/asio.hpp>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bare.hpp"

namespace {

using boost::asio::ip::tcp;
using Error = boost::system::error_code;

class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(tcp::socket socket) : socket_(std::move(socket)) {}

  void read() {
    socket_.async_read_some(boost::asio::buffer(bytes_),
                            [this, self = shared_from_this()](const Error& error, std::size_t n) {
                              if (!error) write(n);
                            });
  }

 private:
  void write(std::size_t n) {
    boost::asio::async_write(socket_, boost::asio::buffer(bytes_, n),
                             [this, self = shared_from_this()](const Error& error, std::size_t /*n*/) {
                               if (!error) read();
                             });
  }

  tcp::socket socket_;
  std::array<char, 1024> bytes_;
};

void accept(tcp::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](const Error& error, tcp::socket peer) {
    if (!error) std::make_shared<Session>(std::move(peer))->read();
    accept(acceptor);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: plain_asio_echo PORT THREADS\n", stderr), 2;
  const auto threads = static_cast<int>(bare::number(argv[2], 1'000));
  boost::asio::io_context context(threads);
  tcp::acceptor acceptor(context, tcp::v4(), bare::listening_socket(argv[1], SOCK_NONBLOCK));
  accept(acceptor);
  std::vector<std::jthread> others;
  while (static_cast<int>(others.size()) + 1 < threads) others.emplace_back([&] { context.run(); });
  context.run();
}
