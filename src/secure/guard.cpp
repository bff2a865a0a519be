// SPDX-License-Identifier: MIT
#include "secure/guard.hpp"

#include <vector>

#include "secure/tls_session.hpp"

namespace joust {
namespace {

// Puts TLS around the sessions of another service, which is borrowed.
class TlsService : public Service {
 public:
  template <typename... Peer>
  explicit TlsService(Service& inner, const Peer&... peer) : inner_(inner), context_(peer...) {}

  std::unique_ptr<Session> open(const ConnectionInfo& info) override {
    return std::make_unique<TlsSession>(context_, inner_, info);
  }
  void not_opened(const Failure& failure, Time now) override { inner_.not_opened(failure, now); }
  std::optional<Redial> redial(Time now) override { return inner_.redial(now); }
  Publications* publications() override { return inner_.publications(); }
  std::vector<ResultGroup> results() const override { return inner_.results(); }

 private:
  Service& inner_;
  const TlsContext context_;
};

}  // namespace

std::unique_ptr<Service> inside_tls(Service& service, GuardSide side, const Token& token) {
  return std::make_unique<TlsService>(service, side, token);
}

std::unique_ptr<Service> inside_tls(Service& service, const ServerTrust& trust) {
  return std::make_unique<TlsService>(service, trust);
}

void check_trust(const ServerTrust& trust) {
  const TlsContext context(trust);
}

}  // namespace joust
