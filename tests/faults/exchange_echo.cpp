// SPDX-License-Identifier: MIT
#include "conformance/peer.hpp"
#include "conformance/services.hpp"
#include "faults/serving.hpp"
#include "hostile/honest.hpp"

namespace joust::faults {
namespace {

using conformance::Peer;

void echo(Peer& peer, std::size_t bytes) {
  const std::string request = conformance::pattern(bytes);
  peer.send(request);
  if (peer.receive(bytes) != request) throw hostile::WrongReply("an echo has other bytes than were sent");
}

void expect_end(Peer& peer) {
  if (!peer.receive_to_end().empty()) throw hostile::WrongReply("bytes behind the last reply");
}

Outcome run_echo(const conformance::Variant& variant) {
  conformance::EchoService service;
  Serving serving(variant, service);
  std::optional<Peer> stays;
  serving.client([&] {
    stays.emplace(serving.endpoint());
    echo(*stays, 100);
  });
  serving.client([&] {
    Peer peer(serving.endpoint());
    echo(peer, 10);
    echo(peer, 200'000);
    peer.finish();
    expect_end(peer);
  });
  serving.client([&] { Peer(serving.endpoint()).reset(); });
  serving.client([&] {
    Peer peer(serving.endpoint());
    echo(peer, 1000);
    peer.finish();
    expect_end(peer);
  });
  return serving.stop([&] {
    if (stays) expect_end(*stays);
    stays.reset();
  });
}

}  // namespace

const Exchange kEcho{"echo", run_echo, Role::serve};

}  // namespace joust::faults
