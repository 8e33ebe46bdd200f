// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The destination and the source of a value's bytes. Values of users pass through cereal on their way (archive.hpp).
// The library's own records do not: they write their fields one after the other, as they lie in memory.
#pragma once

#include <string>
#include <type_traits>

#include "manta/base/error.hpp"
#include "manta/wire/buffer.hpp"

namespace manta::wire {

/// Thrown by a sink with a limit, as soon as a value without references exceeds it; and by a sink that takes no
/// references, before the first one is written.
struct over_limit {};

/// Takes the bytes of a value, in the order in which they are written, instead of a buffer.
struct outlet {
  void (*take)(outlet&, const void* data, std::size_t bytes);
};

/// Takes one value. Without a list of segments, every byte goes into the buffer. With a list, arrays of `segment_bytes`
/// and more stay in their own memory and are listed. With an outlet, every byte goes there, and references are refused.
class sink {
 public:
  static constexpr std::size_t no_limit = ~std::size_t{0};

  explicit sink(buffer& out, base::list<segment>* segments = nullptr, std::size_t limit = no_limit,
                bool takes_references = true)
      : out_(&out),
        segments_(segments),
        limit_(limit == no_limit ? limit : out.size() + limit),
        takes_references_(takes_references) {}
  explicit sink(outlet& to) : outlet_(&to), takes_references_(false) {}

  void write(const void* data, std::size_t bytes) {
    if (segments_ != nullptr && bytes >= segment_bytes) {
      segments_->push_back({const_cast<void*>(data), bytes});
      return;
    }
    if (outlet_ != nullptr) return outlet_->take(*outlet_, data, bytes);
    // Once a reference has been written, the whole value must be written: only reading it gives the reference back.
    if (out_->size() + bytes > limit_ && !holds_references_) throw over_limit{};
    out_->append(data, bytes);
  }

  /// Notes a reference; futures and handles call it before they are written.
  void note_reference() {
    if (!takes_references_) throw over_limit{};
    holds_references_ = true;
  }
  bool holds_references() const { return holds_references_; }

  /// Notes a shared pointer.
  void note_pointer() { holds_pointers_ = true; }
  bool holds_pointers() const { return holds_pointers_; }

  /// Adds the memory that a written container has allocated for itself.
  void note_memory(std::size_t bytes) { memory_ += bytes; }
  std::size_t memory() const { return memory_; }

 private:
  buffer* out_ = nullptr;
  outlet* outlet_ = nullptr;
  base::list<segment>* segments_ = nullptr;
  std::size_t limit_ = no_limit;
  std::size_t memory_ = 0;
  bool takes_references_;
  bool holds_references_ = false;
  bool holds_pointers_ = false;
};

/// Gives the bytes of one value. Without a list of places, large arrays are copied like the rest. With a list, they are
/// not filled: their final places are listed, into which the transport then receives.
class source {
 public:
  source(const std::byte* data, std::size_t bytes, base::list<segment>* places = nullptr)
      : at_(data), end_(data + bytes), places_(places) {}

  void read(void* into, std::size_t bytes) {
    if (bytes >= segment_bytes && places_ != nullptr) {
      places_->push_back({into, bytes});
      return;
    }
    if (static_cast<std::size_t>(end_ - at_) < bytes) {
      throw serialization_error(
          "manta: a value's bytes ended before the value was read; its load() reads more than its save() wrote");
    }
    if (bytes != 0) std::memcpy(into, at_, bytes);
    at_ += bytes;
  }
  const std::byte* position() const { return at_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  template <class T>
    requires(std::is_trivially_copyable_v<T>)
  void get(T& field) { read(&field, sizeof field); }
  void get(std::string& text) {
    text.resize(get<std::size_t>());
    read(text.data(), text.size());
  }
  template <class T>
  T get() {
    T field;
    get(field);
    return field;
  }

 private:
  const std::byte* at_;
  const std::byte* end_;
  base::list<segment>* places_;
};

template <class T>
  requires(std::is_trivially_copyable_v<T>)
void put(buffer& out, const T& field) { out.append(&field, sizeof field); }
inline void put(buffer& out, const std::string& text) {
  put(out, text.size());
  out.append(text.data(), text.size());
}

}  // namespace manta::wire
