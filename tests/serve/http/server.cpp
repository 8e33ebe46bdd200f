// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A server for http_test.py: http_server [key=value ..]; keys are members of http_options.
#include <manta/eigen.hpp>
#include <manta/manta.hpp>
#include <manta/serve.hpp>
#include <manta/serve/http.hpp>
#include <manta/serve/options_file.hpp>
#include <manta/serve/python.hpp>
#ifdef WITH_TLS
#include <manta/serve/tls.hpp>
#endif
#ifdef WITH_GZIP
#include <manta/serve/gzip.hpp>
#endif

#include <unistd.h>

#include <map>
#include <stdexcept>

using namespace std::chrono_literals;

namespace {
int twice(int x) { return 2 * x; }
double add(double a, double b) { return a + b; }
std::string greet() { return "hello"; }
int fail(int x) { throw std::runtime_error("no luck with " + std::to_string(x)); }
int wait_ms(int ms) {
  usleep(static_cast<useconds_t>(ms) * 1000);
  return ms;
}
/// Rank 1 computes until there is such a file.
std::string hold_rank_1(const std::string& until) {
  const auto hold = [](const std::string& path) {
    while (access(path.c_str(), F_OK) != 0) usleep(1000);
    return 0;
  };
  manta::async(manta::task_options{.rank = 1}, hold, until);
  return until;
}
/// Waits and lets its rank, which may be the server's, go on meanwhile.
int pause_ms(int ms) {
  const manta::promise<int> never;
  (void)never.get_future().wait_for(std::chrono::milliseconds(ms));
  return ms;
}
double not_finite(double x) { return x / 0.0; }

struct point {
  double x = 0, y = 0;
  std::optional<std::string> label;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(x), CEREAL_NVP(y), CEREAL_NVP(label));
  }
};
point mirror(const point& p) { return {-p.x, -p.y, p.label}; }

manta::generator<int> count(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}
manta::generator<int> break_off(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
  throw std::runtime_error("broken off");
}

/// A linear map with two results, in batches.
struct linear {
  double factor = 1;
  std::vector<std::pair<std::vector<float>, int>> predict(const std::vector<std::vector<float>>& batch) {
    std::vector<std::pair<std::vector<float>, int>> results;
    for (const std::vector<float>& x : batch) {
      std::vector<float> y;
      for (const float v : x) y.push_back(static_cast<float>(factor) * v);
      results.emplace_back(y, static_cast<int>(x.size()));
    }
    return results;
  }
};
Eigen::VectorXf rows_of(const Eigen::Matrix<float, 2, Eigen::Dynamic>& m) { return m.rowwise().sum(); }
std::string shout(const std::string& text) { return text + "!"; }
int process_of_replica(int) { return static_cast<int>(getpid()); }
/// Its process, after so many milliseconds; ends it for a negative number.
int process_after(int ms) {
  if (ms < 0) _exit(3);
  wait_ms(ms);
  return process_of_replica(0);
}
/// Answers what somebody pushes.
struct gated {
  manta::queue<int> gate;
  int pop(int) { return gate.pop(); }
};

// --- what handlers can say and read

struct no_such_item : std::runtime_error {
  using std::runtime_error::runtime_error;
};
int refuse(int x) {
  if (x < 0) throw manta::serve::http_error(422, "the amount is below 0", {{"X-Reason", "amount"}});
  if (x > 9) throw no_such_item("there is no item " + std::to_string(x) + " in /home/me/shop.db");
  return x;
}
std::string item(int id, std::optional<int> k) { return std::to_string(id) + ":" + (k ? std::to_string(*k) : "-"); }
manta::serve::response whole(const manta::serve::request& r) {
  return {r.method + " " + r.path + " " + std::string(r.header("X-Colour")) + " " + std::string(r.value("k")) + " " +
              std::to_string(r.body.size()),
          "text/plain; charset=utf-8",
          202,
          {{"X-Answer", "yes"}}};
}
std::vector<std::string> parts_of(const manta::serve::request& r) {
  std::vector<std::string> all;
  for (const auto& p : r.form())
    all.push_back(p.name + "/" + p.file + "/" + p.type + "/" + std::to_string(p.data.size()));
  return all;
}
manta::serve::response picture() { return manta::serve::bytes(std::string("\x89PNG\0\n", 6), "image/png"); }
int throws_a_number(int x) { throw x; }

