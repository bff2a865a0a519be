// SPDX-License-Identifier: MIT
#include "engines/zeromq/library.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>

namespace joust {
namespace {

void set_option(void* context, int name, int value) {
  checked(zmq_ctx_set(context, name, value), "zmq_ctx_set({}, {})", name, value);
}

}  // namespace

// ZMQ_MAX_SOCKETS: the library refuses a socket beyond this number (EMFILE), however many the process may
// have. Each place is a pointer.
ZmqContext::ZmqContext(int io_threads, std::size_t sockets) : context_(zmq_ctx_new()) {
  if (context_ == nullptr) throw std::system_error(errno, std::generic_category(), "zmq_ctx_new()");
  try {
    const auto limit = static_cast<std::size_t>(zmq_ctx_get(context_, ZMQ_SOCKET_LIMIT));
    set_option(context_, ZMQ_MAX_SOCKETS, static_cast<int>(std::min(sockets, limit)));
    set_option(context_, ZMQ_IO_THREADS, io_threads);
  } catch (...) {
    zmq_ctx_term(context_);
    throw;
  }
}

ZmqContext::~ZmqContext() {
  retry_interrupted([this] { return zmq_ctx_term(context_); });
}

ZmqSocket::ZmqSocket(const ZmqContext& context, int type) : socket_(zmq_socket(context.get(), type)) {
  if (socket_ == nullptr) throw std::system_error(errno, std::generic_category(), "zmq_socket()");
}

ZmqSocket::~ZmqSocket() {
  if (socket_ != nullptr) zmq_close(socket_);
}

void ZmqSocket::set(int option, int value) {
  checked(zmq_setsockopt(socket_, option, &value, sizeof value), "zmq_setsockopt({}, {})", option, value);
}

void ZmqSocket::set_milliseconds(int option, Duration value) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(value).count();
  set(option, static_cast<int>(std::clamp<decltype(ms)>(ms, 0, std::numeric_limits<int>::max())));
}

void ZmqSocket::bind(const std::string& address) {
  checked(zmq_bind(socket_, address.c_str()), "zmq_bind({})", address);
}

void ZmqSocket::connect(const std::string& address) {
  checked(zmq_connect(socket_, address.c_str()), "zmq_connect({})", address);
}

int ZmqSocket::option(int name) const {
  int value = 0;
  std::size_t size = sizeof value;
  const auto call = [&] { return zmq_getsockopt(socket_, name, &value, &size); };
  checked(retry_interrupted(call), "zmq_getsockopt({})", name);
  return value;
}

}  // namespace joust
