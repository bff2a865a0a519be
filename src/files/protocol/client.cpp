// SPDX-License-Identifier: MIT
//
// The client side of file: a load that carries transfers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <stdexcept>
#include <system_error>

#include "files/protocol/client_options.hpp"
#include "files/protocol/client_session.hpp"
#include "files/protocol/options.hpp"
#include "files/protocol/protocol.hpp"
#include "files/store/upload/local_files.hpp"

namespace joust::file {
namespace {

std::string time_of(std::int64_t since_1970_ns) {
  const std::time_t seconds = since_1970_ns / 1'000'000'000;
  std::tm parts{};
  std::array<char, 32> text{};
  ::gmtime_r(&seconds, &parts);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

class FileClient : public Service {
 public:
  FileClient(const Parameters& parameters, const TransferOptions& options, const LocalFilesRules& rules,
             LoadRun& run)
      : parameters_(parameters), run_(run), local_(rules), transfers_(options, run, local_) {}

  std::unique_ptr<Session> open(const ConnectionInfo& /*info*/) override {
    return std::make_unique<ClientSession>(transfers_, run_.channels().take().number);
  }
  void not_opened(const Failure& failure, Time now) override { run_.not_opened(failure, now); }
  Publications* publications() override { return &run_.publications(); }
  std::vector<ResultGroup> results() const override;

 private:
  std::string way() const;
  ResultGroup carried() const;
  std::vector<ResultGroup> described() const;

  const Parameters parameters_;
  LoadRun& run_;
  LocalFiles local_;
  Transfers transfers_;
};

std::vector<ResultGroup> FileClient::results() const {
  return transfers_.options().operation == Operation::info ? described() : std::vector{carried()};
}

ResultGroup FileClient::carried() const {
  // A load that fails ends before its window closes.
  const double seconds = std::chrono::duration<double>(run_.windows(Clock::now())).count();
  const std::uint64_t bytes = transfers_.bytes;
  const Facts* const facts = transfers_.facts();
  const bool digested = transfers_.digested > 0 && facts != nullptr && facts->digest;
  ResultGroup group{.name = "transfer", .figures = {{"bytes", bytes}, {"seconds", seconds}}};
  // If every connection has failed, the time until then does not give a rate.
  const bool all_failed = run_.connections_failed() >= run_.plan().connections;
  if (bytes > 0 && seconds > 0 && !all_failed)
    group.figures.emplace_back("mb_per_s", static_cast<double>(bytes) / seconds / 1e6);
  group.figures.emplace_back("transfers", transfers_.completed());
  group.figures.emplace_back("digest", digested ? to_hex(*facts->digest) : std::string("not verified"));
  group.figures.emplace_back("way", way());
  return group;
}

// Describes the queried file.
std::vector<ResultGroup> FileClient::described() const {
  const Facts* const facts = transfers_.facts();
  if (facts == nullptr) return {};
  return {
      {"file",
       {{"name", transfers_.options().name},
        {"bytes", facts->size},
        {"modified", time_of(facts->modified_ns)},
        {"digest", facts->digest ? to_hex(*facts->digest) : std::string("not known to the server yet")}}}};
}

std::string FileClient::way() const {
  const PlainBytes& plain = local_.plain_bytes();
  if (transfers_.options().operation == Operation::put)
    return way_used(parameters_.option("file-read"), "read", plain.read > 0);
  const std::string& wish = parameters_.option("file-write");
  // Bytes that arrive together with the head before them are always written, and never spliced.
  const bool otherwise = wish == "splice" ? transfers_.moved_by_kernel.load() : plain.gathered > 0;
  return way_used(wish, "write", wish == "splice" ? !otherwise : plain.written > 0 && !otherwise);
}

}  // namespace

std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run) {
  const TransferOptions options = transfer_options(parameters, run.plan());
  const LocalFilesRules rules = local_files_rules(parameters, options, run.plan());
  try {
    return std::make_unique<FileClient>(parameters, options, rules, run);
  } catch (const std::system_error& error) {
    throw std::invalid_argument(fmt::format("--{}: {}", rules.bytes ? "bytes" : "file", error.what()));
  } catch (const UnusableFile& error) {
    throw std::invalid_argument(
        fmt::format("--{} {}", rules.output.empty() ? "file" : "output", error.what()));
  }
}

}  // namespace joust::file
