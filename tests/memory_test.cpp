// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Large values: looked at in place by all ranks of a node, once in memory;
// moved to a disk when a rank holds more than its share; refused with the
// largest owners named where that is not possible.
#include <doctest/doctest.h>

#include <manta/eigen.hpp>
#include <map>
#include <numeric>
#include <span>

#include "support/memory_growth.hpp"
#include "support/world.hpp"

using manta::testing::as_nodes_of;
using manta::testing::executor;
using manta::testing::executors;
using manta::testing::in_world;
using manta::testing::measure_memory;
using manta::testing::world_size;

namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20U;

std::vector<double> ramp(std::size_t count, double first) {
  std::vector<double> v(count);
  std::iota(v.begin(), v.end(), first);
  return v;
}
Eigen::MatrixXd grid(int rows, int cols) {
  return Eigen::MatrixXd::NullaryExpr(
      rows, cols, [](Eigen::Index r, Eigen::Index c) { return 1e4 * static_cast<double>(r) + static_cast<double>(c); });
}
double sum_of_view(std::span<const double> v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double sum_of_vector(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double sum_of_copy(std::vector<double> v) {
  const double sum = sum_of_vector(v);
  std::fill(v.begin(), v.end(), -1.0);  // nobody else may see this
  return sum;
}
double sum_of_ref(const Eigen::Ref<const Eigen::MatrixXd>& m) { return m.sum(); }
double sum_of_matrix(const Eigen::MatrixXd& m) { return m.sum(); }
std::vector<double> plus_one(std::vector<double> v) {
  for (double& x : v) ++x;
  return v;
}
std::vector<std::string> lines(int count) {
  return std::vector<std::string>(static_cast<std::size_t>(count), "more than a few letters in each");
}
std::size_t letters(const std::string& text) { return text.size(); }
double both(std::span<const double> a, std::span<const double> b) { return a.front() + b.back(); }

double sum_of_six(std::span<const double> a, std::span<const double> b, std::span<const double> c,
                  std::span<const double> d, std::span<const double> e, std::span<const double> f) {
  return sum_of_view(a) + sum_of_view(b) + sum_of_view(c) + sum_of_view(d) + sum_of_view(e) + sum_of_view(f);
}

/// About a megabyte in many pieces, which only its seed gives.
struct cells {
  std::vector<double> weights;
  std::vector<std::vector<int>> neighbours;
  std::map<int, std::string> names;
  bool operator==(const cells&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(weights, neighbours, names);
  }
};
cells make_cells(int seed) {
  cells c;
  c.weights = ramp(64 * 1024, seed);
  c.neighbours.resize(1000);
  for (std::size_t i = 0; i < c.neighbours.size(); ++i) c.neighbours[i].assign(40 + i % 20, seed + static_cast<int>(i));
  for (int i = 0; i < 1500; ++i)
    c.names[i + seed] = "a name that is too long to lie in the string itself, " + std::to_string(i);
  return c;
}
double weigh(const cells& c) {
  double sum = sum_of_vector(c.weights);
  for (const auto& n : c.neighbours) sum += std::accumulate(n.begin(), n.end(), 0.0);
  for (const auto& [number, name] : c.names) sum += number + static_cast<double>(name.size());
  return sum;
}
cells next_cells(cells c) {
  for (double& w : c.weights) ++w;
  return c;
}
/// Large, with a future inside.
struct bundle {
  std::vector<std::vector<double>> parts;
  manta::future<int> next;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(parts, next);
  }
};
double weigh_two(const cells& a, const cells& b) { return weigh(a) - weigh(b); }

std::uint64_t spilled(const std::vector<manta::rank_memory>& all) {
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0},
                         [](std::uint64_t s, const auto& m) { return s + m.spilled; });
}

/// Keeps futures and looks at what they have.
struct keeper {
  void keep(manta::future<std::vector<double>> f) { values.push_back(std::move(f)); }
  double look(std::span<const double> v) const { return sum_of_view(v); }
  void keep_cells(manta::future<cells> f) { kept.push_back(std::move(f)); }
  double weigh_kept() const { return weigh(kept.back().get()); }
  double sum() const { return sum_of_vector(values.back().get()); }
  std::vector<manta::future<std::vector<double>>> values;
  std::vector<manta::future<cells>> kept;
};

