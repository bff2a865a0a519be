// SPDX-License-Identifier: MIT
#include "faults/serving.hpp"

#include <fmt/format.h>

#include <array>

#include "hostile/honest.hpp"

namespace joust::faults {

std::span<const Exchange* const> exchanges() {
  static constexpr std::array kAll{&kEcho, &kRoom, &kFiles, &kMapped, &kPlain, &kRinged, &kDialling};
  return kAll;
}

Limits hasty() {
  using std::chrono::milliseconds;
  return {.file_ring_bytes = 40'000,  // of a file in the exchanges this takes several rounds
          .connect = milliseconds(500),
          .linger = milliseconds(200),
          .drain = milliseconds(500),
          .accept_pause = milliseconds(1)};
}

Serving::Serving(const conformance::Variant& variant, Service& service)
    : engine_(variant), service_(service, findings_) {
  server_.emplace(engine_.variant(), service_, conformance::Serving{.limits = hasty()});
}

void Serving::client(const std::function<void()>& part) {
  try {
    part();
    ++outcome_.right;
  } catch (const hostile::WrongReply& wrong) {
    outcome_.faults.emplace_back(wrong.what());
  } catch (const std::system_error& error) {
    ++outcome_.lost;
    if (error.code().value() == EAGAIN) outcome_.faults.emplace_back("a client is neither served nor let go");
  } catch (const std::exception&) {
    ++outcome_.lost;
  }
}

Outcome Serving::stop(const std::function<void()>& before_end) {
  outcome_.had_begun = outcome_.right > 0;
  server_->run().stop().request();
  client(before_end);
  try {
    server_->run().wait();
  } catch (const std::exception& error) {
    outcome_.ended_by = error.what();
  }
  const Tally& tally = server_->tally();
  outcome_.counted = tally.failures();
  const std::uint64_t connections = tally.opened + tally.unopened;
  if (outcome_.counted > connections)
    outcome_.faults.push_back(fmt::format("{} failures of {} connections", outcome_.counted, connections));
  if (service_.alive() != 0)
    outcome_.faults.push_back(fmt::format("{} sessions left alive", service_.alive()));
  for (std::string& fault : findings_.all()) outcome_.faults.push_back(std::move(fault));
  server_.reset();
  return std::move(outcome_);
}

}  // namespace joust::faults
