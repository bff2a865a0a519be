// SPDX-License-Identifier: MIT
#include "net/listener.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "base/limits.hpp"
#include "base/system/sockets.hpp"

namespace joust {

#ifdef __linux__

// Reads tcp_info. For a listener the kernel stores the length of the queue in the field that a connection has
// for its unacknowledged segments, and the granted backlog in the field for sacked segments.
AcceptQueue accept_queue(int listener) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(listener, IPPROTO_TCP, TCP_INFO, &info, &size) < 0) return {};
  return {info.tcpi_unacked, static_cast<int>(info.tcpi_sacked)};
}

#elif defined(SO_LISTENQLEN)  // FreeBSD

AcceptQueue accept_queue(int listener) {
  AcceptQueue queue;
  int number = 0;
  socklen_t size = sizeof number;
  if (::getsockopt(listener, SOL_SOCKET, SO_LISTENQLEN, &number, &size) == 0)
    queue.length = static_cast<std::size_t>(number);
  if (::getsockopt(listener, SOL_SOCKET, SO_LISTENQLIMIT, &number, &size) == 0) queue.backlog = number;
  return queue;
}

#else

AcceptQueue accept_queue(int /*listener*/) {
  return {};
}

#endif

namespace {

constexpr Duration kBindFor = std::chrono::milliseconds(200);  // while the address is in use
constexpr auto kBindAgain = std::chrono::milliseconds(2);

std::string path_of(const Endpoint& endpoint) {
  return to_text(endpoint).substr(5);
}

// Returns the device and the inode of this name, without following a link. Empty on failure.
std::optional<std::pair<dev_t, ino_t>> entry_of(const std::string& path) {
  struct stat entry {};
  if (::lstat(path.c_str(), &entry) < 0) return std::nullopt;
  return std::pair(entry.st_dev, entry.st_ino);
}

// Refuses a path that is no socket: bind() would report an address in use.
void refuse_file(const Endpoint& endpoint) {
  struct stat file {};
  if (::stat(path_of(endpoint).c_str(), &file) != 0 || S_ISSOCK(file.st_mode)) return;
  const std::string bind = "bind(" + to_text(endpoint) + ")";
  if (S_ISDIR(file.st_mode)) throw std::system_error(EISDIR, std::generic_category(), bind);
  throw std::system_error(EEXIST, std::generic_category(), bind + ": a file that is no socket has this name");
}

// Removes the file of a unix socket whose server has ended. A file on which a server listens is kept, and the
// server is not waited for (EAGAIN: its queue is full). Files that are no sockets refuse a connect in the
// same way.
void remove_stale(const Endpoint& endpoint) {
  const Fd probe = stream_socket(AF_UNIX, SOCK_NONBLOCK);
  checked(probe.get(), "socket(AF_UNIX)");
  const std::string path = path_of(endpoint);
  struct stat file {};
  if (::connect(probe.get(), endpoint.raw(), endpoint.size) < 0 && errno == ECONNREFUSED &&
      ::lstat(path.c_str(), &file) == 0 && S_ISSOCK(file.st_mode))
    ::unlink(path.c_str());
}

}  // namespace

AcceptOutcome accept_outcome(int error) {
  if (is_shortage(error)) return AcceptOutcome::busy;
  switch (error) {
    case EAGAIN:
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case EPERM:  // refused by a firewall
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
#ifdef ENONET
    case ENONET:
#endif
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return AcceptOutcome::none;
    default:
      throw std::system_error(error, std::generic_category(), "accept4()");
  }
}

// Frees an address that a stream socket has used before, or of which a file has remained.
void Listener::claim(const Endpoint& endpoint) const {
  if (endpoint.family() == AF_UNIX) {
    refuse_file(endpoint);
    return remove_stale(endpoint);
  }
  const int on = 1;
  checked(::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "setsockopt(SO_REUSEADDR)");
}

Listener::Listener(const Endpoint& endpoint, const SocketOptions& options, Transport transport,
                   bool only_ipv6)
    : options_(options),
      transport_(transport),
      socket_(socket_of(transport, endpoint.family(), SOCK_NONBLOCK)),
      longest_queue_(static_cast<std::size_t>(options.backlog) + 1) {  // full if longer than the backlog
  checked(socket_.get(), "socket({})", endpoint.family());
  if (transport == Transport::stream) claim(endpoint);
  apply(options, socket_.get(), transport);
  const int on = 1;
  if (only_ipv6)
    checked(::setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on),
            "setsockopt(IPV6_V6ONLY)");
  bind_to(endpoint);
  if (transport == Transport::stream)
    checked(::listen(socket_.get(), options.backlog), "listen({})", to_text(endpoint));
  bound_ = endpoint.family() == AF_UNIX ? endpoint : bound_address(socket_.get());
  if (endpoint.family() == AF_UNIX) file_ = entry_of(path_of(endpoint));
  own_facts_ = read_back(socket_.get());
}

// Binds, and retries for a moment: the port of a killed server may stay in use while the kernel ends the
// operations that its io_uring has begun.
void Listener::bind_to(const Endpoint& endpoint) const {
  const bool may_pass = endpoint.family() != AF_UNIX;
  const Time until = Clock::now() + kBindFor;
  while (::bind(socket_.get(), endpoint.raw(), endpoint.size) < 0) {
    if (errno != EADDRINUSE || !may_pass || Clock::now() >= until) checked(-1, "bind({})", to_text(endpoint));
    std::this_thread::sleep_for(kBindAgain);
  }
}

