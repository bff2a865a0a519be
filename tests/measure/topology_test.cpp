// SPDX-License-Identifier: MIT
#include "measure/affinity.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "temporary_folder.hpp"

namespace joust {
namespace {

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
