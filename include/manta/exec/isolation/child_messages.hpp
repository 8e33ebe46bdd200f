// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank and its child say to each other through their socket: questions of the rank, answers of the child, and
// the values in both.
//
// Only receive_message() waits; all else is written into memory, and sent and received by functions of the caller.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/rank/invocation.hpp"

namespace manta::base {
class child;
}

namespace manta::exec {

/// What goes through the socket before the bytes of a question or an answer.
struct child_message {
  enum kind : std::uint32_t { run, save, load, destroy, done, failed };
  static constexpr std::uint32_t mark = 0x6d616e74;
  std::uint32_t marked = mark;  ///< else somebody else has written to the socket
  std::uint32_t what = run;
  std::uint64_t body = 0;    ///< bytes that follow
  std::uint64_t arrays = 0;  ///< bytes of arrays that follow the body
};

/// A value between rank and child: a few plain bytes, or its encoding, of which a large array comes by itself.
struct child_value {
  type_id type = graph::no_index;
  graph::form form = graph::form::none;
  std::uint64_t bytes = 0;  ///< bytes in the body
  std::uint64_t array = 0;  ///< bytes after the body
};

/// What a child is told of the task that it runs, before the arguments and the inputs.
struct child_task {
  function_id function = graph::no_index;
  std::uint32_t attempt = 0;
  std::uint64_t id = 0;
  std::uint64_t seed = 0;  ///< the seed of the program
  rank_id rank = 0;        ///< the rank that asks
  std::uint32_t size = 1;  ///< the number of ranks
  int node = 0;            ///< the number of the rank's node
  bool is_method = false;  ///< whether the actor's request follows; else the request is the task's own
  std::uint32_t argument_bytes = 0;
  std::uint32_t inputs = 0;
};

/// A message under construction. It is one buffer, sent at once, because in two parts it would wake the other side
/// twice; large arrays follow from where they lie.
class child_letter {
 public:
  MANTA_DECL explicit child_letter(child_message::kind what);  ///< Begins a message.

  /// Where plain fields are written.
  wire::buffer& body() { return bytes_; }
  /// Writes a decoded object, and returns its record. Throws wire::over_limit if there are references in it. The object
  /// has to live until the message has been sent.
  MANTA_DECL child_value put_object(type_id type, const void* object);
  /// As put_object(), for what a node holds.
  MANTA_DECL child_value put_value(const graph::node& n);
  /// Writes the result of a call. Throws error if there are references in it.
  MANTA_DECL void put_result(const invocation& call);
  /// Sends all of it by send(data, bytes), as long as that returns true. False if it did not.
  template <class Send>
  bool send(Send&& send) {
    finish();
    if (!send(bytes_.data(), bytes_.size())) return false;
    for (const wire::segment& s : arrays_) {
      if (!send(s.data, s.bytes)) return false;
    }
    return true;
  }

 private:
  MANTA_DECL void finish();  ///< Notes how much there is.

  wire::buffer bytes_;
  base::list<wire::segment> arrays_;
};

/// Receives the answer of a child, but for its arrays. False if the child has ended, or somebody else has written
/// to the socket.
MANTA_DECL bool receive_message(base::child& c, child_message& head, wire::buffer& body);

/// Reads one object, its array by receive(data, bytes), and leaves `body` behind it. The caller owns the object.
template <class Receive>
void* get_object(const child_value& v, wire::source& body, Receive&& receive) {
  const auto& type = wire::type_at(v.type);
  base::list<wire::segment> places;
  wire::source in(body.position(), v.bytes, v.array == 0 ? nullptr : &places);
  body = wire::source(body.position() + v.bytes, body.left() - v.bytes);
  void* const object = type.read(in);
  if (v.array == 0) return object;
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

/// Reads one value into a new node, as get_object() does.
template <class Receive>
void get_value(graph::node& n, wire::source& body, Receive&& receive) {
  const auto v = body.get<child_value>();
  n.type = v.type;
  n.state = graph::state::ready;
  if (v.form == graph::form::box) return store::set_box(n, get_object(v, body, receive));
  if (v.form == graph::form::plain) store::set_plain(n, body.position(), v.bytes);
  if (v.form == graph::form::blob) store::set_blob(n, body.position(), v.bytes, false);
  body = wire::source(body.position() + v.bytes, body.left() - v.bytes);
}

/// Reads a result into the call, as get_object() does.
template <class Receive>
void get_result(invocation& call, wire::source& body, Receive&& receive) {
  const auto v = body.get<child_value>();
  if (v.form == graph::form::plain) body.read(call.plain, sizeof call.plain);
  if (v.form == graph::form::box) call.box = get_object(v, body, receive);
  call.type = v.type;
  call.form = v.form;
}

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/isolation/child_messages.ipp"
#endif
