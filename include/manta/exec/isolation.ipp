// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks and actors that run in a child process of their rank, which may crash.
// The rank encodes the arguments and the values of the inputs, waits outside
// its lock for the answer, and decodes the result. The child runs the same
// function by the same index, for it was forked from this program. An actor's
// object lives in a child of its own; what its rank holds instead is a
// stand-in (isolated_actor), whose class forwards to it.
#pragma once

#include <cstddef>

#include "manta/base/zygote.hpp"
#include "manta/exec/engine.hpp"
#include "manta/exec/isolation.hpp"

namespace manta::exec {

/// What the rank holds of an actor that lives in a child.
struct isolated_actor {
  base::child* process;    ///< null once it has ended
  const actor_class* type; ///< at the same place in the child
};

/// What goes through the socket before the bytes of a question or an answer.
struct child_message {
  enum kind : std::uint32_t { run, save, load, destroy, done, failed };
  static constexpr std::uint32_t mark = 0x6d616e74;
  std::uint32_t marked = mark;    ///< else somebody else has written to the socket
  std::uint32_t what = run;
  std::uint64_t body = 0;         ///< bytes
};

/// A value between rank and child: a few plain bytes, or its encoding, of which a large array comes by itself.
struct child_value {
  std::uint32_t type = no_index;
  graph::form form = form::none;
  std::uint64_t bytes = 0;        ///< in the body
  std::uint64_t array = 0;        ///< after it
};

namespace detail {

/// A message is one buffer, sent at once: in two parts it would wake the other side twice.
MANTA_DECL wire::buffer begin_message(std::uint32_t what) {
  wire::buffer bytes;
  child_message m;
  m.what = what;
  wire::put(bytes, m);
  return bytes;
}
MANTA_DECL void finish_message(wire::buffer& bytes) {
  const std::uint64_t body = bytes.size() - sizeof(child_message);
  std::memcpy(bytes.data() + offsetof(child_message, body), &body, sizeof body);
}

/// Writes what a node or an invocation holds. Throws over_limit if there are references in it.
MANTA_DECL void put_object(wire::buffer& body, base::list<wire::segment>& arrays, std::uint32_t type,
                           const void* object) {
  child_value v{type, form::box, 0, 0};
  const std::size_t at = body.size();
  body.extend(sizeof v);
  const std::size_t before = arrays.size();
  wire::sink sink(body, wire::type_at(type).array != nullptr ? &arrays : nullptr, wire::sink::no_limit, false);
  wire::type_at(type).write(object, sink);
  v.bytes = body.size() - at - sizeof v;
  if (arrays.size() > before) v.array = arrays[before].bytes;
  std::memcpy(body.data() + at, &v, sizeof v);
}

MANTA_DECL void put_value(wire::buffer& body, base::list<wire::segment>& arrays, const node& n) {
  child_value v{n.type, n.form, 0, 0};
  switch (n.form) {
    case form::plain:
      v.bytes = sizeof n.bytes;
      wire::put(body, v);
      body.append(n.bytes, sizeof n.bytes);
      break;
    case form::blob:
      if (n.has(node::references)) throw wire::over_limit{};
      v.bytes = n.blob.bytes;
      wire::put(body, v);
      body.append(n.blob.data, n.blob.bytes);
      break;
    case form::pages: {
      store::large& l = *store::large_of(n);
      l.book->use(l);
      v.form = form::box;
      if (l.is_encoded()) {
        v.bytes = l.encoding_bytes;
        wire::put(body, v);
        l.book->disk().read_encoding(l, body);
        break;
      }
      v.bytes = l.header.size();
      v.array = l.bytes;
      wire::put(body, v);
      body.append(l.header.data(), l.header.size());
      arrays.push_back({const_cast<std::byte*>(l.array()), l.bytes});
      break;
    }
    case form::box:
      if (store::large* const l = store::large_of(n)) l->book->use(*l);
      put_object(body, arrays, n.type, n.box);
      break;
    default:
      v.form = form::none;
      wire::put(body, v);
  }
}

/// Reads one object, its array by `receive(data, bytes)`. The caller owns it.
template <class Receive>
void* get_object(const child_value& v, wire::source& body, Receive&& receive) {
  const auto& type = wire::type_at(v.type);
  wire::source in(body.position(), v.bytes);
  if (v.array == 0) return type.read(in);
  base::list<wire::segment> places;
  wire::source apart(body.position(), v.bytes, &places);
  void* const object = type.read(apart);
  try {
    if (places.size() != 1 || places[0].bytes != v.array)
      throw serialization_error("manta: a value's array came in another size");
    receive(places[0].data, places[0].bytes);
  } catch (...) {
    type.destroy(object);
    throw;
  }
  return object;
}

/// The function that a frame of a backtrace is in; empty where the user's part of it ends.
MANTA_DECL std::string describe_frame(void* frame) {
  char** const texts = ::backtrace_symbols(&frame, 1);
  if (texts == nullptr) return "?";
  std::string text = *texts;  // program(mangled+0x12) [0x55...]
  std::free(texts);
  const std::size_t open = text.find('('), plus = text.find('+', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || plus == std::string::npos) return text;
  if (plus > open + 1) {
    const std::string mangled = text.substr(open + 1, plus - open - 1);
    if (mangled.find("5manta6detail") != std::string::npos || mangled.find("5manta4exec") != std::string::npos)
      return {};
    std::string name = wire::demangle(mangled.c_str());
    if (name.size() > 120) name = name.substr(0, 117) + "...";
    return name;
  }
  const std::size_t end = text.find(')', plus), folder = text.rfind('/', open);
  return text.substr(folder == std::string::npos ? 0 : folder + 1,
                     end - (folder == std::string::npos ? 0 : folder + 1) + 1);
}

}  // namespace detail

// --- in the child

/// Answers questions until there is nobody any more who asks.
[[noreturn]] MANTA_DECL void engine::serve_rank(int socket, base::child_page& page) {
  role_ = role::none;  // a fork of the rank in the middle of a run has these
  current_ = nullptr;
  const auto read_all = [socket](void* into, std::size_t bytes) {
    auto* at = static_cast<char*>(into);
    while (bytes > 0) {
      const ssize_t got = ::recv(socket, at, bytes, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) ::_exit(0);
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
  };
  const auto write_all = [socket](const void* data, std::size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t sent = ::send(socket, at, bytes, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) ::_exit(0);
      at += sent;
      bytes -= static_cast<std::size_t>(sent);
    }
  };
  biased_lock lock;
  lock.enter();
  thread_numbers threads;
  isolated_view view;
  view.stop = &page.stop;
  view.calls = &page.calls;
  isolated_ = &view;
  void* self = nullptr;  // the actor that lives here
  const actor_class* type = nullptr;
  for (;;) {
    child_message question;
    read_all(&question, sizeof question);
    wire::buffer bytes;
    read_all(bytes.extend(question.body), question.body);
    wire::source in(bytes.data(), bytes.size());
    wire::buffer body = detail::begin_message(child_message::done);
    base::list<wire::segment> arrays;
    base::list<node*> inputs;
    invocation call(lock);
    try {
      if (question.what == child_message::run) {
        const auto function = in.get<std::uint32_t>();
        in.get(view.task.id);
        in.get(view.task.attempt);
        in.get(view.seed);
        in.get(view.rank);
        in.get(view.size);
        in.get(view.node);
        graph::request request;
        request.read(in);
        view.task.function = function;
        view.task.request = in.get<bool>() ? nullptr : &request;
        view.task.actor = view.task.request == nullptr ? &request : nullptr;
        call.argument_bytes = in.get<std::uint32_t>();
        call.arguments = in.position();
        in = wire::source(call.arguments + call.argument_bytes,
                          static_cast<std::size_t>(bytes.data() + bytes.size() - call.arguments) - call.argument_bytes);
        for (auto count = in.get<std::uint32_t>(); count > 0; --count) {
          const auto v = in.get<child_value>();
          node& n = *new node;
          inputs.push_back(&n);
          n.type = v.type;
          n.state = state::ready;
          n.refs.store(1, std::memory_order_relaxed);
          if (v.form == form::plain) {
            store::set_plain(n, in.position(), v.bytes);
          } else if (v.form == form::blob) {
            store::set_blob(n, in.position(), v.bytes, false);
          } else if (v.form == form::box) {
            store::set_box(n, detail::get_object(v, in, read_all));
          }
          in = wire::source(in.position() + v.bytes,
                            static_cast<std::size_t>(bytes.data() + bytes.size() - in.position()) - v.bytes);
        }
        call.inputs = inputs.data();
        call.self = self;
        threads.use(view.task.threads());
        wire::function_at(function).run(call);
        if (call.actor != nullptr) {
          self = call.actor;
          type = call.actor_type;
          wire::put(body, type);
        } else if (call.form == form::box) {
          try {
            detail::put_object(body, arrays, call.type, call.box);
          } catch (const wire::over_limit&) {
            throw error("manta: an isolated task cannot return futures or actors; return values");
          }
        } else {
          wire::put(body, child_value{call.type, call.form, call.form == form::plain ? sizeof call.plain : 0, 0});
          if (call.form == form::plain) body.append(call.plain, sizeof call.plain);
        }
      } else if (question.what == child_message::save) {
        wire::sink out(body);
        type->save(self, out);
      } else {  // load and destroy
        if (self != nullptr) type->destroy(std::exchange(self, nullptr));
        if (question.what == child_message::load) {
          in.get(type);
          self = type->load(in);
        }
      }
    } catch (...) {
      body = detail::begin_message(child_message::failed);
      arrays.clear();
      store::current_failure().write(body);
    }
    std::fflush(stdout);
    threads.use(0);
    detail::finish_message(body);
    write_all(body.data(), body.size());
    for (const wire::segment& s : arrays) write_all(s.data, s.bytes);
    if (call.form == form::box) wire::type_at(call.type).destroy(call.box);
    for (node* n : inputs) {
      store::clear(*n);
      delete n;
    }
    view.task = running_task{};
  }
}

// --- on the rank

MANTA_DECL void engine::prepare_isolation(bool before_mpi) {
  if (base::zygote::is_wanted)
    base::zygote::of_process().start(&engine::serve_rank, !before_mpi);  // else the first task says why
}

namespace detail {

MANTA_DECL bool send_question(base::child& c, wire::buffer& question, const base::list<wire::segment>& arrays = {}) {
  finish_message(question);
  bool alive = c.send(question.data(), question.size());
  for (const wire::segment& s : arrays) alive = alive && c.send(s.data, s.bytes);
  return alive;
}
MANTA_DECL bool receive_answer(base::child& c, child_message& answer, wire::buffer& body) {
  return c.receive(&answer, sizeof answer) && answer.marked == child_message::mark &&
         c.receive(body.extend(answer.body), answer.body);
}
/// For what takes no task: waits as long as it takes. False if the child has ended.
MANTA_DECL bool ask_child(base::child& c, wire::buffer&& question, child_message& answer, wire::buffer& body) {
  return send_question(c, question) && receive_answer(c, answer, body);
}

/// The functions in which the process was: "; in f, called by g". Nothing if it could not say so.
MANTA_DECL std::string describe_frames(const base::child_page& page) {
  const int count = page.frame_count;
  int first = 0;
  for (int i = 0; i < count && i < 6; ++i) {  // below what has ended it
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

/// How the process has ended that does not answer any more, in a sentence; it is given up.
MANTA_DECL std::string end_of_child(base::child* c) {
  const base::child_page& page = c->page();
  const int number = page.signal.load(std::memory_order_acquire);
  std::string text;
  if (number > 0) {
    text = base::describe_signal(number);
    if (page.has_address) {
      char address[32];
      std::snprintf(address, sizeof address, " at address 0x%zx", reinterpret_cast<std::size_t>(page.address));
      text += address;
    }
    if (page.stack_is_over) text += ", which is the end of the stack: give it a larger one (ulimit -s)";
  }
  const std::string frames = describe_frames(page);
  const int status = base::zygote::of_process().end(c);
  if (status == -1) {
    if (text.empty()) text = "something unknown: the process that started it has gone too";
  } else if (WIFEXITED(status)) {
    text = "exit(" + std::to_string(WEXITSTATUS(status)) + ")";
  } else if (text.empty() || WTERMSIG(status) != number) {
    text = base::describe_signal(WTERMSIG(status));
    if (WTERMSIG(status) == SIGKILL) text += ", which the system sends where memory runs out";
  }
  return "its process ended with " + text + frames;
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

}  // namespace detail

/// Why a child was ended that has not called manta for `limit_ns`.
MANTA_DECL std::string silent_for(std::int64_t limit_ns) {
  char text[96];
  std::snprintf(text, sizeof text, "it had not called manta for %g s (MANTA_WATCHDOG), and its process was ended",
                static_cast<double>(limit_ns) * 1e-9);
  return text;
}

/// In the place of the function's own run(); throws isolated_failure.
MANTA_DECL void engine::run_isolated(invocation& call, std::uint32_t function, running_task& identity) {
  constexpr std::int64_t grace_ns = 1'000'000'000;
  const graph::request& holder = *identity.holder();
  auto* const actor = static_cast<isolated_actor*>(call.self);
  wire::buffer body = detail::begin_message(child_message::run);
  base::list<wire::segment> arrays;
  base::list<std::uint64_t> sizes;
  const std::size_t argument_bytes = call.argument_bytes;
  wire::put(body, function);
  wire::put(body, identity.id);
  wire::put(body, identity.attempt);
  wire::put(body, rank_.seed);
  wire::put(body, rank_.rank);
  wire::put(body, rank_.size);
  wire::put(body, rank_.net.node());
  holder.write(body);
  wire::put(body, identity.actor != nullptr);
  wire::put(body, static_cast<std::uint32_t>(argument_bytes));
  body.append(call.arguments, argument_bytes);
  wire::put(body, call.input_count);
  try {
    for (std::uint32_t i = 0; i < call.input_count; ++i) {
      const std::size_t before = body.size(), arrays_before = arrays.size();
      detail::put_value(body, arrays, *call.inputs[i]);
      const std::uint64_t array = arrays.size() > arrays_before ? arrays[arrays_before].bytes : 0;
      sizes.push_back(body.size() - before - sizeof(child_value) + array);
    }
  } catch (const wire::over_limit&) {
    throw error("manta: '" + std::string(identity.name()) + "' is isolated and was given a future, an actor or a "
                "queue, which mean nothing in its process; pass values, or leave isolate out");
  }

  const auto fail_with = [&](std::string what) {
    store::failure f;
    f.details.type = "crash";
    f.details.what = std::move(what) + detail::describe_sizes(argument_bytes, sizes);
    rank_.failures.locate(f, identity.name(), identity.attempt);
    f.fatal = identity.actor != nullptr;
    throw isolated_failure(store::share(std::move(f)));
  };
  if (actor != nullptr && actor->process == nullptr) fail_with("the process of this actor has ended before");
  base::child* const c = actor != nullptr ? actor->process : base::zygote::of_process().take(&engine::serve_rank);
  const auto give_up = [&] {
    if (actor != nullptr) actor->process = nullptr;
    return detail::end_of_child(c);
  };

  const auto stop_child = [&] {
    {
      const outside user(rank_.lock);
      c->kill_where_it_is();
    }
    const std::string where = detail::describe_frames(c->page());
    give_up();
    return where;
  };

  c->page().stop.store(false, std::memory_order_relaxed);
  const char* told = nullptr;  // why it was told to come to an end
  std::int64_t kill_ns = 0, heard_ns = base::now_ns();
  std::uint32_t heard = 0;
  child_message answer;
  wire::buffer reply;
  bool alive = false;
  {
    const outside user(rank_.lock);
    alive = detail::send_question(*c, body, arrays);
  }
  for (bool there = !alive; !there;) {
    {
      const outside user(rank_.lock);
      there = c->wait(loops_.helper.is_running() ? 10 : 1);
    }
    if (there) break;
    if (!loops_.helper.is_running()) {  // nobody else does it
      progress();
      rank_.net.pump(true);
      run_.running.resume(identity);
    }
    const std::int64_t now = base::now_ns();
    if (loops_.watch.over_tasks().is_on()) {
      if (std::exchange(heard, c->page().calls.load(std::memory_order_relaxed)) != heard) heard_ns = now;
      if (now - heard_ns > loops_.watch.over_tasks().limit_ns()) {
        fail_with(silent_for(loops_.watch.over_tasks().limit_ns()) + stop_child());
      }
    }
    if (told == nullptr) {
      told = identity.stop ? "it was cancelled"
             : identity.expired || now >= holder.due ? "its deadline was over"
             : run_.phase.is_stopping() && !run_.departure.is_leaving() ? "the driver had thrown" : nullptr;
      if (run_.departure.is_leaving()) c->page().stop.store(true, std::memory_order_relaxed);  // it has until the end
      if (told == nullptr) continue;
      c->page().stop.store(true, std::memory_order_relaxed);
      kill_ns = now + grace_ns;
    } else if (now >= kill_ns) {
      fail_with(std::string("it still ran 1 s after ") + told + ", and its process was ended" + stop_child());
    }
  }
  try {
    const outside user(rank_.lock);
    alive = alive && detail::receive_answer(*c, answer, reply);
    if (alive && answer.what == child_message::done) {
      wire::source in(reply.data(), reply.size());
      if (holder.actor && actor == nullptr) {
        call.actor_type = in.get<const actor_class*>();
        call.actor = new isolated_actor{c, call.actor_type};
        call.actor_type = call.actor_type->isolated;
      } else {
        const auto v = in.get<child_value>();
        if (v.form == form::plain) {
          in.read(call.plain, sizeof call.plain);
        } else if (v.form == form::box) {
          call.box = detail::get_object(v, in, [&](void* into, std::size_t bytes) {
            alive = c->receive(into, bytes);
            if (!alive) throw wire::over_limit{};
          });
        }
        call.type = v.type;
        call.form = v.form;
      }
    }
  } catch (const wire::over_limit&) {
    // it ended while it sent the result
  } catch (...) {  // the result does not fit here
    c->kill();
    give_up();
    throw;
  }
  if (!alive) fail_with(give_up());
  if (actor == nullptr && call.actor == nullptr) base::zygote::of_process().give_back(c);
  if (answer.what != child_message::failed) return;
  store::failure f;
  wire::source in(reply.data(), reply.size());
  f.read(in);
  rank_.failures.locate(f, identity.name(), identity.attempt);
  throw isolated_failure(store::share(std::move(f)));
}

// --- the class of such an actor, as its slot knows it; all without the lock

MANTA_DECL void destroy_isolated(void* object) {
  auto* const actor = static_cast<isolated_actor*>(object);
  if (base::child* const c = actor->process) {
    child_message answer;
    wire::buffer body;
    if (detail::ask_child(*c, detail::begin_message(child_message::destroy), answer, body)) {
      base::zygote::of_process().give_back(c);
    } else {
      std::fprintf(stderr, "manta: the destructor of an isolated actor: %s\n", detail::end_of_child(c).c_str());
    }
  }
  delete actor;
}

MANTA_DECL void save_isolated(const void* object, wire::sink& out) {
  base::child* const c = static_cast<const isolated_actor*>(object)->process;
  child_message answer;
  wire::buffer body;
  if (c == nullptr || !detail::ask_child(*c, detail::begin_message(child_message::save), answer, body)) {
    throw error("manta: the process of an isolated actor ended when the actor was saved");
  }
  if (answer.what == child_message::done) return out.write(body.data(), body.size());
  throw isolated_failure(store::decode_failure(body.data(), body.size()));
}

/// `bytes` is all of the rest.
MANTA_DECL void* load_isolated(const actor_class* type, wire::source& bytes) {
  base::child* const c = base::zygote::of_process().take(&engine::serve_rank);
  child_message answer;
  wire::buffer question = detail::begin_message(child_message::load), body;
  wire::put(question, type);
  question.append(bytes.position(), bytes.left());
  if (!detail::ask_child(*c, std::move(question), answer, body)) {
    throw error("manta: an isolated actor could not be made from its checkpoint: " + detail::end_of_child(c));
  }
  if (answer.what == child_message::done) return new isolated_actor{c, type};
  base::zygote::of_process().give_back(c);
  throw isolated_failure(store::decode_failure(body.data(), body.size()));
}

}  // namespace manta::exec
