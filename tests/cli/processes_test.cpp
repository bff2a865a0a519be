// SPDX-License-Identifier: MIT
#include "cli/hosts/processes.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/fd.hpp"

namespace joust {
namespace {

// While it exists this process can open no descriptor, so that it can start no process.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(HostedProcesses, GoOnWhereOneCannotBeStarted) {
  const Stop stop;
  HostedProcesses processes("1", stop);
  const hosts::Handlers handlers = processes.handlers();
  const nlohmann::json request{{"do", "start"},
                               {"id", "load0"},
                               {"words", {"engines"}},
                               {"until", "connected"},
                               {"patience_ms", 1000}};
  {
    const NoDescriptors none;
    EXPECT_TRUE(hosts::answer(request, handlers).contains("failed"));
  }
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  const Fd socket(pair[0]);
  ::close(pair[1]);  // readable at once
  processes.collect_until_readable(socket.get());
  const nlohmann::json stopping{{"do", "stop"}, {"id", "load0"}, {"patience_ms", 1000}};
  EXPECT_EQ(hosts::answer(stopping, handlers).at("failed"), "no such process was started");
}

}  // namespace
}  // namespace joust
