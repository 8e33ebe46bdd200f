// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// manta::serve under load, by a client in a process of its own (load.hpp), beside the same server with an answer of its
// own (`raw`). On one rank the client has the second core; on more ranks the client shares them.
//
//   bench_serve_manta [repetitions]
//   bench_serve_manta minute        overload and a constant load for a minute each: whether memory and replicas stay
//
//   serve_handle_N           us, a call by a handle, on N ranks: the median
//   serve_http_N             us, median of a request through a replica, one connection
//   serve_http_raw_N         the server's own answer
//   serve_cpu_1, serve_cpu_raw_1    us of processor time of the rank for a request, 32 connections
//   serve_rate_1, serve_rate_raw_1  k/s, 32 connections
//   serve_least_1            x, answers of the least served of 256 connections, of the mean
//   serve_client_1           us of processor time of the client for one of these requests
//   serve_batch_N            k/s, network 784-1024-1024-10, 64 connections, batches of 32; on two ranks the server and
//                            the replica are apart
//   serve_batch_raw_N        likewise, one at a time
//   serve_batch_binary_N     k/s, batches of 32, the numbers as bytes by the Open Inference Protocol
//   serve_batch_size_N       x, requests of a batch
//   serve_batch_cpu_1        us of processor time of the rank for a request of serve_batch; serve_batch_cpu_raw_1: of
//                            serve_batch_raw. Their ratio is what batches gain where the client has a core of its own
//   serve_batch_http_1       likewise of the same requests to a deployment in batches that computes nothing;
//                            serve_batch_http_raw_1: to the server's own answer, which reads the numbers
//   serve_product_1          us of the network alone for a sample of a batch of 32; serve_product_raw_1: for one alone
//   serve_batch_gain_1       x, serve_batch_cpu_raw / serve_batch_cpu
//   serve_batch_bound_1      x, what batches could gain if queues and replicas cost nothing: (serve_product_raw +
//                            serve_batch_http_raw) / (serve_product + serve_batch_http_raw)
//   serve_batch_alone_1      us, median at one connection with batches; serve_batch_alone_raw_1: without
//   serve_peak_raw_1         k/s of a replica that computes for 1 ms, 8 connections
//   serve_overload_1         k/s, good answers at twice that rate
//   serve_accepted_p99_1     ms; serve_refused_p99_1: ms until a 503; serve_grown_1: MB that the rank has grown
//   serve_update_1           failed requests while the version changes ten times
//   serve_scale_N            ms from a step to 8 calls under way to a second replica
//   serve_reversals_N        x, fewer replicas than before at this constant load, in 3 s
//   serve_minute_*           likewise in a minute
//   serve_replicas_3         1/s, calls that wait for 2 ms, as for a device, through two replicas on their own ranks;
//                            serve_replicas_raw_3: through one. On three ranks this is the only figure
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <manta/manta.hpp>
#include <manta/serve.hpp>
#include <manta/serve/http.hpp>
#include <manta/serve/nn.hpp>

#include "../common/measure.hpp"
#include "../common/process.hpp"
#include "load.hpp"

namespace nn = manta::nn;
namespace serve = manta::serve;
using namespace std::chrono_literals;

