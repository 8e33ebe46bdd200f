// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The numbers that ids and seeds are made of, settings from the environment,
// the end of a Slurm job, and the pool of records. The literals come from the
// published reference implementations of splitmix64 and FNV-1a, not from this
// library.
#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "manta/base/allocation.hpp"
#include "manta/base/clock.hpp"
#include "manta/base/environment.hpp"
#include "manta/base/hash.hpp"
#include "manta/base/heap.hpp"
#include "manta/base/pool.hpp"

using manta::base::environment_flag;
using manta::base::environment_number;
using manta::base::hash_text;
using manta::base::mix;

namespace {

/// A variable for the length of a test.
class setting {
 public:
  explicit setting(const char* value) { ::setenv(name, value, 1); }
  setting(const setting&) = delete;
  setting& operator=(const setting&) = delete;
  ~setting() { ::unsetenv(name); }
  static constexpr const char* name = "MANTA_TEST_ONLY_SETTING";
};

double number(const char* text, double otherwise = -1) {
  const setting s(text);
  return environment_number(setting::name, otherwise);
}
bool flag(const char* text, bool otherwise) {
  const setting s(text);
  return environment_flag(setting::name, otherwise);
}

/// Any variable for the length of a test, then what it was; null: not set.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) {
    const char* const before = std::getenv(name);
    was_set_ = before != nullptr;
    if (was_set_) before_ = before;
    set(value);
  }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  ~variable() { set(was_set_ ? before_.c_str() : nullptr); }

 private:
  void set(const char* value) const { value != nullptr ? ::setenv(name_, value, 1) : ::unsetenv(name_); }
  const char* name_;
  std::string before_;
  bool was_set_ = false;
};

/// A program called squeue, the first in PATH, that answers with `body` and leaves its arguments in a file.
class fake_squeue {
 public:
  explicit fake_squeue(const std::string& body)
      : folder_(make_folder()), path_("PATH", (folder_ + ":" + std::getenv("PATH")).c_str()) {
    const std::string program = folder_ + "/squeue";
    std::ofstream(program) << "#!/bin/sh\necho \"$@\" >'" << folder_ << "/asked'\n" << body << "\n";
    ::chmod(program.c_str(), 0700);
  }
  fake_squeue(const fake_squeue&) = delete;
  fake_squeue& operator=(const fake_squeue&) = delete;
  ~fake_squeue() { std::filesystem::remove_all(folder_); }
  /// Empty: it was not called.
  std::string asked() const {
    std::ifstream file(folder_ + "/asked");
    std::string line;
    std::getline(file, line);
    return line;
  }

 private:
  static std::string make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "manta-squeue-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    return name;
  }
  std::string folder_;
  variable path_;
};

struct counted {
  int* alive;
  double value;
  counted(int& counter, double v) : alive(&counter), value(v) { ++*alive; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --*alive; }
};

struct alignas(32) wide {
  std::uint64_t words[4];
};

}  // namespace

TEST_CASE("mix is splitmix64, the same number in every run and on every machine") {
  CHECK(mix(0) == 0xe220a8397b1dcdafULL);
  CHECK(mix(1234567) == 6457827717110365317ULL);
  CHECK(mix(1234567 + 0x9e3779b97f4a7c15ULL) == 3203168211198807973ULL);
  CHECK(mix(1, 2) == 0xe06dd043328bd285ULL);
  CHECK(mix(2, 1) == 0xbcd9dbb49673066bULL);
  static_assert(mix(0) == 0xe220a8397b1dcdafULL, "it can be computed by the compiler");
}

TEST_CASE("one changed input bit changes about half of the output bits") {
  int changed = 0;
  for (int bit = 0; bit < 64; ++bit) {
    const int n = std::popcount(mix(42) ^ mix(42ULL ^ (1ULL << bit)));
    CHECK(n >= 12);
    CHECK(n <= 52);
    changed += n;
  }
  CHECK(changed / 64 >= 28);
  CHECK(changed / 64 <= 36);
}