/// Writes words, of which some take their time.
struct writer {
  std::string end;
  int written = 0;
  manta::generator<std::string> write(std::string prompt, int count, int pause) {
    for (int i = 0; i < count; ++i) {
      if (pause > 0) wait_ms(pause);
      ++written;
      co_yield prompt + std::to_string(i) + end;
    }
    if (prompt == "fail") throw std::runtime_error("no more words");
  }
};
/// A model that takes its time to load; says its process and its rank.
struct loaded {
  explicit loaded(int ms) { wait_ms(ms); }
  loaded(int ms, const std::string& until) {
    while (access(until.c_str(), F_OK) != 0) wait_ms(ms);
  }
  std::pair<int, int> predict(int ms) {
    wait_ms(ms);
    return {static_cast<int>(getpid()), manta::rank()};
  }
};
int hang_or_answer(int x) {
  if (x == 13) wait_ms(2000);  // for a client, for ever
  if (x >= 100) wait_ms(x);
  return x;
}
/// Cannot be made while the file is there.
struct weights {
  explicit weights(const std::string& missing) {
    if (access(missing.c_str(), F_OK) == 0) throw std::runtime_error("no weights in /home/me/weights.bin");
  }
  int predict(int x) {
    if (x == 13) throw manta::fatal("ends its replica");
    return x;
  }
};
/// An answer of any form.
manta::serve::response any_answer(int status, const std::string& name, const std::string& value) {
  return {"x", "text/plain", status, {{name, value}}};
}
std::string path_of(const manta::serve::request& r) {
  return std::string(r.value("user")) + "/" + std::string(r.value("id"));
}

// --- tasks that change deployments

std::string update_from_task(const std::string& name) {
  manta::serve::find<std::pair<int, int>(int)>(name).update(0);
  return name;
}
/// A new version from this rank; gives its process.
int update_from_rank(int rank) {
  const auto update = [](const std::string& name) {
    update_from_task(name);
    return static_cast<int>(getpid());
  };
  return manta::async(manta::task_options{.rank = rank}, update, std::string("loaded")).get();
}
/// Asks the other one, which asks this one.
struct goes_round {
  std::string next;
  int run(int steps) const { return steps == 0 ? 0 : 1 + manta::serve::find<int(int)>(next).ask(steps - 1); }
};

char letter_after(char x) { return static_cast<char>(x + 1); }
std::uint8_t next(std::uint8_t x) { return static_cast<std::uint8_t>(x + 1); }

/// Makes a mistake, and prints the error.
template <class Mistake>
void says_why(Mistake mistake) {
  try {
    mistake();
    std::fputs("accepted\n", stderr);
  } catch (const manta::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
}

/// Asks another deployment.
struct asks_twice {
  manta::serve::deployment<int(int)> other;
  int ask(int x) { return other.ask(x) + 1; }
};
/// Deployments that may repeat what was lost with a rank.
void route_for_soak(manta::serve::http& http) {
  namespace serve = manta::serve;
  auto one = serve::deploy<twice>({.name = "soak_one", .replicas = 3, .idempotent = true});
  http.route("/soak/one", one);
  http.route("/soak/batch", serve::deploy<serve::batched<&linear::predict>>(
                                {.name = "soak_batch", .replicas = 2, .max_batch = 16, .idempotent = true}, 2.0));
  http.route("/soak/scaled",
             serve::deploy<twice>({.name = "soak_scaled", .idempotent = true, .min = 1, .max = 3, .down_after = 1s}));
  http.route("/soak/asks", serve::deploy<&asks_twice::ask>({.name = "soak_asks", .idempotent = true}, one));
  http.route("/soak/pid", serve::deploy<process_of_replica>({.name = "pid", .replicas = 2, .idempotent = true}));
  http.route("/here/pid", [one](int) { return one.valid() ? static_cast<int>(getpid()) : 0; });
}

/// What a server refuses, and a route beside /double, which is a deployment.
void make_mistakes(manta::serve::http& http) {
  using options = manta::serve::http_options;
  for (const options& o : {options{.port = 0, .files = "/no/such/folder"}, options{.port = 0, .address = "192.0.2.1"},
                           options{.port = 0, .max_connections = 0}, options{.port = 0, .answer_time = -5ms},
                           options{.port = 0, .token = "secret\n"}, options{.port = 0, .token = "sec\tret"},
                           options{.port = 0, .token = "secret "}, options{.port = 0, .hosts = {"me.org:80"}}})
    says_why([&] { manta::serve::http refused(o); });
  for (const char* path : {"/status", "/v2/models", "double", "/double", "/other?x=1", "/other\n"})
    says_why([&] { http.route<twice>(path); });
  for (const std::vector<std::string>& inputs : {std::vector<std::string>{"a", "b", "c"}, {"x", "x"}, {"", "x"}})
    says_why([&] { http.route<add>("/named", {.inputs = inputs}); });
  says_why([&] { http.route<twice>("/named", {.outputs = {"y", "z"}}); });
  says_why([&] { http.route<twice>("/other", {.name = "double"}); });
  says_why([&] { http.route("/empty", manta::serve::deployment<int(int)>()); });
}
}  // namespace

