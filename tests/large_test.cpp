// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values of one to 64 megabytes from rank to rank, alone and many at once.
// MANTA_TEST_HUGE=1 adds one of 3 GiB, which needs about 20 GB of memory.
#include <doctest/doctest.h>

#include <manta/eigen.hpp>
#include <manta/view.hpp>

#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <span>

#include "support/world.hpp"

using manta::testing::executor;
using manta::testing::executors;
using manta::testing::in_world;
using manta::testing::mix;

namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20U;

/// `bytes` of numbers that only this seed gives.
std::vector<std::uint64_t> noise(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::uint64_t> v(bytes / sizeof(std::uint64_t));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = seed + i * 0x9e3779b97f4a7c15ULL;
  return v;
}

/// Order-sensitive digest: a byte lost, doubled or moved changes it.
std::uint64_t digest_of_view(std::span<const std::uint64_t> v) {
  std::uint64_t h = v.size();
  for (const std::uint64_t x : v) h = (h ^ x) * 0x100000001b3ULL + (h >> 29U);
  return h;
}
std::uint64_t digest(const std::vector<std::uint64_t>& v) { return digest_of_view(v); }

std::vector<std::uint64_t> same(const std::vector<std::uint64_t>& v) { return v; }
std::uint64_t digest_of_two(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  return digest(a) ^ mix(digest(b));
}
std::size_t total_size(const std::vector<std::vector<std::uint64_t>>& parts) {
  std::size_t sum = 0;
  for (const auto& p : parts) sum += p.size();
  return sum;
}

Eigen::MatrixXd matrix(int n, double scale) {
  return Eigen::MatrixXd::NullaryExpr(n, n, [scale](Eigen::Index r, Eigen::Index c) {
    return scale * static_cast<double>(r) - static_cast<double>(c);
  });
}
Eigen::MatrixXd add_matrices(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) { return a + b; }
double corner_sum(const Eigen::Ref<const Eigen::MatrixXd>& m) {
  return m(0, 0) + m(m.rows() - 1, 0) + m(0, m.cols() - 1) + m(m.rows() - 1, m.cols() - 1);
}

/// Large and small parts in one value.
struct mixed {
  std::string label;
  std::vector<std::uint64_t> body;
  std::vector<std::string> lines;
  std::vector<float> tail;
  bool operator==(const mixed&) const = default;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(label, body, lines, tail);
  }
};

mixed make_mixed(std::size_t bytes) {
  return {"mixed", noise(bytes, 3), std::vector<std::string>(1000, std::string(100, 'l')),
          std::vector<float>(bytes / 8, 1.5F)};
}
mixed same_mixed(const mixed& m) { return m; }

