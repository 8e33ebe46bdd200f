// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Makes processes in which foreign code may crash (child.hpp). A process that needs them forks a zygote early, while it
// is small and has one thread. The zygote forks the children when they are needed, so that no child inherits what the
// process set up later, and reports how they ended. Children end with the zygote, and the zygote ends with its process,
// however that dies.
#pragma once

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "manta/base/child.hpp"
#include "manta/base/containers.hpp"
#include "manta/base/error.hpp"

namespace manta::base {

/// The process that forks children for this process.
class zygote {
 public:
  /// The function that a child runs; it never returns.
  using body = void (*)(int socket, child_page& page);

  /// Whether the program isolates anything; set before main.
  static inline bool is_wanted = false;

  static zygote& of_process() {
    static auto& one = *new zygote;
    return one;
  }

  bool runs() const { return control_ >= 0; }
  /// Forks the zygote, unless it runs. Best called before there are threads. With `clean`, children close all files
  /// that are open now, except the standard ones. False, with errno, if there can be no more processes.
  bool start(body children_do, bool clean) {
    children_do_ = children_do;
    if (runs()) return true;
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
    std::fflush(nullptr);  // otherwise children would write the buffered output again
    void* frame = nullptr;
    ::backtrace(&frame, 1);  // loads its library now, because a signal handler must not
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      serve(ends[1], parent, children_do, clean);
    }
    ::close(ends[1]);
    if (pid < 0) {
      ::close(ends[0]);
      return false;
    }
    pid_ = pid;
    owner_ = parent;
    control_ = ends[0];
    [[maybe_unused]] static const int registered = std::atexit([] { of_process().leave(); });
    return true;
  }

  /// Gives a child that has nothing to do, once start() has been called. Throws if it cannot be made.
  child* take() {
    while (!idle_.empty()) {
      child* const c = idle_.back();
      idle_.pop_back();
      if (!c->has_ended()) return c;
      end(c);
    }
    for (int attempt = 0; attempt < 2; ++attempt) {  // the zygote may have been killed
      if (!start(children_do_, true)) break;
      if (child* const c = make()) return c;
      if (runs()) break;
    }
    const int why = errno;
    throw error(std::string("manta: no process can be started for an isolated task: ") + std::strerror(why) +
                "; allow more processes (ulimit -u) or memory, or leave isolate out");
  }
  /// Takes back a child that works and waits for its next task.
  void put_back(child* c) {
    idle_.push_back(c);
    if (idle_.size() > most_idle) {
      child* const oldest = idle_[0];
      idle_.remove(oldest);
      oldest->kill();
      end(oldest);
    }
  }
  /// Removes a child that has ended or is about to end; returns its status as waitpid does. -1: unknown.
  int end(child* c) {
    const request r{request::reap, c->pid()};
    int status = -1;
    if (!runs() || ::send(control_, &r, sizeof r, MSG_NOSIGNAL) != sizeof r || !answer(status)) lose();
    delete c;
    return status;
  }

 private:
  struct request {
    enum kind : int { make, reap, quit };
    int what;
    pid_t pid;
  };
  static constexpr std::size_t most_idle = 4;
  static constexpr int fatal_signals[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
                                          SIGABRT, SIGSYS, SIGTRAP, child_page::tell_where};

  zygote() = default;

  bool answer(int& value) {
    ssize_t got = 0;
    do {
      got = ::recv(control_, &value, sizeof value, 0);
    } while (got < 0 && errno == EINTR);
    return got == sizeof value;
  }
  void lose() {
    if (!runs()) return;
    ::kill(pid_, SIGKILL);
    leave();
  }
  /// Ends the zygote, and its children with it.
  void leave() {
    if (!runs() || owner_ != ::getpid()) return;  // a fork of the owner must not end the zygote
    const request r{request::quit, 0};
    ::send(control_, &r, sizeof r, MSG_NOSIGNAL | MSG_DONTWAIT);
    ::close(control_);
    control_ = -1;
    ::waitpid(pid_, nullptr, 0);
  }

