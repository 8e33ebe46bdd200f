// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/store/value.hpp"

namespace manta::store {

MANTA_DECL const void* decode_object(node& n) {
  if (n.form == form::blob) {
    std::byte* data = n.blob.data;
    const std::size_t bytes = n.blob.bytes;
    wire::source in(data, bytes);
    reading handles(n);
    handles.is_again = !n.has(node::references);
    n.reset(node::references);  // once: the handles in what load() has left unfinished have gone when it throws
    void* value = wire::type_at(n.type).read(in);
    std::free(data);
    set_box(n, value);
  } else if (large* const l = large_of(n)) {
    if (n.form == form::box) {
      l->book->use(*l);
    } else if (l->is_encoded()) {
      l->book->bring_back(*l);
      l->book->use(*l);
    } else {
      base::list<wire::segment> places;
      wire::source in(l->header.data(), l->header.size(), &places);
      n.boxed.object = wire::type_at(n.type).read(in);
      n.form = form::box;
      l->book->fill(*l, static_cast<std::byte*>(places[0].data));
    }
  }
  return n.box;
}

MANTA_DECL void enter(node& n, ledger& book, std::uint32_t function, bool copy) {
  if (n.form != form::box) return;
  if (const auto array = wire::type_at(n.type).array; array != nullptr) {
    const wire::segment s = array(n.box);
    if (s.bytes >= large_bytes) book.enter(n, s, false, false, copy, function);
  } else {
    const saving measured(n.type);
    const extent e(n.type, n.box);
    if (e.bytes >= large_bytes) book.enter(n, {nullptr, e.bytes}, true, e.fixed, copy, function);
  }
}
MANTA_DECL bool let_go(node& n) {
  large* const l = large_of(n);
  if (l == nullptr) return true;
  if (n.form != form::box || l->object.place != region::place::memory || l->view.place != region::place::none ||
      l->is_shared()) {
    return false;
  }
  l->book->remove(*l);
  n.boxed.large = nullptr;
  return true;
}
MANTA_DECL bool encode_within(const node& n, wire::buffer& out, std::size_t limit, bool& references) {
  const std::size_t before = out.size();
  if (n.form == form::blob && !n.has(node::references)) {
    if (n.blob.bytes > limit) return false;
    out.append(n.blob.data, n.blob.bytes);
    return true;
  }
  if (large_of(n) != nullptr || known_bytes(n) > limit) return false;  // known without an exception
  wire::sink sink(out, nullptr, limit);
  const saving its(n.type);
  try {
    wire::type_at(n.type).write(n.box, sink);
  } catch (const wire::over_limit&) {
    out.shrink(before);
    return false;
  }
  references = sink.holds_references();
  return true;
}
MANTA_DECL void encode(const node& n, wire::encoded& out) {
  if (n.form == form::pages) {
    const large& l = *large_of(n);
    if (l.is_encoded()) return l.book->disk().read_encoding(l, out.bytes);
    out.bytes.append(l.header.data(), l.header.size());
    out.segments.push_back({const_cast<std::byte*>(l.array()), l.bytes});
    return;
  }
  const bool is_array = wire::type_at(n.type).array != nullptr;
  const large* const l = large_of(n);
  if (l != nullptr && !is_array) out.bytes.reserve(l->bytes);
  const saving its(n.type, l == nullptr ? graph::no_index : l->function, l == nullptr ? saving::task_now() : l->task);
  wire::sink sink(out.bytes, is_array ? &out.segments : nullptr);
  wire::type_at(n.type).write(n.box, sink);
  out.holds_references = sink.holds_references();
}

}  // namespace manta::store
