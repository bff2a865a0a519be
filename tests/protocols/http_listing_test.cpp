// SPDX-License-Identifier: MIT
//
// The pages of directories.
#include <fmt/format.h>

#include <stdexcept>

#include "protocols/http/files_page.hpp"
#include "protocols/http/protocol.hpp"
#include "protocols/http_fixture.hpp"
#include "protocols/table.hpp"

namespace joust::http::test {
namespace {

constexpr std::int64_t kModified_ns = kToday * 1'000'000'000;

FolderEntry file(const std::string& name, std::uint64_t size = 1) {
  return {.name = name, .size = size, .modified_ns = kModified_ns};
}
FolderEntry folder(const std::string& name) {
  return {.name = name, .is_folder = true, .modified_ns = kModified_ns};
}

// The targets of the links, in order.
std::vector<std::string> links(const std::string& page) {
  std::vector<std::string> found;
  constexpr std::string_view kLink = "href=\"";
  for (std::size_t at = page.find(kLink); at != page.npos; at = page.find(kLink, at)) {
    at += kLink.size();
    found.push_back(page.substr(at, page.find('"', at) - at));
  }
  return found;
}

bool has(const std::string& page, std::string_view text) {
  return page.find(text) != page.npos;
}

TEST(ListingPage, HasDirectoriesFirstAndThenFilesByTheirNames) {
  const std::string page =
      listing_page("", {.entries = {file("b"), folder("z"), file("A"), file("a"), folder("Y"), file("C")}});
  EXPECT_EQ(links(page), (std::vector<std::string>{"Y/", "z/", "A", "a", "b", "C"}));
  EXPECT_TRUE(has(page, "<footer>2 directories, 4 files</footer>")) << page;
  EXPECT_TRUE(has(page, "<title>/</title>"));
}

TEST(ListingPage, TellsSizesAndTimes) {
  const std::string page = listing_page("", {.entries = {file("a", 4'200'000), folder("d")}});
  EXPECT_TRUE(has(page, "<td>4.01 MiB<td>2026-10-23 08:53\n")) << page;
  EXPECT_TRUE(has(page, "</a><td><td>2026-10-23 08:53\n")) << "a directory has no size";
}

TEST(ListingPage, LeadsBack) {
  const std::string page = listing_page("a b/c/d", {.entries = {file("x")}});
  EXPECT_EQ(links(page), (std::vector<std::string>{"../../../", "../../", "../", "../", "x"}));
  EXPECT_TRUE(has(page, "<title>/a b/c/d</title>")) << page;
}

TEST(ListingPage, NamesAreTextAndNothingElse) {
  const std::string evil = "<img src=x onerror=alert(1)>&\"'";
  const std::string page = listing_page(evil, {.entries = {file(evil + ".txt"), folder(evil)}});
  EXPECT_FALSE(has(page, "<img")) << page;
  EXPECT_TRUE(has(page, "&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#39;.txt"));
  const std::string encoded = "%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E%26%22%27";
  EXPECT_EQ(links(page), (std::vector<std::string>{"../", "../", encoded + "/", encoded + ".txt"}));
}

// Otherwise a colon would make a scheme of it, and a mark a query.
TEST(ListingPage, LinksLeadToTheFile) {
  for (const auto& [name, link] :
       std::map<std::string, std::string>{{"javascript:alert(1)", "javascript%3Aalert%281%29"},
                                          {"#a?b%c", "%23a%3Fb%25c"},
                                          {"a\\b", "a%5Cb"},
                                          {"\xc3\x9c.txt", "%C3%9C.txt"},
                                          {"a-b_c.d~", "a-b_c.d~"}}) {
    EXPECT_EQ(links(listing_page("", {.entries = {file(name)}})), std::vector<std::string>{link});
    EXPECT_EQ(file_name("/" + link), name) << "and back";
  }
}

TEST(ListingPage, NamesKeepTheirDirection) {
  const std::string page = listing_page("", {.entries = {file("a\xe2\x80\xaegpj.exe")}});
  EXPECT_TRUE(has(page, "<bdi>a\\xe2\\x80\\xaegpj.exe</bdi>")) << page;
}

TEST(ListingPage, HasALimit) {
  FolderListing many;
  for (int i = 0; i < 2'000; ++i) many.entries.push_back(file(fmt::format("{:0>250}", i)));
  const std::string page = listing_page("", many);
  EXPECT_LE(page.size(), kLargestPage);
  EXPECT_TRUE(has(page, "There are more: only a part of a large directory is listed"));
  EXPECT_TRUE(has(page, fmt::format("0 directories, {} files", links(page).size())));
  EXPECT_TRUE(has(listing_page("", {.entries = {file("a")}, .is_whole = false}), "There are more"));
}

class HttpListing : public HttpTest {
 protected:
  HttpListing() {
    with_files_ = lists_ = true;
    storage_.add("a.txt", "text");
    storage_.add("folder/sub folder/b", "text");
    storage_.add("indexed/index.html", "index");
  }
};

TEST_F(HttpListing, ADirectoryIsAnsweredWithItsEntries) {
  const Reply reply = get("/");
  EXPECT_EQ(reply.status, "HTTP/1.1 200 OK");
  EXPECT_EQ(reply.fields.at("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(reply.fields.at("Cache-Control"), "no-cache");
  EXPECT_EQ(reply.fields.at("Content-Security-Policy"), "default-src 'none'; style-src 'unsafe-inline'");
  EXPECT_EQ(links(reply.body), (std::vector<std::string>{"folder/", "indexed/", "a.txt"}));
  EXPECT_EQ(links(get("/folder/?x=y").body), (std::vector<std::string>{"../", "../", "sub%20folder/"}));
  EXPECT_EQ(links(get("/folder/sub%20folder/").body).back(), "b");
}

TEST_F(HttpListing, AnIndexComesFirst) {
  EXPECT_EQ(get("/indexed/").body, "index");
}

TEST_F(HttpListing, ItsNameGetsASlash) {
  const Reply reply = get("/folder?a=b");
  EXPECT_EQ(reply.status, "HTTP/1.1 301 Moved Permanently");
  EXPECT_EQ(reply.fields.at("Location"), "/folder/?a=b");
  EXPECT_EQ(get("/indexed").fields.at("Location"), "/indexed/");
}

TEST_F(HttpListing, OnlyDirectoriesAreListed) {
  for (const char* path :
       {"/none/", "/a.txt/", "/folder/index.html", "/..%2f", "/%2e%2e/", "//", "/.joust-x/"})
    EXPECT_EQ(get(path).status, "HTTP/1.1 404 Not Found") << path;
  storage_.refusals["locked/index.html"] = FileError::not_permitted;
  EXPECT_EQ(get("/locked/").status, "HTTP/1.1 403 Forbidden");
}

TEST_F(HttpListing, NamesThatBeginWithADotAreForThoseWhoAskForThem) {
  storage_.add(".env", "secret");
  storage_.add(".git/config", "secret");
  storage_.add("folder/.hidden/index.html", "secret");
  const char* const hidden[] = {"/.env", "/%2eenv",          "/.git/config",   "/.git/",
                                "/.git", "/folder/.hidden/", "/folder/.hidden"};
  for (const char* path : hidden) EXPECT_EQ(get(path).status, "HTTP/1.1 404 Not Found") << path;
  EXPECT_EQ(links(get("/").body), (std::vector<std::string>{"folder/", "indexed/", "a.txt"}));
  again();
  dot_files_ = true;
  EXPECT_EQ(get("/.env").body, "secret");
  EXPECT_EQ(get("/folder/.hidden/").body, "secret");
  EXPECT_EQ(links(get("/").body),
            (std::vector<std::string>{".git/", "folder/", "indexed/", ".env", "a.txt"}));
}

TEST_F(HttpListing, HasNeitherATagNorADate) {
  EXPECT_EQ(get("/", "If-None-Match: *\r\nRange: bytes=0-3\r\n").status, "HTTP/1.1 200 OK");
  EXPECT_EQ(get("/", "If-Modified-Since: Fri, 31 Dec 2100 00:00:00 GMT\r\n").status, "HTTP/1.1 200 OK");
  EXPECT_EQ(get("/", "If-Match: *\r\n").status, "HTTP/1.1 200 OK");
  EXPECT_EQ(get("/", "If-Match: \"x\"\r\n").status, "HTTP/1.1 412 Precondition Failed");
  const Reply head = get("/", {}, "HEAD");
  EXPECT_EQ(head.status, "HTTP/1.1 200 OK");
  EXPECT_EQ(head.body, "");
}

// It takes as long as many other replies.
TEST_F(HttpListing, IsTheLastReplyOfItsTurn) {
  const std::string two = "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::size_t taken = session().on_bytes(as_bytes(two), now_);
  EXPECT_EQ(taken, two.size() / 2);
  EXPECT_EQ(session().want(), Want::nothing);
  EXPECT_EQ(session().deadline(), now_) << "it goes on in the next turn";
}

TEST_F(HttpListing, IsMadeOnlyIfItIsAskedFor) {
  lists_ = false;
  EXPECT_EQ(get("/").status, "HTTP/1.1 404 Not Found");
  EXPECT_EQ(get("/folder/").status, "HTTP/1.1 404 Not Found");
  EXPECT_EQ(get("/folder").status, "HTTP/1.1 404 Not Found");
}

TEST(HttpListingOption, NeedsADirectory) {
  const auto all = builtin_protocols();
  const Protocol& http = *std::ranges::find(all, "http", &Protocol::name);
  Parameters parameters = standard_parameters(http, Role::serve);
  parameters.options["list"] = "yes";
  EXPECT_THROW(lists(parameters), std::invalid_argument);
  parameters.options["root"] = ".";
  EXPECT_TRUE(lists(parameters));
}

}  // namespace
}  // namespace joust::http::test
