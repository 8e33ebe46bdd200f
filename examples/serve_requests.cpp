// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What handlers read of a request and say in an answer: values of the path and the query, statuses, bytes, and values
// that come one after the other.
//
//   scripts/run serve_requests -n 2 -- 8000
//   curl 'localhost:8000/items/7?unit=kg'
//   curl -i localhost:8000/items/12
//   curl -N -d '["Once", 3]' localhost:8000/write
//
// With `check` it asks itself. Expected output:
//   "item 7 in kg" 404 422 0123 3 values
#include <manta/manta.hpp>
#include <manta/serve.hpp>
#include <manta/serve/http.hpp>

#include <algorithm>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>

#include "serve_check.hpp"

namespace serve = manta::serve;

struct no_such_item : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// [functions]
std::string find_item(int id, std::optional<std::string> unit) {
  if (id < 0) throw serve::http_error(422, "an id is at least 0");
  if (id > 9) throw no_such_item("there is no item " + std::to_string(id));
  return "item " + std::to_string(id) + " in " + unit.value_or("pieces");
}
serve::response thumbnail(const serve::request& r) {
  return serve::bytes(r.body.substr(0, 4), std::string(r.header("Content-Type")));
}
// [end]

struct language_model {
  std::string words;
  manta::generator<std::string> write(std::string prompt, int count) {
    for (int i = 0; i < count; ++i) co_yield prompt + " " + words + " " + std::to_string(i);
  }
};

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "8000";
  return manta::run(argc, argv, [&] {
    serve::http http({.port = what == "check" ? 0 : std::stoi(what)});
    auto writer = serve::deploy<&language_model::write>({.name = "writer"}, std::string("upon a time"));
    // [routes]
    http.route<find_item>("/items/{id}", {.inputs = {"id", "unit"}});  // GET /items/7?unit=kg
    http.answer<no_such_item>(404);                                    // when find_item throws this
    http.route<thumbnail>("/thumbnail");                               // bytes in, bytes out
    http.route("/write", writer, {.inputs = {"prompt", "count"}});     // values as they come
    // [end]
    if (what != "check") return http.run(), 0;
    if (!has_program("curl")) return 0;
    const auto ask = [&](const std::string& path, const std::string& options = "") {
      return output_beside(http, "curl -sN --max-time 20 " + options + " '" + http.url() + path + "'");
    };
    const std::string status = "-o /dev/null -w '%{http_code}'";
    const std::string found = ask("/items/7?unit=kg"), none = ask("/items/12", status), bad = ask("/items/-1", status);
    const std::string bytes = ask("/thumbnail", "-d 0123456789"), words = ask("/write", "-d '[\"Once\", 3]'");
    const auto values = std::count(words.begin(), words.end(), '\n');
    std::cout << found << ' ' << none << ' ' << bad << ' ' << bytes << ' ' << values << " values\n";
    return found == "\"item 7 in kg\"" && none == "404" && bad == "422" && bytes == "0123" && values == 3 ? 0 : 1;
  });
}
