// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The main function of every test program. All ranks run the same cases in step: a barrier stands before each. What a
// rank has to say carries its number; the exit code is non-zero on every rank when a check failed on one.
// A crash or a hang is reported with the case and a backtrace of the rank it happened on.
//
//   mpirun -n 4 build/tests/wait_test                    all cases
//   mpirun -n 4 build/tests/wait_test -tc="*timeout*"    doctest's own options work
//   build/tests/base.id_test --no-mpi                    a test that needs no MPI
//
// MANTA_TEST_TIMEOUT: seconds until a hanging program is ended, 280 by default, 0 for never.
#define DOCTEST_CONFIG_IMPLEMENT
#define DOCTEST_CONFIG_NO_POSIX_SIGNALS  // the library has its own handler for stack overflows
#include <doctest/doctest.h>
#include <mpi.h>

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#ifdef MANTA_NETWORK  // ranks in one process: such a program starts no MPI
namespace manta {
static int wanted_thread_level() { return MPI_THREAD_SINGLE; }
}  // namespace manta
#else
#include "manta/options.hpp"
#endif

#if defined(__SANITIZE_ADDRESS__)
#define MANTA_TEST_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define MANTA_TEST_TSAN 1
#elif defined(__has_feature)  // clang; GCC's sanitizer headers define it too, as 0
#if __has_feature(address_sanitizer)
#define MANTA_TEST_ASAN 1
#elif __has_feature(thread_sanitizer)
#define MANTA_TEST_TSAN 1
#endif
#endif

#ifdef MANTA_TEST_ASAN
#include <sanitizer/lsan_interface.h>
#endif

#ifdef MANTA_TEST_ASAN
// Asks the sanitizer's check at exit to stay away: leaks() has asked at a better moment.
static bool leaks_were_checked = false;
extern "C" int __lsan_is_turned_off() { return leaks_were_checked ? 1 : 0; }
#endif

namespace {

int world_rank = 0;
int world_size = 1;
bool with_mpi = true;
pthread_t main_thread;
std::atomic<const char*> current_case{"(before the first case)"};
std::atomic<const char*> current_file{""};
std::atomic<unsigned> current_line{0};

/// Puts "[rank 2] " before each line and hands whole lines to stderr, so that ranks do not mix within a line.
class prefixed_buffer : public std::streambuf {
 protected:
  int_type overflow(int_type character) override {
    if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
    line_ += traits_type::to_char_type(character);
    if (line_.back() == '\n') {
      const std::string text = world_size > 1 ? "[rank " + std::to_string(world_rank) + "] " + line_ : line_;
      std::fwrite(text.data(), 1, text.size(), stderr);
      line_.clear();
    }
    return character;
  }

 private:
  std::string line_;
};

/// What may be called in a signal handler: says where this rank is, in one write, then prints the stack.
void print_position(const char* what) {
  std::array<char, 1024> text;
  const int length = std::snprintf(text.data(), text.size(), "[rank %d] %s in test case \"%s\" (%s:%u)\n", world_rank,
                                   what, current_case.load(), current_file.load(), current_line.load());
  const auto bytes = std::min(text.size() - 1, static_cast<std::size_t>(std::max(length, 0)));
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), bytes);
}

void print_stack() {
  std::array<void*, 48> frames;
  ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), static_cast<int>(frames.size())), STDERR_FILENO);
}

#if !defined(MANTA_TEST_ASAN) && !defined(MANTA_TEST_TSAN)
void on_crash(int signal_number) {
  ::signal(signal_number, SIG_DFL);
  print_position(::strsignal(signal_number));
  print_stack();
  ::raise(signal_number);
}
#endif

/// A sanitizer reports crashes better; elsewhere the handlers run on a stack of their own.
void report_crashes() {
#if !defined(MANTA_TEST_ASAN) && !defined(MANTA_TEST_TSAN)
  static std::array<char, 64 * 1024> handler_stack;
  stack_t stack = {};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  ::sigaltstack(&stack, nullptr);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction action = {};
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    ::sigaction(number, &action, nullptr);
  }
