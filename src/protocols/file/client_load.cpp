// SPDX-License-Identifier: MIT
//
// The client side of file: a load that carries transfers.
#include <fmt/chrono.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include "protocols/file/client.hpp"
#include "protocols/file/options.hpp"
#include "store/local_ends.hpp"
#include "store/name.hpp"

namespace joust::file {
namespace {

Operation operation_of(const Parameters& parameters) {
  const std::string& op = parameters.option("op");
  return op == "put" ? Operation::put : op == "info" ? Operation::info : Operation::get;
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string name_of(const Parameters& parameters, Operation operation) {
  if (const std::string& given = parameters.option("name"); !given.empty()) return given;
  if (operation != Operation::put) return kSampleName;
  const std::string& file = parameters.option("file");
  return file.empty() ? "upload" : base_name(file);
}

Orders orders_of(const Parameters& parameters, const LoadPlan& plan) {
  const Operation op = operation_of(parameters);
  Orders orders{.operation = op,
                .segments = op == Operation::info ? 1 : count_of(parameters, "segments"),
                .requests_per_connection = count_of(parameters, "requests-per-connection")};
  orders.name = name_of(parameters, orders.operation);
  if (const auto objection = objection_to(orders.name); !objection.empty())
    throw std::invalid_argument("--name: " + std::string(objection));
  if (orders.segments < 1 || orders.segments > 1'000'000) throw std::invalid_argument("--segments: 1 to 1M");
  const std::uint64_t at_most = orders.requests_per_connection;
  const std::uint64_t carriers = std::min<std::uint64_t>(orders.segments, plan.connections);
  if (orders.operation != Operation::info && at_most > 0 && plan.messages &&
      *plan.messages * orders.segments > at_most * carriers)
    throw std::invalid_argument(
        "--requests-per-connection: too few connections for so many ranges; say more with -c, or fewer with "
        "-m or --segments");
  if (orders.operation != Operation::info && at_most > 0 && !plan.messages)
    throw std::invalid_argument(
        "--requests-per-connection: connections would end before the time does; say how many transfers with "
        "-m");
  return orders;
}

EndsRules ends_of(const Parameters& parameters, const Orders& orders, const LoadPlan& plan) {
  EndsRules rules{.output = parameters.option("output"),
                  .source = parameters.option("file"),
                  .read = file_read(parameters),
                  .write = file_write(parameters)};
  const std::string& sink = parameters.option("sink");
  if (sink == "file" || (sink.empty() && !rules.output.empty())) rules.sink = SinkKind::file;
  if (sink == "memory") rules.sink = SinkKind::memory;
  const bool puts = orders.operation == Operation::put;
  if ((rules.sink == SinkKind::file) != !rules.output.empty())
    throw std::invalid_argument("--sink file and --output FILE belong together");
  if (orders.operation != Operation::get && (!sink.empty() || !rules.output.empty()))
    throw std::invalid_argument("--sink and --output are for --op get");
  if (rules.sink == SinkKind::file && plan.connections > orders.segments)
    throw std::invalid_argument("--output is for one get: say -c 1, or as many --segments as connections");
  if (rules.sink == SinkKind::file && !plan.messages)
    throw std::invalid_argument(
        "--output is for whole files: say -m 1, not a time that may end in the middle");
  if (!parameters.option("bytes").empty()) rules.bytes = bytes_of(parameters, "bytes");
  if (puts != (!rules.source.empty() || rules.bytes))
    throw std::invalid_argument("--op put goes with --file LOCALFILE or --bytes N");
  if (!rules.source.empty() && rules.bytes) throw std::invalid_argument("--file or --bytes: one of them");
  return rules;
}

std::string time_of(std::int64_t since_1970_ns) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(since_1970_ns / 1'000'000'000));
}

class ErrandService : public Service {
 public:
  ErrandService(const Parameters& parameters, const Orders& orders, const EndsRules& rules, LoadRun& run)
      : parameters_(parameters), run_(run), ends_(rules), errand_(orders, run, ends_) {}

  std::unique_ptr<Session> open(const Opening& /*opening*/) override {
    return std::make_unique<ClientSession>(errand_, run_.next_connection());
  }
  void not_opened(const Failure& failure, Time now) override { run_.not_opened(failure, now); }
  Publications* publications() override { return &run_.publications(); }
  std::vector<ResultGroup> results() const override;

 private:
  std::string way() const;
  std::vector<ResultGroup> described() const;

  const Parameters parameters_;
  LoadRun& run_;
  LocalEnds ends_;
  Errand errand_;
};

std::vector<ResultGroup> ErrandService::results() const {
  if (errand_.orders().operation == Operation::info) return described();
  const auto opens = run_.opens(), closes = run_.closes();
  // A load that fails ends before its window would.
  const double seconds =
      opens && closes ? std::chrono::duration<double>(std::min(*closes, Clock::now()) - *opens).count() : 0;
  const auto bytes = static_cast<double>(errand_.bytes.load());
  const Facts* const facts = errand_.facts();
  const bool digested = errand_.digested > 0 && facts != nullptr && facts->digest;
  return {{"transfer",
           {{"bytes", errand_.bytes.load()},
            {"seconds", seconds},
            {"mb_per_s", seconds > 0 ? bytes / seconds / 1e6 : 0.0},
            {"transfers", errand_.transfers()},
            {"digest", digested ? to_hex(*facts->digest) : std::string("not verified")},
            {"way", way()}}}};
}

// What the queries were about.
std::vector<ResultGroup> ErrandService::described() const {
  const Facts* const facts = errand_.facts();
  if (facts == nullptr) return {};
  return {
      {"file",
       {{"name", errand_.orders().name},
        {"bytes", facts->size},
        {"modified", time_of(facts->modified_ns)},
        {"digest", facts->digest ? to_hex(*facts->digest) : std::string("not known to the server yet")}}}};
}

std::string ErrandService::way() const {
  const PlainBytes& plain = ends_.plain_bytes();
  if (errand_.orders().operation == Operation::put)
    return way_used(parameters_.option("file-read"), "read", plain.read > 0);
  const std::string& wish = parameters_.option("file-write");
  // What arrives in one piece with the head before it is always written.
  return way_used(wish, "write", wish == "splice" ? !errand_.moved_by_kernel : plain.written > 0);
}

}  // namespace

std::unique_ptr<Service> make_errand(const Parameters& parameters, LoadRun& run) {
  const Orders orders = orders_of(parameters, run.plan());
  const EndsRules rules = ends_of(parameters, orders, run.plan());
  try {
    return std::make_unique<ErrandService>(parameters, orders, rules, run);
  } catch (const std::system_error& error) {
    throw std::invalid_argument(fmt::format("--{}: {}", rules.bytes ? "bytes" : "file", error.what()));
  } catch (const UnfitFile& error) {
    throw std::invalid_argument(
        fmt::format("--{} {}", rules.output.empty() ? "file" : "output", error.what()));
  }
}

}  // namespace joust::file
