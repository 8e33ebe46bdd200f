// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of crash_words.hpp.
#pragma once

#include <execinfo.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "manta/base/demangle.hpp"
#include "manta/base/zygote.hpp"
#include "manta/exec/isolation/crash_words.hpp"

namespace manta::exec {

/// The name of the function in a frame as backtrace_symbols() writes it, program(mangled+0x12) [0x55...], or program
/// and offset if it has none. Empty where the user's part of the call stack ends.
MANTA_DECL std::string describe_symbol(const std::string& text) {
  const std::size_t open = text.find('('), plus = text.find('+', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || plus == std::string::npos) return text;
  if (plus > open + 1) {
    constexpr std::size_t longest = 120;
    const std::string mangled = text.substr(open + 1, plus - open - 1);
    for (const std::string_view own : {"5manta6detail", "5manta4exec"}) {
      if (mangled.find(own) != std::string::npos) return {};
    }
    std::string name = base::demangle(mangled.c_str());
    if (name.size() > longest) name = name.substr(0, longest - 3) + "...";
    return name;
  }
  const std::size_t end = text.find(')', plus), folder = text.rfind('/', open);
  const std::size_t begin = folder == std::string::npos ? 0 : folder + 1;
  return text.substr(begin, end - begin + 1);
}

MANTA_DECL std::string describe_frame(void* frame) {
  char** const texts = ::backtrace_symbols(&frame, 1);
  if (texts == nullptr) return "?";
  const std::string text = *texts;
  std::free(texts);
  return describe_symbol(text);
}

MANTA_DECL std::string describe_frames(const base::child_page& page) {
  const int count = page.frame_count;
  int first = 0;
  for (int i = 0; i < count && i < 6; ++i) {  // leaves out what has ended the process
    const std::string frame = describe_frame(page.frames[i]);
    if (frame == "gsignal" || frame == "raise" || frame == "abort" || frame == "exit") first = i + 1;
  }
  std::string text;
  constexpr int most_shown = 8;
  for (int i = first, shown = 0; i < count && shown < most_shown; ++i) {
    const std::string frame = describe_frame(page.frames[i]);
    if (frame.empty()) break;
    text += (text.empty() ? "; in " : ", called by ") + frame;
    shown += frame.find("(+0x") == std::string::npos ? 1 : 2;  // without a name it says little
  }
  return text;
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
  if (status != -1 && WIFEXITED(status)) return "exit(" + std::to_string(WEXITSTATUS(status)) + ")";
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
  std::string text = "; it had " + std::to_string(arguments) + " bytes of arguments";
  constexpr std::size_t most_named = 8;
  for (std::size_t i = 0; i < inputs.size() && i < most_named; ++i) {
    text += (i == 0 ? ", and inputs of " : ", ") + std::to_string(inputs[i]);
  }
  if (inputs.size() > most_named) text += ", ... (" + std::to_string(inputs.size()) + " in all)";
  return inputs.empty() ? text : text + " bytes";
}

MANTA_DECL std::string describe_silence(std::int64_t limit_ns) {
  char text[96];
  std::snprintf(text, sizeof text, "it had not called manta for %g s (MANTA_WATCHDOG), and its process was ended",
                static_cast<double>(limit_ns) * 1e-9);
  return text;
}

}  // namespace manta::exec
