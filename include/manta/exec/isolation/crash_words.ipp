// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <vector>

#include "manta/base/symbols.hpp"
#include "manta/base/text.hpp"
#include "manta/base/zygote.hpp"
#include "manta/exec/isolation/crash_words.hpp"
#include "manta/exec/rank/stack_trace.hpp"
#include "manta/report/run_state.hpp"

namespace manta::exec {

MANTA_DECL std::string describe_frames(const base::child_page& page) {
  const std::vector<std::string> stack =
      stack_trace::shown(base::code_places({page.frames, static_cast<std::size_t>(page.frame_count)}));
  return stack.empty() ? std::string() : "; " + report::stack_text(stack);
}

MANTA_DECL std::string describe_last_signal(const base::child_page& page) {
  const int number = page.signal.load(std::memory_order_acquire);
  if (number <= 0) return {};
  std::string text = base::describe_signal(number);
  if (page.has_address) {
    char address[32];
    std::snprintf(address, sizeof address, " at address 0x%zx", reinterpret_cast<std::size_t>(page.address));
    text += address;
  }
  if (page.stack_is_over) text += ", which is the end of the stack: give it a larger one (ulimit -s)";
  return text;
}

MANTA_DECL std::string describe_status(int status, int noted, const std::string& noted_in_words) {
  if (status != -1 && WIFEXITED(status)) return base::text("exit({})", WEXITSTATUS(status));
  if (status == -1 && noted <= 0) return "something unknown: the process that started it has gone too";
  if (status == -1 || WTERMSIG(status) == noted) return noted_in_words;
  const bool may_be_memory = WTERMSIG(status) == SIGKILL;
  return base::describe_signal(WTERMSIG(status)) +
         (may_be_memory ? ", which the system sends where memory runs out" : "");
}

MANTA_DECL std::string end_of_child(base::child* c) {
  const int noted = c->page().signal.load(std::memory_order_acquire);
  const std::string noted_in_words = describe_last_signal(c->page()), frames = describe_frames(c->page());
  const int status = base::zygote::of_process().end(c);
  return "its process ended with " + describe_status(status, noted, noted_in_words) + frames;
}

MANTA_DECL std::string describe_sizes(std::size_t arguments, const base::list<std::uint64_t>& inputs) {
  std::string text = base::text("; it had {} bytes of arguments", arguments);
  constexpr std::size_t most_named = 8;
  for (std::size_t i = 0; i < inputs.size() && i < most_named; ++i) {
    text += (i == 0 ? ", and inputs of " : ", ") + std::to_string(inputs[i]);
  }
  if (inputs.size() > most_named) text += base::text(", ... ({} in all)", inputs.size());
  return inputs.empty() ? text : text + " bytes";
}

MANTA_DECL std::string describe_silence(std::int64_t limit_ns) {
  char text[96];
  std::snprintf(text, sizeof text, "it had not called manta for %g s (MANTA_WATCHDOG), and its process was ended",
                static_cast<double>(limit_ns) * 1e-9);
  return text;
}

}  // namespace manta::exec
