// SPDX-License-Identifier: MIT
#include "protocols/work/messages.hpp"

#include <google/protobuf/arena.h>

#include <protocols/work/work.pb.h>

#include <cassert>

namespace joust::work {
namespace {

// The memory of one message and its parts. An ordinary message would allocate the contents of a oneof anew
// each time; a message on an arena over a local array allocates nothing on the heap.
class LocalMessage {
 public:
  WorkMessage* operator->() { return message_; }

  Bytes serialize(Room& room) const {
    const std::size_t size = message_->ByteSizeLong();
    assert(size <= room.size());
    message_->SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(room.data()));
    return Bytes(room).first(size);
  }

 private:
  static constexpr std::size_t kArena = 512;  // bytes; twice the size in use

  alignas(std::max_align_t) std::array<char, kArena> memory_;
  google::protobuf::Arena arena_{memory_.data(), memory_.size()};
  WorkMessage* const message_ = WorkMessage::default_instance().New(&arena_);
};

}  // namespace

Parsed parse(Bytes message) {
  if (message.size() > kLargestMessage) return "a WorkMessage is longer than the protocol allows";
  LocalMessage parsed;
  if (!parsed->ParseFromArray(message.data(), static_cast<int>(message.size())))
    return "a frame does not contain a WorkMessage";
  if (parsed->has_request()) return JobRequest{parsed->request().job_id(), parsed->request().workload()};
  if (parsed->has_response())
    return JobResponse{parsed->response().job_id(), parsed->response().is_complete()};
  return "a WorkMessage is neither a request nor a response";
}

Bytes serialize(const JobRequest& request, Room& room) {
  LocalMessage message;
  WorkRequest& fields = *message->mutable_request();
  fields.set_job_id(request.job_id);
  fields.set_workload(request.workload);
  return message.serialize(room);
}

Bytes serialize(const JobResponse& response, Room& room) {
  LocalMessage message;
  WorkResponse& fields = *message->mutable_response();
  fields.set_job_id(response.job_id);
  fields.set_is_complete(response.is_complete);
  return message.serialize(room);
}

}  // namespace joust::work
