// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "conformance/asking.hpp"
#include "faults/serving.hpp"

namespace joust::faults {
namespace {

constexpr unsigned kDials = 3;

Outcome run_dialling(const conformance::Variant& variant) {
  using conformance::Counterpart;
  const Counterpart server(Counterpart::Manner::in_pieces);
  const MarkedEngine engine(variant);
  hostile::Findings findings;
  conformance::AskingService asking({.requests = 3, .deadline = conformance::kPatience / 2});
  hostile::StrictService service(asking, findings);
  Outcome outcome;
  {
    conformance::Dialling dialling(engine.variant(), service, {server.endpoint()}, kDials, hasty());
    try {
      dialling.run().wait();
    } catch (const std::exception& error) {
      outcome.ended_by = error.what();
    }
    outcome.counted = dialling.tally().failures();
  }
  const unsigned finished = asking.answered / 3;
  outcome.right = finished;
  outcome.had_begun = finished > 0;
  outcome.lost = kDials - finished;
  if (asking.wrong > 0) outcome.faults.emplace_back("a reply has other bytes than it should");
  if (asking.timed_out > 0) outcome.faults.emplace_back("a connection stands still");
  if (service.alive() != 0) outcome.faults.push_back(fmt::format("{} sessions left alive", service.alive()));
  if (outcome.ended_by.empty() && service.opened() + service.refused() != kDials)
    outcome.faults.push_back(
        fmt::format("{} opened and {} refused of {}", service.opened(), service.refused(), kDials));
  for (std::string& fault : findings.all()) outcome.faults.push_back(std::move(fault));
  return outcome;
}

}  // namespace

const Exchange kDialling{"dialling", run_dialling, Role::dial};

}  // namespace joust::faults
