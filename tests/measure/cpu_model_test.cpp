// SPDX-License-Identifier: MIT
#include "measure/environment.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace joust {
namespace {

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
