// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "manta/base/child.hpp"
#include "manta/exec/isolation/child_messages.hpp"

namespace manta::exec {

MANTA_DECL child_letter::child_letter(child_message::kind what) {
  child_message head;
  head.what = what;
  wire::put(bytes_, head);
}

MANTA_DECL void child_letter::finish() {
  child_message head;
  std::memcpy(&head, bytes_.data(), sizeof head);
  head.body = bytes_.size() - sizeof head;
  head.arrays = 0;
  for (const wire::segment& s : arrays_) head.arrays += s.bytes;
  std::memcpy(bytes_.data(), &head, sizeof head);
}

MANTA_DECL bool receive_message(base::child& c, child_message& head, wire::buffer& body) {
  return c.receive(&head, sizeof head) && head.marked == child_message::mark &&
         c.receive(body.extend(head.body), head.body);
}

MANTA_DECL child_value child_letter::put_object(type_id type, const void* object) {
  const wire::type_entry& entry = wire::type_at(type);
  child_value v{type, graph::form::box, 0, 0};
  const std::size_t at = bytes_.size(), arrays_before = arrays_.size();
  bytes_.extend(sizeof v);
  wire::sink sink(bytes_, entry.array != nullptr ? &arrays_ : nullptr, wire::sink::no_limit, false);
  entry.write(object, sink);
  v.bytes = bytes_.size() - at - sizeof v;
  if (arrays_.size() > arrays_before) v.array = arrays_[arrays_before].bytes;
  std::memcpy(bytes_.data() + at, &v, sizeof v);
  return v;
}

MANTA_DECL child_value child_letter::put_value(const graph::node& n) {
  using graph::form;
  store::large* const large = store::large_of(n);
  if (large != nullptr) large->book->use(*large);
  if (n.form == form::box) return put_object(n.type, n.box);
  child_value v{n.type, n.form, 0, 0};
  if (n.form == form::plain) {
    v.bytes = sizeof n.bytes;
    wire::put(bytes_, v);
    bytes_.append(n.bytes, sizeof n.bytes);
  } else if (n.form == form::blob) {
    if (n.has(graph::node::references)) throw wire::over_limit{};
    v.bytes = n.blob.bytes;
    wire::put(bytes_, v);
    bytes_.append(n.blob.data, n.blob.bytes);
  } else if (n.form == form::pages && large->is_encoded()) {
    v.form = form::box;
    v.bytes = large->encoding.bytes;
    wire::put(bytes_, v);
    large->book->disk().read_encoding(*large, bytes_);
  } else if (n.form == form::pages) {
    v.form = form::box;
    v.bytes = large->header.size();
    v.array = large->bytes;
    wire::put(bytes_, v);
    bytes_.append(large->header.data(), large->header.size());
    arrays_.push_back({const_cast<std::byte*>(large->array()), large->bytes});
  } else {
    v.form = form::none;
    wire::put(bytes_, v);
  }
  return v;
}

MANTA_DECL void child_letter::put_result(const invocation& call) {
  if (call.form == graph::form::box) {
    try {
      put_object(call.type, call.box);
      return;
    } catch (const wire::over_limit&) {
      throw error("manta: an isolated task cannot return futures or actors; return values");
    }
  }
  const bool is_plain = call.form == graph::form::plain;
  wire::put(bytes_, child_value{call.type, call.form, is_plain ? sizeof call.plain : 0, 0});
  if (is_plain) bytes_.append(call.plain, sizeof call.plain);
}

}  // namespace manta::exec
