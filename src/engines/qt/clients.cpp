// SPDX-License-Identifier: MIT
#include "engines/qt/clients.hpp"

#include <utility>

#include "connection/tally.hpp"
#include "engines/qt/application.hpp"

namespace joust {

// Qt and GLib abort the program when a thread cannot have its descriptors or its memory.
std::optional<Failure> QtClients::shortage() {
  try {
    demand_descriptors(kDescriptorsOfLoop);
    demand_memory();
    prepare_thread();
    return std::nullopt;
  } catch (const std::exception& error) {
    return failure_of(error);
  }
}

// Connects only where a client could be started: a server would otherwise accept connections in vain.
void QtClients::connect(QtPeer& peer) {
  if (const auto short_of = shortage()) return finish_dial(peer, short_of->error);
  QtLoop::connect(peer);
}

// The clients' own loops have all other news. Publications are not gathered for them, because that costs more
// than it saves: docs/decisions/engines.md.
void QtClients::tell(QtPeer& peer, News news) {
  if (news != News::established) return;
  if (!peer.stream)  // was not accepted by Qt, so the shortage has not been looked for
    if (const auto short_of = shortage()) {
      leave(peer);
      return hosting().not_opened({Stage::connect, short_of->error, short_of->detail}, now());
    }
  adopt(peer);
  peer.stream->moveToThread(nullptr);  // the client's thread takes it
  auto client = std::make_unique<QtClient>(*this, peer, std::move(peer.stream));
  try {
    start(client);
  } catch (...) {
    client->dismiss();
    throw;
  }
}

void QtClients::take_news() {
  QtLoop::take_news();
  while (QtPeer* const place = left_.pop()) {
    found_work();
    leave(*place);
    if (place->error) std::rethrow_exception(place->error);
  }
}

void QtClients::leaves(QtPeer& place) noexcept {
  left_.push(place);
  inbox().waker().wake();
}

void QtClients::end_clients() {
  if (peers().empty()) return;
  stop().request();
  stop().request();
}

QtClient::QtClient(QtClients& clients, QtPeer& place, std::unique_ptr<QTcpSocket> socket)
    : clients_(clients),
      place_(&place),
      hosting_{.service = clients.hosting().service,
               .options = clients.hosting().options,
               .limits = clients.hosting().limits,
               .tally = clients.hosting().tally,
               .target = clients.hosting().target,
               .account = clients.hosting().account},
      socket_(std::move(socket)) {}

QtClient::~QtClient() {
  if (place_ == nullptr) return;
  if (!was_run_) hosting_.not_opened({Stage::timeout, 0, "no thread was free until the stop"}, Clock::now());
  clients_.leaves(*place_);
}

void QtClient::run() {
  was_run_ = true;
  try {
    serve();
  } catch (...) {
    place_->error = std::current_exception();
  }
}

void QtClient::serve() {
  std::optional<LoopGroup> group;
  std::optional<QtLoop> loop;
  try {
    group.emplace(1);
    loop.emplace(hosting_, clients_.stop(), *group, 0);
  } catch (const std::exception& error) {
    return hosting_.not_opened(failure_of(error), Clock::now());
  }
  begun_.set_value();
  loop->take_over(std::move(socket_));
  loop->run();
}

}  // namespace joust
