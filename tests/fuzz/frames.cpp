// SPDX-License-Identifier: MIT
//
// The decoders alone.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "fuzz/checked.hpp"
#include "fuzz/entries.hpp"
#include "protocols/broadcast/protocol.hpp"
#include "session/allocations.hpp"

namespace joust::fuzz {
namespace {

// Every decoder's memory is bounded by what has come: twice, because it grows by doubling.
class Account {
 public:
  void came(std::size_t bytes) { came_ += bytes; }
  void check() {
    if (largest_allocation_since() > 2 * came_ + 1024) wrong_ = "more memory than the input accounts for";
  }
  const std::string& wrong() const { return wrong_; }

 private:
  std::size_t came_ = 0;
  std::string wrong_;
};

class FileFrames {
 public:
  void take(Bytes piece) {
    account_.came(piece.size());
    while (!piece.empty() && !over_) {
      if (data_left_ > 0) {
        const std::size_t part = std::min<std::size_t>(data_left_, piece.size());
        data_left_ -= part;
        heard_ += as_text(piece.first(part));
        piece = piece.subspan(part);
      } else {
        piece = step(piece);
      }
    }
  }
  std::string heard() const { return heard_ + (!over_ && decoder_.in_message() ? "..." : ""); }
  std::string wrong() const { return account_.wrong(); }

 private:
  Bytes step(Bytes piece) {
    largest_allocation_since();
    const auto step = decoder_.next(piece);
    account_.check();
    if (!step) {
      over_ = true;
      heard_ += error_name(step.error().refusal.error);
      return {};
    }
    if (step->message) {
      heard_ += file::test::describe(*step->message);
      heard_ += '\n';
      if (const auto* data = std::get_if<file::Data>(&step->message->body)) data_left_ = data->size;
    }
    return piece.subspan(step->taken);
  }

  file::Decoder decoder_;
  Account account_;
  std::string heard_;
  std::size_t data_left_ = 0;
  bool over_ = false;
};

class BroadcastFrames {
 public:
  void take(Bytes piece) {
    account_.came(piece.size());
    while (!piece.empty() && !over_) {
      largest_allocation_since();
      const Deframer::Step step = deframer_.next(piece);
      account_.check();
      piece = piece.subspan(step.taken);
      if (step.status == Deframer::Status::message) {
        hear(broadcast::parse(step.message));
      } else if (step.status == Deframer::Status::malformed) {
        over_ = true;
        heard_ += deframer_.complaint();
      }
    }
  }
  std::string heard() const { return heard_ + (!over_ && deframer_.in_message() ? "..." : ""); }
  std::string wrong() const { return account_.wrong(); }

 private:
  void hear(const std::optional<broadcast::Frame>& frame) {
    over_ = !frame;
    if (frame)
      heard_ += fmt::format("{} {} {} {}\n", static_cast<int>(frame->kind), frame->member, frame->number,
                            as_text(frame->payload));
  }

  Deframer deframer_{broadcast::kFraming};
  Account account_;
  std::string heard_;
  bool over_ = false;
};

}  // namespace

std::string file_frames(Bytes input) {
  return compare_checked<FileFrames>(input);
}

std::string broadcast_frames(Bytes input) {
  return compare<BroadcastFrames>(input);
}

}  // namespace joust::fuzz