/// What tasks and transfers need beside the values, and the allocator.
#if defined(MANTA_STACK_ASAN) || defined(MANTA_STACK_TSAN)
constexpr std::size_t margin = 8192 * megabyte;  // a sanitizer keeps memory of its own
#else
constexpr std::size_t margin = 24 * megabyte;  // the values of the test are a hundred
#endif

manta::runtime_options with_budget(std::uint64_t bytes) {
  manta::runtime_options o;
  o.store_memory = bytes;
  return o;
}

}  // namespace

TEST_CASE("values of all sizes are seen alike by views, references and copies, on every rank") {
  in_world([] {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{2000}, std::size_t{8191}, std::size_t{8192}, std::size_t{32767},
          std::size_t{32768}, std::size_t{32769}, std::size_t{131071}, std::size_t{1000003}}) {
      const std::vector<double> numbers = ramp(count, 1);
      const double expected = sum_of_vector(numbers);
      for (const auto& f : {manta::put(numbers), manta::put(ramp(count, 1)), manta::async<ramp>(count, 1.0)}) {
        for (int round = 0; round < 2; ++round) {
          std::vector<manta::future<double>> sums;
          for (const int r : executors()) {
            sums.push_back(manta::async<sum_of_view>({.rank = r}, f));
            sums.push_back(manta::async<sum_of_copy>({.rank = r}, f));
            sums.push_back(manta::async<sum_of_vector>({.rank = r}, f));
            sums.push_back(manta::async<sum_of_view>({.rank = r}, f));
          }
          for (const double s : manta::get(sums)) CHECK(s == expected);
        }
        CHECK(f.get() == numbers);
      }
      CHECK(manta::async<sum_of_view>(numbers).get() == expected);
    }
  });
}

TEST_CASE("matrices, strings and chains of moved values") {
  in_world([] {
    for (const int n : {3, 100, 181, 500, 777}) {
      const Eigen::MatrixXd m = grid(n, n + 1);
      auto made = manta::async<grid>(n, n + 1);
      auto stored = manta::put(m);
      for (const int r : executors()) {
        CHECK(manta::async<sum_of_ref>({.rank = r}, made).get() == m.sum());
        CHECK(manta::async<sum_of_matrix>({.rank = r}, stored).get() == m.sum());
        CHECK(manta::async<sum_of_ref>({.rank = r}, stored).get() == m.sum());
      }
      Eigen::MatrixXd mine = std::move(made).get();
      mine.setZero();
      CHECK(stored.get() == m);
      Eigen::MatrixXd other = std::move(stored).get();
      other.setOnes();
    }
    CHECK(manta::async<letters>({.rank = executor(0)}, manta::put(std::string(3 * megabyte, 'x'))).get() ==
          3 * megabyte);
    auto v = manta::async<ramp>(std::size_t{100000}, 0.0);
    for (std::size_t i = 0; i < 20; ++i) v = manta::async<plus_one>({.rank = executor(i)}, std::move(v));
    CHECK(v.get() == ramp(100000, 20));
    auto kept = manta::put(ramp(100000, 5));
    std::vector<double> moved = manta::future<std::vector<double>>(kept).get();
    moved[0] = -1;
    CHECK(kept.get()[0] == 5);
    CHECK(manta::async<both>({.rank = executor(0)}, kept, kept).get() == 5 + 100004);
  });
}

TEST_CASE("all ranks of a node look at one copy") {
  in_world([] {
    constexpr std::size_t count = 4 * megabyte;
    auto f = manta::put(ramp(count, 0));
    std::vector<manta::future<double>> sums;
    for (const int r : executors()) sums.push_back(manta::async<sum_of_view>({.rank = r}, f));
    for (const double s : manta::get(sums)) CHECK(s == sum_of_view(f.get()));
    std::uint64_t total = 0, in_memory = 0;
    int holders = 0;
    for (const manta::rank_memory& m : manta::memory()) {
      total += m.bytes;
      in_memory += m.in_memory;
      holders += m.large != 0;
      if (m.large != 0 && world_size() > 1) CHECK(m.shared == 8 * count);
      if (m.large == 0) continue;
      CHECK(m.largest[0].owner == 0);
      CHECK(m.largest[0].copy == (m.rank != 0));
    }
    CHECK(in_memory == 8 * count);
    CHECK(total >= 8 * count);
    if (world_size() > 1) CHECK(holders >= 1);
  });
}

