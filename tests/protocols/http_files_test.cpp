// SPDX-License-Identifier: MIT
//
// Files: their names, ranges and conditions, and the dates of these.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "protocols/http/date.hpp"
#include "protocols/http_fixture.hpp"

namespace joust::http::test {
namespace {

constexpr std::string_view kModified = "Tue, 13 Oct 2026 08:53:37 GMT";

class HttpFiles : public HttpTest {
 protected:
  void SetUp() override {
    HttpTest::SetUp();
    with_files_ = true;
    storage_.add("ten", "0123456789");
    storage_.add("young", "0123456789", false);
    storage_.add("empty", "");
    storage_.add("large.html", large_);
    storage_.add("folder/index.html", "<p>");
    storage_.add("folder/other", "");
    storage_.add("a b/\xc3\xa4+.TXT", "umlaut");
    storage_.add("bare/other", "");
  }
  // Status, and Content-Range or the length.
  std::string range_of(const std::string& range, const std::string& name = "ten") {
    const Reply reply = get("/" + name, "Range: " + range + "\r\n");
    const auto content = reply.fields.find("Content-Range");
    const std::string text = content == reply.fields.end() ? "whole" : content->second;
    return reply.status.substr(9, 3) + " " + text +
           (reply.status.substr(9, 1) == "2" ? " " + reply.body : "");
  }
  std::string code(const std::string& fields, const std::string& name = "ten") {
    return get("/" + name, fields).status.substr(9, 3);
  }
  std::string tag(const std::string& name = "ten") { return get("/" + name).fields.at("ETag"); }
  void pass_a_second() { now_ += std::chrono::seconds(1); }  // then no file is kept that has changed

