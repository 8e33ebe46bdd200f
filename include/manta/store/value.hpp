// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values in nodes. Up to 24 plain bytes lie in the node itself. Any other value is a decoded object that the tasks of
// the rank share, encoded bytes that no task has used yet, the pages of an array that another rank of the node has
// made, or lies on a disk.
#pragma once

#include "manta/base/config.hpp"
#include "manta/graph/node.hpp"
#include "manta/store/failure.hpp"
#include "manta/store/ledger.hpp"
#include "manta/store/saving.hpp"
#include "manta/wire/function_table.hpp"

namespace manta::store {

using graph::form;
using graph::node;
using graph::state;

/// Values whose encoding is at most this long travel inside the message that announces them.
inline constexpr std::size_t inline_bytes = 1024;

inline void set_plain(node& n, const void* value, std::size_t bytes) {
  n.form = form::plain;
  if (bytes == sizeof(std::uint32_t)) {  // the usual sizes without a call
    std::memcpy(n.bytes, value, sizeof(std::uint32_t));
  } else if (bytes == sizeof(std::uint64_t)) {
    std::memcpy(n.bytes, value, sizeof(std::uint64_t));
  } else if (bytes != 0) {
    std::memcpy(n.bytes, value, bytes);
  }
}
inline void set_box(node& n, void* owned) {
  n.form = form::box;
  n.boxed = {owned, nullptr};
}
inline void set_pages(node& n, large& mapped) {
  n.form = form::pages;
  n.boxed = {nullptr, &mapped};
  mapped.node = &n;
}
/// The record of a large value; null if the value is not large.
inline large* large_of(const node& n) {
  return n.form == form::box || n.form == form::pages ? static_cast<large*>(n.boxed.large) : nullptr;
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

/// Whether the value of this node is on this rank.
inline bool is_here(const node& n) {
  return n.state == state::failed || (n.state == state::ready && n.form != form::remote);
}

/// Stands on the stack while a value is being decoded, so that handles inside the value find the set that
/// they belong to.
struct reading {
  node& of;
  std::uint32_t handles = 0;                  ///< number of handles so far
  base::list<std::uint32_t>* list = nullptr;  ///< collects their nodes; null: not needed
  void* family = nullptr;                     ///< the engine's record of them
  bool is_again = false;  ///< the first time has failed; the handles are given back, and are empty now
  reading* const outer = innermost;

  explicit reading(node& n) : of(n) { innermost = this; }
  ~reading() { innermost = outer; }
  reading(const reading&) = delete;
  reading& operator=(const reading&) = delete;
  static inline reading* innermost = nullptr;  ///< the innermost one, which changes with the engine's lock held
};

/// Decodes a value that is not plain.
MANTA_DECL const void* decode_object(node& n);
/// The value; decodes it if it is not decoded yet. Throws what load() of its type throws.
inline const void* decode(node& n) { return n.form == form::plain ? n.bytes : decode_object(n); }

/// Measures the memory of a value that is not one array.
struct extent : wire::outlet {
  std::uint64_t bytes = 0;
  bool fixed = false;  ///< it cannot be encoded: it holds references. The part from the first one on is not counted

  explicit extent(std::uint32_t type, const void* object) : wire::outlet{&count} {
    wire::sink out(*this);
    try {
      wire::type_at(type).write(object, out);
    } catch (...) {
      fixed = true;
    }
    if (out.memory() > bytes) bytes = out.memory();
  }
  static void count(wire::outlet& self, const void*, std::size_t written) {
    static_cast<extent&>(self).bytes += written;
  }
};

/// Enters a large box into the ledger, which makes room for it. `copy`: another rank has the value too.
MANTA_DECL void enter(node& n, ledger& book, std::uint32_t function, bool copy = false);
/// Moves a payload, with its record in the ledger, from one node to another.
inline void move_payload(node& to, node& from) {
  to.form = std::exchange(from.form, form::none);
  to.boxed = from.boxed;
  if (large* const l = large_of(to)) l->node = &to;
}

/// Keeps the values of these nodes in place as long as it lives.
class looking {
 public:
  looking(node* const* nodes, std::uint32_t count) : nodes_(nodes), count_(count) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (large* const l = large_of(*nodes_[i])) l->book->look(*l);
    }
  }
  ~looking() {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (large* const l = large_of(*nodes_[i])) l->book->look_away(*l);  // null if the value was moved out
    }
  }
  looking(const looking&) = delete;
  looking& operator=(const looking&) = delete;

 private:
  node* const* nodes_;
  std::uint32_t count_;
};
/// Notes that the user gets a reference to the node's value.
inline void give(node& n) {
  if (large* const l = large_of(n)) l->book->give(*l);
}

/// Prepares an object to be moved out of its node: true if it lies in ordinary memory; the ledger forgets it then.
MANTA_DECL bool let_go(node& n);

/// Destroys what the payload owns. An encoded value is decoded first, to drop the references inside it.
inline void clear(node& n) {
  switch (n.form) {
    case form::box:
      if (large* const l = large_of(n)) l->book->remove(*l);
      wire::type_at(n.type).destroy(n.box);
      break;
    case form::pages: large_of(n)->book->remove(*large_of(n)); break;
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
    case form::failure: delete static_cast<failure_ptr*>(n.failure); break;
    default: break;
  }
  n.form = form::none;
}

/// The size of a value that is here, if it is large or an array; else 0.
inline std::uint64_t known_bytes(const node& n) {
  if (const large* const l = large_of(n)) return l->bytes;
  const auto array = n.form == form::box ? wire::type_at(n.type).array : nullptr;
  return array != nullptr ? array(n.box).bytes : 0;
}
/// The size of a value wherever it lies, as far as this rank knows it; else 0.
inline std::uint64_t bytes_of(const node& n) {
  switch (n.form) {
    case form::plain: return wire::type_at(n.type).plain_bytes;
    case form::blob: return n.blob.bytes;
    case form::remote: return n.remote.bytes;
    default: return known_bytes(n);
  }
}
/// Encodes the value of a node, which must be here and not plain; false if the encoding would exceed the limit.
MANTA_DECL bool encode_within(const node& n, wire::buffer& out, std::size_t limit, bool& references);

/// The size, as announced to other ranks, of a value that is here and too large for a message; an estimate if unknown.
inline std::uint64_t size_of(const node& n) {
  const std::uint64_t bytes = known_bytes(n);
  return bytes > inline_bytes ? bytes : inline_bytes + 1;
}

/// Encodes the whole value of a node, which must be here and neither plain nor a blob. The encoding refers to the array
/// in its own memory, unless save() of the type might write from a temporary.
MANTA_DECL void encode(const node& n, wire::encoded& out);

}  // namespace manta::store

#ifndef MANTA_COMPILED
#include "manta/store/value.ipp"
#endif