TEST_CASE("arrays that come one after the other in the same memory are not taken for each other") {
  std::uint64_t random = manta::testing::seed("arrays one after the other");
  in_world(with_budget(64 * megabyte), [&random] {
    const auto next = [&](std::uint64_t below) { return manta::base::mix(random++, 1) % below; };
    const auto rank = [&] { return executors()[next(executors().size())]; };
    struct one {
      std::size_t count;
      double first;
      manta::future<std::vector<double>> value;
      double sum() const { return static_cast<double>(count) * (first + static_cast<double>(count - 1) / 2); }
    };
    std::vector<one> alive;
    std::uint64_t most_kept = 0;
    for (int i = 0; i < 150; ++i) {
      one made{64 * 1024 + 512 * next(4) + 128 * 1024 * (next(4) / 3), static_cast<double>(i), {}};
      made.value = next(3) == 0 ? manta::put(ramp(made.count, made.first))
                                : manta::async<ramp>({.rank = rank()}, made.count, made.first);
      alive.push_back(made);
      std::vector<manta::future<double>> sums;
      std::vector<double> expected;
      for (int looks = 0; looks < 3; ++looks) {
        const one& o = alive[next(alive.size())];
        switch (next(3)) {
          case 0: sums.push_back(manta::async<sum_of_view>({.rank = rank()}, o.value)); break;
          case 1: sums.push_back(manta::async<sum_of_copy>({.rank = rank()}, o.value)); break;
          default: sums.push_back(manta::async<sum_of_vector>({.rank = rank()}, o.value));
        }
        expected.push_back(o.sum());
      }
      if (next(2) == 0) {
        std::vector<double> mine = alive.back().value.get();
        CHECK(sum_of_copy(mine) == alive.back().sum());
      }
      if (next(4) == 0)
        alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(next(alive.size())));  // while it is looked at
      for (std::size_t k = 0; k < sums.size(); ++k) CHECK(sums[k].get() == expected[k]);
      while (alive.size() > 4) alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(next(alive.size())));
      if (i % 10 == 0) {
        for (const manta::rank_memory& m : manta::memory()) most_kept = std::max(most_kept, m.kept);
      }
    }
    for (const one& o : alive) CHECK(sum_of_vector(o.value.get()) == o.sum());
    CHECK((most_kept != 0) == (world_size() > 1));
    CHECK(most_kept <= 8 * megabyte);
  });
}

TEST_CASE("a budget for the ranks of a node together is shared equally, and lent") {
  manta::runtime_options o;
  o.node_store_memory = 32 * megabyte;
  in_world(o, [] {
    std::uint64_t all = 0;
    for (const manta::rank_memory& m : manta::memory()) all += m.budget;
    CHECK(all > 31 * megabyte);
    CHECK(all <= 32 * megabyte);
    std::vector<manta::future<std::vector<double>>> held;  // twice as much, of one rank
    for (int i = 0; i < 64; ++i)
      held.push_back(manta::async([](int x) { return std::vector<double>(megabyte / 8, x); }, i));
    for (int i = 0; i < 64; ++i) CHECK(held[static_cast<std::size_t>(i)].get()[0] == i);
    all = 0;
    for (const manta::rank_memory& m : manta::memory()) all += m.in_memory + m.kept;
    CHECK(all <= 33 * megabyte);
  });
}

