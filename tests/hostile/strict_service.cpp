// SPDX-License-Identifier: MIT
#include "hostile/strict_service.hpp"

#include <fmt/format.h>

#include <array>

#include "joust/session.hpp"

namespace joust::hostile {

class StrictSession : public Session, public SessionFiles {
 private:
  // Marks the session as being touched by this thread.
  class Touch {
   public:
    Touch(const StrictSession& session, const char* call) : session_(session) {
      session.expect(!session.touched_.exchange(true), "{} while another thread is in the session", call);
    }
    ~Touch() { session_.touched_ = false; }
    Touch(const Touch&) = delete;
    Touch& operator=(const Touch&) = delete;

   private:
    const StrictSession& session_;
  };

  template <typename Question>
  auto asked(Question&& question) const {
    const Touch touch(*this, "a question");
    return question();
  }
  template <typename... Args>
  void expect(bool kept, fmt::format_string<Args...> rule, Args&&... args) const {
    if (!kept)
      service_.findings_.add("contract of Session: " + fmt::format(rule, std::forward<Args>(args)...));
  }
  void expect_input(const char* call) const {
    expect(open_, "{} before on_open", call);
    expect(!failed_, "{} after on_failure", call);
  }

 public:
  StrictSession(std::unique_ptr<Session> inner, StrictService& service)
      : inner_(std::move(inner)), service_(service) {
    ++service.counts_->opened;
    ++service.counts_->alive;
  }
  ~StrictSession() override {
    const Touch touch(*this, "the destructor");
    inner_.reset();
    service_.counts_->consumed += consumed_;
    --service_.counts_->alive;
  }
  StrictSession(const StrictSession&) = delete;
  StrictSession& operator=(const StrictSession&) = delete;

  void on_open(Time now) override {
    const Touch touch(*this, "on_open");
    expect(!std::exchange(open_, true), "on_open called twice");
    inner_->on_open(now);
  }
  std::size_t on_bytes(Bytes chunk, Time now) override;
  void on_peer_finished(Time now) override {
    const Touch touch(*this, "on_peer_finished");
    expect_input("on_peer_finished");
    expect(!std::exchange(peer_finished_, true), "on_peer_finished called twice");
    inner_->on_peer_finished(now);
  }
  void on_deadline(Time now) override {
    const Touch touch(*this, "on_deadline");
    expect_input("on_deadline");
    const auto due = inner_->deadline();
    expect(due && now >= *due, "on_deadline came early");
    inner_->on_deadline(now);
  }
  void on_drain(Time now) override {
    const Touch touch(*this, "on_drain");
    expect_input("on_drain");
    inner_->on_drain(now);
  }
  void on_failure(const Failure& failure, Time now) override {
    const Touch touch(*this, "on_failure");
    expect_input("on_failure");
    failed_ = true;
    inner_->on_failure(failure, now);
  }

  std::size_t output(std::span<Segment> into) const override {
    return asked([&] {
      const std::size_t count = inner_->output(into);
      if (count > 0) shown_ = size_of(into.first(count));
      return count;
    });
  }
  Want want() const override {
    return asked([&] { return inner_->want(); });
  }
  SessionFiles* files() override { return inner_->files() == nullptr ? nullptr : this; }
  FileRange store() const override {
    return asked([&] { return inner_->files()->store(); });
  }
  std::optional<Time> deadline() const override {
    return asked([&] { return inner_->deadline(); });
  }
  bool finished() const override {
    return asked([&] { return inner_->finished(); });
  }
  std::string_view complaint() const override {
    return asked([&] { return inner_->complaint(); });
  }
  bool gives_up() const override {
    return asked([&] { return inner_->gives_up(); });
  }

  void on_stored(std::size_t n, Bytes seen, Time now) override;
  void on_store_failed(int error, Time now) override {
    const Touch touch(*this, "on_store_failed");
    expect_input("on_store_failed");
    expect(inner_->want() == Want::file, "on_store_failed, and no file is wanted");
    inner_->files()->on_store_failed(error, now);
  }
  void on_source_failed(int error, Time now) override {
    const Touch touch(*this, "on_source_failed");
    expect_input("on_source_failed");
    inner_->files()->on_source_failed(error, now);
  }

  void consumed(std::size_t n) override;
  void released(std::size_t n) override;

 private:
  std::unique_ptr<Session> inner_;
  StrictService& service_;
  mutable std::atomic<bool> touched_{false};
  bool open_ = false;
  bool peer_finished_ = false;
  static std::uint64_t size_of(std::span<const Segment> segments) {
    std::uint64_t size = 0;
    for (const Segment& segment : segments) size += segment.size();
    return size;
  }

  bool failed_ = false;
  mutable std::uint64_t shown_ = 0;  // to the engine, and not consumed yet
  std::uint64_t consumed_ = 0;
  std::uint64_t released_ = 0;
};

std::size_t StrictSession::on_bytes(Bytes chunk, Time now) {
  const Touch touch(*this, "on_bytes");
  expect_input("on_bytes");
  expect(!chunk.empty(), "on_bytes with an empty chunk");
  expect(!peer_finished_, "on_bytes after on_peer_finished");
  expect(inner_->want() == Want::bytes, "on_bytes, and no bytes are wanted");
  const std::size_t taken = inner_->on_bytes(chunk, now);
  expect(taken <= chunk.size(), "the session took {} of {} bytes", taken, chunk.size());
  expect(taken == chunk.size() || inner_->want() != Want::bytes, "the session left bytes and wants bytes");
  return taken;
}

void StrictSession::on_stored(std::size_t n, Bytes seen, Time now) {
  const Touch touch(*this, "on_stored");
  expect_input("on_stored");
  expect(!peer_finished_, "on_stored after on_peer_finished");
  expect(inner_->want() == Want::file, "on_stored, and no file is wanted");
  expect(n > 0 && n <= inner_->files()->store().size, "on_stored of {} bytes, which is not what is wanted",
         n);
  expect(seen.empty() || seen.size() == n, "on_stored of {} bytes shows {}", n, seen.size());
  inner_->files()->on_stored(n, seen, now);
}

void StrictSession::consumed(std::size_t n) {
  const Touch touch(*this, "consumed");
  expect_input("consumed");
  std::array<Segment, 64> segments;
  const std::uint64_t shows = size_of(std::span(segments).first(inner_->output(segments)));
  // A send may have been under way when the session failed and withdrew its output.
  expect(n <= std::max(shows, shown_), "consumed {} of {} bytes", n, std::max(shows, shown_));
  shown_ -= std::min<std::uint64_t>(n, shown_);
  consumed_ += n;
  inner_->consumed(n);
}

void StrictSession::released(std::size_t n) {
  const Touch touch(*this, "released");
  released_ += n;
  expect(released_ <= consumed_, "released {} bytes of {} that were consumed", released_, consumed_);
  inner_->released(n);
}

std::unique_ptr<Session> StrictService::open(const ConnectionInfo& info) {
  return std::make_unique<StrictSession>(inner_.open(info), *this);
}

void StrictService::not_opened(const Failure& failure, Time now) {
  ++counts_->refused;
  inner_.not_opened(failure, now);
}

}  // namespace joust::hostile