TEST_CASE("the children of ten thousand parents have ids of their own") {
  std::set<std::uint64_t> ids;
  for (std::uint64_t parent = 0; parent < 10'000; ++parent) {
    for (std::uint64_t child = 1; child <= 10; ++child) ids.insert(mix(mix(parent) + child * 0x9e3779b97f4a7c15ULL));
  }
  CHECK(ids.size() == 100'000);
}

TEST_CASE("hash_text is FNV-1a through mix, and every character counts") {
  CHECK(hash_text("") == mix(0xcbf29ce484222325ULL));
  CHECK(hash_text("a") == mix(0xaf63dc4c8601ec8cULL));
  CHECK(hash_text("foobar") == mix(0x85944171f73967e8ULL));
  CHECK(hash_text("foobar") == 0x5df295413403de4fULL);
  CHECK(hash_text("\xff") != hash_text("\x7f"));
  CHECK(hash_text("ab") != hash_text("ba"));
  CHECK(hash_text(std::string("a\0b", 3)) != hash_text("a"));
}

TEST_CASE("a setting that is not there or empty gives the default") {
  ::unsetenv(setting::name);
  CHECK(manta::base::environment(setting::name) == nullptr);
  CHECK(environment_number(setting::name, 2.5) == 2.5);
  CHECK(environment_flag(setting::name, true));
  CHECK_FALSE(environment_flag(setting::name, false));
  CHECK(number("", 7) == 7);
  CHECK(flag("", true));
  CHECK_FALSE(flag("", false));
}

TEST_CASE("numbers are read as they are written") {
  CHECK(number("3") == 3);
  CHECK(number("-2") == -2);
  CHECK(number("0.125") == 0.125);
  CHECK(number("1e6") == 1e6);
}

TEST_CASE("a number that cannot be read is an error that names the variable and the text") {
  for (const std::string text : {"abc", "3x", "1,5", "2 cores", " ", "--3", "1e", "0x"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(number(text.c_str()), manta::error);
  }
  CHECK_THROWS_WITH(number("abc"), doctest::Contains("MANTA_TEST_ONLY_SETTING"));
  CHECK_THROWS_WITH(number("abc"), doctest::Contains("=abc"));
  CHECK_THROWS_WITH(number("abc"), doctest::Contains("manta: "));
}

TEST_CASE("a flag is on or off by any of its usual spellings") {
  for (const std::string text : {"1", "on", "yes", "true"}) {
    CAPTURE(text);
    CHECK(flag(text.c_str(), false));
  }
  for (const std::string text : {"0", "off", "no", "false"}) {
    CAPTURE(text);
    CHECK_FALSE(flag(text.c_str(), true));
  }
}

TEST_CASE("a flag that is neither is an error that names the variable and the text") {
  for (const std::string text : {"2", "maybe", "onn", "-1", " 1"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(flag(text.c_str(), true), manta::error);
  }
  CHECK_THROWS_WITH(flag("maybe", true), doctest::Contains("MANTA_TEST_ONLY_SETTING=maybe"));
}

TEST_CASE("the end of a job is what Slurm has put into the environment") {
  const fake_squeue other("echo 2026-07-01T12:00:00");
  const variable job("SLURM_JOB_ID", "12"), end("SLURM_JOB_END_TIME", "1767225600");
  CHECK(manta::base::end_of_job() == 1767225600);
  CHECK(other.asked() == "");
}

TEST_CASE("an older Slurm is asked for the end of the job, which it tells in local time") {
  const variable zone("TZ", "CET-1CEST,M3.5.0,M10.5.0/3");
  const variable job("SLURM_JOB_ID", "12"), end("SLURM_JOB_END_TIME", nullptr);
  {
    const fake_squeue summer("echo 2026-07-01T12:00:00");
    CHECK(manta::base::end_of_job() == 1782900000);  // 10:00 UTC
    CHECK(summer.asked() == "-h -j 12 -o %e");
  }
  const fake_squeue winter("echo 2026-01-01T01:00:00");
  CHECK(manta::base::end_of_job() == 1767225600);  // 00:00 UTC
}

TEST_CASE("a job without an end, or of which nobody knows one, has none") {
  const variable end("SLURM_JOB_END_TIME", nullptr);
  {
    const variable job("SLURM_JOB_ID", "12");
    for (const char* answer :
         {"echo NONE", "echo Unknown", ":", "echo slurm_load_jobs error: Invalid job id specified >&2; exit 1"}) {
      CAPTURE(answer);
      const fake_squeue other(answer);
      CHECK(manta::base::end_of_job() == 0);
      CHECK(other.asked() != "");
    }
  }
  const fake_squeue other("echo 2026-07-01T12:00:00");
  for (const char* id :
       {static_cast<const char*>(nullptr), "", "12; touch here", "$(id)"}) {  // no job, or none of Slurm's
    const variable job("SLURM_JOB_ID", id);
    CHECK(manta::base::end_of_job() == 0);
  }
  CHECK(other.asked() == "");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these have allocators of their own
TEST_CASE("arrays that are made and freed again and again take no new pages from the system") {
  manta::base::keep_freed_memory(std::uint64_t{1} << 30U);
  long pages = 0;
  for (int i = 0; i < 20; ++i) {
    const std::vector<char> a(std::size_t{1} << 20U, 'a'), b(a);
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    if (i == 1) pages = use.ru_minflt;
    if (i == 19) CHECK(use.ru_minflt - pages < 100);  // new ones would be 9000
  }
}
#endif

TEST_CASE("the record freed last is the one made next") {
  manta::base::pool<std::uint64_t> records;
  std::uint64_t* a = records.make(1ULL);
  std::uint64_t* b = records.make(2ULL);
  std::uint64_t* c = records.make(3ULL);
  CHECK(*a + *b + *c == 6);
  records.free(b);
  records.free(a);
  CHECK(records.make(4ULL) == a);
  CHECK(records.make(5ULL) == b);
  CHECK(*a == 4);
  CHECK(*b == 5);
  CHECK(*c == 3);
}

TEST_CASE("records are constructed and destroyed, and live counts them") {
  int alive = 0;
  manta::base::pool<counted, 4> records;
  std::vector<counted*> made;
  for (int i = 0; i < 10; ++i) made.push_back(records.make(alive, i + 0.5));
  CHECK(alive == 10);
  CHECK(records.live() == 10);
  for (int i = 0; i < 10; ++i) CHECK(made[static_cast<std::size_t>(i)]->value == i + 0.5);
  for (counted* record : made) records.free(record);
  CHECK(alive == 0);
  CHECK(records.live() == 0);
}

TEST_CASE("a pool keeps the alignment and never gives out a record twice") {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("MANTA_TEST_SEED=" << seed);
  std::mt19937_64 draw(seed);
  manta::base::pool<wide, 8> records;
  std::vector<wide*> live;
  std::set<wide*> addresses;  // ever seen: bounded by the largest number alive at once
  std::size_t most = 0;
  bool ok = true;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    if (live.empty() || (draw() % 2 == 0 && live.size() < 100)) {
      wide* record = records.make(wide{{i, i, i, i}});
      ok = ok && reinterpret_cast<std::uintptr_t>(record) % alignof(wide) == 0;
      live.push_back(record);
      addresses.insert(record);
      most = std::max(most, live.size());
    } else {
      const std::size_t at = draw() % live.size();
      const wide w = *live[at];
      ok = ok && w.words[0] == w.words[3] && w.words[1] == w.words[2];  // nobody wrote over it
      records.free(live[at]);
      live[at] = live.back();
      live.pop_back();
    }
    ok = ok && records.live() == live.size();
  }
  CHECK(ok);
  CHECK(addresses.size() == most);
}

TEST_CASE("the clock goes forward and ticks become nanoseconds") {
  const std::int64_t before = manta::base::now_ns();
  const std::uint64_t first = manta::base::ticks();
  while (manta::base::now_ns() - before < 20'000'000) {
  }
  const std::int64_t ns = manta::base::now_ns() - before;
  const double by_ticks = static_cast<double>(manta::base::ticks() - first) * manta::base::nanoseconds_per_tick();
  CHECK(by_ticks > 0.8 * static_cast<double>(ns));
  CHECK(by_ticks < 1.5 * static_cast<double>(ns));
}

TEST_CASE("nanoseconds of ticks are exact in integers, for microseconds and for years") {
  using manta::base::nanoseconds_of;
  CHECK(nanoseconds_of(0) == 0);
  const double each = static_cast<double>(nanoseconds_of(std::uint64_t{1} << 40)) / std::ldexp(1.0, 40);
  CHECK(each == doctest::Approx(manta::base::nanoseconds_per_tick()).epsilon(0.2));  // measured better as time goes on
  for (const std::uint64_t ticks : {std::uint64_t{1'000}, std::uint64_t{123'456'789}, (std::uint64_t{1} << 28) - 1,
                                    std::uint64_t{1} << 28, std::uint64_t{1} << 58}) {
    const double exact = static_cast<double>(ticks) * each;
    CHECK(std::abs(static_cast<double>(nanoseconds_of(ticks)) - exact) < 1 + 1e-6 * exact);
  }
}
