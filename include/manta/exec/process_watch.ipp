// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/exec/process_watch.hpp"
#include "manta/exec/rank/stack_trace.hpp"
#include "manta/exec/rank/thread_role.hpp"
#include "manta/report/run_state.hpp"

namespace manta::exec {

MANTA_DECL const running_task* process_watch::interrupted() noexcept {
  if (watched_ == nullptr) return nullptr;
  const exec::current_task& running = watched_->run.running;
  return running.is_driver() && watched_->rank.rank != 0 ? nullptr : &running.get();
}
MANTA_DECL const char* process_watch::who_is_interrupted() noexcept {
  static char text[320];
  if (const store::saving* const saved = store::saving::innermost()) {
    describe_saving(*saved, text, sizeof text);
    return text;
  }
  const running_task* const task = interrupted();
  if (task == nullptr) return nullptr;
  const std::string_view name = task->name();
  const int length = static_cast<int>(std::min<std::size_t>(name.size(), 150));
  // A task's own threads crash in its name. The helper does not: it answers for the task.
  const bool is_owner = thread_role::is_owner();
  if (!is_owner && thread_role::has_any()) return nullptr;
  if (task->function == graph::no_index) return is_owner ? "the driver" : "a thread of the driver";
  if (task->call == nullptr) {
    std::snprintf(text, sizeof text, "the destructor or the serialize function of the actor '%.*s'", length,
                  name.data());
    return text;
  }
  std::snprintf(text, sizeof text, "%stask '%.*s' (bytes of arguments: %zu, inputs: %u)",
                is_owner ? "" : "a thread of ", length, name.data(), task->call->argument_bytes,
                task->call->input_count);
  return text;
}

MANTA_DECL void process_watch::describe_saving(const store::saving& saved, char* text, std::size_t room) noexcept {
  const std::string_view type = wire::type_at(saved.type()).name;
  const bool has_maker = saved.function() != graph::no_index;
  const std::string_view maker = has_maker ? wire::function_at(saved.function()).name() : std::string_view();
  const auto shown = [](std::string_view name) { return static_cast<int>(std::min<std::size_t>(name.size(), 90)); };
  std::snprintf(text, room, "the save() of '%.*s'%s%.*s%s (correct that save(): the value cannot be sent without it)",
                shown(type), type.data(), has_maker ? ", a value that '" : "", shown(maker), maker.data(),
                has_maker ? "' has made" : "");
}

MANTA_DECL void process_watch::last_words(const char* text, std::size_t bytes) noexcept {
  const running_task* const task = interrupted();
  std::uint64_t culprit = store::saving::task_now();
  if (culprit == 0 && task != nullptr) culprit = task->id;
  while (bytes > 0 && text[bytes - 1] == '\n') --bytes;
  net::lifeline::last_words(text, bytes, culprit);
}

MANTA_DECL void process_watch::say_where(const void* machine) {
  if (watched_ == nullptr) return;
  const std::vector<std::string> stack = stack_trace::at(machine);
  if (stack.empty()) return;
  const std::string text =
      base::text("manta: rank {} was {}\n", watched_->rank.rank.number(), report::stack_text(stack));
  (void)!::write(STDERR_FILENO, text.data(), text.size());
}

MANTA_DECL void process_watch::begin(rank_parts& watched) {
  watched_ = &watched;
  static const bool done = [] {
#ifdef __GLIBC__
    ::on_exit(&exit_in_run, nullptr);
#else
    std::atexit([] { exit_in_run(1, nullptr); });
#endif
    ::at_quick_exit([] { exit_in_run(1, nullptr); });
    ::pthread_atfork(nullptr, nullptr, &forked);
    return true;
  }();
  static_cast<void>(done);
}

MANTA_DECL void process_watch::exit_in_run(int status, void*) {
  if (watched_ == nullptr || is_copy_) return;
  if (thread_role::is_owner()) watched_->rank.lock.enter();  // so that the helper does nothing any more
  const char* const who = who_is_interrupted();
  char text[512];
  const int length =
      std::snprintf(text, sizeof text,
                    "manta: exit(%d) in %s; it ends the process, rank %u, and not just "
                    "the task: return or throw instead\n",
                    status, who != nullptr ? who : "a thread of the program's own", watched_->rank.rank.number());
  (void)!::write(STDERR_FILENO, text, static_cast<std::size_t>(length));
  last_words(text, static_cast<std::size_t>(std::strchr(text, ';') - text));
  if (status == 0) std::exit(1);  // goes on with what is left to be done
}

MANTA_DECL void process_watch::forked() {
  if (watched_ == nullptr) return;
  is_copy_ = true;
  thread_role::clear();
  net::lifeline::is_child();
  watched_->rank.lock.is_copy([] { end_copy("came back"); });
}
MANTA_DECL void process_watch::end_copy(const char* what) {
  char text[512];
  const std::string_view name = watched_->run.running->name();
  const int length = std::snprintf(text, sizeof text,
                                   "manta: rank %u: a child process that was forked in '%.*s' %s: it ends "
                                   "here, with status 1. What is forked in a task "
                                   "leaves by exec or _exit, also where exec fails\n",
                                   watched_->rank.rank.number(),
                                   static_cast<int>(name.size() < 150 ? name.size() : 150), name.data(), what);
  (void)!::write(STDERR_FILENO, text, static_cast<std::size_t>(length));
  ::_exit(1);
}

}  // namespace manta::exec
