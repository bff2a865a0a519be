// SPDX-License-Identifier: MIT
//
// file: downloads, uploads in pieces that overlap with those of others, and frames that do not fit.
#include "files/protocol/messages.hpp"
#include "files/protocol/wire.hpp"
#include "files/store/hostile_names.hpp"
#include "hostile/messages.hpp"

namespace joust::hostile {
namespace {

constexpr std::uint64_t kUploads = 6;  // files that hostile peers bring, all of them the same ones

std::string wire(std::uint32_t request, const file::Body& body) {
  return std::string(as_text(file::encode({request, body})));
}

class FileMessages : public Messages {
 public:
  explicit FileMessages(Chance& chance) : chance_(chance) {}
  std::string valid() override;
  std::string small() override { return query(); }
  std::string invalid() override;

 private:
  std::string query() {
    return wire(++request_, file::Query{.name = name(), .wants_digest = chance_.one_in(2)});
  }
  std::string fragment();
  std::string begin_upload(ByteRange range, std::uint64_t which);
  std::string upload(bool whole);
  std::string data(std::uint64_t size);
  std::string name();

  Chance& chance_;
  std::uint32_t request_ = 0;
};

std::string FileMessages::name() {
  if (chance_.one_in(8)) {
    const std::string hostile = chance_.any_of(test::hostile_names());
    return hostile.size() <= 1024 ? hostile : "x";  // a longer one does not fit its frame
  }
  const std::string upload = "upload-" + std::to_string(chance_.below(kUploads));
  return chance_.pick({std::string("sample"), std::string("sample"), std::string("missing"), upload});
}

std::string FileMessages::fragment() {
  const std::uint64_t offset = chance_.below(kSampleBytes);
  const std::uint64_t size = chance_.one_in(8) ? chance_.pick({~std::uint64_t{0} - offset, kSampleBytes, 0UL})
                                               : chance_.size(kSampleBytes - offset);
  return wire(++request_, file::Fragment{.range = {offset, size}, .name = name()});
}

std::string FileMessages::data(std::uint64_t size) {
  return wire(request_, file::Data{static_cast<std::uint32_t>(size)}) + std::string(size, 'u');
}

std::string FileMessages::begin_upload(ByteRange range, std::uint64_t which) {
  return wire(++request_, file::UploadRange{.file_size = 50'000 * (which + 1),
                                            .range = range,
                                            .id = which,
                                            .digest = {},
                                            .dry_run = which == 0,
                                            .name = "upload-" + std::to_string(which)});
}

// A range of a file that others bring at the same time; or half of the range, and what comes next does not
// belong there.
std::string FileMessages::upload(bool whole) {
  const std::uint64_t which = chance_.below(kUploads);
  const std::uint64_t all = 50'000 * (which + 1);
  const std::uint64_t offset = chance_.one_in(2) ? 0 : chance_.below(all);
  const std::uint64_t size = chance_.one_in(2) ? all - offset : chance_.size(all - offset);
  std::string frames = begin_upload({offset, size}, which);
  const std::uint64_t first = whole ? chance_.size(size) : chance_.below(size);
  frames += data(first);
  if (!whole) return frames;
  if (first < size) frames += data(size - first);
  return frames + wire(request_, file::End{.size = size, .digest = {}});
}

std::string FileMessages::valid() {
  switch (chance_.below(4)) {
    case 0:
      return query();
    case 1:
      return upload(true);
    default:
      return fragment();
  }
}

std::string FileMessages::invalid() {
  const std::uint64_t most = ~std::uint64_t{0};
  switch (chance_.below(8)) {
    case 0:
      return upload(false);
    case 1:  // a head whose size is beyond any limit
      return file::test::with_checks(std::string("\2\1\0\0\0\0\0\1\xff\xff\xff\xff....", 16));
    case 2: {  // a version, a kind and a size by chance
      std::string frame = query();
      frame[chance_.below(12)] = static_cast<char>(chance_.below(256));
      return chance_.one_in(4) ? frame : file::test::with_checks(frame);
    }
    case 3: {  // more data than was announced
      const std::string begin = begin_upload({0, 10}, 1);
      return begin + data(4096);
    }
    case 4:  // a file of any size, and ranges that wrap around
      return wire(++request_, file::UploadRange{.file_size = chance_.pick({most, most / 2, 1UL << 40}),
                                                .range = {chance_.pick({0UL, most - 5}), 5},
                                                .id = chance_.below(3),
                                                .digest = {},
                                                .dry_run = false,
                                                .name = "huge"});
    case 5:  // what only a server says
      return wire(++request_, file::Stored{});
    case 6:
      return wire(++request_, file::Error{});
    default:
      return chance_.bytes(chance_.size(100));
  }
}

}  // namespace

std::unique_ptr<Messages> file_messages(Chance& chance) {
  return std::make_unique<FileMessages>(chance);
}

}  // namespace joust::hostile
