// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What becomes of tasks, values, actors and gangs when ranks die: one scenario
// a start, by name. Tasks kill their own rank, most of them only the first
// time: a file in the folder given says that it has been done.
//
//   scenario NAME FOLDER
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <manta/manta.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using numbers = std::vector<double>;

/// True for the first who asks, of all ranks and for ever.
bool first(const std::string& file) {
  const int f = ::open(file.c_str(), O_CREAT | O_EXCL, 0600);
  if (f >= 0) ::close(f);
  return f >= 0;
}
void die() { ::raise(SIGKILL); }
/// From here on, the test may disturb this program.
void started() {
  std::puts("started");
  std::fflush(stdout);
}

void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

/// A line more in the file.
void note(const std::string& file, const std::string& text = {}) {
  const int f = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  (void)!::dprintf(f, "%s\n", text.c_str());
  ::close(f);
}
long noted(const std::string& file) {
  struct stat s {};
  return ::stat(file.c_str(), &s) == 0 ? static_cast<long>(s.st_size) : 0;
}

int pop_two(const std::string& file, manta::queue<int> q) {
  q.pop();
  note(file);
  return q.pop();
}
int square(int x) {
  pause_ms(1);
  return x * x;
}
double trial(const std::string& file, int i) {
  pause_ms(15);
  note(file, std::to_string(i));
  return std::sin(i) + static_cast<double>(manta::this_task::seed() % 1000);
}
int patient(int x) {
  for (int i = 0; i < 10; ++i) {
    pause_ms(1);
    if (manta::this_task::stop_requested()) return -1;
  }
  return x;
}
int die_once(const std::string& file, int x) {
  if (first(file)) die();
  return x + 1;
}
int die_always(int) {
  die();
  return 0;
}
/// A value whose save() ends the process when it runs for the time `at` on a rank other than 0.
struct unsaved {
  int at = 0;
  std::vector<int> data = {};
  static inline std::map<int, int> saves = {};
  template <class Archive>
  void save(Archive& a) const {
    if (manta::rank() != 0 && ++saves[at] >= at) std::abort();
    a(at, data);
  }
  template <class Archive>
  void load(Archive& a) {
    a(at, data);
  }
};
unsaved make_unsaved(int at, std::size_t length) { return {at, std::vector<int>(length, 1)}; }
std::size_t length_of(const unsaved& u) { return u.data.size(); }
std::size_t put_unsaved(int at, std::size_t length) {
  const auto f = manta::put(make_unsaved(at, length));
  return manta::async<length_of>({.except = {{manta::rank()}}}, f).get();
}
std::size_t pass_unsaved(int at, std::size_t length) {
  const auto f = manta::async<make_unsaved>({.rank = manta::rank()}, at, length);
  f.wait();
  return manta::async<length_of>({.except = {{manta::rank()}}}, f).get();
}
int hang_once(const std::string& file, int x) {
  if (first(file)) {
    for (volatile bool never = false; !never;) pause_ms(1);
  }
  return x + 1;
}
int wait_for(const std::string& file, manta::future<int> f) {
  (void)first(file);
  return f.get();
}
/// Longer than the watchdog's patience in all.
int patient_for_long(int x) {
  for (int i = 0; i < 150; ++i) {
    pause_ms(10);
    (void)manta::this_task::stop_requested();
  }
  return x;
}
int crash(int x) {
  if (manta::this_task::attempt() < x) std::abort();
  return manta::this_task::attempt();
}
int crash_in_thread(int x) {
  std::thread([] { std::abort(); }).join();
  return x;
}
/// The ways in which a task ends its rank's process by its own doing.
enum class way { exit_0, exit_3, leave_0, leave_3, quick, signal, mpi, kill };
constexpr way ways[] = {way::exit_0, way::exit_3, way::leave_0, way::leave_3, way::quick, way::signal, way::mpi};
void as_petsc_does(int) { MPI_Abort(MPI_COMM_WORLD, 59); }
void end_by(way how) {
  switch (how) {
    case way::exit_0: std::exit(0);
    case way::exit_3: std::exit(3);
    case way::leave_0: ::_exit(0);
    case way::leave_3: ::_exit(3);
    case way::quick: std::quick_exit(3);
    case way::signal: ::raise(SIGXCPU); break;
    case way::mpi: ::signal(SIGSEGV, as_petsc_does), ::raise(SIGSEGV); break;
    case way::kill: ::raise(SIGKILL); break;
  }
}
const char* words_of(way how) {
  switch (how) {
    case way::exit_0: return "exit(0) in task";
    case way::exit_3: return "exit(3) in task";
    case way::leave_0: return "its process ended with status 0";
    case way::leave_3: return "its process ended with status 3";
    case way::quick: return "exit(1) in task";  // it does not tell its status
    case way::signal: return "its process was killed by signal";
    case way::mpi: return "its process ended with status 59";
    case way::kill: return "its process was killed by SIGKILL";
  }
  return "";
}
/// At the first `attempts`; returns the number of the one that did not.
int end_rank(way how, int attempts) {
  if (manta::this_task::attempt() < attempts) end_by(how);
  return manta::this_task::attempt();
}
int end_rank_of_child(way how) {
  try {
    return manta::async<end_rank>(how, 1).get();
  } catch (const manta::rank_lost&) {
    return -1;
  }
}
int dead_ranks() {
  int dead = 0;
  for (const auto& c : manta::capacity()) dead += c.node < 0;
  return dead;
}

