// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values in nodes. Up to 24 plain bytes lie in the node itself; anything else
// is a decoded object that is shared on its rank, or encoded bytes that nobody
// has asked for yet.
#pragma once

#include "manta/graph/node.hpp"
#include "manta/store/failure.hpp"
#include "manta/wire/function_table.hpp"

namespace manta::store {

using graph::form;
using graph::node;
using graph::state;

/// Values whose encoding is at most this long travel inside the message that announces them.
inline constexpr std::size_t inline_bytes = 1024;

inline void set_plain(node& n, const void* value, std::size_t bytes) {
  n.form = form::plain;
  if (bytes != 0) std::memcpy(n.bytes, value, bytes);
}
inline void set_box(node& n, void* owned) {
  n.form = form::box;
  n.box = owned;
}
inline void set_blob(node& n, const std::byte* data, std::size_t bytes, bool references) {
  n.form = form::blob;
  n.blob.data = static_cast<std::byte*>(std::malloc(bytes == 0 ? 1 : bytes));
  if (n.blob.data == nullptr) throw std::bad_alloc();
  if (bytes != 0) std::memcpy(n.blob.data, data, bytes);
  n.blob.bytes = bytes;
  if (references) n.set(node::references);
}
inline void set_failure(node& n, const failure_ptr& why) {
  n.form = form::failure;
  n.failure = new failure_ptr(why);
}
inline const failure_ptr& failure_of(const node& n) { return *static_cast<const failure_ptr*>(n.failure); }

/// Is the value of this node on this rank?
inline bool is_here(const node& n) {
  return n.state == state::failed || (n.state == state::ready && n.form != form::remote);
}

/// The value, decoded if it was not yet. Throws what the type's load() throws.
inline const void* decode(node& n) {
  if (n.form == form::plain) return n.bytes;
  if (n.form == form::blob) {
    std::byte* data = n.blob.data;
    const std::size_t bytes = n.blob.bytes;
    wire::source in(data, bytes);
    void* value = wire::type_at(n.type).read(in);
    std::free(data);
    n.reset(node::references);
    set_box(n, value);
  }
  return n.box;
}

/// Destroys what the payload owns. References inside an encoded value are dropped by decoding it.
inline void clear(node& n) {
  switch (n.form) {
    case form::box:
      wire::type_at(n.type).destroy(n.box);
      break;
    case form::blob:
      if (n.has(node::references)) {
        try {
          decode(n);
          wire::type_at(n.type).destroy(n.box);
        } catch (...) {
          std::free(n.blob.data);
        }
      } else {
        std::free(n.blob.data);
      }
      break;
    case form::failure:
      delete static_cast<failure_ptr*>(n.failure);
      break;
    default:
      break;
  }
  n.form = form::none;
}

/// Encodes the value of a node that is here and not plain. With a limit: false if the encoding would be longer.
inline bool encode_within(const node& n, wire::buffer& out, std::size_t limit, bool& references) {
  const std::size_t before = out.size();
  if (n.form == form::blob && !n.has(node::references)) {
    if (n.blob.bytes > limit) return false;
    out.append(n.blob.data, n.blob.bytes);
    return true;
  }
  wire::sink sink(out, nullptr, limit);
  try {
    wire::type_at(n.type).write(n.box, sink);
  } catch (const wire::over_limit&) {
    out.shrink(before);
    return false;
  }
  references = sink.holds_references();
  return true;
}

}  // namespace manta::store
