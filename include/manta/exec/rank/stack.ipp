// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

#include "manta/base/address.hpp"
#include "manta/base/error.hpp"
#include "manta/base/text.hpp"
#include "manta/exec/rank/stack.hpp"

namespace manta::exec {

MANTA_DECL context::context() : status_(status::running) {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
    void* bottom = nullptr;
    std::size_t bytes = 0;
    if (::pthread_attr_getstack(&attributes, &bottom, &bytes) == 0) {
      bottom_ = static_cast<std::byte*>(bottom);
      bytes_ = bytes;
    }
    ::pthread_attr_destroy(&attributes);
  }
#if defined(MANTA_STACK_TSAN)
  tool_ = __tsan_get_current_fiber();
#endif
}

MANTA_DECL context::context(std::size_t number, std::byte* mapping, std::size_t bytes)
    : bottom_(mapping + largest_guard), bytes_(bytes), number_(number) {
  ::madvise(mapping, bytes_ + largest_guard, MADV_NOHUGEPAGE);
#if defined(MANTA_STACK_ASAN)
  __lsan_register_root_region(bottom_, bytes_);  // else what only a parked task holds is called a leak
#elif defined(MANTA_STACK_TSAN)
  tool_ = __tsan_create_fiber(0);
  __tsan_set_fiber_name(tool_, base::text("manta stack {}", number_).c_str());
#endif
#if defined(VALGRIND_STACK_REGISTER)
  valgrind_id_ = VALGRIND_STACK_REGISTER(bottom_, bottom_ + bytes_);
#endif
}

MANTA_DECL context::~context() {
  if (number_ == 0) return;
#if defined(MANTA_STACK_ASAN)
  __lsan_unregister_root_region(bottom_, bytes_);
  // Frames that never returned leave poison behind, which the next mapping here would inherit. Only from where the
  // stack was left, a page for the frame of leave_for included: the rest is clean, and its shadow a megabyte.
  const auto* left = std::max<const std::byte*>(bottom_, static_cast<const std::byte*>(tool_) - 4096);
  __asan_unpoison_memory_region(left, static_cast<std::size_t>(bottom_ + bytes_ - left));
#elif defined(MANTA_STACK_TSAN)
  __tsan_destroy_fiber(tool_);
#endif
#if defined(VALGRIND_STACK_DEREGISTER)
  VALGRIND_STACK_DEREGISTER(valgrind_id_);
#endif
  ::munmap(bottom_ - largest_guard, bytes_ + largest_guard);
}

MANTA_DECL bool context::protect() {
  if (::mprotect(bottom_ - largest_guard, largest_guard, PROT_NONE) != 0) return false;
  guard_ = largest_guard;
  return true;
}

MANTA_DECL stack_pool::stack_pool(entry service, void* argument)
    : service_(service), argument_(argument), stack_bytes_(wanted_stack_bytes()), guards_left_(affordable_guards()) {
  assert(active_ == nullptr && "one stack_pool a thread");
  fresh_.fp.save();
  active_ = this;
}

MANTA_DECL stack_pool::~stack_pool() {
  assert(on_root() && active_ == this);
  for (const context* made : stacks_) delete made;
  active_ = nullptr;
}

MANTA_DECL void stack_pool::body() noexcept {
#if defined(MANTA_STACK_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  stack_pool& pool = *active_;
  pool.fresh_.load();  // else the stack starts in the floating point mode of whoever made it
  pool.service_(pool.argument_);
  std::abort();  // there is no caller to return to
}

MANTA_DECL context& stack_pool::take() {
  if (idle_.empty()) return make();
  context& last = *idle_.back();
  idle_.pop_back();
  return last;
}

MANTA_DECL bool stack_pool::has_spare() {
  if (!idle_.empty()) return true;
  try {
    idle_.push_back(&make());
    return true;
  } catch (const error&) {
    return false;
  }
}

MANTA_DECL context& stack_pool::make() {
  const std::size_t number = stacks_.size() + 1;
  if ((number & (number - 1)) == 0) {
    stacks_.reserve(2 * number);
    idle_.reserve(2 * number);  // release() must not have to grow it
  }
  void* mapping = ::mmap(nullptr, stack_bytes_ + context::largest_guard, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) {
    const int why = errno;
    throw error(base::text(
        "manta: cannot reserve a stack of {} KiB for one more waiting task: {}; this rank has {} such stacks. Let "
        "fewer tasks wait at once, make the stacks smaller (MANTA_STACK_KIB), or raise the limit on address space "
        "(ulimit -v)",
        stack_bytes_ >> 10, std::generic_category().message(why), stacks_.size()));
  }
  auto* const made = new context(number, static_cast<std::byte*>(mapping), stack_bytes_);
  protect(*made);
  stacks_.push_back(made);
  return *made;
}

MANTA_DECL void stack_pool::protect(context& made) {
  if (guards_left_ == 0) return;
  guards_left_ = made.protect() ? guards_left_ - 1 : 0;
  if (guards_left_ == 0)
    std::fprintf(stderr,
                 "manta: %zu tasks wait at once; the stacks of further ones have no guard against overflow "
                 "(vm.max_map_count)\n",
                 made.number());
}

MANTA_DECL std::size_t stack_pool::wanted_stack_bytes() {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::size_t bytes = std::size_t{8} << 20;
  if (const char* text = std::getenv("MANTA_STACK_KIB"); text != nullptr && *text != '\0') {
    char* end = nullptr;
    const unsigned long kib = std::strtoul(text, &end, 10);
    if (*end != '\0' || *text == '-' || kib < 32 || kib > (1ul << 24))
      throw error(std::string("manta: MANTA_STACK_KIB is '") + text +
                  "'; it must be the size of a task's stack in KiB, between 32 and 16777216");
    bytes = std::size_t{kib} << 10;
  } else if (rlimit limit{}; ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    bytes = std::clamp<std::size_t>(limit.rlim_cur, std::size_t{1} << 20, std::size_t{8} << 20);
  }
  return (bytes + page - 1) / page * page;
}

MANTA_DECL std::size_t stack_pool::affordable_guards() {
  unsigned long mappings = 65530;
  if (std::FILE* file = std::fopen("/proc/sys/vm/max_map_count", "re"); file != nullptr) {
    if (std::fscanf(file, "%lu", &mappings) != 1) mappings = 65530;
    std::fclose(file);
  }
  return mappings / 4;
}

}  // namespace manta::exec

#undef MANTA_STACK_SWITCH
