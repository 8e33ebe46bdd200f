// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Requests and answers of HTTP as a function may take and give them, where the value of the body alone is not enough:
//
//   serve::response thumbnail(const serve::request& r) {                    // a body of bytes, and an answer of bytes
//     return serve::bytes(shrink(r.body), "image/png");
//   }
//   std::string greet(const std::string& name, const serve::request& r) {   // a value, and a header field
//     return r.header("Accept-Language").starts_with("de") ? "Hallo " + name : "Hello " + name;
//   }
//
// A deployed method may take and give them too: both are values, which travel.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/serve/source.hpp"

namespace manta::serve {

/// A part of a form, or of a body of type multipart/form-data.
struct form_part {
  std::string name, data;
  std::string file = {};  ///< name of the file that was chosen; empty: it is no file
  std::string type = {};  ///< such as "image/png", as the client has named it

  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, data, file, type);
  }
};

/// What a client has sent.
struct request {
  using pairs = std::vector<std::pair<std::string, std::string>>;

  std::string method = {}, path = {};  ///< the path is decoded, and without the query
  std::string id = {};                 ///< value of X-Request-Id, or given by the server; empty if that gives none
  std::string client = {};             ///< address; "unix" on a Unix socket
  pairs parameters = {};               ///< values of the {names} in the route's path
  pairs query = {};                    ///< behind the "?"
  pairs fields = {};                   ///< fields of the header
  std::string body = {};               ///< bytes, as they came; empty if the function has taken a value from them

  /// The first header field of this name, whose letters may be large or small; empty if there is none.
  [[nodiscard]] MANTA_DECL std::string_view header(std::string_view name) const;
  /// The first value of this name in the path or in the query; empty if there is none.
  [[nodiscard]] MANTA_DECL std::string_view value(std::string_view name) const;
  /// The parts of the body, which is a form: multipart/form-data or application/x-www-form-urlencoded. Throws
  /// http_error with the status 415 for another body, and 400 for a broken one.
  [[nodiscard]] MANTA_DECL std::vector<form_part> form() const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(method, path, id, client, parameters, query, fields, body);
  }
};

/// What a function answers where it is more than a value: the bytes of the body and their type, the
/// status, header fields.
struct response {
  std::string body = {};
  std::string type = "text/plain; charset=utf-8";
  int status = 200;
  request::pairs header = {};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(body, type, status, header);
  }
};

/// An answer that is a text as it stands, not JSON.
inline response text(std::string body, int status = 200) {
  return {std::move(body), "text/plain; charset=utf-8", status};
}
/// An answer of bytes, such as a picture.
inline response bytes(std::string body, std::string type = "application/octet-stream", int status = 200) {
  return {std::move(body), std::move(type), status};
}

}  // namespace manta::serve

#ifndef MANTA_COMPILED
#include "manta/serve/request.ipp"
#endif
