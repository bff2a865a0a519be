// SPDX-License-Identifier: MIT
#include "measure/environment.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "temporary_folder.hpp"

namespace joust {
namespace {

// The /proc and /sys of another machine.
class PlantedMachine : public testing::Test {
 protected:
  PlantedMachine() {
    plant("proc/sys/kernel/osrelease", "6.1.0-test\n");
    plant("proc/cpuinfo", "processor\t: 0\nmodel name\t: Test CPU @ 3 GHz\n\nprocessor\t: 1\n");
    plant("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
    plant("sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
    plant("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    plant("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
  }

  void plant(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  Environment read() const { return read_environment(root_); }

  const test::TemporaryFolder folder_;
  const std::string root_ = folder_.path() + "/";
};

TEST_F(PlantedMachine, IsDescribed) {
  const Environment environment = read();
  EXPECT_EQ(environment.value("kernel"), "6.1.0-test");
  EXPECT_EQ(environment.value("cpu_model"), "Test CPU @ 3 GHz");
  EXPECT_EQ(environment.value("tcp_rmem"), "4096 131072 6291456");
  EXPECT_EQ(environment.value("governor"), "performance+powersave");
}

TEST_F(PlantedMachine, WhatCannotBeReadIsUnknown) {
  const Environment environment = read();
  EXPECT_EQ(environment.value("clocksource"), "unknown");
  EXPECT_EQ(environment.value("program_xxh3_128"), "unknown");
  EXPECT_EQ(environment.value("no such item"), "unknown");
  std::filesystem::remove_all(root_);
  for (const char* name : {"kernel", "cpu_model", "mitigations", "governor"})
    EXPECT_EQ(read().value(name), "unknown") << name;
}

TEST_F(PlantedMachine, AnyDifferenceThatMattersChangesTheFingerprint) {
  std::set<std::string> seen = {read().fingerprint()};
  const std::pair<const char*, const char*> changes[] = {
      {"proc/sys/kernel/osrelease", "6.1.0-other"},
      {"proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"},
      {"proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd40\n"},
      {"proc/device-tree/model", "A board"},
      {"sys/devices/system/cpu/vulnerabilities/meltdown", "Vulnerable"},
      {"sys/devices/system/cpu/vulnerabilities/retbleed", "Not affected"},
      {"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave"},
      {"proc/sys/net/core/somaxconn", "4096"},
  };
  for (const auto& [path, text] : changes) {
    plant(path, text);
    EXPECT_TRUE(seen.insert(read().fingerprint()).second) << path;
  }
}

TEST_F(PlantedMachine, WhatDoesNotMatterLeavesTheFingerprint) {
  const std::string before = read().fingerprint();
  plant("proc/sys/net/ipv4/tcp_allowed_congestion_control", "cubic reno");
  EXPECT_EQ(read().value("tcp_allowed_congestion_control"), "cubic reno");
  const std::string program(read().value("program_xxh3_128"));
  plant("proc/self/exe", "another program");  // on one machine two programs can be compared
  EXPECT_NE(read().value("program_xxh3_128"), program);
  EXPECT_EQ(read().fingerprint(), before);
}

TEST(Environment, OfThisMachineIsTheSameTwice) {
  const Environment first = read_environment(), second = read_environment();
  ASSERT_EQ(first.items.size(), second.items.size());
  for (std::size_t i = 0; i < first.items.size(); ++i)
    EXPECT_EQ(first.items[i].value, second.items[i].value) << first.items[i].name;
  EXPECT_EQ(first.fingerprint(), second.fingerprint());
  EXPECT_TRUE(std::regex_match(first.fingerprint(), std::regex("[0-9a-f]{16}")));
}

TEST(Environment, KnowsThisKernelAndThisProgram) {
  const Environment environment = read_environment();
  for (const char* name : {"kernel", "online_cpus", "clocksource", "tcp_congestion_control", "tcp_rmem",
                           "somaxconn", "limit_nofile", "compiler", "build_type", "sanitizers", "fmt"})
    EXPECT_NE(environment.value(name), "unknown") << name;
  const std::string hash(environment.value("program_xxh3_128"));
  EXPECT_TRUE(std::regex_match(hash, std::regex("[0-9a-f]{32}"))) << hash;
}

// A library that was not found at build time is "none".
TEST(Environment, KnowsTheVersionsOfLibraries) {
  const Environment environment = read_environment();
  for (const char* name : {"liburing", "boost", "qt", "zeromq", "protobuf", "openssl", "libkqueue"}) {
    const std::string version(environment.value(name));
    EXPECT_TRUE(std::regex_match(version, std::regex("none|[0-9]+(\\.[0-9]+)+[a-z]?"))) << name << version;
  }
#if defined(__GLIBC__)
  EXPECT_TRUE(environment.value("c_library").starts_with("glibc 2.")) << environment.value("c_library");
#endif
}

TEST(Environment, NamesAreUniqueAndValuesOfOneLine) {
  std::set<std::string> names;
  for (const Environment::Item& item : read_environment().items) {
    EXPECT_TRUE(names.insert(item.name).second) << item.name;
    EXPECT_TRUE(std::regex_match(item.name, std::regex("[a-z0-9_]+"))) << item.name;
    EXPECT_FALSE(item.value.empty()) << item.name;
    EXPECT_EQ(item.value.find('\n'), std::string::npos) << item.name;
  }
}

// A CPU of /proc/cpuinfo on ARM.
std::string arm_cpu(int number, const char* implementer, const char* variant, const char* part,
                    int revision) {
  return fmt::format(
      "processor\t: {}\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics\n"
      "CPU implementer\t: {}\nCPU architecture: 8\nCPU variant\t: {}\nCPU part\t: {}\nCPU revision\t: {}\n\n",
      number, implementer, variant, part, revision);
}

TEST(CpuModel, IsTheKernelsOwnNameWhereItHasOne) {
  const std::string cpuinfo =
      "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
      "model name\t: Intel(R) Xeon(R) CPU @ 2.50GHz\n\nprocessor\t: 1\n";
  EXPECT_EQ(cpu_model(cpuinfo, ""), "Intel(R) Xeon(R) CPU @ 2.50GHz");
}

TEST(CpuModel, OfServersWithArmCoresTellsThemApart) {
  const std::string graviton2 = arm_cpu(0, "0x41", "0x3", "0xd0c", 1) + arm_cpu(1, "0x41", "0x3", "0xd0c", 1);
  const std::string graviton3 = arm_cpu(0, "0x41", "0x1", "0xd40", 1) + arm_cpu(1, "0x41", "0x1", "0xd40", 1);
  EXPECT_EQ(cpu_model(graviton2, ""), "Arm Neoverse-N1 r3p1");
  EXPECT_EQ(cpu_model(graviton3, ""), "Arm Neoverse-V1 r1p1");
}

TEST(CpuModel, OfABoardHasItsName) {
  using std::string_literals::operator""s;
  const std::string cpuinfo = arm_cpu(0, "0x41", "0x0", "0xd08", 3) +
                              "Hardware\t: BCM2835\nRevision\t: c03114\nSerial\t\t: 10000000abcdef01\n"
                              "Model\t\t: Raspberry Pi 4 Model B Rev 1.4\n";
  const std::string name = "Arm Cortex-A72 r0p3; Raspberry Pi 4 Model B Rev 1.4";
  EXPECT_EQ(cpu_model(cpuinfo, ""), name) << "its serial number is no matter";
  EXPECT_EQ(cpu_model(cpuinfo, "Raspberry Pi 4 Model B Rev 1.4\0"s), name);
  EXPECT_EQ(cpu_model(cpuinfo, "Raspberry Pi 5 Model B Rev 1.0\0"s),
            "Arm Cortex-A72 r0p3; Raspberry Pi 5 Model B Rev 1.0");
}

TEST(CpuModel, NamesEachKindOfCoreOnce) {
  std::string cpuinfo;
  for (int cpu = 0; cpu < 4; ++cpu) cpuinfo += arm_cpu(cpu, "0x41", "0x2", "0xd05", 0);
  for (int cpu = 4; cpu < 8; ++cpu) cpuinfo += arm_cpu(cpu, "0x41", "0x4", "0xd0b", 1);
  EXPECT_EQ(cpu_model(cpuinfo, ""), "Arm Cortex-A55 r2p0 + Arm Cortex-A76 r4p1");
}

TEST(CpuModel, OfAnUnknownCoreIsItsNumbers) {
  EXPECT_EQ(cpu_model(arm_cpu(0, "0x51", "0xd", "0x804", 14), ""), "Qualcomm part 0x804 r13p14");
  EXPECT_EQ(cpu_model(arm_cpu(0, "0x99", "0x0", "0xd08", 0), ""), "implementer 0x99 part 0xd08 r0p0");
}

// There all cores have the same "model name".
TEST(CpuModel, Of32BitArmIsNotTheArchitecture) {
  const std::string cpuinfo =
      "processor\t: 0\nmodel name\t: ARMv7 Processor rev 4 (v7l)\n"
      "CPU implementer\t: 0x41\nCPU architecture: 7\nCPU variant\t: 0x0\n"
      "CPU part\t: 0xd03\nCPU revision\t: 4\n\n";
  EXPECT_EQ(cpu_model(cpuinfo, ""), "Arm Cortex-A53 r0p4");
}

TEST(CpuModel, OfOtherMachines) {
  EXPECT_EQ(cpu_model("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", ""),
            "POWER9, altivec supported");
  EXPECT_EQ(cpu_model("processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nuarch\t\t: sifive,u74-mc\n",
                      "StarFive VisionFive 2 v1.3B"),
            "sifive,u74-mc; StarFive VisionFive 2 v1.3B");
  EXPECT_EQ(cpu_model("", ""), "");
}

}  // namespace
}  // namespace joust