TEST_CASE("ten times the budget: everything is computed, and memory stays within it") {
  static constexpr std::size_t budget = 8 * megabyte;
  in_world(with_budget(budget), [] {
    constexpr int parts = 80;
    constexpr std::size_t count = megabyte / 8;
    std::vector<manta::future<std::vector<double>>> made, stored;
    for (int i = 0; i < parts; ++i) {
      made.push_back(manta::async<ramp>(count, static_cast<double>(i)));
      stored.push_back(manta::put(ramp(count, 1000.0 + i)));
    }
    for (int i = 0; i < parts; ++i) made.push_back(manta::async<plus_one>(made[static_cast<std::size_t>(i)]));
    std::vector<manta::future<double>> sums;
    for (std::size_t i = 0; i < made.size(); ++i) sums.push_back(manta::async<sum_of_vector>(made[i]));
    for (std::size_t i = 0; i < stored.size(); ++i) sums.push_back(manta::async<sum_of_view>(stored[i]));
    const double first = static_cast<double>(count) * static_cast<double>(count - 1) / 2;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double offset = i < parts       ? static_cast<double>(i)
                            : i < 2 * parts ? static_cast<double>(i - parts) + 1
                                            : 1000.0 + static_cast<double>(i - 2 * parts);
      CHECK(sums[i].get() == first + offset * static_cast<double>(count));
    }
    const auto all = manta::memory();
    CHECK(spilled(all) > 0);
    for (const manta::rank_memory& m : all) {
      CHECK(m.budget == budget);
      CHECK(m.in_memory + m.kept <= budget);
    }
    for (int i = 0; i < parts; ++i) {
      CHECK(stored[static_cast<std::size_t>(i)].get()[1] == 1001.0 + i);
      CHECK(made[static_cast<std::size_t>(i)].get()[1] == 1.0 + i);
    }
    made.clear();
    stored.clear();
    sums.clear();
    manta::testing::poll_until("what is on disks to be gone", [] { return spilled(manta::memory()) == 0; });
  });
}

TEST_CASE("ten times the budget in structs of arrays: everything is computed, and memory stays within it") {
  static constexpr std::size_t budget = 12 * megabyte;
  const double grown =
      measure_memory([] {
        in_world(with_budget(budget), [] {
          constexpr int parts = 40;
          std::vector<manta::future<cells>> all;
          for (int i = 0; i < parts; ++i) {
            all.push_back(manta::async<make_cells>(i));
            all.push_back(manta::put(make_cells(1000 + i)));
          }
          for (std::size_t i = 0; i < parts; ++i) all.push_back(manta::async<next_cells>(all[i]));
          std::vector<manta::future<double>> sums;
          for (const auto& c : all) sums.push_back(manta::async<weigh>(c));
          const auto seed = [](std::size_t i) {
            return i % 2 == 0 ? static_cast<int>(i) / 2 : 1000 + static_cast<int>(i) / 2;
          };
          const auto expected = [&](std::size_t i) {
            return i < 2 * parts ? weigh(make_cells(seed(i))) : weigh(next_cells(make_cells(seed(i - 2 * parts))));
          };
          for (std::size_t i = 0; i < all.size(); ++i) CHECK(sums[i].get() == expected(i));
          const auto told = manta::memory();
          CHECK(spilled(told) > 0);
          for (const manta::rank_memory& m : told) {
            CHECK(m.in_memory <= budget);
            if (world_size() == 1) CHECK(m.bytes > 8 * budget);
          }
          for (std::size_t i = 0; i < all.size(); ++i) CHECK(weigh(manta::get(all[i])) == expected(i));
          CHECK(std::move(all[7]).get() == make_cells(1003));
          for (const manta::rank_memory& m : manta::memory()) CHECK(m.in_memory <= budget);
          all.clear();
          sums.clear();
          manta::testing::poll_until("what is on disks to be gone", [] { return spilled(manta::memory()) == 0; });
        });
      }).grown();
  CHECK(grown < static_cast<double>(budget + margin));
}

