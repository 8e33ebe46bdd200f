// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Results that outlive a start of the program: a later one, with the same or
// other arguments, with damaged files, computes what is not known and nothing
// else. Each in_world is a start; the ranks count what they run.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::sum_over_ranks;
using manta::testing::thrown;
using manta::testing::world_rank;

namespace {

long here = 0;  // tasks that ran on this rank in this start

int square(int x) {
  ++here;
  return x * x;
}
std::vector<double> series(int n, double step) {
  ++here;
  std::vector<double> v;
  for (int i = 0; i < n; ++i) v.push_back(i * step);
  return v;
}
double last(const std::vector<double>& v, const std::string& unit) {
  ++here;
  return v.back() + static_cast<double>(unit.size());
}
int nested(int n) {
  ++here;
  int sum = 0;
  for (const auto& f : manta::map<square>(manta::testing::count_to(n))) sum += f.get();
  return sum;
}
int refuse(int x) {
  ++here;
  throw std::runtime_error("refused " + std::to_string(x));
}
manta::future<int> give_future(int x) {
  ++here;
  return manta::put(x);
}
int of_gang(manta::team team, int x) {
  ++here;
  return x + team.size();
}
struct counter {
  int count = 0;
  int add(int n) { return count += n; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(count);
  }
};
struct other_counter : counter {};
void nothing() { ++here; }

/// Starts, and gives how many tasks have run anywhere in it.
template <class Driver>
long tasks_of(const std::string& journal, Driver&& driver, double least = 0) {
  here = 0;
  in_world({.journal = journal, .journal_least = least}, std::forward<Driver>(driver));
  return sum_over_ranks(here);
}

/// A folder that all ranks know.
struct shared_folder {
  std::string path;
  shared_folder() {
    char name[64] = "/tmp/manta_test_XXXXXX";
    if (world_rank() == 0 && ::mkdtemp(name) == nullptr) name[0] = '\0';
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    path = name;
  }
  ~shared_folder() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0) std::filesystem::remove_all(path);
    MPI_Barrier(MPI_COMM_WORLD);
  }
};