  /// Asks the zygote for a child; null, with errno, if it cannot make one.
  child* make() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return nullptr;
    const int memory = static_cast<int>(::syscall(SYS_memfd_create, "manta-child", 1u));  // closed by exec
    void* page = MAP_FAILED;
    if (memory >= 0 && ::ftruncate(memory, sizeof(child_page)) == 0) {
      page = ::mmap(nullptr, sizeof(child_page), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    }
    int pid = -1;
    if (page != MAP_FAILED) {
      new (page) child_page;
      const request r{request::make, 0};
      const int files[2] = {ends[1], memory};
      if (!send_files(r, files) || !answer(pid)) {
        lose();
        pid = -EPIPE;
      }
    }
    const int why = page == MAP_FAILED ? errno : -pid;
    ::close(ends[1]);
    if (memory >= 0) ::close(memory);
    if (pid > 0) return new child(pid, ends[0], static_cast<child_page*>(page));
    ::close(ends[0]);
    if (page != MAP_FAILED) ::munmap(page, sizeof(child_page));
    errno = why;
    return nullptr;
  }

  /// A request as a message with room for two files.
  struct parcel {
    explicit parcel(request& r) : part{&r, sizeof r} {
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      message.msg_control = room;
      message.msg_controllen = sizeof room;
    }
    parcel(const parcel&) = delete;
    iovec part;
    alignas(cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))] = {};
    msghdr message{};
  };

  bool send_files(request r, const int (&files)[2]) const {
    parcel p(r);
    cmsghdr* const head = CMSG_FIRSTHDR(&p.message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof files);
    std::memcpy(CMSG_DATA(head), files, sizeof files);
    ssize_t sent = 0;
    do {
      sent = ::sendmsg(control_, &p.message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == sizeof r;
  }

  // --- in the zygote

  static inline list<pid_t> children_;

  [[noreturn]] static void serve(int control, pid_t parent, body children_do, bool clean) {
    die_with(parent);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    // The rank decides what a signal to the whole job means; the zygote follows the rank.
    for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE}) ::signal(s, SIG_IGN);
    ::signal(SIGCHLD, SIG_DFL);
    if (clean) {
      const int kept = 3;
      if (control != kept) {
        ::dup3(control, kept, O_CLOEXEC);
        control = kept;
      }
      close_from(kept + 1);
    }
    for (;;) {
      request r{};
      int files[2] = {-1, -1};
      if (!receive(control, r, files) || r.what == request::quit) break;
      const int value = r.what == request::make ? fork_child(control, children_do, files) : reap(r.pid);
      for (const int f : files) {
        if (f >= 0) ::close(f);
      }
      if (::send(control, &value, sizeof value, MSG_NOSIGNAL) != sizeof value) break;
    }
    for (const pid_t pid : children_) ::kill(-pid, SIGKILL);
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
    ::_exit(0);
  }

  static void close_from(int first) {
#ifdef SYS_close_range
    if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0u, 0u) == 0) return;