TEST_CASE("ten times the budget in small values: everything is computed, and memory stays within it") {
  static constexpr std::size_t budget = 16 * megabyte;
  const double grown =
      measure_memory([] {
        in_world(with_budget(budget), [] {
          constexpr std::size_t parts = 4000;
          const auto count = [](std::size_t i) { return 1000 + i % 3000; };  // 8 to 32 kB, 80 MB in all
          const auto sum = [&](std::size_t i, double first) {
            const auto n = static_cast<double>(count(i));
            return n * first + n * (n - 1) / 2;
          };
          std::vector<manta::future<std::vector<double>>> all;
          for (std::size_t i = 0; i < parts; ++i) all.push_back(manta::async<ramp>(count(i), static_cast<double>(i)));
          for (std::size_t i = 0; i < parts; ++i)
            all.push_back(manta::put(ramp(count(i), 1.0 + static_cast<double>(i))));
          std::vector<manta::future<double>> sums;
          for (const auto& v : all) sums.push_back(manta::async<sum_of_view>(v));
          for (std::size_t i = 0; i < all.size(); ++i) {
            if (sums[i].get() != sum(i % parts, static_cast<double>(i < parts ? i : i - parts + 1)))
              FAIL_CHECK("the sum of value " << i);
          }
          const auto told = manta::memory();
          CHECK(spilled(told) > 0);
          for (const manta::rank_memory& m : told) {
            CHECK(m.in_memory + m.kept <= budget);
            if (world_size() == 1) CHECK(m.spilled + m.in_memory > 8 * budget);
          }
          for (std::size_t i = 0; i < all.size(); i += 7) CHECK(sum_of_vector(manta::get(all[i])) == sums[i].get());
          all.clear();
          sums.clear();
          manta::testing::poll_until("what is on disks to be gone", [] { return spilled(manta::memory()) == 0; });
        });
      }).grown();
  CHECK(grown < static_cast<double>(budget + margin));
}