int main(int argc, char** argv) {
  return manta::run(argc, argv, [&] {
    namespace serve = manta::serve;
    std::map<std::string, std::string> given;
    for (int i = 1; i < argc; ++i) {
      const std::string text = argv[i];
      given[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
    }
    const auto number = [&](const std::string& key, int otherwise) {
      return given.count(key) != 0 ? std::stoi(given[key]) : otherwise;
    };
    serve::http_options options;
    options.port = 0;
    options.socket = given["socket"];
    options.token = given["token"];
    options.files = given["files"];
    if (!given["address"].empty()) options.address = given["address"];
    options.max_header = static_cast<std::size_t>(number("max_header", 16384));
    options.max_body = static_cast<std::size_t>(number("max_body", 1 << 20));
    options.max_connections = number("max_connections", 1024);
    options.max_requests = number("max_requests", 4096);
    options.answer_time = std::chrono::milliseconds(number("answer_time", 300'000));
    options.request_time = std::chrono::milliseconds(number("request_time", 30'000));
    options.max_bodies = static_cast<std::size_t>(number("max_bodies", 256 << 20));
    options.idle_time = std::chrono::milliseconds(number("idle_time", 75'000));
    options.access_log = given["access_log"];
    options.log_as_json = !given["log_as_json"].empty();
    options.detailed_errors = !given["detailed_errors"].empty();
    options.open_health = given["closed_health"].empty();
    options.no_replicas = !given["no_replicas"].empty();
    options.drain_time = std::chrono::milliseconds(number("drain_time", 20'000));
    if (!given["cors"].empty()) options.cors = {given["cors"]};
    if (!given["hosts"].empty()) options.hosts = {given["hosts"]};
    if (!given["ranks"].empty()) options.ranks = {1, 2};
    if (!given["port"].empty()) options.port = std::stoi(given["port"]);
    if (!given["application"].empty()) options = serve::read_http_options(given["application"], options);
#ifdef WITH_GZIP
    if (options.ranks.empty()) options.compression = serve::gzip();
#endif
    if (!given["certificate"].empty()) {
#ifdef WITH_TLS
      options.tls = serve::tls({.certificate = given["certificate"], .key = given["key"], .clients = given["clients"]});
#else
      std::fputs("no TLS\n", stderr);
      return;
#endif
    }
    serve::http http(options);
    auto doubled = serve::deploy<twice>({.name = "double"});
    auto model = serve::deploy<serve::batched<&linear::predict>>({.name = "linear", .max_batch = 8}, 2.0);
    http.route("/double", doubled);
    for (const char* path : {"/linear", "/linear/again"})
      http.route(path, model, {.inputs = {"x"}, .outputs = {"y", "size"}});
    http.route<add>("/add", {.inputs = {"a", "b"}});
    http.route<greet>("/greet");
    if (given.count("mistakes") != 0) {
      make_mistakes(http);
      return says_why([&] { http.route("/linear/other", model, {.inputs = {"z"}, .outputs = {"y", "size"}}); });
    }
    http.route<fail>("/fail");
    http.route<wait_ms>("/wait");
    http.route<pause_ms>("/pause");
    http.route<not_finite>("/infinite");
    http.route<mirror>("/mirror");
    http.route<count>("/count");
    http.route<break_off>("/break_off");
    http.route<rows_of>("/rows");
    http.route<shout>("/shout");
    http.route<next>("/next");
    http.route<letter_after>("/letter_after");
    http.route("/here", [](int x) { return x; });
    if (!given["ranks"].empty()) {  // further routes cannot be sent
      says_why([&] { http.route("/mine", [doubled](int x) { return doubled(x); }); });
      return http.run();
    }
    manta::queue<int> gate(8);
    serve::options one_at_a_time{.name = "gated"};
    one_at_a_time.max_ongoing = 1;
    auto pops = serve::deploy<&gated::pop>(one_at_a_time, gate);
    http.route("/gated", pops);
    http.route("/hurried", pops.with({.deadline = std::chrono::milliseconds(20)}));
    http.route("/open", [gate](int x) {
      manta::queue<int> to = gate;
      to.push(x);
      return x;
    });
    if (!given["rims"].empty()) {
      http.route<refuse>("/refuse");
      http.answer<no_such_item>(404);
      http.route<item>("/items/{id}", {.inputs = {"id", "k"}, .summary = "An item"});
      http.route<whole>("/whole", {.methods = {"GET", "POST", "DELETE"}});
      http.route<parts_of>("/form");
      http.route<picture>("/picture");
      http.route<throws_a_number>("/number");
      http.route<any_answer>("/answer");
      for (const char* path : {"/live", "/get/live", "/get_live"}) http.route<greet>(path);
      http.route<path_of>("/users/{user}/{id}", {.methods = {"GET"}});
      serve::options circle{.name = "round_a"};
      circle.max_ongoing = 1;
      http.route("/round", serve::deploy<&goes_round::run>(circle, "round_b"));
      circle.name = "round_b";
      http.route("/round/b", serve::deploy<&goes_round::run>(circle, "round_a"));
      http.route("/number/here", [gate](int x) -> int { throw x + 0 * static_cast<int>(gate.valid()); });
      serve::options its{.name = "writer", .replicas = 2};
      if (manta::size() > 1) its.timeout = std::chrono::milliseconds(300);
      http.route("/write", serve::deploy<&writer::write>(its, std::string("w")),
                 {.inputs = {"prompt", "count", "pause"}});
    }
    if (!given["away"].empty()) {
      serve::options its{.name = "away"};
      its.router_rank = 1;
      http.route("/away", serve::deploy<twice>(its));
      http.route<hold_rank_1>("/hold");
    }
    if (!given["load"].empty()) {
      http.route<update_from_task>("/update");
      http.route<update_from_rank>("/update/from");
      http.route("/loaded", serve::deploy<&loaded::predict>({.name = "loaded", .replicas = number("replicas", 1)},
                                                            number("load", 0)));
    }
    if (!given["held"].empty())  // its constructors return while there is such a file
      http.route("/held", serve::deploy<&loaded::predict>({.name = "held", .replicas = 2}, 1, given["held"]));
    if (!given["hang"].empty()) {
      serve::options impatient{.name = "impatient", .replicas = 2};
      impatient.timeout = std::chrono::milliseconds(300);
      http.route("/hang", serve::deploy<hang_or_answer>(impatient));
      impatient.name = "impatient_eager";
      impatient.max_ongoing = 4;
      impatient.idempotent = true;
      http.route("/hang/eager", serve::deploy<hang_or_answer>(impatient));
    }
    if (!given["weights"].empty())
      http.route("/weights", serve::deploy<&weights::predict>({.name = "weights"}, given["weights"]));
    if (!given["sleepy"].empty()) {
      serve::options from_zero{.name = "sleepy", .max = 2};
      from_zero.from_zero = true;
      from_zero.down_after = std::chrono::milliseconds(200);
      http.route("/sleepy", serve::deploy<twice>(from_zero));
    }
    if (!given["soak"].empty()) route_for_soak(http);
    if (!given["deaths"].empty()) {
      http.route("/once", serve::deploy<process_of_replica>({.name = "once", .replicas = 3}));
      http.route("/again", serve::deploy<process_after>({.name = "again", .replicas = 3, .idempotent = true}));
    }
    if (!given["python"].empty())
      http.route("/python", serve::python(given["python"], {.max_batch = 8}), {.inputs = {"x"}, .outputs = {"y"}});
    if (given.count("second") == 0) return http.run();
    serve::http second({.port = 0});
    second.route("/double", doubled);
    bool first_serves = true, second_serves = true;
    while (first_serves || second_serves) {
      first_serves = http.run_for(std::chrono::milliseconds(20));
      second_serves = second.run_for(std::chrono::milliseconds(20));
    }
  });
}