enum class stray { returns, throws, submits, waits, crashes, exits };
/// What fork leaves behind where the child does not leave itself. Returns how it ended.
int fork_stray(stray what) {
  const manta::future<int> one = manta::put(1);
  const pid_t child = ::fork();
  if (child == 0) {
    switch (what) {
      case stray::returns: return -1;
      case stray::throws: throw std::runtime_error("in the child");
      case stray::submits: return manta::async<square>(2).get();
      case stray::waits: return one.get();
      case stray::crashes: std::abort();
      case stray::exits: ::_exit(5);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
int fork_strays() {
  for (const stray s : {stray::returns, stray::throws, stray::submits, stray::waits}) {
    if (fork_stray(s) != 1) return static_cast<int>(s);
  }
  return fork_stray(stray::crashes) == -SIGABRT && fork_stray(stray::exits) == 5 ? 100 : 50;
}

std::mutex lock_of_rank;
int hold_and_wait(int x) {
  const std::lock_guard hold(lock_of_rank);
  auto f = manta::async<square>(x);
  pause_ms(100);
  return f.get();
}
int hold_in_turn(int n) {
  std::vector<manta::future<int>> all;
  for (int i = 0; i < n; ++i) all.push_back(manta::async<hold_and_wait>(i));
  int sum = 0;
  for (auto& f : all) sum += f.get();
  return sum;
}

numbers make(int n) {
  numbers v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0.0);
  return v;
}
/// Its rank dies while others fetch what it has made.
numbers make_and_die(const std::string& file, int n, int ms) {
  if (first(file)) {
    std::thread([ms] {
      pause_ms(ms);
      die();
    }).detach();
  }
  return make(n);
}
double sum(const numbers& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
numbers twice(numbers v) {
  for (double& x : v) x *= 2;
  return v;
}
double last(const numbers& v) { return v.back(); }
int where() { return manta::rank(); }
int fan(const std::string& file, int n) {
  std::vector<manta::future<int>> parts;
  for (int i = 0; i < n; ++i) parts.push_back(manta::async<square>(i));
  if (!file.empty() && first(file)) die();
  unsigned sum = 0;  // of many parts it overflows
  for (auto& p : parts) sum += static_cast<unsigned>(p.get());
  return static_cast<int>(sum);
}
int square_or_die(const std::string& file, int x) {
  if (x > 20 && manta::rank() != 1 && first(file)) die();
  return square(x);
}
/// Its tasks are placed by rank 0, and most on other ranks than this one.
int spread_out(const std::string& file) {
  std::vector<manta::future<int>> parts;
  for (int i = 0; i < 60; ++i) parts.push_back(manta::async<square_or_die>({.spread = true}, file, i));
  return std::accumulate(parts.begin(), parts.end(), 0, [](int sum, auto& part) { return sum + part.get(); });
}
manta::future<numbers> put_here(int n) { return manta::put(make(n)); }

/// Of each kind of value one.
struct put_values {
  manta::future<numbers> array;
  manta::future<std::string> text;
  manta::future<int> number;
  template <class Archive>
  void serialize(Archive& a) {
    a(array, text, number);
  }
};
put_values put_with_replicas(int n, int replicas) {
  const manta::put_options kept{.replicas = replicas};
  return {manta::put(make(n), kept), manta::put(std::string(static_cast<std::size_t>(n), 'x'), kept),
          manta::put(n, kept)};
}
bool all_are(const put_values& v, int n) {
  return v.array.get().size() == static_cast<std::size_t>(n) && v.array.get().back() == n - 1 &&
         v.text.get() == std::string(static_cast<std::size_t>(n), 'x') && v.number.get() == n;
}
int ranks_with_arrays() {
  int count = 0;
  for (const manta::rank_memory& m : manta::memory()) count += m.large != 0;
  return count;
}

/// Its parent dies when it has begun, and submits it again elsewhere: then its own rank dies, after the first one has ended.
int child(const std::string& folder) {
  if (first(folder + "/child")) {
    pause_ms(1000);
    return 1;
  }
  if (first(folder + "/same_child")) {
    pause_ms(2500);
    die();
  }
  return 2;
}
int parent(const std::string& folder) {
  auto f = manta::async<child>({.spread = true}, folder);
  if (first(folder + "/parent")) {
    pause_ms(500);
    die();
  }
  return f.get();
}

struct account {
  int total = 0;
  int add(int x) { return total += x; }
  int rank() const { return manta::rank(); }
  int process() const { return ::getpid(); }
  int nap(int ms) const {
    pause_ms(ms);
    return manta::rank();
  }
  numbers history() const { return make(50'000); }
  int crash() { std::abort(); }
  int die_once(const std::string& file) {
    if (first(file)) die();
    return total;
  }
  int hang_once(const std::string& file) { return ::hang_once(file, total); }
  template <class Archive>
  void serialize(Archive& a) {
    a(total);
  }
};

int sum_of_ranks(manta::team team, const std::string& file) {
  if (team.rank() == 1 && first(file)) die();
  int mine = team.rank() + 1, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, team.comm());
  return all;
}

int throw_on(manta::team team, int member) {
  if (team.rank() == member) throw std::runtime_error("it diverged");
  MPI_Barrier(team.comm());
  return 0;
}

int throw_later(manta::team team, int member) {
  pause_ms(1000);
  return throw_on(team, member);
}

/// The first time its second member dies when its part has been built, while its third still builds.
class late_crew {
 public:
  late_crew(manta::team team, const std::string& file) : members_(team.size()) {
    if (team.rank() == 1 && first(file)) {
      std::thread([] {
        pause_ms(200);
        die();
      }).detach();
    }
    if (team.rank() == 2) pause_ms(700);
  }
  int members() const { return members_; }

 private:
  int members_;
};

/// An actor on several ranks, of which one dies in a call, of a signal of its own, or killed; or throws while others wait for it.
struct crew {
  explicit crew(manta::team t) : team(t), member(t.rank()) {}
  manta::team team;
  int member;
  int fall(int who, bool by_itself) {
    if (member == who && by_itself) std::abort();
    if (member == who) die();
    return member;
  }
  int give_up(int who) { return throw_on(team, who); }
};

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("not so: ") + what);
}
template <class Exception, class F>
std::string thrown(F&& f) {
  try {
    (void)f();
  } catch (const Exception& e) {
    return e.what();
  }
  throw std::runtime_error("nothing was thrown");
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// What a task gives away: of each kind one, all owned by its rank.
struct gifts {
  int giver = 0;
  manta::future<int> number;
  manta::future<numbers> array, put, elsewhere;
  manta::future<manta::future<int>> nested;
  std::vector<manta::future<std::string>> many;
  manta::actor<account> on_other;
  template <class Archive>
  void serialize(Archive& a) {
    a(giver, number, array, put, elsewhere, nested, many, on_other);
  }
};
manta::future<int> give_number(int x) { return manta::async<square>(x); }
std::string text_of(int i) { return "text " + std::to_string(i); }
gifts give(const std::string& file, int other) {
  note(file);
  gifts g{manta::rank(),
          manta::async<square>(7),
          manta::async<make>(100'000),
          manta::put(make(50'000)),
          manta::async<make>({.spread = true}, 200'000),
          manta::async<give_number>(5),
          {},
          {}};
  for (int i = 0; i < 300; ++i) g.many.push_back(manta::async<text_of>(i));
  g.on_other = manta::spawn<account>({.rank = other});
  manta::async<&account::add>(g.on_other, 1).get();
  return g;
}
std::pair<int, manta::future<int>> give_slow() { return {manta::rank(), manta::async<patient_for_long>(1)}; }
void check(const gifts& g) {
  expect(g.number.get() == 49 && g.nested.get().get() == 25, "numbers");
  expect(g.array.get() == make(100'000) && g.put.get() == make(50'000) && g.elsewhere.get() == make(200'000), "arrays");
  for (int i = 0; i < 300; ++i) expect(g.many[static_cast<std::size_t>(i)].get() == text_of(i), "texts");
}
struct holder {
  gifts held;
  void take(const gifts& g) { held = g; }
  void check() const { ::check(held); }
};
/// Its rank dies in the middle, when it is ahead of its consumer.
manta::generator<numbers> produce(std::string file, int count) {
  for (int i = 0; i < count; ++i) {
    if (i == count / 2 && first(file)) die();
    co_yield numbers(i % 3 == 0 ? 20'000 : 3, i);
  }
}
/// Fewer values each time that it runs.
manta::generator<int> fewer(std::string folder) {
  const bool is_first = first(folder + "/began");
  if (is_first) std::ofstream(folder + "/process") << ::getpid() << std::flush;
  const int count = is_first ? 1'000'000 : 5;
  for (int i = 0; i < count; ++i) co_yield i;
}
int process() { return ::getpid(); }
int work(const std::string& file) {
  (void)first(file);
  pause_ms(300);
  return static_cast<int>(manta::rank());
}
manta::generator<int> count_and_crash(int count) {
  for (int i = 0; i < count; ++i) co_yield i;
  std::abort();
}
manta::generator<int> count_and_die(int count) {
  for (int i = 0; i < count; ++i) co_yield i;
  die();
}
int read_stream(manta::stream<numbers> s, int from) {
  int i = from;
  for (auto& f : s) {
    const numbers v = f.get();
    expect(v.size() == (i % 3 == 0 ? 20'000 : 3) && v.back() == i, "in order");
    ++i;
  }
  return i;
}
int make_and_read(const std::string& file, int count) { return read_stream(manta::async<produce>(file, count), 0); }

/// Ends a rank, and returns when that is known.
void kill_rank(const std::string& file, int rank) {
  (void)manta::async<die_once>({.rank = rank, .retries = 0}, file, 1).wait_for(std::chrono::seconds(60));
}

/// Spawns an actor that anybody may find, and returns its own rank.
int open_bank() {
  auto bank = manta::spawn<account>({.name = "bank", .restarts = 3, .checkpoint_every = 1, .detached = true});
  expect(manta::async<&account::add>(bank, 10).get() == 10, "a new one");
  return manta::rank();
}
/// Says in a file when it ends.
struct pupil {
  explicit pupil(std::string folder_) : folder(std::move(folder_)) {}
  pupil(pupil&&) = delete;
  ~pupil() { note(folder + "/pupil-ended"); }
  int rank() const { return manta::rank(); }
  std::string folder;
};
/// Has an actor of its own, and what it is given.
struct owner {
  explicit owner(const std::string& folder) : mine(manta::spawn<pupil>({.rank = 3}, folder)) {
    manta::async<&pupil::rank>(mine).get();
  }
  int process() const { return ::getpid(); }
  void keep(manta::future<numbers> f) { kept.push_back(std::move(f)); }
  manta::actor<pupil> mine;
  std::vector<manta::future<numbers>> kept;
};

struct vault {
  explicit vault(const numbers& v) : content(v) {}
  numbers content;
  double sum() const { return ::sum(content); }
  int rank() const { return manta::rank(); }
};
int fill_vault() {
  auto v = manta::spawn<vault>({.name = "vault", .restarts = 1, .detached = true}, make(100'000));
  expect(manta::async<&vault::sum>(v).get() == sum(make(100'000)), "it is there");
  return manta::rank();
}
int add_to_bank(int x) { return manta::async<&account::add>(manta::find_actor<account>("bank"), x).get(); }
/// Its rank dies when it has spawned an actor under a name, which it spawns again when it runs once more.
int open_shop(const std::string& file) {
  auto shop = manta::spawn<account>({.name = "shop", .restarts = 3, .checkpoint_every = 1});
  const int total = manta::async<&account::add>(shop, 5).get();
  if (first(file)) die();
  return total;
}

void play(const std::string& name, const std::string& folder) {
  if (name == "tasks") {  // of rank 0, queued and running there
    std::vector<manta::future<int>> all;
    for (int i = 0; i < 500; ++i)
      all.push_back(i == 100 ? manta::async<die_once>(folder + "/a", 5) : manta::async<square>(i));
    for (int i = 0; i < 500; ++i)
      expect(all[static_cast<std::size_t>(i)].get() == (i == 100 ? 6 : i * i), "each has its result");
  } else if (name == "nested") {  // tasks of other ranks, of which one dies with its children under way
    // first tasks of a rank that lives, placed by rank 0 on one that dies: rank 0 alone knows where they were
    expect(manta::async<spread_out>({.rank = 1}, folder + "/b").get() == 70'210, "placed for another rank");
    expect(!first(folder + "/b"), "one has died");
    std::vector<manta::future<int>> all;
    for (int i = 0; i < 20; ++i) all.push_back(manta::async<fan>(i == 7 ? folder + "/a" : std::string(), 20));
    for (auto& f : all) expect(f.get() == 2470, "each has its result");
  } else if (name == "twins") {  // two tasks with one id, of which the one ends and the other dies
    expect(manta::async<parent>(folder).get() == 2, "done a third time");
  } else if (name == "values") {  // large ones, made again from what they were made of
    auto a = manta::async<make>(100'000);
    auto b = manta::async<twice>(a);
    a.wait(), b.wait();
    expect(manta::async<die_once>({.near = b}, folder + "/a", 1).get() == 2, "it has died and come back");
    expect(manta::async<last>(b).get() == 199'998.0, "b");
    expect(a.get().back() == 99'999.0 && b.get().back() == 199'998.0, "both");
  } else if (name == "relay") {  // a large one on its way through the nodes, of which the first dies
    for (const int ms : {100, 150, 250}) {
      const std::string file = folder + "/" + std::to_string(ms);
      auto made = manta::async<make_and_die>(file, 10'000'000, ms);
      made.wait();
      std::vector<manta::future<double>> sums;
      for (int r = 1; r < manta::size(); ++r) sums.push_back(manta::async<sum>({.spread = true}, made));
      for (auto& s : sums) expect(s.get() == 49'999'995e6, "the whole value");
    }
  } else if (name == "forgotten") {  // a quarter of MANTA_STORE_MEMORY is five inputs: older ones are given up
    std::vector<manta::future<numbers>> made;  // on rank 1, as rank 2 stands by
    for (int i = 0; i < 12; ++i) {
      made.push_back(manta::async<twice>(manta::async<make>(50'000)));
      made.back().wait();
    }
    expect(manta::async<die_once>(folder + "/a", 1).get() == 2, "it has died and come back");
    for (std::size_t i = 0; i < 12; ++i) {
      if (i >= 7) {
        expect(made[i].get() == twice(make(50'000)), "made again");
        continue;
      }
      const std::string text = thrown<manta::object_lost>([&] { return made[i].get().size(); });
      expect(contains(text, "twice' is lost, and its task was no longer kept to make it again"), text.c_str());
    }
  } else if (name == "put") {
    auto there = manta::async<put_here>({.rank = 1}, 100'000).get();
    (void)manta::async<die_once>({.rank = 1, .retries = 0}, folder + "/a", 1).wait_for(std::chrono::seconds(60));
    const std::string text = thrown<manta::object_lost>([&] { return there.get().size(); });
    expect(contains(text, "rank 1 has died"), text.c_str());
  } else if (name == "replicas") {  // of what a rank has put that dies, and then one of those that keep them
    const put_values first_ones = manta::async<put_with_replicas>({.rank = 1}, 100'000, 2).get();
    const put_values others = manta::async<put_with_replicas>({.rank = 1}, 200'000, 2).get();
    const put_values single = manta::async<put_with_replicas>({.rank = 1}, 300'000, 1).get();
    while (ranks_with_arrays() < 3) pause_ms(10);
    pause_ms(500);  // the last of them
    (void)manta::async<die_once>({.rank = 1, .retries = 0}, folder + "/a", 1).wait_for(std::chrono::seconds(60));
    expect(all_are(first_ones, 100'000), "the driver has them from a replica");
    expect(manta::async<all_are>({.rank = 3}, others, 200'000).get(), "who keeps them has them");
    (void)manta::async<die_once>({.rank = 2, .retries = 0}, folder + "/b", 1).wait_for(std::chrono::seconds(60));
    expect(all_are(others, 200'000), "from the other replica");
    const std::string text = thrown<manta::object_lost>([&] { return single.array.get().size(); });
    expect(contains(text, "rank 1 has died"), text.c_str());
    expect(single.number.get() == 300'000, "a small one has come here when its owner died");
  } else if (name == "gifts") {  // futures that a task has given away, when the rank dies that owns them
    const std::string runs = folder + "/runs";
    const auto not_from_3 = [&] {
      gifts g;
      while (g.giver % 3 == 0) g = manta::async<give>({.spread = true}, runs, 3).get();
      return g;
    };
    gifts g = not_from_3();
    const long before = noted(runs);
    auto other = manta::spawn<holder>({.rank = 3});
    manta::async<&holder::take>(other, g).get();
    kill_rank(folder + "/a", g.giver);
    check(g);
    manta::async<&holder::check>(other).get();
    manta::async<check>(g).get();
    expect(noted(runs) == before + 1, "their parent has run once more");
    expect(manta::async<&account::add>(g.on_other, 1).get() == 2, "the actor lives");
    gifts last_ones = not_from_3();
    manta::async<&holder::take>(other, last_ones).get();
    const int giver = last_ones.giver;
    last_ones = gifts();
    g = gifts();
    kill_rank(folder + "/b", giver);
    try {
      manta::async<&holder::check>(other).get();  // what was lent with the call may not have come back yet
    } catch (const manta::task_failed& e) {
      expect(contains(e.what(), "object_lost") && contains(e.what(), "a value is lost with its owner"), e.what());
    }
  } else if (name == "gifts-cancelled") {  // while they are made again
    const auto [giver, slow] = manta::async<give_slow>({.spread = true}).get();
    kill_rank(folder + "/a", giver);
    const std::string where = manta::explain(slow);
    expect(contains(where, "its owner, rank " + std::to_string(giver) + ", has died"), where.c_str());
    expect(manta::cancel(slow), "it had not ended");
    (void)thrown<manta::cancelled>([&slow = slow] { return slow.get(); });
    expect(!manta::cancel(slow), "it has ended now");
  } else if (name == "gifts-twice") {  // both who owned them and who was to make them again die
    const std::string runs = folder + "/runs";
    std::vector<gifts> all;
    for (int i = 0; i < 4; ++i) all.push_back(manta::async<give>({.spread = true}, runs, 4).get());
    for (int r = 1; r < 4; ++r) kill_rank(folder + "/" + std::to_string(r), r);
    for (const gifts& g : all) check(g);
  } else if (name == "named") {  // actors outlive who has spawned them, and restart later
    kill_rank(folder + "/a", manta::async<open_bank>({.spread = true}).get());
    expect(add_to_bank(1) == 11, "it is found");
    kill_rank(folder + "/b", manta::async<&account::rank>(manta::find_actor<account>("bank")).get());
    expect(manta::async<add_to_bank>(1).get() == 12, "from its checkpoint");
    manta::kill(manta::find_actor<account>("bank"));
    (void)thrown<manta::error>([] { return manta::find_actor<account>("bank"); });
    const int total = manta::async<open_shop>(folder + "/c").get();
    expect(total == 10 || total == 5, "its own actor, unless its last checkpoint was lost with the rank");
    expect(manta::async<open_bank>().get() >= 0, "the name can be used again");
    const int filler = manta::async<fill_vault>({.spread = true}).get();
    const auto v = manta::find_actor<vault>("vault");
    while (ranks_with_arrays() < 2) pause_ms(10);
    pause_ms(300);
    kill_rank(folder + "/d", filler);
    if (filler != manta::async<&vault::rank>(v).get()) kill_rank(folder + "/e", manta::async<&vault::rank>(v).get());
    expect(manta::async<&vault::sum>(v).get() == sum(make(100'000)), "from what it was constructed of");
  } else if (name == "streams") {  // read by the driver, elsewhere, and there after it was sent
    expect(make_and_read(folder + "/a", 60) == 60, "by the driver");
    expect(manta::async<make_and_read>(folder + "/b", 60).get() == 60, "elsewhere");
    auto s = manta::async<produce>({.spread = true}, folder + "/c", 60);
    for (int i = 0; i < 5; ++i) expect(s.next()->get()[0] == i, "its first values");
    expect(manta::async<read_stream>({.spread = true}, std::move(s), 5).get() == 60, "the rest of it elsewhere");
    std::string why;
    int i = 0;
    for (auto& f : manta::async<count_and_crash>(3)) {
      try {
        expect(f.get() == i++, "what it has yielded");
      } catch (const manta::error& e) {
        why += e.what();
      }
    }
    expect(contains(why, "abort in task '{anonymous}::count_and_crash'"), why.c_str());
    expect(manta::capacity()[0].runs_tasks == false, "it took one rank only");
  } else if (name == "shorter") {  // a coroutine gives fewer values after its rank has died
    auto s = manta::async<fewer>(folder);
    for (int i = 0; i < 10; ++i) expect(s.next()->get() == i, "its first values");
    int process = 0;
    std::ifstream(folder + "/process") >> process;
    ::kill(process, SIGKILL);
    std::string why;
    try {
      while (auto next = s.next()) (void)next->get();
    } catch (const manta::error& e) {
      why = e.what();
    }
    expect(contains(why, "gave 5 values this time"), why.c_str());
  } else if (name == "last") {  // the last worker is killed from outside, which is not its task's fault
    const int worker = manta::async<process>().get();
    const auto running = manta::async<work>(folder + "/begun");
    while (::access((folder + "/begun").c_str(), F_OK) != 0) pause_ms(1);
    ::kill(worker, SIGKILL);
    expect(running.get() == 0, "on rank 0");
  } else if (name == "near") {  // near an actor whose rank has died
    const auto gone = manta::spawn<account>({.rank = 2});
    const auto made = manta::async<make>({.near = gone}, 100'000);
    made.wait();
    ::kill(manta::async<process>({.rank = 2}).get(), SIGKILL);
    while (manta::capacity()[2].runs_tasks) pause_ms(1);
    expect(manta::async<where>({.near = gone}).get() != 2, "somewhere else");
    expect(made.get() == make(100'000), "made again somewhere else");
  } else if (name == "queue") {  // whoever calls a queue whose rank has died, or waits for it, is told of the queue
    manta::queue<int> q(1, {.rank = 1});
    q.push(1);
    const auto waits = manta::async<pop_two>({.rank = 2}, folder + "/popped", q);
    while (noted(folder + "/popped") != 1) pause_ms(1);
    ::kill(manta::async<process>({.rank = 1}).get(), SIGKILL);
    while (manta::capacity()[1].runs_tasks) pause_ms(1);
    for (const std::string& text :
         {thrown<manta::actor_died>([&] { q.push(2); }), thrown<manta::actor_died>([&] { q.pop(); }),
          thrown<manta::actor_died>([&] { q.close(); }), thrown<manta::error>([&] { waits.get(); })}) {
      expect(contains(text, "the queue is gone, with the values in it: "), text.c_str());
    }
  } else if (name == "orphans") {  // what only a dead rank held ends with it; calls are made again
    const auto o = manta::spawn<owner>({.rank = 1}, folder);
    manta::async<&owner::keep>(o, manta::put(numbers(1'000'000, 1.0))).get();
    ::kill(manta::async<&owner::process>(o).get(), SIGKILL);
    for (int i = 0; noted(folder + "/pupil-ended") != 1 && i < 20'000; ++i) pause_ms(1);
    expect(noted(folder + "/pupil-ended") == 1, "the dead owner's actor");
    const auto in_memory = [] {
      std::uint64_t all = 0;
      for (const manta::rank_memory& m : manta::memory()) all += m.in_memory;
      return all;
    };
    for (int i = 0; in_memory() > 1'000'000 && i < 20'000; ++i) pause_ms(1);
    expect(in_memory() <= 1'000'000, "the value that only the dead rank held");
    const auto b = manta::spawn<account>({.restarts = 1});
    const int process_of_b = manta::async<&account::process>(b).get(), there = manta::async<&account::nap>(b, 0).get();
    const auto again = manta::async<&account::nap>({.retries = 1}, b, 200);
    const auto once = manta::async<&account::nap>(b, 200);
    pause_ms(50);
    ::kill(process_of_b, SIGKILL);
    expect(again.get() != there, "at the new place");
    (void)thrown<manta::actor_died>([&] { return once.get(); });
  } else if (name == "pinned") {
    const std::string text =
        thrown<manta::unschedulable>([&] { return manta::async<die_always>({.rank = 1}, 1).get(); });
    expect(contains(text, "no rank is left that can run") && contains(text, "rank 1 has died"), text.c_str());
    const std::string later = thrown<manta::unschedulable>([&] { return manta::async<where>({.rank = 1}).get(); });
    expect(contains(later, "[rank 1: it has died]"), later.c_str());
  } else if (name == "reserved") {  // one of two bundles is lost
    auto r = manta::reserve({.bundles = {{.cpus = 1}, {.cpus = 1}}, .strategy = manta::spread});
    const int there = manta::async<where>({.in = r, .bundle = 1}).get();
    const int other = manta::async<where>({.in = r, .bundle = 0}).get();
    expect(there != other, "two ranks");
    (void)thrown<manta::unschedulable>([&] { return manta::async<die_always>({.in = r, .bundle = 1}, 1).get(); });
    expect(contains(thrown<manta::unschedulable>([&] { return manta::async<where>({.in = r, .bundle = 1}).get(); }),
                    "no rank is left"),
           "later");
    expect(manta::async<where>({.in = r}).get() == other, "in the other bundle");
  } else if (name == "deadly") {  // one that kills every rank on which it runs
    const std::string text = thrown<manta::rank_lost>([&] { return manta::async<die_always>(1).get(); });
    expect(contains(text, "die_always' died with its rank") && contains(text, "was killed by SIGKILL"), text.c_str());
    expect(dead_ranks() == 2, "the first time it was nobody's fault");
    auto values = manta::async<count_and_die>(3);
    for (int i = 0; i < 3; ++i) expect(values.next()->get() == i, "what it has yielded");
    const std::string cause = thrown<manta::rank_lost>([&] { values.next()->get(); });
    expect(contains(cause, "had died with another one at the same value") && contains(cause, "count_and_die"),
           cause.c_str());
    expect(!values.next(), "it has ended");
    expect(dead_ranks() == 4, "a coroutine kills no more ranks than a task does");
    expect(manta::async<square>(3).get() == 9, "others go on");
  } else if (name == "exits") {  // a task that ends its process costs one rank, however it does that
    int dead = 0;
    for (const way how : ways) {
      if (how == way::mpi && OMPI_MAJOR_VERSION >= 5) continue;  // ends the whole job
      auto deadly = manta::async<end_rank>({.name = "trap"}, how, 1);
      std::vector<manta::future<int>> others;
      for (int i = 0; i < 20; ++i) others.push_back(manta::async<square>(i));
      const std::string text = thrown<manta::rank_lost>([&] { return deadly.get(); });
      expect(
          contains(text, "'trap' (function {anonymous}::end_rank) died with its rank") && contains(text, words_of(how)),
          text.c_str());
      for (int i = 0; i < 20; ++i) expect(others[static_cast<std::size_t>(i)].get() == i * i, "others go on");
      expect(dead_ranks() == ++dead, "one rank");
    }
  } else if (name == "exits-retried") {
    for (const way how : {way::exit_0, way::leave_3, way::kill})
      expect(manta::async<end_rank>({.retries = 1}, how, 1).get() == 1,
             "the first kill does not count, the second does");
  } else if (name ==
             "exits-nested") {  // the child's owner dies with it, and its parent runs again and submits it again
    for (const way how : {way::exit_3, way::leave_0, way::mpi}) {
      if (how == way::mpi && OMPI_MAJOR_VERSION >= 5) continue;
      const int before = dead_ranks();
      expect(manta::async<end_rank_of_child>(how).get() == -1, "the parent is told");
      expect(dead_ranks() == before + 1, "one rank");
    }
  } else if (name == "exits-last") {  // nobody is left but rank 0, which does not run what has cost a rank
    auto deadly = manta::async<end_rank>({.retries = 5}, way::leave_0, 5);
    std::vector<manta::future<int>> others;
    for (int i = 0; i < 20; ++i) others.push_back(manta::async<square>(i));
    const std::string text = thrown<manta::rank_lost>([&] { return deadly.get(); });
    expect(contains(text, "no rank is left but rank 0"), text.c_str());
    for (int i = 0; i < 20; ++i) expect(others[static_cast<std::size_t>(i)].get() == i * i, "rank 0 runs the others");
  } else if (name == "exits-zero") {  // the driver does not return
    end_by(way::exit_0);
  } else if (name == "leaves-zero") {
    end_by(way::leave_0);
  } else if (name == "forked") {  // children that come back, on rank 0 and on others
    expect(fork_strays() == 100, "from the driver");
    expect(manta::async<fork_strays>({.rank = 1}).get() == 100, "from a task");
    (void)thrown<manta::rank_lost>([] { return manta::async<end_rank>({.rank = 1}, way::leave_3, 1).get(); });
  } else if (name == "locked") {  // a mutex held over get
    manta::async<hold_in_turn>(8).get();
  } else if (name == "crash") {  // a signal names its task, whose attempts count
    expect(manta::async<crash>({.retries = 2}, 2).get() == 2, "the third attempt");
    const std::string text = thrown<manta::rank_lost>([&] { return manta::async<crash>(1).get(); });
    expect(contains(text, "crash' died with its rank") && contains(text, "abort in task"), text.c_str());
    expect(contains(text, "(bytes of arguments: 4, inputs: 0)"), text.c_str());
    const std::string of_thread = thrown<manta::rank_lost>([] { return manta::async<crash_in_thread>(1).get(); });
    expect(contains(of_thread, "abort in a thread of task"), of_thread.c_str());
    auto actor = manta::spawn<account>();
    auto call = manta::async<&account::crash>(actor), later = manta::async<&account::add>(actor, 1);
    const std::string of_call = thrown<manta::rank_lost>([&] { return call.get(); });
    expect(contains(of_call, "crash' died with its rank") && contains(of_call, "abort in task"), of_call.c_str());
    (void)thrown<manta::actor_died>([&] { return later.get(); });
  } else if (name == "saves") {  // a value whose save() crashes costs as many ranks as a task that crashes
    constexpr std::size_t few = 10, many = 100'000;
    const auto lost = [](auto&& f, const char* maker) {
      const std::string text = thrown<manta::error>(f);
      expect(contains(text, "abort in the save() of '") && contains(text, "unsaved', a value that '") &&
                 contains(text, maker) && contains(text, "correct that save()"),
             text.c_str());
    };
    lost([&] { return manta::async<make_unsaved>(1, few).get().at; }, "make_unsaved' has made");
    expect(dead_ranks() == 1, "a small result");
    lost([&] { return manta::async<make_unsaved>({.retries = 1}, 3, many).get().at; }, "make_unsaved' has made");
    expect(dead_ranks() == 3, "a large one, when somebody wants it");
    lost([&] { return manta::async<put_unsaved>(2, many).get(); }, "put_unsaved' has made");
    expect(dead_ranks() == 4, "what a task has put");
    lost([&] { return manta::async<pass_unsaved>(2, few).get(); }, "make_unsaved' has made");
    expect(dead_ranks() == 5, "an input of a task");
    expect(manta::async<square>(3).get() == 9, "others go on");
  } else if (name == "hung") {  // with MANTA_WATCHDOG=1
    auto slow = manta::async<patient_for_long>(4);
    pause_ms(1500);  // so may the driver
    expect(manta::async<hang_once>({.retries = 1}, folder + "/a", 1).get() == 2, "the second attempt");
    const std::string text = thrown<manta::rank_lost>([&] { return manta::async<hang_once>(folder + "/b", 1).get(); });
    expect(contains(text, "hang_once' died with its rank") && contains(text, "hung in task"), text.c_str());
    expect(slow.get() == 4, "one that calls manta");
    auto bank = manta::spawn<account>({.restarts = 1, .checkpoint_every = 1});
    expect(manta::async<&account::add>(bank, 40).get() == 40, "alive");
    const int before = manta::async<&account::rank>(bank).get();
    auto stuck = manta::async<&account::hang_once>(bank, folder + "/c");
    (void)thrown<manta::rank_lost>([&] { return stuck.get(); });
    expect(manta::async<&account::add>(bank, 1).get() == 41, "an actor goes on from its checkpoint");
    expect(manta::async<&account::rank>(bank).get() != before, "elsewhere");
  } else if (name == "all") {  // rank 0 goes on alone
    auto inner = manta::async<put_here>({.rank = 1}, 100'000);
    inner.wait();
    std::vector<manta::future<int>> all;
    for (int r = 1; r < manta::size(); ++r) all.push_back(manta::async<die_always>({.rank = r}, 1));
    for (auto& f : all) (void)thrown<manta::unschedulable>([&] { return f.get(); });
    expect(manta::async<fan>(std::string(), 10).get() == 285, "nested on rank 0");
    expect(manta::async<where>().get() == 0, "rank 0 runs tasks now");
    (void)thrown<manta::object_lost>([&] { return inner.get().get().size(); });  // there is nobody to ask for it
  } else if (name == "actor") {
    auto plain = manta::spawn<account>();
    expect(manta::async<&account::add>(plain, 3).get() == 3, "alive");
    const std::string text =
        thrown<manta::actor_died>([&] { return manta::async<&account::die_once>(plain, folder + "/a").get(); });
    expect(contains(text, "has died"), text.c_str());
    expect(contains(thrown<manta::actor_died>([&] { return manta::async<&account::add>(plain, 1).get(); }), "has died"),
           "later calls");
    auto other = manta::spawn<account>();
    auto history = manta::async<&account::history>(other);  // a large value that only this actor could have given
    history.wait();
    (void)thrown<manta::actor_died>([&] { return manta::async<&account::die_once>(other, folder + "/h").get(); });
    expect(contains(thrown<manta::object_lost>([&] { return history.get().size(); }), "history' is lost"),
           "a result of an actor");
    auto named = manta::spawn<account>({.name = "bank", .restarts = 1, .checkpoint_every = 2});
    for (int i = 0; i < 5; ++i) (void)manta::async<&account::add>(named, 10).get();  // checkpoints after two and four
    (void)thrown<manta::actor_died>([&] { return manta::async<&account::die_once>(named, folder + "/b").get(); });
    const int total = manta::async<&account::add>(named, 1).get();
    std::printf("total %d\n", total);
    expect(total == 41, "it goes on from its last checkpoint");
    auto found = manta::find_actor<account>("bank");
    expect(manta::async<&account::add>(found, 1).get() == 42, "and keeps its name");
    (void)thrown<manta::actor_died>([&] { return manta::async<&account::die_once>(named, folder + "/c").get(); });
    expect(contains(thrown<manta::actor_died>([&] { return manta::async<&account::add>(named, 1).get(); }),
                    "restarted 1 times"),
           "no more restarts");
  } else if (name == "isolated") {  // children die with their rank; an actor's checkpoint is elsewhere
    auto bank = manta::spawn<account>({.restarts = 1, .checkpoint_every = 2, .isolate = true});
    for (int i = 0; i < 5; ++i) (void)manta::async<&account::add>(bank, 10).get();  // checkpoints after two and four
    std::vector<manta::future<int>> squares;
    for (int i = 0; i < 600; ++i) squares.push_back(manta::async<square>({.isolate = true}, i));
    expect(manta::async<die_once>({.near = bank}, folder + "/a", 1).get() == 2, "done again");
    expect(manta::async<&account::add>(bank, 1).get() == 41, "it goes on from its last checkpoint");
    for (int i = 0; i < 600; ++i) expect(squares[static_cast<std::size_t>(i)].get() == i * i, "an isolated task");
  } else if (name == "gang") {
    const int all = manta::size();
    (void)first(folder + "/none");
    expect(manta::async<sum_of_ranks>({.ranks = all}, folder + "/none").get() == all * (all + 1) / 2, "with rank 0");
    expect(manta::async<sum_of_ranks>({.ranks = 3}, folder + "/a").get() == 6, "on other ranks");
    (void)thrown<manta::unschedulable>(
        [&] { return manta::async<sum_of_ranks>({.ranks = all - 1}, folder + "/a").get(); });
    expect(manta::async<square>(3).get() == 9, "others go on");
    auto crashes = manta::spawn<crew>({.ranks = 2});
    const std::string text =
        thrown<manta::rank_lost>([&] { return manta::async<&crew::fall>(crashes, 1, true).get(); });
    expect(contains(text, "abort in task"), text.c_str());
    auto dies = manta::spawn<crew>({.ranks = 2});
    (void)thrown<manta::actor_died>([&] { return manta::async<&crew::fall>(dies, 1, false).get(); });
  } else if (name == "half-built") {
    auto built = manta::spawn<late_crew>({.ranks = 3}, folder + "/late");
    expect(manta::async<&late_crew::members>(built).get() == 3, "all of it again");
  } else if (name == "left-behind") {  // members that wait in MPI for one that has thrown
    const auto value = manta::async<make>({.rank = 1}, 100'000);
    for (int member : {0, 1}) {
      expect(contains(thrown<manta::task_failed>([&] { return manta::async<throw_on>({.ranks = 2}, member).get(); }),
                      "it diverged"),
             "it fails at once");
    }
    auto a = manta::spawn<crew>({.ranks = 2});
    expect(
        contains(thrown<manta::task_failed>([&] { return manta::async<&crew::give_up>(a, 1).get(); }), "it diverged"),
        "a call does");
    expect(manta::async<square>(3).get() == 9, "others go on");
    expect(value.get() == make(100'000), "and their values can be had");
  } else if (
      name ==
      "led-twice") {  // who leads a gang of which a member is left behind is left behind in the next, and ended first
    (void)thrown<manta::task_failed>([&] { return manta::async<throw_on>({.ranks = 2}, 0).get(); });
    pause_ms(3000);
    manta::async<throw_later>({.ranks = 2}, 1);
  } else if (name == "spare") {  // six ranks, of which 3, 4 and 5 stand by, and 3 dies first
    const auto works = [](int r) { return manta::capacity()[static_cast<std::size_t>(r)].runs_tasks; };
    const auto used = [] {
      std::vector<manta::future<int>> all;
      for (int i = 0; i < 60; ++i) all.push_back(manta::async<where>({.spread = true}));
      std::set<int> ranks;
      for (auto& f : all) ranks.insert(f.get());
      return ranks;
    };
    expect(used() == std::set{1, 2}, "the others run nothing");
    const std::string text = thrown<manta::unschedulable>([&] { return manta::async<where>({.rank = 4}).get(); });
    expect(contains(text, "stands by for ranks that die"), text.c_str());
    started();
    while (manta::capacity()[3].node >= 0) pause_ms(10);
    expect(used() == std::set{1, 2} && !works(3) && !works(4), "one that stood by is not replaced");

    auto bank = manta::spawn<account>({.name = "bank", .restarts = 1, .checkpoint_every = 1});
    expect(manta::async<&account::add>(bank, 10).get() == 10, "alive");
    const int cpus = manta::capacity()[1].cpus;
    (void)thrown<manta::actor_died>([&] { return manta::async<&account::die_once>(bank, folder + "/a").get(); });
    expect(manta::async<&account::add>(bank, 1).get() == 11, "from its checkpoint");
    expect(works(4) && !works(5) && manta::capacity()[4].cpus == cpus, "the first that stood by has taken the place");
    expect(used().size() == 2 && used().contains(4), "it runs tasks");
    (void)first(folder + "/none");
    expect(manta::async<sum_of_ranks>({.ranks = 2}, folder + "/none").get() == 3, "a gang of all workers");
    auto bundles = manta::reserve({.bundles = {{.cpus = 1}, {.cpus = 1}}, .strategy = manta::spread});
    expect(manta::async<where>({.in = bundles, .bundle = 0}).get() !=
               manta::async<where>({.in = bundles, .bundle = 1}).get(),
           "bundles");
    bundles.release();

    expect(manta::async<die_once>({.rank = 4, .retries = 0}, folder + "/b", 1).wait_for(std::chrono::seconds(60)),
           "the next death");
    expect(!works(4) && works(5) && used().contains(5), "replaced as well");
    expect(manta::async<where>({.rank = 5}).get() == 5, "by its number");
    (void)manta::async<die_once>({.rank = 5, .retries = 0}, folder + "/c", 1).wait_for(std::chrono::seconds(60));
    expect(used().size() == 1, "nobody stands by any more");
  } else if (name == "zero") {  // rank 0 dies while one of the others computes, one waits, and one has nothing to do
    auto never = manta::async<hang_once>({.rank = 1}, folder + "/computes", 1);
    auto later = manta::async<wait_for>({.rank = 2}, folder + "/waits", never);
    for (const char* what : {"/computes", "/waits"}) {
      while (::access((folder + what).c_str(), F_OK) != 0) pause_ms(1);
    }
    die();
  } else if (name == "stopped") {  // it does not answer any more
    expect(manta::async<where>({.rank = 1}).get() == 1, "alive");
    started();
    auto f = manta::async<fan>(std::string(), 3000);
    expect(f.get() > 0, "done elsewhere");
  } else if (name == "study") {  // with a journal: each task that runs leaves its number in a file
    started();
    std::vector<manta::future<double>> all;
    for (int i = 0; i < 300; ++i) all.push_back(manta::async<trial>(folder + "/ran", i));
    double sum = 0;
    for (auto& f : all) sum = sum * 1.0000001 + f.get();
    std::printf("sum %a\n", sum);
  } else if (name == "leave") {
    auto saved = manta::spawn<account>();
    expect(manta::async<&account::add>(saved, 1).get() == 1, "alive");
    std::vector<manta::future<int>> all;
    for (int i = 0; i < 5000; ++i) all.push_back(manta::async<patient>(i));
    started();
    int done = 0, stopped = 0, dropped = 0;
    for (auto& f : all) {
      try {
        ++(f.get() < 0 ? stopped : done);
      } catch (const manta::cancelled& e) {
        expect(contains(e.what(), "the run has to end"), e.what());
        ++dropped;
      }
    }
    expect(manta::this_task::stop_requested(), "the driver is asked to stop as well");
    expect(dropped > 0 && done + stopped + dropped == 5000, "all are accounted for");
    expect(contains(thrown<manta::cancelled>([] { return manta::async<square>(1).get(); }), "has to end"),
           "nothing new is started");
    expect(manta::async<&account::add>(saved, 5).get() == 6, "actors still answer");
    std::puts("saved");
    all[4999].get();
  } else {
    throw std::runtime_error("no such scenario");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return manta::run(argc, argv, [&] {
    play(argv[1], argv[2]);
    std::puts("as expected");
    return 7;
  });
}
