// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "manta/base/text.hpp"
#include "manta/exec/keeping.hpp"
#include "manta/exec/layers.hpp"
#include "manta/output/append_file.hpp"
#include "manta/report/text_table.hpp"

namespace manta::exec {

inline constexpr char kept_task_mark[] = "manta kept task 1\n";

// --- keeping

MANTA_DECL void keeping::configure(const engine_options& options) {
  if (options.keep_failed.empty()) return;
  folder_ = options.keep_failed;
  all_.work.runner.keep_failed();
  all_.loops.watch.set_last_act([](void* own) { static_cast<keeping*>(own)->keep_hung(); }, this);
}

MANTA_DECL void keeping::keep_hung() {
  running_task& task = *all_.run.running;
  if (folder_.empty() || all_.run.running.is_driver() || !task.keeps_arguments) return;
  keep(*task.call, task, "it did not call manta for longer than MANTA_WATCHDOG allows");
}

MANTA_DECL void keeping::keep(const invocation& call, const running_task& task, const std::string& what) {
  if (kept_ == most_kept) return;
  if (call.self != nullptr) return list("-", task, "not kept, because a method needs its actor; " + what);
  if (call.team != nullptr) return list("-", task, "not kept, because a member of a gang needs the others; " + what);
  if (++kept_ == most_kept) {
    std::fprintf(stderr, "manta: rank %u has kept %u failed tasks in %s, and keeps no more\n", all_.rank.rank.number(),
                 most_kept, folder_.c_str());
  }
  std::string number = "-", why;
  try {
    child_letter letter(child_message::run);
    describe(letter, call, task, what);
    number = write(letter);
  } catch (const wire::over_limit&) {
    why = "not kept, because a future, an actor or a queue in its arguments means nothing in another run; ";
  } catch (const std::exception& e) {
    why = base::text("not kept, because {}; ", base::text_of(e));
  }
  list(number, task, why + what);
}

inline void keeping::describe(child_letter& letter, const invocation& call, const running_task& task,
                              const std::string& what) const {
  wire::buffer& out = letter.body();
  const wire::function_entry& function = wire::function_at(task.function);
  child_task t;
  t.function = task.function;
  t.attempt = task.attempt;
  t.id = task.id;
  t.seed = all_.rank.seed;
  t.rank = all_.rank.rank;
  t.size = all_.rank.size;
  t.node = all_.rank.net.node();
  t.argument_bytes = static_cast<std::uint32_t>(task.arguments->size());
  t.inputs = call.input_count;
  wire::put(out, t);
  for (const std::string& text :
       {std::string(function.mangled), std::string(function.name()), what, std::string(store::host_name())}) {
    wire::put(out, text);
  }
  wire::put(out, task.request != nullptr);
  if (task.request != nullptr) task.request->write(out);
  out.append(task.arguments->data(), task.arguments->size());
  for (std::uint32_t i = 0; i < call.input_count; ++i) {
    wire::put(out, std::string(wire::type_at(call.inputs[i]->type).mangled));
    letter.put_value(*call.inputs[i]);
  }
}

inline std::string keeping::write(child_letter& letter) {
  for (;; ++next_) {
    const std::string number = base::text("{}", next_), path = folder_ + "/" + number;
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST) continue;
    const auto send = [&](const void* data, std::size_t bytes) {
      return output::write_all(file, {static_cast<const char*>(data), bytes}) == bytes;
    };
    bool good = file >= 0 && send(kept_task_mark, sizeof kept_task_mark) && letter.send(send);
    const int code = errno;
    if (file >= 0) good = ::close(file) == 0 && good;
    if (good) return number;
    ::unlink(path.c_str());
    throw error(base::text("{} cannot be written ({})", path, std::strerror(code)));
  }
}

inline void keeping::list(const std::string& number, const running_task& task, const std::string& what) const {
  const std::string_view function = wire::function_at(task.function).name();
  const std::string name = task.name() == function ? "" : base::text(" (\"{}\")", task.name());
  const std::string line =
      report::one_line(base::text("{}: {}{} on rank {} ({}), attempt {}: {}", number, function, name,
                                  all_.rank.rank.number(), store::host_name(), task.attempt, what)) +
      '\n';
  const int file = ::open((folder_ + "/list").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  (void)output::write_all(file, line);  // whole: other ranks append too
  ::close(file);
}

// --- a kept task

MANTA_DECL kept_task::kept_task(const std::string& path) : path_(path) {
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) refuse(std::strerror(errno));
  try {
    read();
  } catch (...) {
    ::close(file_);
    throw;
  }
}

