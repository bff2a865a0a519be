// SPDX-License-Identifier: MIT
//
// work: jobs of small workloads, and what no client may send.
#include <array>
#include <climits>
#include <cstdint>

#include "base/bytes.hpp"
#include "hostile/messages.hpp"
#include "protocols/work/messages.hpp"

namespace joust::hostile {
namespace {

template <typename Message>
std::string body_of(const Message& message) {
  work::Room room;
  return std::string(as_text(work::serialize(message, room)));
}

std::string framed(std::uint32_t length, std::string_view body) {
  std::array<std::byte, 4> head;
  write_big_endian(length, head.data());
  return std::string(as_text(head)) + std::string(body);
}

std::string framed(std::string_view body) {
  return framed(static_cast<std::uint32_t>(body.size()), body);
}

class WorkMessages : public Messages {
 public:
  explicit WorkMessages(Chance& chance) : chance_(chance) {}
  std::string valid() override { return framed(job(static_cast<std::int32_t>(chance_.below(4)))); }
  std::string invalid() override {
    const std::string some = chance_.bytes(chance_.size(300));
    switch (chance_.below(6)) {
      case 0:  // lengths of nothing, and beyond the limit
        return framed(chance_.pick({0U, 257U, 0x7fffffffU, 0xffffffffU}), some);
      case 1:  // what only a server says
        return framed(body_of(work::JobResponse{7, true}));
      case 2:  // workloads that nobody can ask for
        return framed(job(chance_.pick({-1, INT32_MIN, INT32_MAX})));
      case 3:  // cut off
        return framed(job(1).substr(0, 1 + chance_.below(3)));
      case 4:
        return framed(some.substr(0, 256));
      default:
        return some;
    }
  }

 private:
  std::string job(std::int32_t workload) {
    return body_of(work::JobRequest{static_cast<std::uint32_t>(chance_.size(UINT32_MAX)), workload});
  }

  Chance& chance_;
};

}  // namespace

std::unique_ptr<Messages> work_messages(Chance& chance) {
  return std::make_unique<WorkMessages>(chance);
}

}  // namespace joust::hostile