#endif
}

/// After the time limit every rank says which case it is in and prints its main thread's stack; a second later, when
/// the others have had time to do the same, it ends itself, and mpirun the rest.
void start_watchdog() {
  const char* const setting = std::getenv("MANTA_TEST_TIMEOUT");
  const int limit = setting != nullptr ? std::atoi(setting) : 280;
  if (limit <= 0) return;
  struct sigaction action = {};
  action.sa_handler = [](int) { print_stack(); };
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR2, &action, nullptr);
  std::thread([limit] {
    std::this_thread::sleep_for(std::chrono::seconds(limit));
    print_position(("watchdog: still running after " + std::to_string(limit) + " s,").c_str());
    ::pthread_kill(main_thread, SIGUSR2);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    ::_exit(124);
  }).detach();
}

/// Notes where the program is, and keeps the ranks in step.
struct position_listener : doctest::IReporter {
  explicit position_listener(const doctest::ContextOptions&) {}
  void test_case_start(const doctest::TestCaseData& data) override {
    current_case = data.m_name;
    current_file = data.m_file.c_str();
    current_line = data.m_line;
    if (with_mpi) MPI_Barrier(MPI_COMM_WORLD);
  }
  void test_case_end(const doctest::CurrentTestCaseStats&) override { current_case = "(between cases)"; }
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    cases = stats.numTestCasesPassingFilters;
    checks = stats.numAsserts;
  }
  void report_query(const doctest::QueryData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

  static inline unsigned cases = 0;
  static inline int checks = 0;
};

/// Asked before MPI_Finalize: afterwards Open MPI has unloaded the libraries by whose names lsan.supp knows its leaks.
bool leaks() {
#ifdef MANTA_TEST_ASAN
  const bool found = __lsan_do_recoverable_leak_check() != 0;
  leaks_were_checked = true;  // which switches this check off as well
  return found;
#else
  return false;
#endif
}

int run_cases(int argc, char** argv) {
  prefixed_buffer buffer;
  std::ostream output(&buffer);
  doctest::Context context;
  context.setOption("minimal", true);  // only failures; one line at the end says what ran
  context.setOption("no-colors", true);
  context.applyCommandLine(argc, argv);
  context.setCout(&output);
  const int result = context.run();
  current_case = "(after the last case)";

  int worst = result == 0 && leaks() ? 1 : result;
  int checks = position_listener::checks;
  if (with_mpi) {
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &checks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (world_rank == 0 && !context.shouldExit()) {
    std::printf("%u cases, %d checks on %d %s: %s\n", position_listener::cases, checks, world_size,
                world_size == 1 ? "rank" : "ranks", worst == 0 ? "passed" : "FAILED");
    std::fflush(stdout);
  }
  return worst;
}

}  // namespace

REGISTER_LISTENER("position", 1, position_listener);

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  std::erase_if(arguments, [](std::string_view argument) {
    if (argument != "--no-mpi") return false;
    with_mpi = false;
    return true;
  });

  main_thread = ::pthread_self();
  report_crashes();
  start_watchdog();
  if (with_mpi) {
    int provided = MPI_THREAD_SINGLE;
#ifdef MANTA_TEST_ASAN
    __lsan_disable();  // it loads and unloads components, whose leaks have no name any more
#endif
    MPI_Init_thread(&argc, &argv, manta::wanted_thread_level(), &provided);
#ifdef MANTA_TEST_ASAN
    __lsan_enable();
#endif
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (provided < MPI_THREAD_SERIALIZED) {
      std::fprintf(stderr, "this MPI library gives thread level %d, the tests need MPI_THREAD_SERIALIZED\n", provided);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  const int result = run_cases(static_cast<int>(arguments.size()), arguments.data());
  if (with_mpi) MPI_Finalize();
  return result;
}
