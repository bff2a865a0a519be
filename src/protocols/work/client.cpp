// SPDX-License-Identifier: MIT
//
// The client side of work.
#include "load/request_service.hpp"
#include "protocols/work/messages.hpp"
#include "protocols/work/protocol.hpp"
#include "session/message_wise.hpp"

namespace joust::work {
namespace {

class JobExchange : public Exchange {
 public:
  JobExchange(const Parameters& parameters, std::int32_t workload)
      : first_job_(first_job_of(parameters.connection)), workload_(workload) {}

  void write_request(std::uint64_t number, Writer& request) override {
    Room room;
    request.send(serialize(JobRequest{job(number), workload_}, room));
  }

  bool verify(std::uint64_t number, Bytes reply) override {
    const Parsed parsed = parse(reply);
    if (const auto* wrong = std::get_if<std::string_view>(&parsed)) return refuse(*wrong);
    const auto* const response = std::get_if<JobResponse>(&parsed);
    if (response == nullptr) return refuse("a WorkRequest was sent to a client");
    if (response->job_id != job(number)) return refuse("a response is of another job");
    return response->is_complete || refuse("a job is not complete");
  }
  std::string_view complaint() const override { return complaint_; }

 private:
  // Returns a number far from the jobs of other connections, so that a response to another connection is
  // detected: multiples of 2^32 divided by the golden ratio have the greatest distances from one another (D.
  // Knuth, The Art of Computer Programming 3, 6.4).
  static std::uint32_t first_job_of(std::uint64_t connection) {
    return static_cast<std::uint32_t>(connection) * 2'654'435'769U;
  }
  std::uint32_t job(std::uint64_t number) const { return first_job_ + static_cast<std::uint32_t>(number); }

  bool refuse(std::string_view complaint) {
    complaint_ = complaint;
    return false;
  }

  const std::uint32_t first_job_;
  const std::int32_t workload_;
  std::string_view complaint_ = "what came is not of this protocol";
};

}  // namespace

std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run) {
  auto client = std::make_unique<RequestService>(
      kFraming, parameters,
      [units = workload(parameters)](const Parameters& own) {
        return std::make_unique<JobExchange>(own, units);
      },
      run);
  if (in_two_writes(parameters)) return std::make_unique<LengthFirstService>(std::move(client));
  return client;
}

}  // namespace joust::work
