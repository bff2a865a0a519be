// SPDX-License-Identifier: MIT
#include "engines/asio/dialling.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "connection/tally.hpp"
#include "net/target.hpp"

namespace joust {
namespace {

// Returns EAGAIN if the connect met a full backlog of a unix socket, otherwise 0. The library waits for such
// a socket as for a TCP connect in progress. The kernel forgets such a connect, so it seems to succeed,
// without a peer.
int full_backlog(const AsioSocket& socket, const Endpoint& endpoint) {
  AsioError error;
  if (endpoint.family() == AF_UNIX) static_cast<void>(socket.remote_endpoint(error));
  return error == asio::error::not_connected ? EAGAIN : 0;
}

}  // namespace

AsioDialling::AsioDialling(const Hosting& hosting, AsioHome& home, std::function<AsioExecutor()> context,
                           std::function<void(AsioSocket)> admit, std::function<void()> on_done)
    : hosting_(hosting),
      home_(home),
      context_(std::move(context)),
      admit_(std::move(admit)),
      on_done_(std::move(on_done)),
      dials_(hosting, hosting.dials, hosting.vacancies),
      again_(home_.context()) {}

void AsioDialling::start() {
  while (const auto dial = dials_.start(Clock::now())) begin(*dial);
  const auto due = dials_.due();
  again_.expires_at(due.value_or(Time::max()));  // ends an older wait, which would keep the context at work
  if (!due) return;
  again_.async_wait(home_.bind([this](const AsioError& error) {
    if (error) return;  // cancelled: the timer was set to another time
    start();
    if (is_done()) on_done_();
  }));
}

void AsioDialling::ended() {
  dials_.ended();
  start();
}

void AsioDialling::begin(const Dial& dial) {
  Dial failed = dial;
  Shared attempt;
  try {
    const Target& target = *hosting_.target;
    Fd socket = target.make_socket(dial.endpoint, SOCK_NONBLOCK);
    const AsioExecutor context = context_();
    const int family = target.endpoint(dial.endpoint).family();
    attempt =
        std::make_shared<Attempt>(dial, asio_socket(context, family, std::move(socket)), AsioTimer(context));
    attempt->dial.give_up = std::min(dial.until, Clock::now() + hosting_.limits.connect);
    attempts_.insert(attempt);
    set_timer(attempt, attempt->dial.give_up);
    connect(attempt);
  } catch (const std::system_error& error) {
    give_up(attempt, failed, {Stage::connect, error.code().value(), hosting_.target->name()});
  } catch (const std::exception& error) {  // out of memory
    give_up(attempt, failed, failure_of(error));
  }
}

// `attempt` is null if no socket, or no memory, was available for it.
void AsioDialling::give_up(const Shared& attempt, Dial& dial, const Failure& failure) {
  if (attempt) end(attempt);
  dials_.failed(dial, failure, Clock::now());
}

void AsioDialling::connect(const Shared& attempt) {
  const Endpoint& to = hosting_.target->endpoint(attempt->dial.endpoint);
  attempt->socket.async_connect(
      AsioProtocol::endpoint(to.raw(), to.size), home_.bind([this, attempt, &to](const AsioError& error) {
        if (!attempts_.contains(attempt)) return;  // the dial was given up
        connected(attempt, error ? error.value() : full_backlog(attempt->socket, to));
      }));
}

// A full backlog of a unix socket is retried until the connect limit, as TCP does by itself.
void AsioDialling::connected(const Shared& attempt, int error) {
  if (is_full_backlog(error, hosting_.target->endpoint(attempt->dial.endpoint).family())) {
    attempt->dial.again = true;
    return set_timer(attempt, std::min(Clock::now() + Dials::kTryAgain, attempt->dial.give_up));
  }
  end(attempt);
  if (error != 0) {
    close(attempt->socket);
    dials_.failed(attempt->dial, error, Clock::now());
  } else {
    dials_.succeeded(attempt->dial);
    admit_(std::move(attempt->socket));
  }
  start();
  if (is_done()) on_done_();
}

void AsioDialling::set_timer(const Shared& attempt, Time when) {
  attempt->timer.expires_at(when);
  attempt->timer.async_wait(home_.bind([this, attempt](const AsioError& error) {
    if (!error && attempts_.contains(attempt)) on_timer(attempt);
  }));
}

void AsioDialling::on_timer(const Shared& attempt) {
  if (Clock::now() >= attempt->dial.give_up) return connected(attempt, ETIMEDOUT);
  set_timer(attempt, attempt->dial.give_up);
  if (std::exchange(attempt->dial.again, false)) connect(attempt);
}

void AsioDialling::end(const Shared& attempt) {
  attempt->timer.cancel();
  attempts_.erase(attempt);
}

void AsioDialling::abandon() {
  dials_.abandon();
  again_.cancel();
  for (const Shared& attempt : std::exchange(attempts_, {})) {
    attempt->timer.cancel();
    close(attempt->socket);
  }
}

}  // namespace joust
