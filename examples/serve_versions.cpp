// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Versions of a model while it serves: A and B side by side by weights, more and more for the new one, new settings
// without a restart, and a canary that takes over.
//
//   scripts/run serve_versions -n 4
//
// Expected output:
//   90 of 100 answers by version 1
//   0 of 100 answers by version 1
//   2.5 becomes 5, with the new factor 25
//   90 of 100 answers by version 1, beside a canary
//   version 3 has taken over
#include <manta/manta.hpp>
#include <manta/serve.hpp>

#include <iostream>
#include <vector>

namespace serve = manta::serve;

// [model]
struct model {
  int version;
  double factor = 2;
  std::pair<int, double> predict(double x) const { return {version, factor * x}; }
  void reconfigure(double to) { factor = to; }
};
// [end]

template <class Deployment>
int answers_by_first(const Deployment& d) {
  int count = 0;
  std::vector<manta::future<std::pair<int, double>>> answers;
  for (int i = 0; i < 100; ++i) answers.push_back(d(2.5));
  for (const auto& a : answers) count += a.get().first == 1;
  return count;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [versions]
    auto a = serve::deploy<&model::predict>({.name = "a", .replicas = 2}, 1);
    auto b = serve::deploy<&model::predict>({.name = "b"}, 2);
    auto both = serve::split<std::pair<int, double>(double)>({.name = "both"}, {{a, 9}, {b, 1}});
    const int before = answers_by_first(both);
    both.reconfigure(std::vector<double>{0, 1});  // b does well: all requests go there
    const int after = answers_by_first(both);

    const double plain = a(2.5).get().second;
    a.reconfigure(10.);  // calls model::reconfigure on each replica
    const double changed = a(2.5).get().second;

    a.update({.weight = 0.1}, 3);  // a canary: a new version beside the old one gets a tenth of the requests
    const int beside = answers_by_first(a);
    a.promote();  // or a.rollback(); the new replicas take over when all are ready: no request fails
    const int version = a(2.5).get().first;
    // [end]
    std::cout << before << " of 100 answers by version 1\n"
              << after << " of 100 answers by version 1\n2.5 becomes " << plain << ", with the new factor " << changed
              << '\n'
              << beside << " of 100 answers by version 1, beside a canary\nversion " << version << " has taken over\n";
    return before >= 88 && before <= 92 && after == 0 && plain == 5 && changed == 25 && beside >= 88 && beside <= 92 &&
                   version == 3
               ? 0
               : 1;
  });
}
