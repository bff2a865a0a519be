// SPDX-License-Identifier: MIT
#include <algorithm>

#include "faults/serving.hpp"
#include "hostile/honest.hpp"
#include "protocols/table.hpp"

namespace joust::faults {
namespace {

Outcome run_room(const conformance::Variant& variant) {
  const std::vector<Protocol> all = builtin_protocols();
  const Protocol& protocol = *std::ranges::find(all, "broadcast", &Protocol::name);
  const auto service = protocol.make_server(standard_parameters(protocol, Role::serve));
  Serving serving(variant, *service);
  std::vector<hostile::RoomMember> members;
  const std::vector<std::uint32_t> names{910'001, 910'002, 910'003};
  for (const std::uint32_t name : names)
    serving.client([&] {
      hostile::RoomMember member(serving.endpoint(), name);
      member.join();
      members.push_back(std::move(member));
    });
  for (hostile::RoomMember& member : members)
    serving.client([&] {
      for (std::uint64_t number = 0; number < 3; ++number) member.round_trip(number);
    });
  return serving.stop([&] { members.clear(); });
}

}  // namespace

const Exchange kRoom{"broadcast", run_room, Role::serve};

}  // namespace joust::faults
