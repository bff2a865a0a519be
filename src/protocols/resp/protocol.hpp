// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joust/protocol.hpp"

namespace joust::resp {

// The Zipf distribution of the ranks 1 to n: rank k has a probability in proportion to k^-s. It takes no
// table: rejection from the inverse of an integral (W. Hörmann, G. Derflinger, "Rejection-inversion to
// generate variates from monotone discrete distributions", 1996). Immutable; any thread.
class Zipf {
 public:
  // ranks: at least 1; exponent: greater than 0.
  Zipf(std::uint64_t ranks, double exponent);

  // Returns a rank. The same seed gives the same rank.
  std::uint64_t rank(std::uint64_t seed) const;

 private:
  double weight(double rank) const;
  double integral(double rank) const;     // of weight()
  double rank_at(double integral) const;  // the inverse of integral()

  const double ranks_, exponent_;
  const double first_, last_;  // integrals between which a uniform number is drawn
};

// A value begins with the numbers of its write and its key, and the mark of the load.
inline constexpr std::size_t kLeastValue = 16;
inline constexpr std::size_t kLargestValue = 1 << 20;

std::vector<ProtocolOption> options();

// The way in which requests pick their keys.
enum class KeyPattern : std::uint8_t { uniform, zipf, sequential };

// The requests of a client.
struct Workload {
  std::uint64_t sets = 1, gets = 10;  // of so many requests together
  std::string prefix{};               // of each key
  std::uint64_t keys = 0;
  KeyPattern pattern = KeyPattern::uniform;
  std::optional<Zipf> zipf{};
  std::size_t least_value = 0, largest_value = 0;  // bytes
  bool fills = true;                               // each connection writes its keys once before the load

  std::uint64_t mean_value() const { return (least_value + largest_value) / 2; }
};

// Returns why an option of the client has no effect; empty if it has one. See Protocol::no_effect.
std::string no_effect(const std::string& option, const Parameters& client);

// Parse the options. They throw std::invalid_argument.
Workload workload(const Parameters& parameters, std::uint64_t connections);
std::uint64_t most_memory(const Parameters& parameters);  // bytes of keys and values of a server

// The bytes of a message: a value of 1 MiB with its command.
inline constexpr std::size_t kLargestMessage = (1 << 20) + (64 << 10);

// The service of each side. Throw std::invalid_argument for options that do not fit.
std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);

}  // namespace joust::resp
