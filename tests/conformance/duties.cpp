// SPDX-License-Identifier: MIT
#include "conformance/duties.hpp"

#include <fmt/format.h>

#include <array>

namespace joust::conformance {
namespace {

std::optional<Duty> in_question;

constexpr std::array<std::string_view, kDuties> kNames{
    "accept quota",
    "every address",
    "shortage",
    "read quota",
    "back-pressure",
    "order and end",
    "send quota",
    "files",
    "publications",
    "batching",
    "deadlines",
    "wait",
    "idle",
    "wait errors",
    "resets",
    "hang-ups",
    "one's misfortune",
    "dialling",
    "queue at a stop",
    "stop",
    "nothing left",
};

}  // namespace

std::string_view name_of(Duty duty) {
  return kNames.at(static_cast<std::size_t>(duty) - 1);
}

std::string describe(Duty duty) {
  return fmt::format("duty {} ({})", static_cast<int>(duty), name_of(duty));
}

void question(std::optional<Duty> duty) {
  in_question = duty;
}

std::string duty_in_question() {
  return in_question ? describe(*in_question) : std::string();
}

}  // namespace joust::conformance