  const std::string large_ = [] {
    std::string text;
    while (text.size() < 100'000) text += fmt::format("{} ", text.size());
    return text;
  }();
};

TEST_F(HttpFiles, AreSentWithTheirFacts) {
  const Reply reply = get("/ten");
  EXPECT_EQ(reply.status, "HTTP/1.1 200 OK");
  EXPECT_EQ(reply.body, "0123456789");
  EXPECT_EQ(reply.fields,
            (std::map<std::string, std::string>{{"Server", "joust"},
                                                {"Date", std::string(kTodayText)},
                                                {"Last-Modified", std::string(kModified)},
                                                {"ETag", "\"a-18de0ad63cd66a00-18de0ad63cd66a05\""},
                                                {"Content-Type", "application/octet-stream"},
                                                {"Content-Length", "10"},
                                                {"Accept-Ranges", "bytes"}}));
}

TEST_F(HttpFiles, LargeOnesGoOutByRangesOfTheFile) {
  const Reply reply = get("/large.html");
  EXPECT_EQ(reply.body, large_);
  EXPECT_EQ(reply.fields.at("Content-Type"), "text/html; charset=utf-8");
  std::array<Segment, 4> shown;
  session().on_bytes(as_bytes("GET /large.html HTTP/1.1\r\nHost: a\r\n\r\n"), now_);
  std::size_t heads = session().output(shown);
  ASSERT_GE(heads, 2U);
  EXPECT_EQ(shown[heads - 1].file.size, large_.size());
  EXPECT_EQ(session().want(), Want::nothing) << "nothing can be added behind it";
  take_output();
  EXPECT_EQ(session().want(), Want::bytes);
  EXPECT_EQ(counts_.bytes_sent, 2 * large_.size());
}

TEST_F(HttpFiles, AreAnsweredInOrderWhereRequestsArePipelined) {
  std::string heard =
      say("GET /large.html HTTP/1.1\r\nHost: a\r\n\r\nGET /ten HTTP/1.1\r\nHost: a\r\n\r\n"
          "HEAD /large.html HTTP/1.1\r\nHost: a\r\n\r\nGET /none HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(take_reply(heard).body, large_);
  EXPECT_EQ(take_reply(heard).body, "0123456789");
  EXPECT_EQ(take_reply(heard, false).fields.at("Content-Length"), std::to_string(large_.size()));
  EXPECT_EQ(take_reply(heard).status, "HTTP/1.1 404 Not Found");
  EXPECT_EQ(heard, "");
}

TEST_F(HttpFiles, HaveHeadsWithoutBodies) {
  const Reply whole = get("/ten"), head = get("/ten", "", "HEAD");
  EXPECT_EQ(head.status, whole.status);
  EXPECT_EQ(head.fields, whole.fields);
  EXPECT_EQ(get("/none", "", "HEAD").status, "HTTP/1.1 404 Not Found");
  EXPECT_EQ(get("/ten", "Range: bytes=0-1\r\n", "HEAD").status, "HTTP/1.1 200 OK");
}

TEST_F(HttpFiles, HaveNamesWithPercentSigns) {
  EXPECT_EQ(get("/a%20b/%C3%a4+.TXT?x=%zz").body, "umlaut");
  EXPECT_EQ(get("/a%20b/\xc3\xa4%2B.TXT").body, "umlaut");
  EXPECT_EQ(get("http://other/a%20b/%c3%a4+.TXT").fields.at("Content-Type"), kPlainText);
  for (const char* target : {"/folder%2Findex.html",
                             "/folder%2findex.html",
                             "/a+b/%C3%a4+.TXT",
                             "/../ten",
                             "/folder/../ten",
                             "/folder/%2e%2e/ten",
                             "/./ten",
                             "//ten",
                             "/folder//index.html",
                             "/ten/",
                             "/ten%00",
                             "/%00",
                             "/%0a",
                             "/%ff",
                             "/.joust-1",
                             "/none",
                             "/folder/none/",
                             "/bare",
                             "/bare/",
                             "/"}) {
    EXPECT_EQ(get(target).status, "HTTP/1.1 404 Not Found") << target;
    EXPECT_FALSE(session().finished());
  }
  for (const char* target : {"/%", "/%4", "/%zz", "/ten%", "/%%41"}) {
    again();
    EXPECT_EQ(get(target).status, "HTTP/1.1 400 Bad Request") << target;
    EXPECT_TRUE(session().finished());
  }
}

TEST_F(HttpFiles, OfAFolderAreItsIndexAndNoList) {
  EXPECT_EQ(get("/folder/").body, "<p>");
  EXPECT_EQ(get("/folder/").fields.at("Content-Type"), "text/html; charset=utf-8");
  const Reply moved = get("/folder?a=%41");
  EXPECT_EQ(moved.status, "HTTP/1.1 301 Moved Permanently");
  EXPECT_EQ(moved.fields.at("Location"), "/folder/?a=%41");
  storage_.add("index.html", "root");
  EXPECT_EQ(get("/").body, "root");
}

TEST_F(HttpFiles, ThatCannotBeReadHaveAStatus) {
  storage_.refusals = {
      {"a", FileError::not_permitted}, {"b", FileError::busy}, {"c", FileError::input_output}};
  EXPECT_EQ(get("/a").status, "HTTP/1.1 403 Forbidden");
  EXPECT_EQ(get("/b").status, "HTTP/1.1 503 Service Unavailable");
  EXPECT_EQ(get("/c").status, "HTTP/1.1 500 Internal Server Error");
  EXPECT_FALSE(session().finished());
  EXPECT_EQ(counts_.refused, 3U);
}

TEST_F(HttpFiles, AreSentInPart) {
  EXPECT_EQ(range_of("bytes=0-0"), "206 bytes 0-0/10 0");
  EXPECT_EQ(range_of("bytes=2-4"), "206 bytes 2-4/10 234");
  EXPECT_EQ(range_of("bytes=9-"), "206 bytes 9-9/10 9");
  EXPECT_EQ(range_of("bytes=0-"), "206 bytes 0-9/10 0123456789");
  EXPECT_EQ(range_of("bytes=-3"), "206 bytes 7-9/10 789");
  EXPECT_EQ(range_of("bytes=-30"), "206 bytes 0-9/10 0123456789");
  EXPECT_EQ(range_of("bytes=8-99"), "206 bytes 8-9/10 89");
  EXPECT_EQ(range_of("bytes=8-99999999999999999999999"), "206 bytes 8-9/10 89");
  EXPECT_EQ(range_of("Bytes=1-1"), "206 bytes 1-1/10 1");
  EXPECT_EQ(range_of("bytes= , 1-1 ,"), "206 bytes 1-1/10 1");
  const Reply part = get("/large.html", "Range: bytes=50000-99999\r\n");
  EXPECT_EQ(part.body, large_.substr(50'000, 50'000));
  EXPECT_EQ(part.fields.at("Content-Length"), "50000");
  EXPECT_EQ(get("/large.html", "Range: bytes=70-80\r\n").body, large_.substr(70, 11));
}

TEST_F(HttpFiles, HaveNothingBeyondTheirEnd) {
  for (const char* range : {"bytes=10-", "bytes=10-10", "bytes=-0", "bytes=99999999999999999999-"})
    EXPECT_EQ(range_of(range), "416 bytes */10") << range;
  EXPECT_EQ(range_of("bytes=0-", "empty"), "416 bytes */0");
  EXPECT_EQ(range_of("bytes=-1", "empty"), "200 whole ");
}

TEST_F(HttpFiles, AreSentWholeForRangesThatAreNone) {
  for (const char* range :
       {"bytes=0-1,3-4", "bytes=", "bytes=-", "bytes=a-b", "bytes=3-2", "bytes=1", "bytes=1-2-3",
        "bytes=+1-2", "lines=1-2", "bytes 1-2", "1-2", "bytes=1 -2", "bytes=--1"})
    EXPECT_EQ(range_of(range), "200 whole 0123456789") << range;
  EXPECT_EQ(get("/ten", "Range: bytes=0-1\r\nRange: bytes=2-3\r\n").status, "HTTP/1.1 200 OK");
}

TEST_F(HttpFiles, AreSentInPartOnlyOfTheVersionThatIsMeant) {
  const auto answer = [this](const std::string& condition, const std::string& name = "ten") {
    return code("Range: bytes=1-2\r\nIf-Range: " + condition + "\r\n", name);
  };
  EXPECT_EQ(answer(tag()), "206");
  EXPECT_EQ(answer("\"other\""), "200");
  EXPECT_EQ(answer("W/" + tag()), "200") << "a weak one says nothing of bytes";
  EXPECT_EQ(answer(tag("young"), "young"), "200");
  EXPECT_EQ(answer(std::string(kModified)), "206");
  EXPECT_EQ(answer("Tue, 13 Oct 2026 08:53:38 GMT"), "200");
  EXPECT_EQ(answer("nonsense"), "200");
  EXPECT_EQ(answer("\"other\"\r\nIf-Range: \"other\""), "200") << "twice";
  EXPECT_EQ(answer(""), "200") << "of no version";
  FileVersion& version = storage_.files["ten"].version;
  version.changed_ns += 2'000'000'000;
  pass_a_second();
  EXPECT_EQ(answer(std::string(kModified)), "200") << "somebody has set its time";
  version.modified_ns = version.changed_ns = kToday * 1'000'000'000;
  pass_a_second();
  EXPECT_EQ(answer(std::string(kTodayText)), "200") << "it may have changed again within that second";
}

TEST_F(HttpFiles, HaveTagsOfTheirVersion) {
  EXPECT_TRUE(tag("young").starts_with("W/\""));
  const std::string first = tag();
  FileVersion& version = storage_.files["ten"].version;
  version.modified_ns += 1;
  pass_a_second();
  const std::string second = tag();
  EXPECT_NE(second, first);
  version.changed_ns += 1;
  pass_a_second();
  EXPECT_NE(tag(), second);
}

TEST_F(HttpFiles, AreSentUnderConditions) {
  const std::string today(kTodayText), modified(kModified), before = "Tue, 13 Oct 2026 08:53:36 GMT";
  EXPECT_EQ(code("If-None-Match: " + tag() + "\r\n"), "304");
  EXPECT_EQ(code("If-None-Match: W/" + tag() + "\r\n"), "304");
  EXPECT_EQ(code("If-None-Match: \"a,b\" , " + tag() + "\r\n"), "304");
  EXPECT_EQ(code("If-None-Match: *\r\n"), "304");
  EXPECT_EQ(code("If-None-Match: \"x\", \"y\"\r\n"), "200");
  EXPECT_EQ(code("If-None-Match: x\r\n"), "200");
  EXPECT_EQ(code("If-None-Match: \"x\"\r\nIf-Modified-Since: " + today + "\r\n"), "200") << "the tag decides";
  EXPECT_EQ(code("If-Modified-Since: " + modified + "\r\n"), "304");
  EXPECT_EQ(code("If-Modified-Since: " + today + "\r\n"), "304");
  EXPECT_EQ(code("If-Modified-Since: " + before + "\r\n"), "200");
  EXPECT_EQ(code("If-Modified-Since: yesterday\r\n"), "200");
  EXPECT_EQ(code("If-Match: " + tag() + "\r\n"), "200");
  EXPECT_EQ(code("If-Match: *\r\n"), "200");
  EXPECT_EQ(code("If-Match: \"x\"\r\n"), "412");
  EXPECT_EQ(code("If-Match: W/" + tag() + "\r\n"), "412");
  EXPECT_EQ(code("If-Unmodified-Since: " + modified + "\r\n"), "200");
  EXPECT_EQ(code("If-Unmodified-Since: " + before + "\r\n"), "412");
  EXPECT_EQ(code("If-Match: *\r\nIf-Unmodified-Since: " + before + "\r\n"), "200");
  EXPECT_EQ(code("Range: bytes=99-\r\nIf-None-Match: *\r\n"), "304");
}

// Where there is a tag the date says nothing, whether the tag can be read or not.
TEST_F(HttpFiles, AreNotJudgedByADateBesideATag) {
  const std::string today = fmt::format("If-Modified-Since: {}\r\n", kTodayText);
  const std::string before = "If-Unmodified-Since: Tue, 13 Oct 2026 08:53:36 GMT\r\n";
  EXPECT_EQ(code("If-None-Match: \"x\"\r\nIf-None-Match: \"y\"\r\n" + today), "200");
  EXPECT_EQ(code("If-None-Match:\r\n" + today), "200");
  EXPECT_EQ(code(today + "If-None-Match: x\r\n"), "200");
  EXPECT_EQ(code("If-Match: *\r\nIf-Match: *\r\n" + before), "200");
  EXPECT_EQ(code("If-Match:\r\n" + before), "200");
}

TEST_F(HttpFiles, ThatAreKnownAreNotSentAgain) {
  const Reply reply = get("/ten", "If-None-Match: *\r\n");
  EXPECT_EQ(reply.status, "HTTP/1.1 304 Not Modified");
  EXPECT_FALSE(reply.fields.contains("Content-Length"));
  EXPECT_TRUE(reply.fields.contains("ETag"));
  EXPECT_EQ(reply.body, "");
}

// Whoever holds a date may ask by it whether the file is still the same.
TEST_F(HttpFiles, HaveADateOnceTheyCannotChangeWithinItsSecond) {
  for (const auto& [age_s, has_one] : {std::pair{2, true}, {1, false}, {0, false}, {-1000, false}}) {
    storage_.files["ten"].version.modified_ns = (kToday - age_s) * 1'000'000'000;
    pass_a_second();
    const Reply reply = get("/ten");
    EXPECT_EQ(reply.fields.contains("Last-Modified"), has_one) << age_s;
    if (has_one) {
      EXPECT_EQ(code("If-Unmodified-Since: " + reply.fields.at("Last-Modified") + "\r\n"), "200");
    }
  }
}

TEST_F(HttpFiles, ThatShrinkEndTheConnection) {
  storage_.file("large.html").text_.resize(60'000);
  std::string heard = say("GET /large.html HTTP/1.1\r\nHost: a\r\n\r\nGET /ten HTTP/1.1\r\nHost: a\r\n\r\n");
  const Reply reply = take_reply(heard);
  EXPECT_EQ(reply.fields.at("Content-Length"), std::to_string(large_.size()));
  EXPECT_EQ(reply.body, large_.substr(0, 60'000)) << "no byte in place of those that are missing";
  EXPECT_TRUE(session().finished());
  EXPECT_EQ(counts_.cut_off, 1U);
  EXPECT_EQ(heard, "");
}

TEST_F(HttpFiles, ThatAreSmallAndShrinkHaveAStatus) {
  storage_.file("ten").text_.resize(5);
  EXPECT_EQ(get("/ten").status, "HTTP/1.1 500 Internal Server Error");
  EXPECT_EQ(range_of("bytes=0-1"), "500 whole") << "it is read whole for each reply";
}

constexpr std::int64_t kExample = 784'111'777;  // that of RFC 9110
constexpr std::int64_t kYear2026 = 1'792'745'617;

TEST(HttpDate, IsShortForPeople) {
  EXPECT_EQ(short_date_text(1'792'745'617), "2026-10-23 08:53");
  EXPECT_EQ(short_date_text(0), "1970-01-01 00:00");
  EXPECT_EQ(short_date_text(-1), "1970-01-01 00:00");
}

TEST(HttpDate, HasThreeFormats) {
  EXPECT_EQ(date_text(kExample), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(parse_date("Sun, 06 Nov 1994 08:49:37 GMT", kYear2026), kExample);
  EXPECT_EQ(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", kYear2026), kExample);
  EXPECT_EQ(parse_date("Sun Nov  6 08:49:37 1994", kYear2026), kExample);
  EXPECT_EQ(parse_date("Wed Nov 16 08:49:37 1994", kYear2026), kExample + 10 * 86'400);
}

TEST(HttpDate, OfTwoDigitsIsInThisHalfOfTheCentury) {
  const auto year_of = [](const std::string& year) {
    const auto seconds = parse_date("Friday, 01-Jan-" + year + " 00:00:00 GMT", kYear2026);
    return seconds ? date_text(*seconds).substr(12, 4) : "none";
  };
  EXPECT_EQ(year_of("26"), "2026");
  EXPECT_EQ(year_of("76"), "2076");
  EXPECT_EQ(year_of("77"), "1977");
  EXPECT_EQ(year_of("99"), "1999");
}

TEST(HttpDate, IsNothingElse) {
  for (const char* text :
       {"", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1993 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Abc 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
        "784111777"})
    EXPECT_FALSE(parse_date(text, kYear2026)) << text;
}

TEST(HttpDate, HasAFirstAndALastDay) {
  EXPECT_EQ(date_text(-5), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(date_text(std::int64_t{1} << 50), "Fri, 31 Dec 9999 23:59:59 GMT");
}

RC_GTEST_PROP(HttpDate, IsReadAsItIsWritten, ()) {
  const auto seconds = *rc::gen::inRange<std::int64_t>(0, 253'402'300'800);
  RC_ASSERT(date_text(seconds).size() == kDateSize);
  RC_ASSERT(parse_date(date_text(seconds), kYear2026) == seconds);
}

}  // namespace

}  // namespace joust::http::test
