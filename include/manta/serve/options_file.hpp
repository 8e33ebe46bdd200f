// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The options of a deployment from a file, so that they can be changed without compiling:
//
//   auto fashion = serve::deploy<serve::batched<&classifier::predict>>(serve::read_options("fashion.json"), "model");
//
//   {"name": "fashion", "replicas": 2, "max_batch": 32, "wait_ms": 2, "idempotent": true}
//
// A file may have the options of several deployments, as a list; the name then says which are meant:
//
//   auto quick = serve::deploy<&model::predict>(serve::read_options("serve.json", {.name = "quick"}), 2.0);
//
//   [{"name": "quick", "replicas": 4}, {"name": "careful", "replicas": 2, "max_queue": 100}]
//
// The keys are the members of serve::options; times have the unit in their names: wait_ms, timeout_ms, health_every_ms.
// "resources" is an object of amounts by their names.
//
// A file for a whole application has the server's options, too:
//
//   {"http": {"port": 8000, "idle_time_ms": 60000}, "deployments": [{"name": "quick", "replicas": 4}]}
//
//   serve::http http(serve::read_http_options("serve.json"));
#pragma once

#include <string>
#include <type_traits>

#include "manta/serve/http_options.hpp"
#include "manta/serve/json.hpp"
#include "manta/serve/options.hpp"

namespace manta::serve {

namespace detail {
MANTA_DECL options read_options_file(const std::string& path, const options& otherwise);
}  // namespace detail

/// What the JSON object in the file says, and what `otherwise` has where the file says nothing. Of a list of objects,
/// the one with the name `otherwise.name` counts. Throws manta::error if the file cannot be read; json_error for a text
/// that is no JSON, for an unknown key or name, with those that there are, and for a value of another type, anywhere in
/// the file. The values themselves are checked by deploy.
//  (A template, so that only a program that calls it prepares for the processes that "timeout_ms" and "isolate" need.)
template <class Options = options>
Options read_options(const std::string& path, const Options& otherwise = {}) {
  (void)isolate_option(std::is_same_v<Options, options>);
  return detail::read_options_file(path, otherwise);
}

/// The options of a server: the object "http" of a file that has one. A file without it changes nothing. The program
/// sets `tls` and `compression`.
MANTA_DECL http_options read_http_options(const std::string& path, const http_options& otherwise = {});

}  // namespace manta::serve

#ifndef MANTA_COMPILED
#include "manta/serve/options_file.ipp"
#endif