MANTA_DECL kept_task::~kept_task() { ::close(file_); }

[[noreturn]] inline void kept_task::refuse(const std::string& why) const {
  throw error(
      base::text("manta: MANTA_RERUN={}: {}; give a file that MANTA_KEEP_FAILED has written, to the program "
                 "that wrote it",
                 path_, why));
}

inline void kept_task::read_bytes(void* into, std::size_t bytes) {
  for (auto* at = static_cast<char*>(into); bytes > 0;) {
    const ssize_t got = ::read(file_, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) refuse(got < 0 ? std::strerror(errno) : "the file is too short");
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

inline void kept_task::read() {
  char mark[sizeof kept_task_mark];
  child_message head;
  read_bytes(mark, sizeof mark);
  if (std::memcmp(mark, kept_task_mark, sizeof mark) != 0) refuse("this is no kept task");
  read_bytes(&head, sizeof head);
  read_bytes(body_.extend(head.body), head.body);
  wire::source in(body_.data(), body_.size());
  in.get(task_);
  const auto mangled = in.get<std::string>();
  in.get(name_);
  in.get(what_);
  in.get(host_);
  in.get(has_request_);
  if (has_request_) request_.read(in);
  request_.isolate = false;  // it runs where the debugger is
  arguments_ = static_cast<std::size_t>(in.position() - body_.data());
  find_function(mangled, name_);
}

inline void kept_task::find_function(const std::string& mangled, const std::string& name) {
  const auto& all = wire::table<wire::function_entry>();
  std::uint32_t found = graph::no_index;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (mangled == all[i].mangled && (found == graph::no_index || task_.function == i)) found = i;
  }
  if (found == graph::no_index) refuse(base::text("this program has no function '{}' that can be a task", name));
  task_.function = found;
}

inline type_id kept_task::type_named(const std::string& mangled) const {
  const auto& all = wire::table<wire::type_entry>();
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (mangled == all[i].mangled) return i;
  }
  refuse(base::text("this program has no values of the type {}", wire::demangle(mangled.c_str())));
}

MANTA_DECL std::string kept_task::description() const {
  const std::string name = request_.name.empty() ? std::string() : base::text(" (\"{}\")", request_.name);
  return base::text("'{}'{}, which ran on rank {} of {} ({}), attempt {}, and ended so: {}", name_, name,
                    task_.rank.number(), task_.size, host_, task_.attempt, what_);
}

inline graph::node& kept_task::make_input(rank_parts& all, wire::source& in) {
  const type_id type = type_named(in.get<std::string>());
  auto v = in.get<child_value>();
  v.type = type;
  const std::byte* const at = in.position();
  if (v.form == graph::form::box) {
    const auto receive = [this](void* into, std::size_t bytes) { read_bytes(into, bytes); };
    return all.values.made.make(type, get_object(v, in, receive));
  }
  in = wire::source(at + v.bytes, in.left() - v.bytes);
  if (v.form != graph::form::blob) {
    return all.values.made.make_plain(type, at, v.form == graph::form::plain ? wire::type_at(type).plain_bytes : 0);
  }
  wire::source value(at, v.bytes);
  return all.values.made.make(type, wire::type_at(type).read(value));
}

MANTA_DECL std::string kept_task::run(rank_parts& all) {
  wire::source in(body_.data() + arguments_, body_.size() - arguments_);
  const std::byte* const arguments = in.position();
  in = wire::source(arguments + task_.argument_bytes, in.left() - task_.argument_bytes);
  base::list<graph::node*> inputs;
  for (std::uint32_t i = 0; i < task_.inputs; ++i) inputs.push_back(&make_input(all, in));
  store::failure_ptr why;
  {
    running_task identity{task_.id, task_.function, task_.attempt, has_request_ ? &request_ : nullptr};
    invocation call(all.rank.lock, arguments, task_.argument_bytes, inputs.data(), task_.inputs);
    call.keeps_inputs = true;
    const bool ok = all.work.runner.invoke(call, task_.function, identity, why);
    if (ok && call.form == graph::form::box) wire::type_at(call.type).destroy(call.box);
    if (ok && call.actor != nullptr) call.actor_type->destroy(call.actor);
  }
  for (graph::node* const input : inputs) all.values.refs.release(*input);
  return why == nullptr ? std::string() : store::describe(*why);
}

}  // namespace manta::exec