/// Its save() or load() may fail, after more than a message holds.
struct balky {
  enum failure { none, in_save, in_load };
  std::vector<double> values;
  failure fails = none;
  template <typename Archive>
  void save(Archive& archive) const {
    archive(values, fails);
    if (fails == in_save) throw std::runtime_error("it does not let itself be saved");
  }
  template <typename Archive>
  void load(Archive& archive) {
    archive(values, fails);
    if (fails == in_load) throw std::runtime_error("it does not let itself be loaded");
  }
};
balky make_balky(balky::failure fails) { return {std::vector<double>(10'000, 1.5), fails}; }

/// Keeps a large state and hands it out.
class shard {
 public:
  explicit shard(std::vector<std::uint64_t> v) : v_(std::move(v)) {}
  std::vector<std::uint64_t> pull() const { return v_; }
  void push(const std::vector<std::uint64_t>& delta) {
    for (std::size_t i = 0; i < v_.size(); ++i) v_[i] += delta[i];
  }

 private:
  std::vector<std::uint64_t> v_;
};

}  // namespace

TEST_CASE("values of 1 to 64 megabytes arrive whole from rank to rank") {
  in_world([] {
    for (const std::size_t size : {1U, 3U, 16U, 64U}) {
      const std::uint64_t expected = digest(noise(size * megabyte, size));
      const auto made = manta::async<noise>({.rank = executor(0)}, size * megabyte, size);
      CHECK(manta::async<digest>({.rank = executor(1)}, made).get() == expected);  // executor to executor
      CHECK(digest(made.get()) == expected);                                       // executor to driver
      CHECK(manta::async<digest>({.rank = executor(2)}, noise(size * megabyte, size)).get() ==
            expected);  // driver to executor
    }
  });
}

TEST_CASE("sizes around powers of two arrive whole") {
  in_world([] {
    for (const std::size_t bytes : {megabyte - 8, megabyte, megabyte + 8, 4 * megabyte - 8, 4 * megabyte + 8}) {
      CHECK(digest(manta::async<same>(manta::async<same>(noise(bytes, 5))).get()) == digest(noise(bytes, 5)));
    }
  });
}

TEST_CASE("many large values cross at once in all directions") {
  in_world([] {
    constexpr std::size_t count = 12;
    constexpr std::size_t bytes = 4 * megabyte;
    std::vector<manta::future<std::vector<std::uint64_t>>> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back(manta::async<noise>({.rank = executor(i)}, bytes, i));
    std::vector<manta::future<std::uint64_t>> digests;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < 3; ++j)
        digests.push_back(manta::async<digest_of_two>({.rank = executor(i + j)}, made[i], made[(i + 5) % count]));
    }
    std::vector<std::uint64_t> expected;
    for (std::size_t i = 0; i < count; ++i) expected.push_back(digest(noise(bytes, i)));
    const auto got = manta::get(digests);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < 3; ++j) CHECK(got[3 * i + j] == (expected[i] ^ mix(expected[(i + 5) % count])));
    }
    CHECK(manta::async<total_size>(made).get() == count * bytes / sizeof(std::uint64_t));
  });
}

TEST_CASE("one large value goes to every rank") {
  in_world([] {
    const auto one = manta::put(noise(16 * megabyte, 9));
    const std::uint64_t expected = digest(one.get());
    std::vector<manta::future<std::uint64_t>> fs;
    for (const int rank : executors()) {
      for (int i = 0; i < 3; ++i) fs.push_back(manta::async<digest>({.rank = rank}, one));
    }
    for (const std::uint64_t d : manta::get(fs)) CHECK(d == expected);
  });
}

TEST_CASE("large matrices are summed across ranks") {
  in_world([] {
    constexpr int n = 1024;  // 8 MB each
    std::vector<manta::future<Eigen::MatrixXd>> parts;
    for (int i = 1; i <= 6; ++i)
      parts.push_back(manta::async<matrix>({.rank = executor(static_cast<std::size_t>(i))}, n, i));
    const auto sum = manta::reduce<add_matrices>(parts);
    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(n, n);
    for (int i = 1; i <= 6; ++i) expected += matrix(n, i);
    CHECK(manta::async<corner_sum>(sum).get() == corner_sum(expected));
    CHECK(sum.get() == expected);
  });
}

