// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Opt-in: HTTPS, by OpenSSL. A program that includes this header links -lssl -lcrypto.
//
//   serve::http http({.port = 8443, .tls = serve::tls({.certificate = "cert.pem", .key = "key.pem"})});
//
// A certificate for tests, which curl takes with --cacert cert.pem:
//
//   openssl req -x509 -newkey rsa:2048 -nodes -days 30 -keyout key.pem -out cert.pem
//           -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1              (one line)
#pragma once

#include <openssl/err.h>  // not found? Install libssl-dev, and link with -lssl -lcrypto
#include <openssl/ssl.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "manta/error.hpp"
#include "manta/serve/http_options.hpp"

namespace manta::serve {

/// Files in the PEM format. They are read once: a renewed certificate needs a new server.
struct tls_options {
  std::string certificate = {};  ///< the server's certificate, followed by those of the authorities between
  std::string key = {};          ///< its private key, without a password
  std::string clients = {};      ///< if not empty: only clients with a certificate of one of these authorities may ask
};

namespace detail {

/// A connection, whose handshake is done by the first reads and writes.
class openssl_stream final : public secure_stream {
 public:
  explicit openssl_stream(SSL* ssl) : ssl_(ssl, &SSL_free) {}

  stream_result read(char* to, std::size_t size) override {
    std::size_t count = 0;
    ERR_clear_error();
    const int good = SSL_read_ex(ssl_.get(), to, size, &count);
    return result_of(good, count);
  }
  stream_result write(const char* from, std::size_t size) override {
    std::size_t count = 0;
    ERR_clear_error();
    const int good = SSL_write_ex(ssl_.get(), from, size, &count);
    return result_of(good, count);
  }
  void end() override {
    ERR_clear_error();
    if (SSL_is_init_finished(ssl_.get()) == 1) SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }

 private:
  stream_result result_of(int good, std::size_t count) const {
    using state = stream_result::state;
    if (good == 1) return {state::done, count};
    switch (SSL_get_error(ssl_.get(), good)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE: return {state::again, 0};
      case SSL_ERROR_ZERO_RETURN: return {state::ended, 0};
      default: return {state::broken, 0};  // HTTP says itself where a message ends
    }
  }
  std::unique_ptr<SSL, void (*)(SSL*)> ssl_;
};

/// The keys of a server. TLS 1.2 at least.
class openssl_streams final : public secure_streams {
 public:
  explicit openssl_streams(const tls_options& o) : context_(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free) {
    if (!context_) refuse("OpenSSL cannot start");
    SSL_CTX* const c = context_.get();
    SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
    SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    expect_file(o.certificate, ".certificate");
    expect_file(o.key, ".key");
    if (SSL_CTX_use_certificate_chain_file(c, o.certificate.c_str()) != 1)
      refuse("there is no certificate in " + o.certificate);
    SSL_CTX_set_default_passwd_cb(c, [](char*, int, int, void*) { return 0; });  // asks nobody
    if (SSL_CTX_use_PrivateKey_file(c, o.key.c_str(), SSL_FILETYPE_PEM) != 1)
      refuse("there is no private key in " + o.key + ", it has a password, or it is not that of " + o.certificate);
    if (o.clients.empty()) return;
    expect_file(o.clients, ".clients");
    if (SSL_CTX_load_verify_locations(c, o.clients.c_str(), nullptr) != 1)
      refuse("there is no certificate in " + o.clients);
    SSL_CTX_set_client_CA_list(c, SSL_load_client_CA_file(o.clients.c_str()));
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }

  std::unique_ptr<secure_stream> accept(int socket) const override {
    SSL* const connection = SSL_new(context_.get());
    if (connection == nullptr) return nullptr;
    auto stream = std::make_unique<openssl_stream>(connection);
    if (SSL_set_fd(connection, socket) != 1) return nullptr;
    SSL_set_accept_state(connection);
    return stream;
  }

 private:
  [[noreturn]] static void refuse(const std::string& what) {
    char why[256] = "";
    const unsigned long code = ::ERR_peek_error();
    if (code != 0) ::ERR_error_string_n(code, why, sizeof why);
    ::ERR_clear_error();
    throw error("manta: serve::tls: " + what + (code != 0 ? std::string(" (OpenSSL says: ") + why + ")" : ""));
  }
  static void expect_file(const std::string& path, const char* option) {
    if (path.empty()) refuse(std::string(option) + " is missing: the path of a file in the PEM format");
    std::FILE* const file = std::fopen(path.c_str(), "r");
    if (file == nullptr) refuse(std::string(option) + ": cannot read " + path + ": " + std::strerror(errno));
    std::fclose(file);
  }

  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
};

}  // namespace detail

/// For http_options::tls. Throws manta::error if a file is missing or is not what it should be.
inline std::shared_ptr<const detail::secure_streams> tls(const tls_options& o) {
  return std::make_shared<detail::openssl_streams>(o);
}

}  // namespace manta::serve
