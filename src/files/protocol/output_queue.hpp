// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "files/protocol/wire.hpp"
#include "joust/session.hpp"

namespace joust::file {

// A session's output: messages, and ranges of files between them. Keeps a file until its last byte is
// released.
class OutputQueue {
 public:
  // Adds a message. Returns its check, which the answer may repeat. For Data the result has no meaning.
  std::uint64_t message(const Message& message);
  // Adds encoded messages with the data between them. `of_files`: the bytes of files among them.
  void bytes(std::uint32_t request, std::vector<std::byte> bytes, std::uint64_t of_files = 0);
  // Starts a new answer: the next messages belong to another request.
  void next_answer() { ++answer_; }
  // Adds a data frame: its head, and the range of the file, at most kLargestData bytes.
  void data(std::uint32_t request, const std::shared_ptr<File>& file, ByteRange range);

  // Appends data frames of the range while there is room; returns the rest of the range.
  ByteRange data_ahead(std::uint32_t request, const std::shared_ptr<File>& file, ByteRange range);
  // True if frames may be added. They are made as they are sent, so that a large file takes no more memory
  // than a small one.
  bool has_room() const { return waiting_ < 2 * kLargestData; }

  // Reports that the first file in the output has failed. Its frame was announced, so the missing bytes are
  // sent as zeros. Then this error ends the answer and replaces its remaining frames. Returns true if that is
  // the last answer here, so that nothing may be added to it.
  bool source_failed(const FileRefusal& refusal);

  std::uint64_t waiting() const { return waiting_; }                             // bytes not consumed yet
  std::uint64_t cost() const { return waiting_ + pieces_.size() * kPieceCost; }  // with overhead
  std::size_t files() const { return files_; }                                   // unreleased ranges of files
  bool sends_file() const;  // a range of a file is not consumed yet

  // The same as Session::output, consumed and released. consumed() returns the bytes of files among those
  // consumed.
  std::size_t segments(std::span<Segment> into) const;
  std::uint64_t consumed(std::size_t n);
  void released(std::size_t n);

 private:
  struct Piece {
    std::vector<std::byte> bytes{};
    std::shared_ptr<File> file{};  // used if there are no bytes; neither: zeros
    std::uint64_t offset = 0;      // in the file
    std::uint64_t size = 0;
    std::uint64_t of_files = 0;  // bytes of files in `bytes`
    std::uint64_t consumed = 0;
    std::uint64_t released = 0;
    std::uint32_t request = 0;
    std::uint64_t answer = 0;

    Segment rest() const;
  };
  static constexpr std::uint64_t kPieceCost = sizeof(Piece) + 32;  // with the overhead of the allocator
  void add(Piece piece);
  static Piece piece_of(const Message& message);

  std::deque<Piece> pieces_;
  std::size_t first_ = 0;  // index in pieces_ of the first one that is not fully consumed
  std::uint64_t waiting_ = 0;
  std::size_t files_ = 0;
  std::uint64_t answer_ = 0;
};

}  // namespace joust::file
