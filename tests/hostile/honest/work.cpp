// SPDX-License-Identifier: MIT
//
// work: some jobs at a time, each response compared, and nothing behind the last.
#include "hostile/honest.hpp"
#include "protocols/work/messages.hpp"

namespace joust::hostile {

Conversation work_conversation(const Circumstances& circumstances) {
  return [&circumstances](std::uint64_t number, Chance& chance) {
    conformance::Peer peer(circumstances.server);
    for (std::uint64_t batches = chance.size(8); batches > 0; --batches) {
      std::string requests, responses;
      for (std::uint64_t jobs = chance.size(8); jobs > 0; --jobs) {
        const auto job = static_cast<std::uint32_t>(number * 64 + batches * 8 + jobs);
        work::Room room;
        const auto workload = static_cast<std::int32_t>(chance.below(3));
        requests +=
            conformance::framed(work::kFraming, as_text(serialize(work::JobRequest{job, workload}, room)));
        responses +=
            conformance::framed(work::kFraming, as_text(serialize(work::JobResponse{job, true}, room)));
      }
      peer.send(requests);
      if (peer.receive(responses.size()) != responses) throw WrongReply("a response is not the right one");
    }
    peer.finish();
    if (!peer.receive_to_end().empty()) throw WrongReply("bytes behind the last response");
  };
}

}  // namespace joust::hostile