TEST_CASE("a rank may hold more than its share while others of its node hold less, unless its budget is set") {
  constexpr double memory = 40e6;  // of which half is for values
  const auto hold = [](std::size_t count) {
    std::vector<manta::future<std::vector<double>>> all;
    for (std::size_t i = 0; i < count; ++i)
      all.push_back(manta::put(ramp(375'000, static_cast<double>(i))));  // 3 MB each
    return all;
  };
  const auto is_right = [](const std::vector<manta::future<std::vector<double>>>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (manta::get(all[i]) != ramp(375'000, static_cast<double>(i))) return false;
    }
    return true;
  };
  in_world({.resources = {{"memory", memory}}}, [&] {
    auto mine = hold(9);
    CHECK((manta::memory()[0].spilled == 0) == (world_size() > 1));
    CHECK(manta::memory()[0].budget == 20'000'000);
    if (world_size() > 1) CHECK(manta::memory()[0].in_memory > 20'000'000);
    std::vector<manta::future<std::vector<double>>> theirs;  // as much as the others may have
    for (int r = 1; r < world_size(); ++r) {
      for (std::size_t i = 0; i < 6; ++i)
        theirs.push_back(manta::async<ramp>({.rank = r}, 375'000, static_cast<double>(i)));
    }
    manta::wait(theirs, {.count = theirs.size()});
    for (int r = 1; r < world_size(); ++r) CHECK(manta::memory()[static_cast<std::size_t>(r)].spilled == 0);
    CHECK(is_right(mine));
    for (std::size_t i = 0; i < theirs.size(); ++i)
      CHECK(manta::async<sum_of_view>(theirs[i]).get() == sum_of_vector(ramp(375'000, static_cast<double>(i % 6))));
    for (auto& more : hold(9)) mine.push_back(std::move(more));
    CHECK(manta::memory()[0].spilled > 0);
    CHECK(manta::memory()[0].in_memory < 40'000'000);
    for (std::size_t i = 9; i-- > 0;) mine.pop_back();
    CHECK(is_right(mine));
  });
  manta::runtime_options set = with_budget(20'000'000);
  set.resources = {{"memory", memory}};
  in_world(set, [&] {
    const auto mine = hold(9);
    CHECK(manta::memory()[0].spilled > 0);
    CHECK(manta::memory()[0].in_memory <= 20'000'000);
    CHECK(is_right(mine));
  });
}

TEST_CASE("a struct of arrays to which there is a reference stays where it is, also while others come and go") {
  in_world(with_budget(3 * megabyte), [] {
    const auto first = manta::async<make_cells>(1), second = manta::put(make_cells(2));
    const cells& a = first.get();
    const cells& b = second.get();
    for (int i = 10; i < 20; ++i) {
      const auto other = manta::put(make_cells(i));
      CHECK(manta::async<weigh_two>(other, first).get() == weigh(make_cells(i)) - weigh(make_cells(1)));
      CHECK(a == make_cells(1));
      CHECK(b == make_cells(2));
      CHECK(&first.get() == &a);
    }
  });
}

TEST_CASE("copies of what other ranks have go first, and are asked for again") {
  const as_nodes_of nodes("1");
  in_world(with_budget(24 * megabyte), [] {
    if (world_size() == 1) return;
    std::vector<manta::future<std::vector<double>>> arrays;
    std::vector<manta::future<cells>> structs;
    for (int i = 0; i < 8; ++i) arrays.push_back(manta::put(ramp(megabyte / 8, i)));
    for (int i = 0; i < 8; ++i) structs.push_back(manta::put(make_cells(i)));
    std::vector<manta::actor<keeper>> keepers;  // so that handles are there while no task is
    for (const int r : executors()) keepers.push_back(manta::spawn<keeper>({.rank = r}));
    for (const auto& k : keepers) {
      for (const auto& f : arrays) manta::async<&keeper::keep>(k, f).get();
      for (const auto& f : structs) manta::async<&keeper::keep_cells>(k, f).get();
    }
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        for (const int r : executors()) {
          CHECK(manta::async<sum_of_view>({.rank = r}, arrays[i]).get() ==
                sum_of_vector(ramp(megabyte / 8, static_cast<double>(i))));
          CHECK(manta::async<weigh>({.rank = r}, structs[i]).get() == weigh(make_cells(static_cast<int>(i))));
        }
      }
      std::vector<manta::future<std::vector<double>>> own;  // takes their place
      for (const int r : executors()) own.push_back(manta::async<ramp>({.rank = r}, 20 * megabyte / 8, 1.0));
      manta::wait(own, {.count = own.size()});
    }
    for (const manta::rank_memory& m : manta::memory()) {
      if (m.rank == 0) continue;
      CHECK(m.dropped > 0);
      CHECK(m.spilled == 0);
    }
    for (const auto& k : keepers) CHECK(manta::async<&keeper::weigh_kept>(k).get() == weigh(make_cells(7)));
  });
}

TEST_CASE("ranks that fetch in turn do not wait for each other's turns") {
  const as_nodes_of nodes("1");
  in_world(with_budget(3 * megabyte), [] {
    constexpr std::size_t parts = 6;
    const auto many = executors();
    for (int round = 0; round < 10; ++round) {
      std::vector<manta::future<std::vector<double>>> a;
      for (std::size_t i = 0; i < parts; ++i) a.push_back(manta::put(ramp(megabyte / 16, static_cast<double>(i))));
      std::vector<manta::future<double>> sums;
      for (std::size_t r = 0; r < many.size(); ++r) {  // every rank in an order of its own
        const auto nth = [&](std::size_t i) { return a[(r % 2 == 0 ? i + r : 2 * parts + r - i) % parts]; };
        sums.push_back(manta::async<sum_of_six>({.rank = many[r]}, nth(0), nth(1), nth(2), nth(3), nth(4), nth(5)));
      }
      double expected = 0;
      for (std::size_t i = 0; i < parts; ++i) expected += sum_of_vector(ramp(megabyte / 16, static_cast<double>(i)));
      for (const auto& sum : sums) CHECK(sum.get() == expected);
    }
  });
}

TEST_CASE("what cannot be encoded for a disk stays in memory, and is right") {
  in_world(with_budget(megabyte), [] {
    std::vector<manta::future<bundle>> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back(manta::put(bundle{{ramp(20'000, i), ramp(10'000, i)}, manta::put(i)}));
      const auto pushes = manta::put(make_cells(i));
      CHECK(weigh(manta::get(pushes)) == weigh(make_cells(i)));
    }
    for (int i = 0; i < 4; ++i) {
      const auto& b = all[static_cast<std::size_t>(i)];
      CHECK(manta::async([](const bundle& x) { return x.next.get() + static_cast<int>(x.parts[1].back()); }, b).get() ==
            2 * i + 9'999);
    }
  });
}

TEST_CASE("what is made is used before more is made") {
  manta::runtime_options o = with_budget(16 * megabyte);
  o.spill_folder = "none";
  in_world(o, [] {
    std::vector<manta::future<cells>> made;
    std::vector<manta::future<double>> sums;
    for (int i = 0; i < 60; ++i) made.push_back(manta::async<make_cells>(i));
    for (auto& m : made) sums.push_back(manta::async<weigh>(std::move(m)));
    for (int i = 0; i < 60; ++i) CHECK(sums[static_cast<std::size_t>(i)].get() == weigh(make_cells(i)));
  });
}

TEST_CASE("a value larger than the whole budget") {
  in_world(with_budget(megabyte), [] {
    auto f = manta::async<ramp>({.rank = executor(0)}, std::size_t{megabyte}, 3.0);
    auto g = manta::put(ramp(megabyte, 4));
    for (const int r : executors()) {
      CHECK(manta::async<both>({.rank = r}, f, g).get() == 3 + 3 + static_cast<double>(megabyte));
    }
    std::vector<double> mine = std::move(f).get();
    CHECK(mine == ramp(megabyte, 3));
    CHECK(std::move(g).get() == ramp(megabyte, 4));
  });
  in_world(with_budget(megabyte / 4), [] {
    auto f = manta::async<make_cells>({.rank = executor(0)}, 3);
    auto g = manta::put(make_cells(4));
    for (const int r : executors())
      CHECK(manta::async<weigh_two>({.rank = r}, f, g).get() == weigh(make_cells(3)) - weigh(make_cells(4)));
    CHECK(std::move(f).get() == make_cells(3));
    CHECK(std::move(g).get() == make_cells(4));
  });
}

TEST_CASE("without a disk the store is full: the call or the task says so, and who holds the most") {
  manta::runtime_options o = with_budget(4 * megabyte);
  o.spill_folder = "none";
  in_world(o, [] {
    {
      auto kept = manta::put(ramp(3 * megabyte / 8, 0));
      CHECK_THROWS_WITH_AS(manta::put(ramp(2 * megabyte / 8, 0)),
                           doctest::Contains("the largest: 3 MB put by the driver"), manta::store_full);
      CHECK(kept.get()[2] == 2);
    }
    auto kept = manta::put(ramp(3 * megabyte / 8, 0));  // there is room again
    kept = {};
    auto f = manta::async<ramp>({.rank = executor(0)}, std::size_t{3 * megabyte / 8}, 0.0);
    f.wait();
    auto g = manta::async<ramp>({.rank = executor(0)}, std::size_t{2 * megabyte / 8}, 0.0);
    CHECK_THROWS_WITH_AS(g.get(), doctest::Contains("ramp"), manta::store_full);
    CHECK(manta::async<sum_of_vector>({.rank = executor(0)}, f).get() > 0);
    f = {};
    std::vector<manta::future<cells>> all;
    CHECK_THROWS_WITH_AS(for (int i = 0; i < 9; ++i) all.push_back(manta::put(make_cells(i))),
                         doctest::Contains("kB put by the driver"), manta::store_full);
    CHECK(all.size() > 2);
    CHECK(weigh(all[1].get()) == weigh(make_cells(1)));
  });
}

TEST_CASE("who puts more than there is room for is held back until tasks have made room") {
  manta::runtime_options o = with_budget(8 * megabyte);
  o.spill_folder = "none";
  in_world(o, [] {
    std::vector<manta::future<double>> arrays, structs;
    for (int i = 0; i < 60; ++i) {
      arrays.push_back(manta::async<sum_of_view>(manta::put(ramp(megabyte / 8, i))));
      structs.push_back(manta::async<weigh>(make_cells(i)));
    }
    for (int i = 0; i < 60; ++i) {
      CHECK(arrays[static_cast<std::size_t>(i)].get() == sum_of_vector(ramp(megabyte / 8, i)));
      CHECK(structs[static_cast<std::size_t>(i)].get() == weigh(make_cells(i)));
    }
  });
}

TEST_CASE("what was received may be more than the budget: only large values are refused then") {
  manta::runtime_options o = with_budget(megabyte);
  o.spill_folder = "none";
  const as_nodes_of nodes("1");
  in_world(o, [] {
    const auto own = manta::async<ramp>({.rank = executor(0)}, megabyte / 16, 1.0);
    own.wait();
    if (world_size() > 1) {
      const auto other = manta::put(ramp(megabyte * 3 / 32, 1.0));
      const auto keep = manta::spawn<keeper>({.rank = executor(0)});
      manta::async<&keeper::keep>(keep, other).get();
      CHECK(manta::async<&keeper::sum>(keep).get() > 0);
      CHECK_THROWS_AS(manta::async<ramp>({.rank = executor(0)}, megabyte / 16, 1.0).get(), manta::store_full);
    }
    CHECK(manta::async<lines>({.rank = executor(0)}, 500).get().size() == 500);
  });
}

TEST_CASE("an array reaches the ranks of many nodes, again and again, and while its copies come and go") {
  for (const char* per_node : {"1", "2", "3"}) {
    const as_nodes_of nodes(per_node);
    in_world([] {
      constexpr std::size_t count = 5 * megabyte / 2 + 3;  // in three parts
      const std::vector<double> numbers = ramp(count, 1);
      const double expected = sum_of_vector(numbers);
      const auto by_node = [] {
        std::vector<std::uint64_t> bytes(static_cast<std::size_t>(manta::capacity().back().node) + 1);
        for (const manta::rank_memory& m : manta::memory()) bytes[static_cast<std::size_t>(m.node)] += m.in_memory;
        return bytes;
      };
      std::vector<manta::actor<keeper>> keepers;
      for (const int r : executors()) keepers.push_back(manta::spawn<keeper>({.rank = r}));
      auto stored = manta::put(numbers);
      auto made = manta::async<ramp>({.rank = executor(0)}, count, 1.0);
      for (const auto& f : {stored, made}) {
        for (int round = 0; round < 3; ++round) {  // those of the last round have gone
          std::vector<manta::future<double>> sums;
          for (const int r : executors()) {
            sums.push_back(manta::async<sum_of_view>({.rank = r}, f));
            sums.push_back(manta::async<sum_of_vector>({.rank = r}, f));
          }
          for (const double s : manta::get(sums)) CHECK(s == expected);
        }
        std::vector<manta::future<void>> kept;
        for (const auto& k : keepers) kept.push_back(manta::async<&keeper::keep>(k, f));
        for (auto& k : kept) k.get();
        std::vector<manta::future<double>> sums;
        for (const auto& k : keepers) sums.push_back(manta::async<&keeper::look>(k, f));
        for (const double s : manta::get(sums)) CHECK(s == expected);
      }
      for (const std::uint64_t bytes : by_node()) CHECK(bytes <= 2 * 8 * count);
      std::vector<manta::future<double>> sums;
      for (const auto& k : keepers) sums.push_back(manta::async<&keeper::sum>(k));
      for (const double s : manta::get(sums)) CHECK(s == expected);
      keepers.clear();
      CHECK(made.get() == numbers);
    });
  }
}

TEST_CASE("replicas are kept as long as the value lives, on other nodes first") {
  const as_nodes_of nodes("2");
  in_world([] {
    const auto copies = [] {
      int count = 0;
      for (const manta::rank_memory& m : manta::memory()) count += m.large != 0;
      return count;
    };
    auto f = manta::put(ramp(megabyte, 1), {.replicas = 2});
    const int wanted = std::min(3, world_size());
    manta::testing::poll_until("the replicas to be there", [&] { return copies() == wanted; });
    if (world_size() >= 4) {
      for (const manta::rank_memory& m : manta::memory())
        CHECK((m.large != 0) == (m.rank == 0 || m.rank == 2 || m.rank == 3));
    }
    for (const int r : executors())
      CHECK(manta::async<both>({.rank = r}, f, f).get() == 1 + static_cast<double>(megabyte));
    f = {};
    manta::testing::poll_until("the replicas to be gone", [&] { return copies() == 0; });
    auto small = manta::put(std::string("a"), {.replicas = 99});
    CHECK(small.get() == "a");
    CHECK_THROWS_AS(manta::put(1, {.replicas = -1}), manta::error);
  });
}

TEST_CASE("settings that cannot be are refused") {
  manta::runtime_options o;
  o.spill_folder = "/does/not/exist";
  CHECK_THROWS_WITH_AS(manta::runtime(MPI_COMM_WORLD, o), doctest::Contains("/does/not/exist"), manta::error);
}
