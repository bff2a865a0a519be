// SPDX-License-Identifier: MIT
//
// A client that verifies a server by its certificate, against a server of the library itself.
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "secure/guard.hpp"
#include "secure/talking.hpp"
#include "secure/tls_context.hpp"
#include "temporary_folder.hpp"

namespace joust {
namespace {

constexpr Time kStart{std::chrono::hours(1)};

struct FreeCertificate {
  void operator()(X509* certificate) const { ::X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
};

// A key and its self-signed certificate for server.test and 127.0.0.1.
class Identity {
 public:
  explicit Identity(int extra_names = 0) : key_(EVP_EC_gen("P-256")), certificate_(::X509_new()) {
    X509* const made = certificate_.get();
    ::X509_set_version(made, 2);
    ::X509_gmtime_adj(X509_getm_notBefore(made), -60);
    ::X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    ::X509_set_pubkey(made, key_.get());
    const auto* const name = reinterpret_cast<const unsigned char*>("server.test");
    ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(made), "CN", MBSTRING_ASC, name, -1, -1, 0);
    ::X509_set_issuer_name(made, ::X509_get_subject_name(made));
    std::string names = "DNS:server.test,IP:127.0.0.1";
    for (int i = 0; i < extra_names; ++i)
      names += ",DNS:a-long-name-of-this-server-number" + std::to_string(i);
    X509_EXTENSION* const extension =
        ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
    ::X509_add_ext(made, extension, -1);
    ::X509_EXTENSION_free(extension);
    ::X509_sign(made, key_.get(), ::EVP_sha256());
  }

  void write_to(const std::string& path) const {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    ::PEM_write_X509(file, certificate_.get());
    std::fclose(file);
  }

  std::unique_ptr<SSL_CTX, FreeSsl> server(int version) const {
    std::unique_ptr<SSL_CTX, FreeSsl> context(::SSL_CTX_new(::TLS_server_method()));
    ::SSL_CTX_use_certificate(context.get(), certificate_.get());
    ::SSL_CTX_use_PrivateKey(context.get(), key_.get());
    SSL_CTX_set_min_proto_version(context.get(), version);
    SSL_CTX_set_max_proto_version(context.get(), version);
    return context;
  }

 private:
  std::unique_ptr<EVP_PKEY, FreeCertificate> key_;
  std::unique_ptr<X509, FreeCertificate> certificate_;
};

// One connection of a client to that server, by memory.
class CertificateTest : public testing::Test {
 protected:
  void SetUp() override { identity_.write_to(ca_); }

  void connect(const ServerTrust& trust, int version = TLS1_3_VERSION) {
    service_ = inside_tls(talking_, trust);
    context_ = identity_.server(version);
    server_.reset(::SSL_new(context_.get()));
    ::SSL_set_bio(server_.get(), ::BIO_new(::BIO_s_mem()), ::BIO_new(::BIO_s_mem()));
    ::SSL_set_accept_state(server_.get());
    session_ = service_->open({});
    session_->on_open(kStart);
    for (int turn = 0; turn < 8; ++turn) shuttle();
  }

  void shuttle() {
    std::array<Segment, 8> shown;
    for (std::size_t count; (count = session_->output(shown)) > 0;)
      for (std::size_t i = 0; i < count; ++i) {
        ::BIO_write(::SSL_get_rbio(server_.get()), shown[i].bytes.data(), static_cast<int>(shown[i].size()));
        session_->consumed(shown[i].size());
        session_->released(shown[i].size());
      }
    std::array<char, 1000> read;
    const int size = ::SSL_read(server_.get(), read.data(), read.size());  // shakes hands, too
    if (size > 0) heard_.append(read.data(), static_cast<std::size_t>(size));
    std::string back(::BIO_ctrl_pending(::SSL_get_wbio(server_.get())), '\0');
    ::BIO_read(::SSL_get_wbio(server_.get()), back.data(), static_cast<int>(back.size()));
    if (!session_->finished()) session_->on_bytes(as_bytes(back), kStart);
  }
  void answer(const std::string& text) {
    ::SSL_write(server_.get(), text.data(), static_cast<int>(text.size()));
    shuttle();
  }

  const test::TemporaryFolder folder_;
  const std::string ca_ = folder_.file("ca.pem");
  Identity identity_;
  Talk client_{.says = "a question", .stays = true};
  TalkingService talking_{client_};
  std::unique_ptr<Service> service_;
  std::unique_ptr<SSL_CTX, FreeSsl> context_;
  std::unique_ptr<SSL, FreeSsl> server_;
  std::unique_ptr<Session> session_;
  std::string heard_;
};

TEST_F(CertificateTest, ATrustedServerIsSpokenToInBothVersions) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION})
    for (const char* name : {"server.test", "127.0.0.1"}) {
      client_ = {.says = "a question", .stays = true};
      heard_.clear();
      connect({.name = name, .ca_file = ca_}, version);
      EXPECT_EQ(client_.opened, 1U) << session_->complaint();
      EXPECT_EQ(heard_, "a question");
      answer("an answer");
      EXPECT_EQ(client_.heard, "an answer");
      const char* const sent = ::SSL_get_servername(server_.get(), TLSEXT_NAMETYPE_host_name);
      EXPECT_EQ(std::string(sent == nullptr ? "" : sent), *name == 's' ? name : "")
          << "an address is no name";
    }
}

