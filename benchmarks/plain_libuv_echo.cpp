// SPDX-License-Identifier: MIT
//
// An echo server on libuv, as a good user of the library writes it: uv_listen, uv_read_start with one buffer
// for all, and uv_try_write, as a reply of a few bytes fits into the socket. It is the yardstick of the
// engine libuv. It has no limits, no deadlines and no way to stop, and loses bytes when a peer reads too
// slowly.
//
//     plain_libuv_echo PORT
#include <uv.h>

#include <array>

#include "bare.hpp"

namespace {

void fail(const char* call, int error) {
  std::fprintf(stderr, "%s: %s\n", call, ::uv_strerror(error));
  std::exit(EXIT_FAILURE);
}

void give_room(uv_handle_t* /*peer*/, std::size_t /*wanted*/, uv_buf_t* room) {
  static std::array<char, 1 << 16> bytes;
  *room = ::uv_buf_init(bytes.data(), bytes.size());
}

void echo(uv_stream_t* peer, ssize_t count, const uv_buf_t* bytes) {
  if (count > 0) {
    const uv_buf_t reply = ::uv_buf_init(bytes->base, static_cast<unsigned>(count));
    ::uv_try_write(peer, &reply, 1);
  } else if (count < 0) {
    ::uv_close(reinterpret_cast<uv_handle_t*>(peer),
               [](uv_handle_t* closed) { delete reinterpret_cast<uv_tcp_t*>(closed); });
  }
}

void accept(uv_stream_t* listener, int status) {
  if (status < 0) fail("uv_listen", status);
  auto* const peer = new uv_tcp_t;
  ::uv_tcp_init(listener->loop, peer);
  auto* const stream = reinterpret_cast<uv_stream_t*>(peer);
  if (const int error = ::uv_accept(listener, stream); error < 0) fail("uv_accept", error);
  ::uv_read_start(stream, give_room, echo);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: plain_libuv_echo PORT\n", stderr), 2;
  uv_loop_t* const loop = ::uv_default_loop();
  uv_tcp_t door;
  ::uv_tcp_init(loop, &door);
  // Its options are those of the sockets that it accepts.
  if (const int error = ::uv_tcp_open(&door, bare::listening_socket(argv[1], SOCK_NONBLOCK)); error < 0)
    fail("uv_tcp_open", error);
  if (const int error = ::uv_listen(reinterpret_cast<uv_stream_t*>(&door), 4096, accept); error < 0)
    fail("uv_listen", error);
  return ::uv_run(loop, UV_RUN_DEFAULT);
}
