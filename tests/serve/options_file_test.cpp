// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Options from files. No option of this text asks for processes: those that files ask for have to be there.
#include "manta/serve/options_file.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

#include "manta/serve.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
using namespace std::chrono_literals;
namespace serve = manta::serve;

namespace {
const pid_t of_this_rank = ::getpid();
/// Does not return for 13, or within two seconds on a rank of its own: a run waits for its ranks.
int hang_at_13(int x) {
  if (x == 13 && ::getpid() == of_this_rank) ::usleep(2'000'000);
  for (volatile bool ends = x != 13 || ::getpid() == of_this_rank; !ends;) {
  }
  return 2 * x;
}
int process_of_replica(int) { return static_cast<int>(::getpid()); }
}  // namespace

TEST_CASE("options come from a JSON file; unknown keys and wrong values are refused by name") {
  const manta::testing::folder f;
  const auto written = [&](const std::string& text) {
    std::ofstream(f.path + "/options.json") << text;
    return f.path + "/options.json";
  };
  const serve::options o = serve::read_options(
      written(R"({"name": "m", "replicas": 2, "max_batch": 8, "wait_ms": 0.5, "idempotent": true, "gpus": 0.5,
                  "resources": {"licence": 2}, "health_every_ms": 100})"),
      {.max_queue = 7});
  CHECK(o.name == "m");
  CHECK(o.replicas == 2);
  CHECK(o.max_batch == 8);
  CHECK(o.wait == 500us);
  CHECK(o.max_queue == 7);
  CHECK(o.idempotent);
  CHECK(o.gpus == 0.5);
  CHECK(o.resources.amount("licence") == 2);
  CHECK(o.health_every == 100ms);
  const auto refused = [&](const char* text) {
    return thrown<manta::error>([&] { serve::read_options(written(text)); });
  };
  CHECK(contains(refused(R"({"replica": 2})"),
                 "there is no option \"replica\"; there are name, replicas, max_batch, wait_ms,"));
  CHECK(contains(refused(R"({"replicas": "two"})"), "replicas: expected an integer"));
  CHECK(contains(refused(R"({"wait_ms": -1})"), "wait_ms: expected milliseconds from 0 on"));
  CHECK(contains(refused("7"), "expected an object with options of a deployment, or a list of such objects"));
  CHECK(refused("{").starts_with("manta: serve::read_options: " + f.path +
                                 "/options.json: the file is not JSON: parse error at line 1, column 2"));
  CHECK(
      contains(refused(R"({"resources": {"licence": "two"}})"), "options.json: resources.licence: expected a number"));
  CHECK(contains(thrown<manta::error>([] { serve::read_options("/no/file.json"); }), "cannot read /no/file.json"));
}

TEST_CASE("a JSON file has the options of several deployments; each is found by its name") {
  const manta::testing::folder f;
  const auto read = [&](const char* text, const serve::options& otherwise) {
    std::ofstream(f.path + "/serve.json") << text;
    return serve::read_options(f.path + "/serve.json", otherwise);
  };
  constexpr const char* two = R"([{"name": "quick", "replicas": 4}, {"name": "careful", "max_batch": 2}])";
  CHECK(read(two, {.name = "quick", .max_queue = 7}).replicas == 4);
  const serve::options careful = read(two, {.name = "careful", .replicas = 3, .max_queue = 7});
  CHECK(careful.name == "careful");
  CHECK(careful.replicas == 3);
  CHECK(careful.max_batch == 2);
  CHECK(careful.max_queue == 7);
  const auto refused = [&](const char* text, const char* name = "quick") {
    return thrown<manta::error>([&] { read(text, {.name = name}); });
  };
  CHECK(contains(refused(two, "quik"), "there are no options of \"quik\"; there are those of \"quick\", \"careful\""));
  CHECK(contains(refused(two, ""), "the file is a list; say which options are meant: read_options(file, {.name = "));
  CHECK(contains(refused("[]"), "there are no options of \"quick\"; the list is empty"));
  CHECK(contains(refused(R"([{"name": "quick"}, {"replicas": 2}])"), "[1]: name is missing"));
  CHECK(contains(refused(R"([{"name": "quick"}, {"name": "quick"}])"), "[1]: there are options of \"quick\" already"));
  CHECK(contains(refused(R"([{"name": "quick"}, {"name": "b", "replica": 2}])"), "[1]: there is no option"));
  CHECK(contains(refused(R"({"quick": {"replicas": 2}})"), "are a list: [{\"name\": \"quick\", ..}"));
}

TEST_CASE("a time limit and processes of replicas may come from a file, on any number of ranks") {
  in_world([] {
    const manta::testing::folder f;
    std::ofstream(f.path + "/serve.json")
        << R"([{"name": "patient", "timeout_ms": 200}, {"name": "apart", "isolate": true}])";
    const auto read = [&](const char* name) { return serve::read_options(f.path + "/serve.json", {.name = name}); };
    auto d = serve::deploy<hang_at_13>(read("patient"));
    CHECK(d(2).get() == 4);
    CHECK_THROWS_AS(d(13).get(), serve::timed_out);
    CHECK(d(3).get() == 6);
    auto apart = serve::deploy<process_of_replica>(read("apart"));
    CHECK(apart(0).get() != static_cast<int>(::getpid()));
  });
}
