// SPDX-License-Identifier: MIT
//
// The seam is complete: every system call of the library is wrapped or listed with the reason why its failure
// need not be tried; and every wrapper is reached, so that no inline function or macro goes past it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "faults/one_fault.hpp"

namespace joust::faults {
namespace {

namespace fs = std::filesystem;

constexpr const char* kElsewhere = "on systems other than Linux only";

constexpr const char* kDatagram = "its failure is a lost datagram, which the suite MessageFaults shows";

constexpr const char* kPublishing = "its failure refuses an upload, as that of renameat2 does";

// Calls that are not wrapped.
const std::map<std::string, std::string> kLeftOut{
    {"accept", kElsewhere},
    {"access", "before a run"},
    {"bind", "before a run"},
    {"clock_gettime", "fails for wrong arguments only"},
    {"close", "its result is not looked at: Linux has let go of the number"},
    {"closedir", "its result is not looked at"},
    {"dlerror", "no system call"},
    {"dlopen", "its failure ends the run before it begins"},
    {"dlsym", "no system call"},
    {"fchmod", kPublishing},
    {"fdopendir", "its failure refuses a listing, as that of openat does"},
    {"flock", "its refusal is another process's file, which tests/files/store shows"},
    {"fsync", kPublishing},
    {"futimens", kPublishing},
    {"fstatvfs", kElsewhere},
    {"fstatfs", "its failure is no limit, which tests/files/store shows"},
    {"gai_strerror", "no system call"},
    {"getifaddrs", "before a run"},
    {"getaddrinfo", "before a run"},
    {"gmtime_r", "no system call"},
    {"sigpending", "fails for wrong arguments only"},
    {"fork", "its failure is a shortage, which tests/engines/forking_test.cpp makes"},
    {"getnameinfo", "before a run"},
    {"geteuid", "does not fail"},
    {"umask", "does not fail"},
    {"getpid", "does not fail"},
    {"getppid", "does not fail"},
    {"getrlimit", "fails for wrong arguments only"},
    {"getentropy", "does not fail for 16 bytes"},
    {"getsockname", "before a run"},
    {"if_nametoindex", "before a run"},
    {"inet_aton", "no system call"},
    {"if_nameindex", "before a run"},
    {"inet_pton", "no system call"},
    {"ioctl", "FIONREAD of an open socket does not fail"},
    {"isatty", "of what is no terminal it says so"},
    {"kill", "of a child that has not been waited for, which cannot fail"},
    {"listen", "before a run"},
    {"lstat", "before a run"},
    {"mkdirat", "its failure refuses an upload, as that of openat does"},
    {"mkostemp", kElsewhere},
    {"munmap", "fails for wrong arguments only"},
    {"pipe", kElsewhere},
    {"prctl", "a refused timer slack only shows as lateness, which the load tells"},
    {"procctl", kElsewhere},
    {"readdir", "its failure refuses a listing, as that of openat does"},
    {"recvfrom", kDatagram},
    {"recvmmsg", kDatagram},
    {"sendmmsg", kDatagram},
    {"sendto", kDatagram},
    {"pthread_attr_destroy", "no system call"},
    {"pthread_attr_init", "no system call"},
    {"pthread_attr_setstacksize", "no system call"},
    {"pthread_join", "fails for wrong arguments only"},
    {"pthread_kill", "fails for wrong arguments only"},
    {"pthread_sigmask", "fails for wrong arguments only"},
    {"renameat", kElsewhere},
    {"renameatx_np", kElsewhere},
    {"sched_yield", "does not fail"},
    {"sigaction", "fails for wrong arguments only"},
    {"sigqueue", "kill() takes its place where it is refused"},
    {"sigtimedwait", "its result is not looked at"},
    {"sigwait", kElsewhere},
    {"stat", "before a run"},
    {"sysconf", "no system call"},
    {"syncfs", "where a directory cannot be opened, which tests/files/store shows"},
    {"statx", "without a birth time folders are known by their numbers alone"},
    {"sync_file_range", "its result is not looked at: fsync() follows"},
    {"sysctlbyname", kElsewhere},
    {"uname", "fails for wrong arguments only"},
    {"unlink", "its result is not looked at"},
    {"unlinkat", "its result is not looked at"},
    {"waitid", "of a child that has not been waited for, which cannot fail"},
    {"waitpid", "of a child that has not been waited for, which cannot fail"},
    {"write", "of an eventfd only, which cannot fail but by overflow"},
};

// Wrapped calls that no exchange reaches.
const std::map<std::string, std::string> kNotReached{
    {"aligned_alloc", "where there is no Boost.Asio"},
    {"epoll_wait", "in the place of epoll_pwait2 where the kernel has none"},
    {"linkat", "of files that come whole, which tests/files/store shows, or where there is no renameat2"},
    {"kevent", "where there is a kqueue"},
    {"kqueue", "where there is a kqueue"},
    {"memfd_create", "before a run"},
    {"open", "before a run"},
    {"pselect", "no engine uses it"},
    {"poll", "in the destructor of ThreadHost, if threads still run"},
    {"renameat2", "where a file is replaced, which tests/files/store shows"},
    {"unlinkat", "of an upload that is given up"},
};

std::set<std::string> calls_in_the_sources() {
  std::set<std::string> found;
  const std::regex call("(^|[^A-Za-z0-9_>:])::([a-z][a-z_0-9]*)\\(");
  for (const char* folder :
       {"engines", "net", "files/store", "files/protocol", "base", "connection", "session", "protocols"})
    for (const auto& entry :
         fs::recursive_directory_iterator(std::string(JOUST_SOURCE_DIR) + "/src/" + folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      for (auto at = std::sregex_iterator(text.begin(), text.end(), call); at != std::sregex_iterator(); ++at)
        found.insert((*at)[2]);
    }
  return found;
}

// Calls of libuv, libevent and libev are no system calls: those that they make are in these libraries, where
// no wrapper reaches them.
bool is_of_a_loop_library(const std::string& name) {
  return name.starts_with("uv_") || name.starts_with("event_") || name.starts_with("ev_");
}

TEST(FaultSeam, HasEveryCallOfTheLibrary) {
  std::set<std::string> wrapped;
  for (const Call* call : all_calls()) wrapped.insert(std::string(call->name()));
  const std::set<std::string> made = calls_in_the_sources();
  ASSERT_GT(made.size(), 20U);
  for (const std::string& name : made)
    EXPECT_TRUE(wrapped.contains(name) || kLeftOut.contains(name) || is_of_a_loop_library(name))
        << name << " is neither wrapped (tests/faults/wrap_*.cpp) nor left out for a reason";
  for (const auto& [name, reason] : kLeftOut) EXPECT_TRUE(made.contains(name)) << name << " is made no more";
}

TEST(FaultSeam, IsReachedByEveryCall) {
  std::set<std::string_view> reached;
  for (const Exchange* exchange : exchanges())
    for (const conformance::Variant& variant : variants_for(*exchange)) {
      reset_counts();
      exchange->run(variant);
      for (const Call* call : all_calls())
        if (call->made() > 0) reached.insert(call->name());
    }
  const bool has_rings = reached.contains("io_uring_queue_init_params");
  for (const Call* call : all_calls()) {
    const bool excused =
        kNotReached.contains(std::string(call->name())) || (call->name().contains("uring") && !has_rings);
    EXPECT_TRUE(reached.contains(call->name()) || excused) << call->name() << " is made by no engine";
  }
}

}  // namespace
}  // namespace joust::faults