TEST_F(CertificateTest, AnUnknownCertificateIsRefusedInWords) {
  Identity().write_to(ca_);  // of somebody else with the same name
  connect({.name = "server.test", .ca_file = ca_});
  EXPECT_EQ(client_.opened, 0U);
  EXPECT_EQ(client_.not_opened, 1U);
  EXPECT_TRUE(client_.failure.contains("certificate is not trusted (")) << client_.failure;
  EXPECT_TRUE(client_.failure.contains("--tls-ca")) << client_.failure;
  EXPECT_EQ(heard_, "");
}

TEST_F(CertificateTest, AnotherNameIsRefusedInWords) {
  for (const char* name : {"other.test", "127.0.0.2"}) {
    client_ = {};
    connect({.name = name, .ca_file = ca_});
    EXPECT_EQ(client_.opened, 0U);
    EXPECT_TRUE(client_.failure.contains(std::string("is not for '") + name + "'")) << client_.failure;
  }
}

TEST_F(CertificateTest, AnyCertificateWillDoIfItIsNotVerified) {
  connect({.name = "other.test", .verified = false});
  EXPECT_EQ(heard_, "a question") << session_->complaint();
}

TEST_F(CertificateTest, AHugeCertificateIsRefused) {
  identity_ = Identity(4000);
  identity_.write_to(ca_);
  connect({.name = "server.test", .ca_file = ca_});
  EXPECT_EQ(client_.opened, 0U);
  EXPECT_EQ(client_.not_opened, 1U);
  EXPECT_TRUE(client_.failure.contains("TLS: the handshake failed")) << client_.failure;
}

TEST_F(CertificateTest, AStreamThatIsCutHasFailed) {
  connect({.name = "server.test", .ca_file = ca_});
  answer("the beginning of a body that ends with the stream");
  session_->on_peer_finished(kStart);
  EXPECT_FALSE(client_.peer_finished) << "it would take what has come for the whole";
  EXPECT_EQ(client_.failures, 1U);
  EXPECT_TRUE(client_.failure.contains("the stream was cut")) << client_.failure;
}

TEST_F(CertificateTest, TheCloseOfTlsEndsAStream) {
  connect({.name = "server.test", .ca_file = ca_});
  ::SSL_shutdown(server_.get());
  shuttle();
  session_->on_peer_finished(kStart);
  EXPECT_TRUE(client_.peer_finished);
  EXPECT_EQ(client_.failures, 0U) << session_->complaint();
}

TEST_F(CertificateTest, ASessionThatHasAllMayBeCut) {
  client_.stays = false;
  connect({.name = "server.test", .ca_file = ca_});
  session_->on_peer_finished(kStart);
  EXPECT_TRUE(client_.peer_finished);
  EXPECT_EQ(client_.failures, 0U) << session_->complaint();
}

TEST_F(CertificateTest, APlainServerIsNamed) {
  service_ = inside_tls(talking_, ServerTrust{.verified = false});
  session_ = service_->open({});
  session_->on_open(kStart);
  session_->on_bytes(as_bytes(std::string_view("HTTP/1.1 400 Bad Request\r\n")), kStart);
  EXPECT_EQ(session_->complaint(), "TLS: the server does not speak TLS at this address");
  EXPECT_EQ(client_.not_opened, 1U);
}

TEST_F(CertificateTest, ASilentServerIsGivenUp) {
  service_ = inside_tls(talking_, ServerTrust{.verified = false});
  session_ = service_->open({});
  session_->on_open(kStart);
  ASSERT_TRUE(session_->deadline());
  session_->on_deadline(*session_->deadline());
  EXPECT_EQ(client_.stage, Stage::timeout);
  EXPECT_TRUE(client_.failure.contains("not over within 5 s")) << client_.failure;
}

TEST_F(CertificateTest, AServerThatClosesWhileShakingHandsIsNamed) {
  service_ = inside_tls(talking_, ServerTrust{.verified = false});
  session_ = service_->open({});
  session_->on_open(kStart);
  session_->on_peer_finished(kStart);
  EXPECT_EQ(client_.failure, "TLS: the server closed the connection while shaking hands");
}

TEST_F(CertificateTest, AFileWithoutCertificatesIsRefused) {
  std::ofstream(ca_) << "nothing\n";
  for (const std::string& file : {ca_, folder_.file("missing.pem")}) {
    try {
      inside_tls(talking_, ServerTrust{.ca_file = file});
      FAIL() << file;
    } catch (const std::invalid_argument& refused) {
      EXPECT_TRUE(std::string(refused.what()).contains(file)) << refused.what();
    }
  }
}

}  // namespace
}  // namespace joust