#endif
    const long most = ::sysconf(_SC_OPEN_MAX);
    for (int f = first; f < (most > 0 && most < 65536 ? most : 65536); ++f) ::close(f);
  }

  static bool receive(int control, request& r, int (&files)[2]) {
    parcel p(r);
    ssize_t got = 0;
    do {
      got = ::recvmsg(control, &p.message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got != sizeof r) return false;
    if (const cmsghdr* head = CMSG_FIRSTHDR(&p.message)) std::memcpy(files, CMSG_DATA(head), sizeof files);
    return true;
  }

  /// Waits for a child's end and returns its status. The owner asks for it when the child's end of the socket is
  /// closed, so the child ends at once, unless it has closed the socket itself.
  static int reap(pid_t pid) {
    int status = 0;
    for (int turn = 0; turn < 1000; ++turn) {
      siginfo_t info{};
      if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return -1;
      if (info.si_pid == pid) break;
      ::usleep(turn < 50 ? 20 : 1000);
    }
    ::kill(-pid, SIGKILL);  // before waitpid, while the number still belongs to the child
    ::kill(pid, SIGKILL);
    children_.remove(pid);
    return ::waitpid(pid, &status, 0) == pid ? status : -1;
  }

  static int fork_child(int control, body children_do, const int (&files)[2]) {
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return -errno;
    if (pid > 0) {
      ::setpgid(pid, pid);
      children_.push_back(pid);
      return pid;
    }
    die_with(parent);
    ::setpgid(0, 0);  // processes that the child starts can be ended with it
    ::close(control);
    void* const page = ::mmap(nullptr, sizeof(child_page), PROT_READ | PROT_WRITE, MAP_SHARED, files[1], 0);
    ::close(files[1]);
    if (page == MAP_FAILED) ::_exit(127);
    for (const int s : {SIGINT, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(s, SIG_DFL);
    // Batch systems send these signals to all processes of a job, and the rank decides what they mean. An empty handler
    // replaces SIG_IGN here, because programs that the child starts would inherit SIG_IGN.
    for (const int s : {SIGTERM, SIGUSR1, SIGUSR2}) ::signal(s, [](int) {});
    be_killed_first();
    report_into(*static_cast<child_page*>(page));
    // Destructors of static objects and functions registered with atexit belong to the parent process: do not run them.
    static const pid_t child = ::getpid();
    ::on_exit(
        [](int status, void*) {
          const bool by_itself = ::getpid() == child;  // false in a fork of the child
          if (by_itself && report_->signal.load(std::memory_order_relaxed) == 0) note_frames(0);
          std::fflush(nullptr);
          ::_exit(status);
        },
        nullptr);
    children_do(files[0], *static_cast<child_page*>(page));
    ::_exit(0);
  }

  static void die_with(pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
  }
  /// Makes the kernel end this process, and not its rank, when memory runs out.
  static void be_killed_first() {
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    [[maybe_unused]] const auto written = ::write(file, "1000", 4);
    ::close(file);
  }

  // --- in a child

  static inline child_page* report_ = nullptr;

  static void report_into(child_page& page) {
    report_ = &page;
    constexpr std::size_t bytes = std::size_t{64} << 10;
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) {
      stack_t stack{};
      stack.ss_sp = memory;
      stack.ss_size = bytes;
      ::sigaltstack(&stack, nullptr);
    }
    struct sigaction action {};
    action.sa_sigaction = &on_fatal_signal;
    action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND);
    ::sigemptyset(&action.sa_mask);
    for (const int s : fatal_signals) ::sigaction(s, &action, nullptr);
  }

  /// Notes the call stack, from the frame in which a signal arrived, if one did.
  static void note_frames(std::uintptr_t at) {
    child_page& page = *report_;
    void* frames[child_page::max_frames + 8];
    const int found = ::backtrace(frames, child_page::max_frames + 8);
    int first = 0;
    while (first < found && reinterpret_cast<std::uintptr_t>(frames[first]) != at) ++first;
    if (first == found) first = found < 2 ? found : 2;  // skips the handler and the kernel's frame below it
    for (int i = first; i < found && page.frame_count < child_page::max_frames; ++i) {
      // A return address lies behind its call, which may be the last instruction of its function: look one byte before.
      const bool is_exact = reinterpret_cast<std::uintptr_t>(frames[i]) == at;
      page.frames[page.frame_count++] = static_cast<char*>(frames[i]) - (is_exact ? 0 : 1);
    }
  }

  static void on_fatal_signal(int number, siginfo_t* info, void* machine) {
    child_page& page = *report_;
    if (page.signal.load(std::memory_order_relaxed) == 0) {
      page.signal.store(-1, std::memory_order_relaxed);  // in case the code below crashes
      std::uintptr_t at = 0, stack = 0;
#if defined(__x86_64__)
      at = static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(machine)->uc_mcontext.gregs[REG_RIP]);
      stack = static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(machine)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
      at = static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(machine)->uc_mcontext.pc);
      stack = static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(machine)->uc_mcontext.sp);
#else
      static_cast<void>(machine);
#endif
      page.has_address = info->si_code > 0 && (number == SIGSEGV || number == SIGBUS);
      page.address = page.has_address ? info->si_addr : nullptr;
      const auto fault = reinterpret_cast<std::uintptr_t>(page.address);
      constexpr std::uintptr_t near = std::uintptr_t{1} << 16;
      page.stack_is_over = page.has_address && fault + near > stack && fault < stack + near;
      note_frames(at);
      page.signal.store(number, std::memory_order_release);
    }
    ::raise(number);  // the default action ends the process as soon as this handler has returned
  }

  body children_do_ = nullptr;
  int control_ = -1;
  pid_t pid_ = 0;
  pid_t owner_ = 0;
  list<child*> idle_;
};

}  // namespace manta::base
