// SPDX-License-Identifier: MIT
#include "connection/delivery.hpp"

#include <algorithm>

namespace joust {
namespace {

std::size_t store(Bytes chunk, SessionFiles& files, Time now) {
  const FileRange range = files.store();
  const Bytes part = chunk.first(std::min<std::uint64_t>(chunk.size(), range.size));
  const auto written = range.file->write_at(range.offset, part);
  if (written)
    files.on_stored(*written, part.first(*written), now);
  else
    files.on_store_failed(written.error(), now);
  return written.value_or(0);
}

}  // namespace

std::size_t deliver(Bytes chunk, Session& session, Time now) {
  std::size_t taken = 0;
  while (taken < chunk.size()) {
    const Want want = session.want();
    if (want == Want::nothing) break;
    const Bytes rest = chunk.subspan(taken);
    taken += want == Want::file ? store(rest, *session.files(), now) : session.on_bytes(rest, now);
  }
  return taken;
}

}  // namespace joust
