// SPDX-License-Identifier: MIT
#include "engines/zeromq/library.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>

#include "base/fd.hpp"
#include "connection/datagram.hpp"
#include "connection/tally.hpp"
#include "net/listener.hpp"
#include "net/target.hpp"

namespace joust {
namespace {

void set_option(void* context, int name, int value) {
  checked(zmq_ctx_set(context, name, value), "zmq_ctx_set({}, {})", name, value);
}

// The messages in the pipe of a peer, in each direction. The number is the library's own default. It is
// stated because it limits how many whole messages a peer that does not read takes up. A full pipe is
// reported as EAGAIN. The session then keeps the rest of its output, or the kernel's buffer its input.
constexpr int kHighWaterMark = 1000;

// How soon the library dials again. A connection that broke has another identity then, so the server does not
// know it, and reports that. The session ends with that failure.
constexpr Duration kReconnectPause = std::chrono::milliseconds(100);
constexpr Duration kLongestReconnectPause = std::chrono::seconds(1);

// Sets the options of all sockets. ZMQ_IMMEDIATE is left as it is, because a join that is sent before the
// connection is established is to wait for it.
void set_common(ZmqSocket& socket, const Hosting& hosting) {
  socket.set(ZMQ_SNDHWM, kHighWaterMark);
  socket.set(ZMQ_RCVHWM, kHighWaterMark);
  socket.set_milliseconds(ZMQ_LINGER, std::min(hosting.limits.linger, hosting.limits.drain));
  // Cuts off a peer that has not completed the handshake within the connect limit.
  socket.set_milliseconds(ZMQ_HANDSHAKE_IVL, hosting.limits.connect);
  // Cuts off a peer that announces a larger part than can exist, before memory is allocated for it. The
  // number of parts has no limit, and a message that has not ended does not count for the high water marks.
  const std::int64_t most = kLargestDatagram;
  checked(zmq_setsockopt(socket.get(), ZMQ_MAXMSGSIZE, &most, sizeof most),
          "zmq_setsockopt(ZMQ_MAXMSGSIZE, {})", most);
  // A session that ends leaves the library's connection as it is, and a ROUTER cannot cut a peer off. So the
  // library asks a silent peer whether it is alive, and the kernel gives up a peer that reads nothing for as
  // long (TCP_USER_TIMEOUT; not one that goes on sending). The peer's descriptor and what its pipe holds are
  // free then.
  socket.set_milliseconds(ZMQ_HEARTBEAT_IVL, hosting.limits.idle);
  socket.set_milliseconds(ZMQ_TCP_MAXRT, hosting.limits.idle);
}

// Lets the library cut off peers without ZMTP 3, a browser for example, at their first byte. It would take
// the identity of such a peer, and an identity that comes while the ROUTER is being closed ends the program
// (an assertion). The ROUTER cannot stop accepting before that: zmq_unbind() ends all connections of a
// listener. With a domain the library refuses peers that it could not authenticate. It asks for no permission
// for the others, because the context has no handler of authentication (inproc://zeromq.zap.01).
void refuse_old_peers(ZmqSocket& router) {
  static constexpr std::string_view kDomain = "joust";
  checked(zmq_setsockopt(router.get(), ZMQ_ZAP_DOMAIN, kDomain.data(), kDomain.size()),
          "zmq_setsockopt(ZMQ_ZAP_DOMAIN)");
}

// Returns the address in the library's form: "tcp://127.0.0.1:9000", "ipc:///run/x.sock".
std::string address_of(const Endpoint& endpoint) {
  const std::string text = to_text(endpoint);
  return endpoint.family() == AF_UNIX ? "ipc://" + text.substr(5) : "tcp://" + text;
}

// Returns the options of a socket without the sizes of buffers that are the kernel's choice. They have grown
// by now, and elsewhere are read from a socket that has just been opened.
SocketFacts facts_of(int socket, const SocketOptions& options) {
  SocketFacts facts = read_back(socket);
  if (options.send_buffer == 0) facts.send_buffer.reset();
  if (options.receive_buffer == 0) facts.receive_buffer.reset();
  return facts;
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

ZmqContext context_for(const Hosting& hosting) {
  int io_threads = 1;
  if (const auto chosen = hosting.options.knobs.find("io-threads"); chosen != hosting.options.knobs.end())
    std::from_chars(chosen->second.data(), chosen->second.data() + chosen->second.size(), io_threads);
  // Two sockets for each dial: a connection that is dialled again may begin before its predecessor's socket
  // has lingered. The others are for the loops.
  const std::size_t sockets = 2 * hosting.dials + 4 * hosting.options.threads + 16;
  return ZmqContext(io_threads, sockets);
}

// Listening sockets have the options of all engines, and accepted sockets inherit these. The library closes
// the descriptor that it is given, and makes no use of the address. The first loop gets duplicates of the
// listeners. The others get sockets on the same ports, among which the kernel distributes the connections. A
// path of the file system has one listening socket, from which all loops accept.
ZmqSocket router_for(const Hosting& hosting, const ZmqContext& context, std::size_t loop) {
  ZmqSocket router(context, ZMQ_ROUTER);
  set_common(router, hosting);
  router.set(ZMQ_ROUTER_MANDATORY,
             1);  // a message for a peer that has gone, or has no room, is not lost unseen
  refuse_old_peers(router);
  // The latest peer gets an identity that several state. Otherwise the ROUTER would read nothing from the
  // later ones, and what they have sent would stay in its memory when they have gone.
  router.set(ZMQ_ROUTER_HANDOVER, 1);
  for (const Listener* const listener : hosting.listeners) {
    const bool shares = loop == 0 || listener->endpoint().family() == AF_UNIX;
    Fd given = shares ? Fd(checked(::fcntl(listener->fd(), F_DUPFD_CLOEXEC, 0), "fcntl(F_DUPFD_CLOEXEC)"))
                      : listener->sibling();
    router.set(ZMQ_IPV6, listener->endpoint().family() == AF_INET6 ? 1 : 0);
    router.set(ZMQ_USE_FD, given.get());
    router.bind(address_of(listener->endpoint()));
    given.release();
  }
  return router;
}

ZmqSocket dealer_for(const Hosting& hosting, const ZmqContext& context, const Endpoint& to) {
  ZmqSocket dealer(context, ZMQ_DEALER);
  set_common(dealer, hosting);
  const SocketOptions& options = hosting.target->options();
  if (options.send_buffer > 0) dealer.set(ZMQ_SNDBUF, options.send_buffer);
  if (options.receive_buffer > 0) dealer.set(ZMQ_RCVBUF, options.receive_buffer);
  dealer.set(ZMQ_IPV6, to.family() == AF_INET6 ? 1 : 0);
  dealer.set_milliseconds(ZMQ_CONNECT_TIMEOUT, hosting.limits.connect);
  dealer.set_milliseconds(ZMQ_RECONNECT_IVL, kReconnectPause);
  dealer.set_milliseconds(ZMQ_RECONNECT_IVL_MAX, kLongestReconnectPause);
  dealer.connect(address_of(to));
  return dealer;
}

// The library has no option for the congestion control, and none against TCP_NODELAY. But it reports from
// which socket a message has come. That call is deprecated, and the only one.
void equip_source(const Hosting& hosting, ZmqPart& message) {
  const int socket = zmq_msg_get(message.get(), ZMQ_SRCFD);
  if (socket < 0) return;
  if (hosting.target == nullptr) {
    const Listener& listener = *hosting.listeners.front();
    if (!listener.has_accepted()) listener.note_facts(facts_of(socket, listener.options()));
    return;
  }
  try {
    const SocketOptions& options = hosting.target->options();
    apply(options, socket);
    hosting.target->note_facts(facts_of(socket, options));
  } catch (const std::system_error& error) {
    hosting.tally.note(std::string("options of sockets are those of ZeroMQ: ") + error.what());
  }
}

void note_options_left_out(const Hosting& hosting) {
  if (hosting.serves() && !hosting.listeners.front()->options().nodelay)
    hosting.tally.note("TCP_NODELAY is on, not off: ZeroMQ sets it on every socket that it accepts");
}

}  // namespace joust
