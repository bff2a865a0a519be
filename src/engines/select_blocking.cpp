// SPDX-License-Identifier: MIT
//
// select-blocking: one thread asks select which sockets are ready, and then calls blocking recv and send.
//
//     copy the sets --> select --> for each ready socket:  recv --> session --> send
//          ^                                                                     |
//          +----- deadlines <----- publications <----- the unfinished <----------+
//
// Good at: being simple. No socket is non-blocking, and one call sends a reply, however large it is. Bad at:
// peers that are slow. It shows what the other engines use MSG_DONTWAIT and O_NONBLOCK for:
//
//   - A send blocks while its peer does not read, and with it the thread and all other peers. So a send has a
//     time limit, SO_SNDTIMEO. When that has passed, the rest is sent after select has reported room. The
//     connection does not fail, because a slow peer is no broken one; the idle limit and the least rates of
//     sessions end those that are too slow. But each peer that does not read may delay all others by the time
//     limit whenever it has read a little.
//   - recv may block on a socket that select has reported, for example if a checksum turns out to be wrong.
//     So recv has a time limit too, SO_RCVTIMEO. It is called once for each report, and again only for bytes
//     that are known to be there.
//   - connect blocks until the peer answers, or for the time limit of sends. Then it goes on in the kernel,
//     and select reports its end as room to send.
//
// It waits as the engine `select` does. Left out on purpose: several loops, because they would share the
// delays, not avoid them.
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <span>

#include "base/check.hpp"
#include "base/system/sockets.hpp"
#include "engines/files/file_io.hpp"
#include "engines/loop/polled.hpp"
#include "engines/loop/ready.hpp"
#include "engines/select.hpp"
#include "net/socket_options.hpp"

namespace joust {
namespace {

constexpr Duration kLongestCall = std::chrono::milliseconds(20);
constexpr std::size_t kMostPieces = 16;

// Returns true for a call that the time limit or a signal has ended. The call is not repeated at once,
// because signals could extend the time limit.
bool has_been_cut_short(int error) {
  return error == EAGAIN || error == EINTR;
}

// Makes the blocking calls that this engine is named after.
class BlockingExchange : public ReadyExchange {
 public:
  BlockingExchange(const Hosting& hosting, const Stop& stop) : ReadyExchange(hosting), stop_(stop) {}
  int socket_flags() const override { return 0; }
  void prepare(ReadyPeer& peer) const override;
  int connect(ReadyPeer& peer, const Endpoint& to) const override;
  bool may_receive_again(const ReadyPeer& peer) const override;

 private:
  bool receive(ReadyPeer& peer, std::span<std::byte> buffer, Time now) override;
  bool send(ReadyPeer& peer, Time now) override;
  ssize_t send_pieces(int socket, std::span<iovec> pieces) const;

  const Stop& stop_;
};

void BlockingExchange::prepare(ReadyPeer& peer) const {
  set_timeout(peer.socket.get(), SO_RCVTIMEO, kLongestCall);
  set_timeout(peer.socket.get(), SO_SNDTIMEO, kLongestCall);
}

// A connect that a signal has interrupted goes on when it is called again.
int BlockingExchange::connect(ReadyPeer& peer, const Endpoint& to) const {
  prepare(peer);
  const int result = retry_interrupted([&] { return ::connect(peer.socket.get(), to.raw(), to.size); });
  return result == 0 ? 0 : errno == EALREADY ? EINPROGRESS : errno;
}

// Returns true only for bytes that are known to be there.
bool BlockingExchange::may_receive_again(const ReadyPeer& peer) const {
  int bytes = 0;
  return ::ioctl(peer.socket.get(), FIONREAD, &bytes) == 0 && bytes > 0;
}

// Returns true if the buffer is full, because more bytes may follow.
bool BlockingExchange::receive(ReadyPeer& peer, std::span<std::byte> buffer, Time now) {
  StreamConnection& connection = *peer.connection;
  const ssize_t n = ::recv(peer.socket.get(), buffer.data(), buffer.size(), 0);
  if (n > 0)
    connection.received(buffer.first(static_cast<std::size_t>(n)), now);
  else if (n == 0)
    connection.peer_finished(now);
  else if (!has_been_cut_short(errno))
    connection.failed({Stage::receive, errno, {}}, now);
  return n == static_cast<ssize_t>(buffer.size());
}

// Returns false if not all has been sent: the rest has to wait until select reports room.
bool BlockingExchange::send(ReadyPeer& peer, Time now) {
  const int socket = peer.socket.get();
  StreamConnection& connection = *peer.connection;
  if (const auto source = connection.source(); source && !stop_.requested()) {
    const ssize_t n = call_sendfile(socket, *source);
    if (report_sendfile(connection, *source, n, errno, now)) return false;  // one call for each report
  }
  std::array<iovec, kMostPieces> pieces;
  const std::size_t count = connection.output(pieces, now);
  std::size_t wanted = 0;
  for (const iovec& piece : std::span(pieces).first(count)) wanted += piece.iov_len;
  if (wanted == 0) return true;  // reading a file has failed, and no other output exists
  const ssize_t n = send_pieces(socket, std::span(pieces).first(count));
  if (n >= 0)
    connection.sent(static_cast<std::size_t>(n), now);
  else if (!has_been_cut_short(errno))
    connection.send_failed(errno, now);
  return n == static_cast<ssize_t>(wanted);
}

// After a stop nothing blocks: a turn of thousands of slow peers would outlast the time for their good-bye.
ssize_t BlockingExchange::send_pieces(int socket, std::span<iovec> pieces) const {
  const msghdr message = message_of(pieces);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | (stop_.requested() ? MSG_DONTWAIT : 0));
}

class SelectBlockingLoop : public ReadyLoop {
 public:
  SelectBlockingLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
      : ReadyLoop(hosting, stop, group, index, std::make_unique<BlockingExchange>(hosting, stop)) {}
};

}  // namespace

extern const Engine kSelectBlocking{
    .name = "select-blocking",
    .summary = "select, then blocking recv and send: simple, and a slow peer delays the others",
    .threads = "one",
    .blocks_on_slow_peers = "a send blocks for up to 20 ms while its peer does not read",
    .not_public = "all others wait while one peer does not read",
    .run = run_loops<Polled<SelectBlockingLoop, Select>>,
};

}  // namespace joust
