// SPDX-License-Identifier: MIT
#include "measure/affinity.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "temporary_folder.hpp"

namespace joust {
namespace {

using Cpus = std::vector<int>;
const Cpus kFour = {0, 1, 2, 5};

TEST(ParseCpus, ReadsNumbersAndRanges) {
  EXPECT_EQ(parse_cpus("0", kFour), Cpus({0}));
  EXPECT_EQ(parse_cpus("0-2", kFour), Cpus({0, 1, 2}));
  EXPECT_EQ(parse_cpus("5,0-1", kFour), Cpus({0, 1, 5}));
  EXPECT_EQ(parse_cpus("1,1,0-1", kFour), Cpus({0, 1}));
}

TEST(ParseCpus, SaysWhatIsWrongAndWhichCpusThereAre) {
  EXPECT_EQ(parse_cpus("7", kFour).error(), "there is no CPU 7 to run on; there are: 0-2,5");
  EXPECT_EQ(parse_cpus("1-1000000000", kFour).error(), "there is no CPU 3 to run on; there are: 0-2,5");
  EXPECT_EQ(parse_cpus("one", kFour).error(),
            "'one' is not a list of CPUs (write it like 0 or 0-1,3; there are: 0-2,5)");
}

TEST(ParseCpus, RefusesWhatIsNotAList) {
  for (const char* text : {"", ",", "0,", "-1", "1-", "2-1", "0-1-2", "0 1", "0x1", "99999999999"})
    EXPECT_FALSE(parse_cpus(text, kFour)) << "'" << text << "'";
}

TEST(FormatCpus, IsWhatParseReads) {
  EXPECT_EQ(format_cpus(kFour), "0-2,5");
  EXPECT_EQ(format_cpus(Cpus{3}), "3");
  EXPECT_EQ(format_cpus({}), "");
  EXPECT_EQ(parse_cpus(format_cpus(kFour), kFour), kFour);
}

TEST(PinTo, KeepsAThreadWhereItWasPut) {
  const Cpus before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  std::jthread([&] {
    pin_to(std::span(&before.back(), 1));
    EXPECT_EQ(allowed_cpus(), Cpus({before.back()}));
    EXPECT_EQ(::sched_getcpu(), before.back());
    std::jthread([&] { EXPECT_EQ(allowed_cpus(), Cpus({before.back()})); });
  }).join();
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(PinTo, ThrowsForACpuThatIsNot) {
  const int absent[] = {1023};
  if (parse_cpus("1023", allowed_cpus())) GTEST_SKIP() << "this machine has a CPU 1023";
  EXPECT_THROW(pin_to(absent), std::system_error);
}

// The /sys of another machine.
class Topology : public testing::Test {
 protected:
  void plant(int cpu, const std::string& name, const std::string& text) {
    const std::filesystem::path path = fmt::format("{}sys/devices/system/cpu/cpu{}/{}", root_, cpu, name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  // "package.core.capacity" of each CPU
  std::string read(std::vector<int> cpus) const {
    std::string text;
    for (const CpuPlace& place : read_topology(cpus, root_))
      text += fmt::format("{}{}.{}.{}", text.empty() ? "" : " ", place.package, place.core, place.capacity);
    return text;
  }

  const test::TemporaryFolder folder_;
  const std::string root_ = folder_.path() + "/";
};

TEST_F(Topology, KnowsSocketsAndSiblings) {
  for (int cpu = 0; cpu < 4; ++cpu) {
    plant(cpu, "topology/physical_package_id", cpu % 2 == 0 ? "0" : "1");
    plant(cpu, "topology/core_id", "7");
    plant(cpu, "topology/thread_siblings_list", cpu % 2 == 0 ? "0,2" : "1,3");
  }
  EXPECT_EQ(read({0, 1, 2, 3}), "0.0.0 1.1.0 0.0.0 1.1.0");
  EXPECT_EQ(read({3}), "1.1.0") << "also where the first of a core is not allowed";
}

TEST_F(Topology, WithoutSiblingsCountsByCore) {
  for (int cpu = 0; cpu < 4; ++cpu) {
    plant(cpu, "topology/physical_package_id", cpu < 2 ? "0" : "1");
    plant(cpu, "topology/core_id", "0");
  }
  EXPECT_EQ(read({0, 1, 2, 3}), "0.0.0 0.0.0 1.2.0 1.2.0");
}

TEST_F(Topology, KnowsKindsOfCores) {
  plant(0, "cpu_capacity", "446");
  plant(1, "cpu_capacity", "1024");
  plant(1, "topology/physical_package_id", "-1");
  EXPECT_EQ(read({0, 1}), "0.0.446 0.1.1024");
}

TEST_F(Topology, WithoutFilesAllCoresAreEqual) {
  EXPECT_EQ(read({0, 5}), "0.0.0 0.5.0");
}

TEST(TopologyOfThisMachine, HasEachCpuOnce) {
  const std::vector<int> cpus = allowed_cpus();
  const std::vector<CpuPlace> places = read_topology(cpus);
  ASSERT_EQ(places.size(), cpus.size());
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    EXPECT_EQ(places[i].cpu, cpus[i]);
    EXPECT_GE(places[i].core, 0);
  }
}

}  // namespace
}  // namespace joust
