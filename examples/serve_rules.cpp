// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Business logic in front of two models: a rule asks a cheap model first, and an expensive one only where the first is
// not sure. Each is a deployment with replicas of its own, and the rule has handles of both as members.
//
//   scripts/run serve_rules -n 4 -- 8000                    curl -d '[0.9, 0.8]' localhost:8000/review
//
// With `check` it asks itself. Expected output:
//   {"accepted":true,"asked":["quick"]}
//   {"accepted":false,"asked":["quick","careful"]}
#include <manta/manta.hpp>
#include <manta/serve.hpp>
#include <manta/serve/http.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "serve_check.hpp"

namespace serve = manta::serve;
using features = std::vector<double>;

// [rules]
struct model {  // the probability that the sample is good
  std::vector<double> weights;
  std::vector<double> predict(const std::vector<features>& batch) {
    std::vector<double> all;
    for (const features& x : batch) {
      double sum = 0;
      for (std::size_t i = 0; i < std::min(x.size(), weights.size()); ++i) sum += weights[i] * x[i];
      all.push_back(1 / (1 + std::exp(-sum)));
    }
    return all;
  }
};

struct verdict {
  bool accepted = false;
  std::vector<std::string> asked;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(accepted), CEREAL_NVP(asked));
  }
};

struct review {
  serve::deployment<double(features)> quick, careful;
  verdict decide(const features& x) {
    const double first = quick.ask(x);
    if (first < .2 || first > .8) return {first > .5, {"quick"}};
    return {careful.ask(x) > .5, {"quick", "careful"}};
  }
};
// [end]

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "8000";
  return manta::run(argc, argv, [&] {
    // [deploy]
    auto quick =
        serve::deploy<serve::batched<&model::predict>>({.name = "quick", .max_batch = 32}, std::vector<double>{2, 2});
    auto careful = serve::deploy<serve::batched<&model::predict>>({.name = "careful", .replicas = 2, .max_batch = 8},
                                                                  std::vector<double>{5, -7});
    auto reviews = serve::deploy<&review::decide>({.name = "review"}, quick, careful);
    serve::http http({.port = what == "check" ? 0 : std::stoi(what)});
    http.route("/review", reviews);
    // [end]
    if (what != "check") return http.run(), 0;
    if (!has_program("curl")) return 0;
    const std::string ask = "curl -s --max-time 20 " + http.url() + "/review -d ";
    const std::string answers = output_beside(http, ask + "'[0.9, 0.8]'; echo; " + ask + "'[0.1, 0.2]'");
    std::cout << answers << '\n';
    return answers ==
                   "{\"accepted\":true,\"asked\":[\"quick\"]}\n{\"accepted\":false,\"asked\":[\"quick\",\"careful\"]}"
               ? 0
               : 1;
  });
}
