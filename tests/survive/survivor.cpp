// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A program whose ranks are killed while it runs: a graph drawn from a seed of
// small and large values, chains, nested tasks, gangs of waiting ones and
// actors, evaluated by tasks and once more in place. Every future ends with the
// right value or with an error that a death may cause; rank 0 prints how many
// of each, and exits with 1 if there was anything else.
//
//   survivor [seed] [tasks]
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <manta/manta.hpp>

#include <chrono>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using number = std::uint64_t;
using numbers = std::vector<number>;

void take_time(number x) { std::this_thread::sleep_for(std::chrono::microseconds(x % 8 == 0 ? x % 2000 : 0)); }
number mix(number x) { return (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ULL + 1; }
number sum(const numbers& v) { return std::accumulate(v.begin(), v.end(), number{0}); }
numbers spread(number x, std::size_t n) {
  numbers v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = mix(x + i);
  return v;
}

number leaf(number x) {
  take_time(x);
  return mix(x);
}
number join(number a, number b) {
  take_time(a);
  return mix(a ^ mix(b));
}
number named(const std::string& text, number x) { return mix(text.size() + x); }
numbers make(number x, std::size_t n) {
  take_time(x);
  return spread(x, n);
}
numbers advance(numbers v) {
  for (number& x : v) x = mix(x);
  return v;
}
number total(const numbers& v) { return sum(v); }
number tree(number x, int depth) {
  if (depth == 0) return leaf(x);
  auto left = manta::async<tree>(mix(x), depth - 1);
  auto right = manta::async<tree>(mix(x + 1), depth - 1);
  return join(left.get(), right.get());
}
number tree_here(number x, int depth) {
  return depth == 0 ? mix(x) : mix(tree_here(mix(x), depth - 1) ^ mix(tree_here(mix(x + 1), depth - 1)));
}
struct counter {
  number value = 0;
  numbers ballast = numbers(5'000);  // checkpoints that take several messages
  number add(number x) { return value += x; }
  template <class Archive>
  void serialize(Archive& a) {
    a(value, ballast);
  }
};

struct expected {
  manta::future<number> future;
  number value;
};

}  // namespace

int main(int argc, char** argv) {
  const number seed = argc > 1 ? std::stoull(argv[1]) : 1;
  const int tasks = argc > 2 ? std::stoi(argv[2]) : 2000;
  return manta::run(argc, argv, [=] {
    std::puts("started");
    std::fflush(stdout);
    std::mt19937_64 random(seed);
    std::vector<expected> all;
    std::vector<std::pair<manta::future<numbers>, numbers>> arrays;
    std::vector<manta::actor<counter>> actors;
    for (int i = 0; i < 3; ++i) actors.push_back(manta::spawn<counter>({.restarts = i == 0 ? 0 : 100, .checkpoint_every = i}));
    const auto any = [&]() -> const expected& { return all[random() % all.size()]; };
    for (int i = 0; i < tasks; ++i) {
      const number x = random();
      switch (all.size() < 10 ? 0 : random() % 16) {
        case 0: case 1: case 2: case 3:
          all.push_back({manta::async<leaf>(x), mix(x)});
          break;
        case 4: case 5: case 6: case 7: {
          const expected a = any(), b = any();
          all.push_back({manta::async<join>(a.future, b.future), mix(a.value ^ mix(b.value))});
          break;
        }
        case 8: {
          const expected a = any();
          const std::string text(x % 100, 'x');
          all.push_back({manta::async<named>(text, a.future), mix(text.size() + a.value)});
          break;
        }
        case 9: case 10: {
          const std::size_t n = x % 30'000;
          arrays.push_back({manta::async<make>(x, n), spread(x, n)});
          break;
        }
        case 11: {
          if (arrays.empty()) break;
          const auto& [f, v] = arrays[random() % arrays.size()];
          arrays.push_back({manta::async<advance>(f), advance(v)});
          break;
        }
        case 12: {
          if (arrays.empty()) break;
          const auto& [f, v] = arrays[random() % arrays.size()];
          all.push_back({manta::async<total>(f), sum(v)});
          break;
        }
        case 13:
          all.push_back({manta::async<tree>(x, 3), tree_here(x, 3)});
          break;
        case 14: {
          manta::async<&counter::add>(actors[random() % actors.size()], number{1}).ready();
          break;
        }
        default: {
          if (arrays.size() > 40) arrays.erase(arrays.begin(), arrays.begin() + 20);
          try {
            if (any().future.get() == 0) std::puts("zero");
          } catch (const manta::error&) {
          }
        }
      }
    }
    int right = 0, lost = 0, wrong = 0;
    const auto look = [&](auto&& get) {
      try {
        ++(get() ? right : wrong);
      } catch (const manta::object_lost&) {
        ++lost;
      } catch (const manta::rank_lost&) {
        ++lost;
      } catch (const manta::task_failed& e) {  // a task that waited for something lost
        const std::string text = e.what();
        ++(text.find("has died") != std::string::npos ? lost : wrong);
        if (text.find("has died") == std::string::npos) std::printf("%s\n", e.what());
      } catch (const std::exception& e) {
        ++wrong;
        std::printf("%s\n", e.what());
      }
    };
    for (const expected& e : all) look([&] { return e.future.get() == e.value; });
    for (const auto& [f, v] : arrays) look([&, &f = f, &v = v] { return f.get() == v; });
    for (std::size_t i = 0; i < actors.size(); ++i) {
      for (int attempt = 0;; ++attempt) {  // a call that is under way fails when the rank dies, later ones do not
        try {
          if (manta::async<&counter::add>(actors[i], number{1}).get() > static_cast<number>(tasks)) ++wrong;
        } catch (const manta::actor_died& e) {
          if (i == 0) break;
          if (attempt < 10) continue;
          ++wrong;
          std::printf("%s\n", e.what());
        }
        break;
      }
    }
    std::printf("right %d, lost %d, wrong %d\n", right, lost, wrong);
    return wrong == 0 ? 0 : 1;
  });
}