namespace {

int same(int x) { return x; }
int computes(int x) {
  const bench::stopwatch w;
  while (w.seconds() < 1e-3) {
  }
  return x;
}
std::vector<float> first_ten(const std::vector<float>& x) { return {x.begin(), x.begin() + 10}; }
std::vector<std::vector<float>> first_tens(const std::vector<std::vector<float>>& batch) {
  std::vector<std::vector<float>> all;
  for (const std::vector<float>& x : batch) all.push_back(first_ten(x));
  return all;
}
struct version {
  int number;
  int get(int x) { return number + x; }
};

/// What the client found, in one line.
struct found {
  double seconds = 0, p50 = 0, p99 = 0, refused_p99 = 0;
  double good = 0, refused = 0, other = 0, broken = 0, least = 0;
  double cpu = 0;     ///< us of this rank for an answer
  double client = 0;  ///< us of the client
  [[nodiscard]] double answers() const { return good + refused + other; }
};

int client(int argc, char** argv) {
  if (argc < 7) return 2;
  cpu_set_t all;  // the rank may be bound to a core; the client need not be there
  std::memset(&all, 0xff, sizeof all);
  ::sched_setaffinity(0, sizeof all, &all);
  bench::load_options o{.port = std::atoi(argv[2]),
                        .connections = std::atoi(argv[3]),
                        .seconds = std::atof(argv[4]),
                        .rate = std::atof(argv[5]),
                        .path = argv[6],
                        .body = "21"};
  const int pixels = argc > 7 ? std::atoi(argv[7]) : 0;
  if (pixels > 0 && o.path.ends_with("/infer")) {
    const std::vector<float> numbers(static_cast<std::size_t>(pixels), .25F);
    const std::string bytes(reinterpret_cast<const char*>(numbers.data()), 4 * numbers.size());
    o.body = R"({"inputs":[{"name":"input0","shape":[1,)" + std::to_string(pixels) +
             R"(],"datatype":"FP32","parameters":{"binary_data_size":)" + std::to_string(bytes.size()) + "}}]}";
    o.field = "Inference-Header-Content-Length: " + std::to_string(o.body.size()) + "\r\n";
    o.body += bytes;
  } else if (pixels > 0) {
    o.body = "[0.5";
    for (int i = 1; i < pixels; ++i) o.body += ",0.25";
    o.body += "]";
  }
  bench::load client(o);
  const double before = bench::process_seconds();
  const bench::load_result r = client.run();
  const double answers = static_cast<double>(std::max<std::uint64_t>(1, r.good + r.refused + r.other));
  std::printf("%g %g %g %g %lu %lu %lu %lu %lu %g\n", r.seconds, r.quantile(r.latencies, .5),
              r.quantile(r.latencies, .99), r.quantile(r.refusals, .99), r.good, r.refused, r.other, r.broken, r.least,
              1e6 * (bench::process_seconds() - before) / answers);
  return 0;
}

/// Starts a client and serves until it has ended.
found load(serve::http& http, const std::string& path, int connections, double rate = 0, double seconds = 1,
           int pixels = 0) {
  std::vector<std::string> words{
      "client", std::to_string(http.port()), std::to_string(connections), std::to_string(seconds), std::to_string(rate),
      path};
  if (pixels > 0) words.push_back(std::to_string(pixels));
  std::string command = "env -u PMIX_RANK /proc/" + std::to_string(::getpid()) + "/exe";
  for (const std::string& w : words) command += " " + w;
  const double cpu = bench::process_seconds();
  std::FILE* const out = ::popen(command.c_str(), "re");
  ::fcntl(::fileno(out), F_SETFL, O_NONBLOCK);
  std::string line;
  for (char block[256];;) {
    http.run_for(10ms);
    const ssize_t n = ::read(::fileno(out), block, sizeof block);
    if (n == 0) break;
    if (n > 0) line.append(block, static_cast<std::size_t>(n));
  }
  ::pclose(out);
  found f;
  std::sscanf(line.c_str(), "%lg %lg %lg %lg %lg %lg %lg %lg %lg %lg", &f.seconds, &f.p50, &f.p99, &f.refused_p99,
              &f.good, &f.refused, &f.other, &f.broken, &f.least, &f.client);
  f.cpu = 1e6 * (bench::process_seconds() - cpu) / std::max(1.0, f.answers());
  return f;
}

double handle_median(const serve::deployment<int(int)>& d) {
  std::vector<double> us;
  for (int i = 0; i < 5000; ++i) {
    const bench::stopwatch w;
    d(i).get();
    us.push_back(1e6 * w.seconds());
  }
  return bench::load_result::quantile(us, .5);
}

int change_versions(serve::deployment<int(int)> d) {
  for (int i = 0; i < 10; ++i) {
    serve::update<&version::get>(d, i);
    const bench::stopwatch w;
    while (w.seconds() < 0.05) manta::wait(std::vector<manta::future<int>>{}, {.timeout = 10ms});
  }
  return 0;
}

/// Eight calls under way all the time, after a time of one.
struct scaling {
  double first_ms = 0, reversals = 0;
};
int takes_time(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  return ms;
}
scaling measure_scaling(double seconds) {
  const int most = std::max(2, manta::size());
  auto d = serve::deploy<takes_time>({.name = "scaled", .min = 1, .max = most, .cpus = 0});
  for (int i = 0; i < 10; ++i) d(5).get();
  scaling s;
  const bench::stopwatch w;
  std::vector<manta::future<int>> calls;
  for (int last = 1; w.seconds() < seconds;) {
    while (calls.size() < 8) calls.push_back(d(5));
    calls = manta::wait(calls, {.count = 1}).pending;
    const int now = d.status().replicas;
    if (now > 1 && s.first_ms == 0) s.first_ms = 1e3 * w.seconds();
    s.reversals += now < last;
    last = now;
  }
  return s;
}

/// 1/s, with eight calls under way.
double rate_of_calls(int replicas) {
  const auto d = serve::deploy<takes_time>({.name = "device", .replicas = replicas});
  const bench::stopwatch w;
  std::vector<manta::future<int>> calls;
  double answered = 0;
  for (; w.seconds() < 1; answered += 8 - static_cast<double>(calls.size())) {
    while (calls.size() < 8) calls.push_back(d(2));
    calls = manta::wait(calls, {.count = 1}).pending;
  }
  manta::wait(calls);
  return answered / w.seconds();
}
int measure_replicas(int repetitions) {
  for (int i = 0; i < repetitions; ++i) {
    bench::report("serve_replicas_raw_3", "manta", rate_of_calls(1), "1/s");
    bench::report("serve_replicas_3", "manta", rate_of_calls(2), "1/s");
  }
  return 0;
}

using numbers = std::vector<float>;

/// us for a sample, of the fastest of many passes: what other programs take is not in it.
double product_time(const nn::network<float>& net, std::size_t samples) {
  serve::detail::sample_model<nn::network<float>> model(net);
  const std::vector<numbers> batch(samples, numbers(784, .25F));
  double fastest = 1e9;
  for (std::size_t i = 0; i < 3200 / samples; ++i) {
    const bench::stopwatch w;
    model.predict(batch);
    fastest = std::min(fastest, w.seconds());
  }
  return 1e6 * fastest / static_cast<double>(samples);
}

/// A network in batches and one by one, asked with 64 connections.
template <class Say>
void measure_batches(serve::http& http, const serve::deployment<numbers(numbers)>& d, const nn::network<float>& net,
                     Say&& say) {
  const serve::status before = d.status();
  const found single = load(http, "/single", 64, 0, 0.7, 784), batched = load(http, "/batched", 64, 0, 0.7, 784);
  const serve::status after = d.status();
  const found binary = load(http, "/v2/models/batched/infer", 64, 0, 0.7, 784);
  say("serve_batch_raw", 1e-3 * single.good / single.seconds, "k/s");
  say("serve_batch", 1e-3 * batched.good / batched.seconds, "k/s");
  say("serve_batch_binary", 1e-3 * binary.good / binary.seconds, "k/s");
  say("serve_batch_size",
      static_cast<double>(after.served - before.served) /
          static_cast<double>(std::max<std::uint64_t>(1, after.batches - before.batches)),
      "x");
  if (manta::size() > 1) return;
  say("serve_batch_cpu_raw", single.cpu, "us");
  say("serve_batch_cpu", batched.cpu, "us");
  const double rest = load(http, "/raw_ten", 64, 0, 0.7, 784).cpu;
  const double alone = product_time(net, 1), each = product_time(net, 32);
  say("serve_batch_http_raw", rest, "us");
  say("serve_batch_http", load(http, "/ten", 64, 0, 0.7, 784).cpu, "us");
  say("serve_product_raw", alone, "us");
  say("serve_product", each, "us");
  say("serve_batch_gain", single.cpu / batched.cpu, "x");
  say("serve_batch_bound", (alone + rest) / (each + rest), "x");
}

void deploy_slow(serve::http& http) {
  serve::options slow{.name = "computes", .max_queue = 20};
  slow.max_ongoing = 1;
  http.route("/computes", serve::deploy<computes>(slow));
}

/// Whether memory and replicas stay as they are, at twice the capacity and at a constant load.
int measure_minute() {
  serve::http http({.port = 0});
  deploy_slow(http);
  const found peak = load(http, "/computes", 8);
  const double twice = 2 * peak.good / peak.seconds;
  load(http, "/computes", 200, twice, 5);
  const double before = 1e-6 * bench::resident_bytes();
  const found over = load(http, "/computes", 200, twice, 60);
  bench::report("serve_minute_peak", "manta", 1e-3 * peak.good / peak.seconds, "k/s");
  bench::report("serve_minute_overload", "manta", 1e-3 * over.good / over.seconds, "k/s");
  bench::report("serve_minute_broken", "manta", over.broken + over.other, "failed");
  bench::report("serve_minute_before", "manta", before, "MB");
  bench::report("serve_minute_grown", "manta", 1e-6 * bench::resident_bytes() - before, "MB");
  const scaling s = measure_scaling(60);
  bench::report("serve_minute_scale", "manta", s.first_ms, "ms");
  bench::report("serve_minute_reversals", "manta", s.reversals, "x");
  return 0;
}

int measure(int repetitions) {
  if (manta::size() == 3) return measure_replicas(repetitions);
  const std::string n = "_" + std::to_string(manta::size());
  serve::http http({.port = 0});
  auto d = serve::deploy<same>({.name = "same"});
  http.route("/raw", [](int x) { return x; });
  http.route("/same", d);
  nn::network<float> net(nn::shape{784}, nn::linear(1024), nn::relu(), nn::linear(1024), nn::relu(), nn::linear(10));
  net.initialise(1);
  const auto batched = serve::deploy_network({.name = "batched", .max_batch = 32}, net);
  http.route("/batched", batched);
  http.route("/single", serve::deploy_network({.name = "single"}, net));
  http.route("/raw_ten", [](const numbers& x) { return first_ten(x); });
  http.route("/ten", serve::deploy<serve::batched<first_tens>>({.name = "ten", .max_batch = 32}));
  deploy_slow(http);
  auto versions = serve::deploy<&version::get>({.name = "versions"}, 0);
  http.route("/versions", versions);

  for (int i = 0; i <= repetitions; ++i) {
    const bool counts = i > 0;  // the first one warms up
    const auto say = [&](const std::string& figure, double value, const char* unit) {
      if (counts) bench::report((figure + n).c_str(), "manta", value, unit);
    };
    say("serve_handle", handle_median(d), "us");
    say("serve_http_raw", load(http, "/raw", 1).p50, "us");
    say("serve_http", load(http, "/same", 1).p50, "us");
    measure_batches(http, batched, net, say);
    const scaling steps = measure_scaling(3);
    say("serve_scale", steps.first_ms, "ms");
    say("serve_reversals", steps.reversals, "x");
    if (manta::size() > 1) continue;
    const found raw = load(http, "/raw", 32), through = load(http, "/same", 32), many = load(http, "/same", 256);
    say("serve_cpu_raw", raw.cpu, "us");
    say("serve_cpu", through.cpu, "us");
    say("serve_client", through.client, "us");
    say("serve_rate_raw", 1e-3 * raw.good / raw.seconds, "k/s");
    say("serve_rate", 1e-3 * through.good / through.seconds, "k/s");
    say("serve_least", many.least / (many.answers() / 256), "x");
    say("serve_batch_alone_raw", load(http, "/single", 1, 0, 0.7, 784).p50, "us");
    say("serve_batch_alone", load(http, "/batched", 1, 0, 0.7, 784).p50, "us");
    const found peak = load(http, "/computes", 8);
    const double capacity = peak.good / peak.seconds, before = 1e-6 * bench::resident_bytes();
    const found over = load(http, "/computes", 200, 2 * capacity, 2);
    say("serve_peak_raw", 1e-3 * capacity, "k/s");
    say("serve_overload", 1e-3 * over.good / over.seconds, "k/s");
    say("serve_accepted_p99", 1e-3 * over.p99, "ms");
    say("serve_refused_p99", 1e-3 * over.refused_p99, "ms");
    say("serve_grown", 1e-6 * bench::resident_bytes() - before, "MB");
    auto changed = manta::async<change_versions>(versions);
    const found update = load(http, "/versions", 8);
    changed.get();
    say("serve_update", update.refused + update.other + update.broken, "failed");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "client") == 0) return client(argc, argv);
  if (argc > 1 && std::strcmp(argv[1], "minute") == 0) return manta::run(argc, argv, measure_minute);
  return manta::run(argc, argv, [=] { return measure(bench::repetitions(argc, argv)); });
}
