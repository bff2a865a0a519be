// SPDX-License-Identifier: MIT
//
// Many files that a list of the server has named.
#include <sys/stat.h>

#include "connection/stream_connection.hpp"
#include "files/transfer/transfer_fixture.hpp"

namespace joust::transfer {
namespace {

using joust::test::text_of;
using test::Joined;

class TreeGet : public test::Transferring {
 protected:
  TreeGet() { test::fs::create_directories(here("")); }
  std::string there(const std::string& name) const { return folder_.file("root/" + name); }
  std::string here(const std::string& name) const { return folder_.file("back/" + name); }
  // As a list of the server has it now.
  GetItem item(const std::string& name) {
    const auto file = storage().open(name);
    EXPECT_TRUE(file.has_value()) << name;
    const FileVersion& version = file->version;
    return {.name = name,
            .file = name,
            .facts = file::Facts{version.size, version.modified_ns, std::nullopt, version.mode}};
  }
  unsigned mode(const std::string& name) const {
    struct stat facts {};
    EXPECT_EQ(::stat(here(name).c_str(), &facts), 0);
    return facts.st_mode & 07777;
  }
  GetPlan plan() const { return {.folder = folder_.file("back"), .wishes = {.makes_parents = true}}; }
};

TEST_F(TreeGet, SendsFilesOfAllSizesOverOneConnection) {
  GetPlan plan = this->plan();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{kRangeBytes}, std::size_t{kRangeBytes + 1}})
    for (int i = 0; i < 3; ++i) {
      const std::string name = "sub/" + std::to_string(size) + "-" + std::to_string(i);
      std::ofstream(there(name), std::ios::binary) << content(size);
      plan.items.push_back(item(name));
    }
  GetTransfer getting(plan);
  Joined(getting, server()).run();
  EXPECT_TRUE(getting.complaints().empty()) << getting.complaints().front();
  EXPECT_EQ(getting.counts().files, 12U);
  EXPECT_EQ(getting.counts().moved, getting.counts().total);
  for (const GetItem& item : plan.items) EXPECT_TRUE(text_of(here(item.file)) == text_of(there(item.name)));
}

TEST_F(TreeGet, AsksOnceForASmallFile) {
  storage(joust::test::kOldFiles);
  GetPlan plan = this->plan();
  for (int i = 0; i < 20; ++i) {
    const std::string name = "sub/" + std::to_string(i);
    std::ofstream(there(name)) << "content " << i;
    plan.items.push_back(item(name));
  }
  GetTransfer getting(plan);
  Joined(getting, server()).run();
  EXPECT_EQ(getting.counts().files, 20U);
  EXPECT_EQ(server().fragments, 20U);
  EXPECT_EQ(server().queries, 0U) << "their digests come with their bytes";
  for (const GetItem& item : plan.items) EXPECT_EQ(text_of(here(item.file)), text_of(there(item.name)));
}

// A list may be older than the files.
TEST_F(TreeGet, SendsFilesAsTheyAreNow) {
  GetPlan plan = this->plan();
  for (const char* name : {"grown", "gone", "same"}) {
    std::ofstream(there(name)) << "before";
    plan.items.push_back(item(name));
  }
  std::ofstream(there("grown")) << "and longer";
  test::fs::remove(there("gone"));
  GetTransfer getting(plan);
  Joined(getting, server()).run();
  EXPECT_EQ(getting.complaints(), std::vector<std::string>{"gone: the server says: not found"});
  EXPECT_EQ(getting.counts().files, 2U);
  EXPECT_EQ(text_of(here("grown")), "and longer");
  EXPECT_EQ(getting.counts().moved, 16U);
}

TEST_F(TreeGet, TakesNoNameThatLeadsElsewhere) {
  GetPlan plan = this->plan();
  GetItem evil = item("old");
  for (const char* name : {"../out", "/out", "a/../../out", ".joust-x"}) {
    evil.file = name;
    plan.items.push_back(evil);
  }
  GetTransfer getting(plan);
  Joined(getting, server()).run();
  EXPECT_EQ(getting.counts().failed, 4U);
  EXPECT_FALSE(test::fs::exists(folder_.file("out")));
  EXPECT_TRUE(test::fs::is_empty(here("")));
}

TEST_F(TreeGet, ClosesFoldersWhenAllIsInThem) {
  std::ofstream(there("sub/file")) << "x";
  GetPlan plan = this->plan();
  plan.folders = {{.name = "sub", .is_folder = true, .mode = 0500},
                  {.name = "sub/none", .is_folder = true, .mode = 0555}};
  plan.items = {item("sub/file")};
  GetTransfer getting(plan);
  getting.make_folders();
  EXPECT_EQ(mode("sub"), 0700U);
  Joined(getting, server()).run();
  getting.close_folders();
  EXPECT_EQ(mode("sub"), 0500U);
  EXPECT_EQ(mode("sub/none"), 0555U);
  EXPECT_EQ(getting.counts().folders, 1U) << "an empty one";
  ::chmod(here("sub").c_str(), 0700);
}

