// SPDX-License-Identifier: MIT
//
// An echo server on libzmq, as a user of the library writes it: one ROUTER, and a loop that receives a
// message and sends it back. It is the yardstick of scenarios/plain-programs.toml for the engine zeromq. It
// has no limits and no way to stop, and the library drops replies that a slow peer does not take.
//
//     plain_zeromq_echo PORT
//
// joust's clients open and close sessions by datagrams (src/connection/datagram.hpp), which are answered here
// without any state. The client counts and verifies all other messages.
#include <zmq.h>

#include <cstring>
#include <string>

#include "bare.hpp"
#include "connection/datagram.hpp"

namespace {

// Turns the first part of a join, the second one, and a goodbye into their answers.
void answer_signal(zmq_msg_t& message) {
  using enum joust::DatagramKind;
  auto* const bytes = static_cast<std::byte*>(zmq_msg_data(&message));
  if (zmq_msg_size(&message) > 2 && bytes[2] == static_cast<std::byte>(data)) return;
  const auto datagram = joust::parse_datagram({bytes, zmq_msg_size(&message)});
  if (!datagram) return;
  joust::DatagramHead head{.kind = left, .token = datagram->head.token, .number = datagram->head.number};
  if (datagram->head.kind == join) {
    const bool confirmed = head.number != 0;
    head.kind = confirmed ? joined : challenge;
    head.number = confirmed ? 60'000 : 1;  // the idle limit in milliseconds, or a cookie
  }
  joust::DatagramOut answer;
  joust::write_signal(head, answer);
  zmq_msg_close(&message);
  zmq_msg_init_size(&message, answer.size());
  std::memcpy(zmq_msg_data(&message), answer.head.data(), answer.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: plain_zeromq_echo PORT\n", stderr), 2;
  void* const context = zmq_ctx_new();
  void* const router = zmq_socket(context, ZMQ_ROUTER);
  if (zmq_bind(router, ("tcp://127.0.0.1:" + std::string(argv[1])).c_str()) != 0) bare::fail("zmq_bind");
  zmq_msg_t identity, message;
  zmq_msg_init(&identity);
  zmq_msg_init(&message);
  for (;;) {
    if (zmq_msg_recv(&identity, router, 0) < 0 || zmq_msg_recv(&message, router, 0) < 0)
      bare::fail("zmq_msg_recv");
    answer_signal(message);
    zmq_msg_send(&identity, router, ZMQ_SNDMORE);
    zmq_msg_send(&message, router, 0);
  }
}