TEST_CASE("large and small members of one value keep their places") {
  in_world([] {
    for (const std::size_t bytes : {std::size_t{800}, std::size_t{80'000}, 2 * megabyte}) {
      CHECK(manta::async<same_mixed>(manta::async<make_mixed>(bytes)).get() == make_mixed(bytes));
    }
    const std::vector<mixed> several{make_mixed(megabyte), make_mixed(8), make_mixed(megabyte)};
    CHECK(manta::async([](const std::vector<mixed>& v) { return v; }, several).get() == several);
  });
}

TEST_CASE("a large value that cannot be saved or loaded fails its reader, and nothing of it stays where it was made") {
  in_world([] {
    const bool travels = manta::size() > 1;
    for (int round = 0; round < 3; ++round) {
      for (const balky::failure fails : {balky::in_save, balky::in_load}) {
        const auto made = manta::async<make_balky>({.rank = executor(0)}, fails);
        if (travels) CHECK_THROWS_AS(made.get(), manta::serialization_error);
      }
      CHECK(manta::async<make_balky>({.rank = executor(0)}, balky::none).get().values.size() == 10'000);
    }
  });
}

TEST_CASE("actors take and give large values while small calls pass by") {
  in_world([] {
    auto s = manta::spawn<shard>(noise(2 * megabyte, 1));
    auto t = manta::spawn<manta::testing::tally>();
    std::vector<manta::future<void>> pushes;
    std::vector<manta::future<int>> small;
    for (int i = 0; i < 8; ++i) {
      pushes.push_back(manta::async<&shard::push>(s, noise(2 * megabyte, 1)));
      for (int k = 0; k < 20; ++k) small.push_back(manta::async<&manta::testing::tally::arrive>(t));
    }
    auto expected = noise(2 * megabyte, 1);
    for (auto& x : expected) x *= 9;
    CHECK(manta::async<&shard::pull>(s).get() == expected);
    CHECK(manta::get(small).back() == 160);
    manta::get(pushes);
  });
}

TEST_CASE("a value of 3 GiB arrives whole, whichever way it takes" *
          doctest::skip(std::getenv("MANTA_TEST_HUGE") == nullptr)) {
  constexpr std::size_t bytes = std::size_t{3} << 30U;
  const std::uint64_t expected = digest(noise(bytes, 4U));
  const auto body = [bytes, expected] {
    const auto made = manta::async<noise>({.rank = executor(0)}, bytes, 4U);
    CHECK(manta::async<digest>({.rank = executor(1)}, made).get() == expected);  // an argument, by a future
    CHECK(manta::async<digest_of_view>({.rank = executor(1)}, made).get() == expected);
    CHECK(digest(made.get()) == expected);  // a result
    CHECK(digest(std::move(made).get()) == expected);
    const auto stored = manta::put(noise(bytes, 4U));
    CHECK(manta::async<digest_of_view>({.rank = executor(0)}, stored).get() == expected);
    CHECK(manta::async<digest>({.rank = executor(0)}, noise(bytes, 4U)).get() == expected);  // an argument itself
  };
  const auto with_budget = [&](std::uint64_t budget) {
    manta::runtime_options o;
    o.store_memory = budget;
    in_world(o, body);
  };
  with_budget(4 * std::uint64_t{bytes});
  with_budget(bytes / 3);                        // by way of a disk
  const manta::testing::as_nodes_of nodes("1");  // in blocks
  with_budget(4 * std::uint64_t{bytes});
}

TEST_CASE("this suite says when it leaves the value of 3 GiB out") {
  if (std::getenv("MANTA_TEST_HUGE") == nullptr && manta::testing::world_rank() == 0) {
    MESSAGE("values of 3 GiB are not tested: they need 20 GB of memory; set MANTA_TEST_HUGE=1");
  }
}

namespace {

/// An object that keeps a view of an array, and the handle on it.
struct reader {
  std::size_t open(const manta::future<std::vector<std::uint64_t>>& f) {
    table = f;
    numbers = manta::view(table);
    return numbers.size();
  }
  std::uint64_t digest() const { return digest_of_view(numbers); }

  manta::future<std::vector<std::uint64_t>> table;
  std::span<const std::uint64_t> numbers;
};

}  // namespace

TEST_CASE("a view of an array stays valid while its rank has a handle, whatever the others do") {
  in_world([] {
    for (const std::size_t bytes : {std::size_t{800}, megabyte, 40 * megabyte}) {
      const std::uint64_t expected = digest(noise(bytes, 5));
      manta::future<std::vector<std::uint64_t>> table = manta::async<noise>(bytes, 5);
      std::vector<manta::actor<reader>> readers;
      for (const int rank : executors()) {
        readers.push_back(manta::spawn<reader>({.rank = rank}));
        CHECK(manta::async<&reader::open>(readers.back(), table).get() == bytes / 8);
      }
      CHECK(digest_of_view(manta::view(table)) == expected);
      table = {};
      for (int i = 0; i < 3; ++i) manta::async<noise>(bytes, 6).get();  // other arrays want the memory
      for (const auto& r : readers) CHECK(manta::async<&reader::digest>(r).get() == expected);
    }
    CHECK_THROWS_AS(manta::view(manta::async([]() -> std::vector<int> { throw std::runtime_error("no table"); })),
                    manta::task_failed);
  });
}