TEST_F(TreeGet, FoldersStayOpenWhereSomethingHasFailed) {
  GetPlan plan = this->plan();
  plan.folders = {{.name = "sub", .is_folder = true, .mode = 0500},
                  {.name = "old", .is_folder = true, .mode = 0755}};
  std::ofstream(here("old")) << "a file";
  GetTransfer getting(plan);
  getting.make_folders();
  getting.close_folders();
  EXPECT_EQ(mode("sub"), 0700U) << "the next attempt can write there";
  ASSERT_EQ(getting.complaints().size(), 1U);
  EXPECT_NE(getting.complaints()[0].find("back/old: exists (and is no directory"), std::string::npos);
}

// All that the session says now.
std::string said_by(Session& session) {
  std::string all;
  for (Segment segment; session.output({&segment, 1}) > 0;) {
    std::string part(segment.size(), '\0');
    if (segment.in_file())
      EXPECT_TRUE(segment.file.file->read_at(segment.file.offset, std::as_writable_bytes(std::span(part))));
    else
      part = as_text(segment.bytes);
    all += part;
    session.consumed(part.size());
    session.released(part.size());
  }
  return all;
}

// What the session has to hear until it takes no more, and what it says meanwhile.
std::string answer_of(Session& session, std::string& heard) {
  std::string said;
  for (bool moved = true; moved;) {
    const std::size_t taken = deliver(as_bytes(heard), session, Pair::kBegin);
    heard.erase(0, taken);
    const bool is_due = session.deadline().value_or(Time::max()) <= Pair::kBegin;
    if (is_due) session.on_deadline(Pair::kBegin);
    const std::string part = said_by(session);
    said += part;
    moved = taken > 0 || is_due || !part.empty();
  }
  return said;
}

// On a slow link each answer is waited for.
TEST_F(TreeGet, AsksForMoreFilesBeforeTheAnswersCome) {
  GetPlan plan = this->plan();
  for (int i = 0; i < 30; ++i) {
    const std::string name = "sub/" + std::to_string(i);
    std::ofstream(there(name)) << "content " << i;
    plan.items.push_back(item(name));
  }
  GetTransfer getting(plan);
  const auto client = getting.open({});
  const auto server = std::make_unique<file::ServerSession>(this->server());
  client->on_open(Pair::kBegin);
  server->on_open(Pair::kBegin);
  int trips = 0;
  std::string to_server, to_client;
  for (; trips < 100 && !getting.over(); ++trips) {
    client->on_published(Pair::kBegin);
    to_server += answer_of(*client, to_client);
    to_client += answer_of(*server, to_server);
  }
  EXPECT_EQ(getting.counts().files, 30U);
  EXPECT_LT(trips, 20) << "one after the other they would be 60";
}

// A connection takes a bounded number of steps at a time, and may be lost between two of them.
TEST_F(TreeGet, ForgetsNoFileThatAConnectionHasOnlyTaken) {
  GetPlan plan = this->plan();
  plan.wishes.skips_existing = true;
  test::fs::create_directories(here("sub"));
  for (int i = 0; i < 200; ++i) {
    const std::string name = "sub/" + std::to_string(i);
    std::ofstream(there(name)) << "x";
    std::ofstream(here(name)) << "y";
    plan.items.push_back(item(name));
  }
  GetTransfer getting(plan);
  for (int i = 0; i < 2; ++i) {
    const auto session = getting.open({});
    session->on_open(Pair::kBegin);
    EXPECT_FALSE(getting.over());
    session->on_failure({Stage::receive, ECONNRESET, ""}, Pair::kBegin);
  }
  Joined(getting, server()).run();
  EXPECT_TRUE(getting.over());
  EXPECT_EQ(getting.counts().skipped, 200U);
}

TEST_F(TreeGet, GoesOnAfterLostConnections) {
  GetPlan plan = this->plan();
  for (int i = 0; i < 50; ++i) {
    const std::string name = "sub/" + std::to_string(i);
    std::ofstream(there(name), std::ios::binary) << content(2000);
    plan.items.push_back(item(name));
  }
  plan.most_retries = 20;
  GetTransfer getting(plan);
  for (int i = 0; i < 6; ++i) Joined(getting, server(), Pair::whole, 5000).lose();
  Joined(getting, server()).run();
  EXPECT_TRUE(getting.complaints().empty()) << getting.complaints().front();
  EXPECT_EQ(getting.counts().files, 50U);
  EXPECT_EQ(getting.counts().moved, 50U * 2000);
  EXPECT_EQ(hidden(here("sub")), 0U);
}

}  // namespace
}  // namespace joust::transfer
