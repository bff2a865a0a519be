// SPDX-License-Identifier: MIT
#include "net/listener.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>

#include "base/check.hpp"

namespace joust {
namespace {

std::string path_of(const Endpoint& endpoint) {
  return to_text(endpoint).substr(5);
}

// A unix socket's file outlives the server that made it. One nobody listens on is removed; a live one is not,
// nor is it waited for (EAGAIN: its queue is full). Files that are no sockets refuse a connect just the same.
void remove_stale(const Endpoint& endpoint) {
  const Fd probe(
      checked(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket(AF_UNIX)"));
  const std::string path = path_of(endpoint);
  struct stat file {};
  if (::connect(probe.get(), endpoint.raw(), endpoint.size) < 0 && errno == ECONNREFUSED &&
      ::lstat(path.c_str(), &file) == 0 && S_ISSOCK(file.st_mode))
    ::unlink(path.c_str());
}

}  // namespace

AcceptOutcome accept_outcome(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return AcceptOutcome::busy;
    case EAGAIN:
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case EPERM:  // a firewall said no
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return AcceptOutcome::none;
    default:
      throw std::system_error(error, std::generic_category(), "accept4()");
  }
}

Listener::Listener(const Endpoint& endpoint, const SocketOptions& options)
    : socket_(checked(::socket(endpoint.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
                      "socket({})", endpoint.family())) {
  if (endpoint.family() == AF_UNIX) {
    remove_stale(endpoint);
  } else {
    const int on = 1;
    checked(::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on),
            "setsockopt(SO_REUSEADDR)");
  }
  apply(options, socket_.get());
  checked(::bind(socket_.get(), endpoint.raw(), endpoint.size), "bind({})", to_text(endpoint));
  checked(::listen(socket_.get(), options.backlog), "listen({})", to_text(endpoint));
  bound_ = endpoint;
  if (endpoint.family() != AF_UNIX) {
    bound_.size = sizeof bound_.storage;
    checked(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound_.storage), &bound_.size),
            "getsockname()");
  }
  own_facts_ = read_back(socket_.get());
}

Listener::~Listener() {
  close();
}

void Listener::close() {
  if (socket_.is_open() && bound_.size > 0 && bound_.family() == AF_UNIX) ::unlink(path_of(bound_).c_str());
  socket_.close();
}

std::string Listener::address() const {
  return to_text(bound_);
}

Accepted Listener::accept(int flags) const {
  const int number = ::accept4(socket_.get(), nullptr, nullptr, flags | SOCK_CLOEXEC);
  if (number < 0) return {accept_outcome(errno), Fd{}};
  note_facts(number);
  return {AcceptOutcome::accepted, Fd(number)};
}

void Listener::note_facts(int connection) const {
  const std::lock_guard lock(mutex_);
  if (facts_) return;
  facts_ = read_back(connection);
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

}  // namespace joust
