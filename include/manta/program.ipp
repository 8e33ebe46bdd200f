// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "manta/base/child.hpp"
#include "manta/base/launch_variables.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/program.hpp"
#include "manta/this_task.hpp"

namespace manta {

namespace detail {

/// An open file of this process, which is closed with this object.
class open_file {
 public:
  open_file() = default;
  explicit open_file(int file) : file_(file) {}
  open_file(open_file&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  open_file& operator=(open_file&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~open_file() { close(); }
  int get() const { return file_; }
  bool is_open() const { return file_ >= 0; }
  void close() {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
  }

 private:
  int file_ = -1;
};

/// The two ends of a connection: one for this process, which never waits for it, and one for the program.
struct connection {
  explicit connection(const std::string& name) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw error(base::text("manta: run_program: no channel to {}: {}", name, std::strerror(errno)));
    ours = open_file(ends[0]);
    its = open_file(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  open_file ours, its;
};

/// The files, the environment and the signals with which a program starts.
class spawning {
 public:
  spawning() {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP}) sigaddset(&usual, number);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &usual);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  spawning(const spawning&) = delete;
  spawning& operator=(const spawning&) = delete;
  ~spawning() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  void enter(const std::string& folder) {
    if (!folder.empty()) ::posix_spawn_file_actions_addchdir_np(&files_, folder.c_str());
  }
  void use(int file, int as) { ::posix_spawn_file_actions_adddup2(&files_, file, as); }
  void open(const std::string& path, int as, int how) {
    ::posix_spawn_file_actions_addopen(&files_, as, path.c_str(), how, 0666);
  }
  /// Starts the program; returns 0, or the number of the error.
  int start(pid_t& pid, std::vector<std::string>& command, const std::vector<std::string>& more_variables) {
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::vector<char*> variables;
    for (const std::string& each : more_variables) variables.push_back(const_cast<char*>(each.c_str()));
    for (char* const each : base::variables_of_no_rank()) {
      if (each == nullptr || !is_replaced(each, more_variables)) variables.push_back(each);
    }
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    ::posix_spawn_file_actions_addclosefrom_np(&files_, 3);
#endif
    return ::posix_spawnp(&pid, arguments[0], &files_, &attributes_, arguments.data(), variables.data());
  }

 private:
  static bool is_replaced(std::string_view variable, const std::vector<std::string>& by) {
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    return std::any_of(by.begin(), by.end(), [&](const std::string& each) { return each.starts_with(name); });
  }

  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

/// A program that runs in a process group of its own.
class running_program {
 public:
  running_program(std::vector<std::string>& command, const program_options& options);
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;
  /// Ends what is left of the group.
  ~running_program() {
    ::kill(-pid_, SIGKILL);
    if (!has_ended_) ::waitpid(pid_, nullptr, 0);
  }

  /// Waits for the end of the program.
  program_result finish();

 private:
  void exchange();     ///< Writes what the program reads and reads what it prints, for a twentieth of a second at most.
  void read_output();  ///< Reads what is there, and keeps the last part.
  void look_for_end();  ///< Asks the system.
  void end_if_due();    ///< Sends SIGTERM when the time is over or the task is asked to stop, and later SIGKILL.
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

  const program_options& options_;
  program_result result_;
  open_file input_, output_;
  std::size_t written_ = 0;  // bytes of the input
  pid_t pid_ = 0;
  bool has_ended_ = false;
  double kill_at_ = 0;  // in seconds(); 0: the program has not been asked to end
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

inline running_program::running_program(std::vector<std::string>& command, const program_options& options)
    : options_(options) {
  if (command.empty() || command.front().empty())
    throw error("manta: run_program: the first word of the command has to name a program");
  result_.name = command.front();
  open_file its_input, its_output;
  spawning program;
  program.enter(options.folder);
  if (options.input.empty()) {
    program.open("/dev/null", 0, O_RDONLY);
  } else {
    connection to(result_.name);
    input_ = std::move(to.ours);
    its_input = std::move(to.its);
    program.use(its_input.get(), 0);
  }
  if (options.output_file.empty()) {
    connection from(result_.name);
    output_ = std::move(from.ours);
    its_output = std::move(from.its);
    program.use(its_output.get(), 1);
  } else {
    program.open(options.output_file, 1, O_WRONLY | O_CREAT | O_TRUNC);
  }
  if (options.error_file.empty()) {
    program.use(1, 2);
  } else {
    program.open(options.error_file, 2, O_WRONLY | O_CREAT | O_TRUNC);
  }
  if (const int code = program.start(pid_, command, options.environment); code != 0) {
    throw error(base::text(
        "manta: cannot start the program {}: {}; give its path, or check the folder and the files of its options",
        result_.name, std::strerror(code)));
  }
}

inline program_result running_program::finish() {
  while (!has_ended_) {
    exchange();
    look_for_end();
    if (!has_ended_) end_if_due();
  }
  read_output();
  result_.seconds = seconds();
  return std::move(result_);
}

inline void running_program::exchange() {
  constexpr int between_looks_ms = 50;
  pollfd watched[] = {{output_.get(), POLLIN, 0}, {input_.get(), POLLOUT, 0}};
  if (::poll(watched, 2, seconds() < 0.05 ? 1 : between_looks_ms) <= 0) return;
  if (watched[0].revents != 0) read_output();
  if (watched[1].revents == 0) return;
  const ssize_t bytes =
      ::send(input_.get(), options_.input.data() + written_, options_.input.size() - written_, MSG_NOSIGNAL);
  if (bytes > 0) written_ += static_cast<std::size_t>(bytes);
  const bool reads_no_more = bytes < 0 && errno != EAGAIN && errno != EINTR;
  if (reads_no_more || written_ == options_.input.size()) input_.close();
}

inline void running_program::read_output() {
  char part[1 << 14];
  while (output_.is_open()) {
    const ssize_t bytes = ::recv(output_.get(), part, sizeof part, MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) return;
    if (bytes <= 0) return output_.close();
    std::string& kept = result_.output;
    kept.append(part, static_cast<std::size_t>(bytes));
    if (kept.size() > 2 * options_.most_output) kept.erase(0, kept.size() - options_.most_output);
  }
}

inline void running_program::look_for_end() {
  int status = 0;
  rusage used{};
  if (::wait4(pid_, &status, WNOHANG, &used) != pid_) return;
  has_ended_ = true;
  result_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result_.status = result_.signal != 0 ? 128 + result_.signal : WEXITSTATUS(status);
  const auto in_seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  result_.cpu_seconds = in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
  result_.memory_bytes = static_cast<std::uint64_t>(used.ru_maxrss) << 10U;
}

inline void running_program::end_if_due() {
  constexpr double seconds_to_end = 2;
  const double now = seconds();
  if (kill_at_ != 0) {
    if (now >= kill_at_) ::kill(-pid_, SIGKILL);
    return;
  }
  result_.timed_out = options_.timeout.count() > 0 && now >= std::chrono::duration<double>(options_.timeout).count();
  const bool runs_in_task = exec::engine::isolated() != nullptr || exec::thread_role::is_owner();
  result_.stopped = !result_.timed_out && runs_in_task && this_task::stop_requested();
  if (!result_.timed_out && !result_.stopped) return;
  ::kill(-pid_, SIGTERM);
  kill_at_ = now + seconds_to_end;
}

}  // namespace detail

MANTA_DECL std::string program_result::text() const {
  const std::string how = timed_out     ? "was ended, since its time was over,"
                          : stopped     ? "was ended, since its task was asked to stop,"
                          : signal != 0 ? base::text("was killed by {}", base::describe_signal(signal))
                                        : base::text("ended with status {}", status);
  std::string all = base::text("{} {} after {} s", name, how, static_cast<float>(seconds));
  if (status == 0) return all;
  constexpr std::size_t most_words = 600;
  std::string words = output.substr(output.size() - std::min(output.size(), most_words));
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  return all + (words.empty() ? "; it printed nothing" : "; it printed last: " + words);
}

MANTA_DECL program_result run_program(std::vector<std::string> command, const program_options& options) {
  detail::running_program program(command, options);
  program_result result = program.finish();
  if (result.output.size() > options.most_output) result.output.erase(0, result.output.size() - options.most_output);
  return result;
}

MANTA_DECL std::vector<std::string> program_environment() {
  std::vector<std::string> all;
  for (const char* const each : base::variables_of_no_rank()) {
    if (each != nullptr) all.emplace_back(each);
  }
  return all;
}

}  // namespace manta