// Allows the sharing of the address only now: two servers that are started with one address are a mistake.
// Connections that have come before do not share it, and are no obstacle to a socket with SO_REUSEADDR.
Fd Listener::sibling() const {
  const int on = 1;
  Fd socket = socket_of(transport_, bound_.family(), SOCK_NONBLOCK);
  checked(socket.get(), "socket({})", bound_.family());
  for (const int sharing : {socket_.get(), socket.get()})
    checked(::setsockopt(sharing, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on), "setsockopt(SO_REUSEPORT)");
  if (transport_ == Transport::stream)
    checked(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "setsockopt(SO_REUSEADDR)");
  socket = bind_beside(std::move(socket), bound_);
  if (transport_ == Transport::stream)
    checked(::listen(socket.get(), options_.backlog), "listen({})", to_text(bound_));
  return socket;
}

Fd Listener::beside(const Endpoint& where) const {
  Fd socket = datagram_socket(where.family(), SOCK_NONBLOCK);
  checked(socket.get(), "socket({})", where.family());
  return bind_beside(std::move(socket), where);
}

Fd Listener::bind_beside(Fd socket, const Endpoint& where) const {
  apply(options_, socket.get(), transport_);
  checked(::bind(socket.get(), where.raw(), where.size), "bind({})", to_text(where));
  return socket;
}

Listener::~Listener() {
  close();
}

void Listener::close() {
  if (socket_.is_open()) unlink_path();
  socket_.close();
}

// Removes the path if it still leads to this socket. Another program may have bound a socket to it meanwhile,
// or have given it to a file. The inode of a bound socket is not used again before the socket is closed.
void Listener::unlink_path() {
  const auto file = std::exchange(file_, std::nullopt);
  if (file && entry_of(path_of(bound_)) == file) ::unlink(path_of(bound_).c_str());
}

// Refuses further peers, and returns how many are in the queue. The queue of a unix socket does not report
// its length; for it, returns the greatest possible number. Without its path, a unix socket gets no further
// peers. TCP drops the SYN of a peer when the queue is full, and the peer's kernel repeats it a second later:
// by then the port is closed, or belongs to the next server. (With a backlog of 0 one peer may still enter an
// empty queue. close() resets it.)
std::size_t Listener::close_queue() {
  if (bound_.family() == AF_UNIX) {
    unlink_path();
    return longest_queue_;
  }
  ::listen(socket_.get(), 0);
  return accept_queue(socket_.get()).length.value_or(longest_queue_);
}

bool Listener::is_queue_empty() const {
  pollfd queue{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&queue, 1, 0) == 0;
}

std::string Listener::address() const {
  return to_text(bound_);
}

Accepted Listener::accept(int flags) const {
  // An aborted connection leaves the queue when it is accepted, so the loop ends. The bound is for errors
  // that persist.
  for (std::size_t i = 0; i < longest_queue_; ++i) {
    const int number = accept_socket(socket_.get(), flags | SOCK_CLOEXEC);
    if (number >= 0) {
      Fd accepted(number);
      note_facts(number);
      return {AcceptOutcome::accepted, std::move(accepted)};
    }
    const int error = errno;
    const AcceptOutcome outcome = accept_outcome(error);
    if (outcome != AcceptOutcome::none || error == EAGAIN) return {outcome, Fd{}};
  }
  return {AcceptOutcome::none, Fd{}};
}

void Listener::note_facts(int connection) const {
  if (!has_accepted()) note_facts(read_back(connection));
}

void Listener::note_facts(const SocketFacts& facts) const {
  const std::lock_guard lock(mutex_);
  if (facts_) return;
  facts_ = facts;
  facts_->backlog = own_facts_.backlog;
}

bool Listener::has_accepted() const {
  const std::lock_guard lock(mutex_);
  return facts_.has_value();
}

SocketFacts Listener::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_.value_or(own_facts_);
}

namespace {

// How often another port is tried, if the port that the kernel chose for the first address is in use on
// another address.
constexpr int kPortTries = 16;

bool is_lacking(int error) {
  return error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
}

}  // namespace

Listeners::Listeners(std::span<const Endpoint> endpoints, const SocketOptions& options, Transport transport)
    : transport_(transport) {
  const bool any_port = endpoints.size() > 1 && port_of(endpoints.front()) == 0;
  for (int tries = any_port ? kPortTries : 1; all_.empty(); --tries) {
    try {
      open_all(endpoints, options);
    } catch (const std::system_error& error) {
      if (error.code().value() != EADDRINUSE || tries == 1) throw;
    }
  }
}

void Listeners::open_all(std::span<const Endpoint> endpoints, const SocketOptions& options) {
  owned_.clear();
  left_out_.clear();
  for (const Endpoint& endpoint : endpoints) open(endpoint, options);
  if (owned_.empty()) std::rethrow_exception(refusal_);
  for (const auto& listener : owned_) all_.push_back(listener.get());
}

void Listeners::open(const Endpoint& endpoint, const SocketOptions& options) {
  const Endpoint where = owned_.empty() ? endpoint : with_port(endpoint, port_of(owned_.front()->endpoint()));
  try {
    const bool beside_ipv4 = !owned_.empty() && where.family() == AF_INET6;
    owned_.push_back(std::make_unique<Listener>(where, options, transport_, beside_ipv4));
  } catch (const std::system_error& error) {
    if (!is_lacking(error.code().value())) throw;
    if (!refusal_) refusal_ = std::current_exception();
    left_out_.push_back(fmt::format("{}: {}", to_text(where), error.code().message()));
  }
}

std::vector<std::string> Listeners::addresses() const {
  std::vector<std::string> addresses;
  for (const Listener* listener : all_) addresses.push_back(listener->address());
  return addresses;
}

SocketFacts Listeners::facts() const {
  const auto found = std::ranges::find_if(all_, &Listener::has_accepted);
  return (found == all_.end() ? all_.front() : *found)->facts();
}

}  // namespace joust
