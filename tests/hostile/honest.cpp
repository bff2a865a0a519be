// SPDX-License-Identifier: MIT
#include "hostile/honest.hpp"

#include <fmt/format.h>

namespace joust::hostile {
namespace {

constexpr std::uint64_t kFirstStream = std::uint64_t{1} << 40;  // behind those of the hostile peers
constexpr std::uint64_t kMostConversations = 1000;

}  // namespace

Conversation conversation_of(const Circumstances& circumstances) {
  if (circumstances.setting.protocol == "broadcast") return broadcast_conversation(circumstances);
  if (circumstances.setting.protocol == "file") return file_conversation(circumstances);
  if (circumstances.setting.protocol == "http") return http_conversation(circumstances);
  if (circumstances.setting.protocol == "resp") return resp_conversation(circumstances);
  if (circumstances.setting.protocol == "websocket") return websocket_conversation(circumstances);
  if (circumstances.setting.protocol == "work") return work_conversation(circumstances);
  return echo_conversation(circumstances);
}

void HonestClient::run() {
  for (std::uint64_t i = 0; i < kMostConversations && !circumstances_.stopping; ++i) {
    const std::uint64_t number = number_ * kMostConversations + i;
    Chance chance(circumstances_.setting.seed, kFirstStream + number);
    try {
      converse_(number, chance);
      ++answered_;
    } catch (const WrongReply& wrong) {
      wrong_.add(fmt::format("honest client {}, conversation {}: {}", number_, i, wrong.what()));
    } catch (const std::exception& lost) {
      if (!circumstances_.stopping)
        cut_off_.add(
            fmt::format("honest client {}, conversation {}, was cut off: {}", number_, i, lost.what()));
    }
  }
}

}  // namespace joust::hostile
