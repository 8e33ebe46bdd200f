// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <utility>

#include "manta/exec/isolation/child_side.hpp"

namespace manta::exec {

/// The call that a question asks for. It keeps the inputs and the result until the answer has been sent.
struct child_side::work {
  explicit work(biased_lock& lock) : call(lock) {}
  ~work() {
    if (call.form == graph::form::box) wire::type_at(call.type).destroy(call.box);
    for (graph::node* const n : inputs) {
      store::clear(*n);
      delete n;
    }
  }
  work(const work&) = delete;
  work& operator=(const work&) = delete;

  invocation call;
  base::list<graph::node*> inputs;
};

MANTA_DECL child_side::child_side(int socket, base::child_page& page) : socket_(socket) {
  lock_.enter();
  view_.stop = &page.stop;
  view_.calls = &page.calls;
  view_.due = &page.due;
}

MANTA_DECL void child_side::receive(void* into, std::size_t bytes) {
  auto* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = ::recv(socket_, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    // The rank has closed the connection or is gone. The child must not run the program's exit
    // handlers, for it is a copy.
    if (got <= 0) ::_exit(0);
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

MANTA_DECL void child_side::receive_array(void* into, std::size_t bytes) {
  receive(into, bytes);
  arrays_ -= bytes;
}

MANTA_DECL void child_side::skip_arrays() {
  std::byte unused[1 << 12];
  while (arrays_ > 0) receive_array(unused, std::min<std::uint64_t>(arrays_, sizeof unused));
}

MANTA_DECL void child_side::send(const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::send(socket_, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) ::_exit(0);
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}

[[noreturn]] MANTA_DECL void child_side::serve() {
  const auto send_on = [this](const void* data, std::size_t bytes) {
    send(data, bytes);
    return true;
  };
  for (;;) {
    child_message head;
    receive(&head, sizeof head);
    arrays_ = head.arrays;
    wire::buffer question;
    receive(question.extend(head.body), head.body);
    work made(lock_);
    child_letter done(child_message::done), failed(child_message::failed);
    bool ok = true;
    try {
      answer(head.what, wire::source(question.data(), question.size()), made, done);
    } catch (...) {
      ok = false;
      store::current_failure().write(failed.body());
    }
    // If the function failed early, arrays are still in the pipe, in front of the next question.
    skip_arrays();
    std::cout.flush();
    std::fflush(nullptr);  // the child leaves by _exit, and a file that the code has left open must not lose its end
    threads_.use(0);
    (ok ? done : failed).send(send_on);
    view_.task = running_task{};
  }
}

MANTA_DECL void child_side::answer(std::uint32_t what, wire::source question, work& made, child_letter& answer) {
  if (what == child_message::run) return run_task(question, made, answer);
  if (what == child_message::save) {
    wire::sink out(answer.body());
    return type_->save(self_, out);
  }
  if (self_ != nullptr) type_->destroy(std::exchange(self_, nullptr));
  if (what != child_message::load) return;
  question.get(type_);
  self_ = type_->load(question);
}

MANTA_DECL child_task child_side::read_task(wire::source& question, graph::request& wanted) {
  const auto t = question.get<child_task>();
  wanted.read(question);
  view_.seed = t.seed;
  view_.rank = t.rank;
  view_.size = t.size;
  view_.node = t.node;
  view_.task.id = t.id;
  view_.task.attempt = t.attempt;
  view_.task.function = t.function;
  view_.task.request = t.is_method ? nullptr : &wanted;
  view_.task.actor = t.is_method ? &wanted : nullptr;
  return t;
}

MANTA_DECL void child_side::run_task(wire::source& question, work& made, child_letter& answer) {
  graph::request wanted;
  const child_task t = read_task(question, wanted);
  invocation& call = made.call;
  call.argument_bytes = t.argument_bytes;
  call.arguments = question.position();
  question = wire::source(question.position() + t.argument_bytes, question.left() - t.argument_bytes);
  for (std::uint32_t i = 0; i < t.inputs; ++i) {
    auto* const input = new graph::node;
    made.inputs.push_back(input);
    input->refs.store(1, std::memory_order_relaxed);
    get_value(*input, question, [this](void* into, std::size_t bytes) { receive_array(into, bytes); });
  }
  call.inputs = made.inputs.data();
  call.input_count = t.inputs;
  call.self = self_;
  threads_.use(view_.task.threads());
  wire::function_at(t.function).run(call);
  if (call.actor == nullptr) return answer.put_result(call);
  self_ = call.actor;
  type_ = call.actor_type;
  wire::put(answer.body(), type_);
}

}  // namespace manta::exec