/// Rank 0 does something to each file that is there.
template <class Change>
void change_files(const std::string& folder, Change&& change) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) change(entry.path());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void work(int changed = 0) {
  std::vector<manta::future<int>> squares;
  for (int i = 0; i < 20; ++i) squares.push_back(manta::async<square>(i + (i == 7 ? changed : 0)));
  const auto a = manta::async<series>(50'000, 0.5);
  const auto b = manta::async<last>(a, std::string("metres"));
  const auto kept = manta::put(std::vector<double>(30'000, 1.5 + changed));
  const auto c = manta::async<last>(kept, std::string(2'000, 'x'));
  const auto d = manta::async<nested>(5);
  const auto e = manta::async<nothing>();
  for (int i = 0; i < 20; ++i) {
    const int x = i + (i == 7 ? changed : 0);
    CHECK(squares[static_cast<std::size_t>(i)].get() == x * x);
  }
  CHECK(b.get() == 24'999.5 + 6);
  CHECK(a.get().size() == 50'000);
  CHECK(c.get() == 2'001.5 + changed);
  CHECK(d.get() == 30);
  e.get();
}
constexpr long all_of_it = 20 + 2 + 1 + 6 + 1;

}  // namespace

TEST_CASE("a later start takes all results from the journal") {
  const shared_folder folder;
  CHECK(tasks_of(folder.path + "/new/one", [] { work(); }) == all_of_it);
  for (int i = 0; i < 3; ++i) CHECK(tasks_of(folder.path + "/new/one", [] { work(); }) == 0);
}

TEST_CASE("what has other arguments is computed, with all that comes of it, and nothing else") {
  const shared_folder folder;
  tasks_of(folder.path, [] { work(); });
  CHECK(tasks_of(folder.path, [] { work(1); }) == 2);  // one square, and what is made of the value that was put
  CHECK(tasks_of(folder.path, [] { work(1); }) == 0);
  CHECK(tasks_of(folder.path, [] { work(); }) == 0);
  const auto chain = [](int first) {
    auto f = manta::async<square>(first);
    for (int i = 0; i < 3; ++i) f = manta::async<square>(f);
    return f.get();
  };
  tasks_of(folder.path, [&] { CHECK(chain(2) == 65'536); });
  CHECK(tasks_of(folder.path, [&] { CHECK(chain(2) == 65'536); }) == 0);
  CHECK(tasks_of(folder.path, [&] { CHECK(chain(1) == 1); }) == 4);
}

TEST_CASE("other programs' files, torn ones and damaged ones are left out, and their results computed again") {
  const shared_folder folder;
  tasks_of(folder.path, [] { work(); });
  long missing = 0;
  change_files(folder.path, [&](const std::filesystem::path& file) {
    std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(-1, std::ios::end);  // the last byte of its last result
    f.put('#');
  });
  missing = tasks_of(folder.path, [] { work(); });
  CHECK(missing >= 1);
  CHECK(missing <= all_of_it);
  CHECK(tasks_of(folder.path, [] { work(); }) == 0);
  change_files(folder.path, [](const std::filesystem::path& file) {
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 3);
  });
  CHECK(tasks_of(folder.path, [] { work(); }) >= 1);
  CHECK(tasks_of(folder.path, [] { work(); }) == 0);
  change_files(folder.path, [](const std::filesystem::path& file) {
    std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(20);  // the program's digest
    f.put('#');
  });
  CHECK(tasks_of(folder.path, [] { work(); }) == all_of_it);
}

TEST_CASE("failures, results that hold futures, and actors are not kept; gangs are") {
  const shared_folder folder;
  const auto others = [] {
    CHECK(contains(thrown<manta::task_failed>([] { manta::async<refuse>(3).get(); }), "refused 3"));
    CHECK(manta::async<give_future>(5).get().get() == 5);
    const auto actor = manta::spawn<counter>();
    CHECK(manta::async<&counter::add>(actor, 2).get() == 2);
    CHECK(manta::async<of_gang>({.ranks = 1}, 4).get() == 5);
  };
  CHECK(tasks_of(folder.path, others) == 3);
  CHECK(tasks_of(folder.path, others) == 2);
}

TEST_CASE(
    "short tasks are not kept unless they are marked, nor is anything without a folder; one that cannot be used is refused on all ranks") {
  const shared_folder folder;
  CHECK(tasks_of(
            folder.path, [] { work(); }, 60) == all_of_it);
  CHECK(tasks_of(
            folder.path, [] { work(); }, 60) == all_of_it);
  CHECK(tasks_of("", [] { work(); }) == all_of_it);
  CHECK(tasks_of("", [] { work(); }) == all_of_it);
  const auto marked = [] {
    CHECK(manta::async<square>({.journaled = true}, 7).get() == 49);
    CHECK(manta::async<nested>({.journaled = true}, 5).get() == 30);
    CHECK(manta::async<square>({.name = "not marked"}, 9).get() == 81);
  };
  CHECK(tasks_of(folder.path, marked, 60) == 1 + 6 + 1);
  CHECK(tasks_of(folder.path, marked, 60) == 1);
  const std::string text = thrown<manta::error>([] { in_world({.journal = "/proc/nowhere"}, [] {}); });
  CHECK(contains(text, "/proc/nowhere"));
  CHECK(contains(text, "all ranks see and may write to"));
}

TEST_CASE("a relative folder stays where it was at the start, wherever the program goes") {
  const shared_folder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
  const auto elsewhere = [] {
    std::filesystem::current_path("/");
    work();
  };
  CHECK(tasks_of("relative", elsewhere) == all_of_it);
  std::filesystem::current_path(folder.path);
  CHECK(tasks_of("relative", elsewhere) == 0);
  std::filesystem::current_path(before);
}

TEST_CASE("what is named like a file of the journal and is none is passed over") {
  const shared_folder folder;
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) {
    CHECK(::mkfifo((folder.path + "/0-0-0-0.journal").c_str(), 0600) == 0);
    CHECK(::mkdir((folder.path + "/1-0-0-0.journal").c_str(), 0700) == 0);
    CHECK(::symlink("nowhere", (folder.path + "/2-0-0-0.journal").c_str()) == 0);
    CHECK(::symlink("/dev/zero", (folder.path + "/3-0-0-0.journal").c_str()) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(tasks_of(folder.path, [] { work(); }) == all_of_it);
  CHECK(tasks_of(folder.path, [] { work(); }) == 0);
}

TEST_CASE("a named actor with checkpoints goes on where it was, unless it had come to its end") {
  const shared_folder folder;
  const auto add = [](const manta::actor<counter>& a, int n) { return manta::async<&counter::add>(a, n).get(); };
  const auto options = manta::actor_options{.name = "bank", .checkpoint_every = 2};
  const auto begin = [&](const manta::actor_options& o) { return manta::spawn<counter>(o); };
  const auto start = [&](auto&& driver) { tasks_of(folder.path, driver); };
  CHECK_THROWS(start([&] {
    const auto bank = begin(options), cash = begin({.name = "cash"}),
               unnamed = begin({.restarts = 1, .checkpoint_every = 1});
    for (const auto& a : {bank, cash, unnamed}) CHECK(add(a, 1) == 1);
    CHECK(add(bank, 10) == 11);  // a checkpoint
    CHECK(add(bank, 100) == 111);
    throw std::runtime_error("it has to be started again");
  }));
  CHECK_THROWS(start([&] {
    const auto bank = begin(options), cash = begin({.name = "cash"}),
               unnamed = begin({.restarts = 1, .checkpoint_every = 1});
    CHECK(add(bank, 1000) == 1111);
    for (const auto& a : {cash, unnamed}) CHECK(add(a, 1) == 1);
    throw std::runtime_error("and again");
  }));
  start([&] {
    CHECK(add(begin(options), 0) == 1111);  // and has come to its end
    CHECK(add(begin(options), 5) == 5);     // another one of this name
  });
  start([&] { CHECK(add(begin(options), 7) == 7); });
}

TEST_CASE("a kill leaves an actor's last checkpoint, and what it cannot be made from is named") {
  const shared_folder folder;
  const std::string copy = folder.path + "/copy";
  CHECK_THROWS(tasks_of(folder.path + "/journal", [&] {
    const auto bank = manta::spawn<counter>({.name = "bank", .checkpoint_every = 2});
    for (int i = 0; i < 5; ++i) CHECK(manta::async<&counter::add>(bank, 1).get() == i + 1);
    manta::testing::poll_until("the file of a state", [&] {  // written behind, after a second at most
      for (const auto& entry : std::filesystem::directory_iterator(folder.path + "/journal")) {
        if (entry.path().extension() == ".state") return true;
      }
      return false;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // the second one
    std::filesystem::copy(folder.path + "/journal", copy);         // what a kill would leave now
    throw std::runtime_error("it has to be started again");
  }));
  CHECK_THROWS(tasks_of(copy, [&] {
    const auto bank = manta::spawn<counter>({.name = "bank", .checkpoint_every = 2});
    CHECK(manta::async<&counter::add>(bank, 1).get() == 5);  // the fifth call came after the checkpoint
    throw std::runtime_error("it has to be started again");
  }));
  CHECK_THROWS(tasks_of(copy, [&] {
    const auto bank = manta::spawn<other_counter>({.name = "bank", .checkpoint_every = 2});
    CHECK(manta::async<&counter::add>(bank, 1).get() == 1);  // of another class
    throw std::runtime_error("it has to be started again");
  }));
}
