// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// cereal archives over byte buffers. cereal decides what is written, these
// decide how: runs of bytes are one copy, and arrays of `segment_bytes` and
// more stay where they are and are listed as segments. A value is always
// written and read whole by an archive of its own, so that cereal's pointer
// tracking and class versions start afresh with each value.
#pragma once

#include <cereal/cereal.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/common.hpp>
#include <cereal/types/complex.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/set.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/unordered_map.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>

#include "manta/base/error.hpp"
#include "manta/wire/buffer.hpp"

namespace manta::wire {

/// Thrown by a writer that was given a limit, as soon as the value turns out to be larger and holds no references.
struct over_limit {};

/// Writes one value. Without a list of segments every byte goes into the buffer.
class writer : public cereal::OutputArchive<writer, cereal::AllowEmptyClassElision> {
 public:
  explicit writer(buffer& out, std::vector<segment>* segments = nullptr, std::size_t limit = ~std::size_t{0})
      : cereal::OutputArchive<writer, cereal::AllowEmptyClassElision>(this),
        out_(out),
        segments_(segments),
        limit_(limit == ~std::size_t{0} ? limit : out.size() + limit) {}

  void write(const void* data, std::size_t bytes) {
    if (segments_ != nullptr && bytes >= segment_bytes) {
      segments_->push_back({const_cast<void*>(data), bytes});
      return;
    }
    // once a reference has been written the value must be written whole: only reading gives the reference back
    if (out_.size() + bytes > limit_ && !holds_references_) throw over_limit{};
    out_.append(data, bytes);
  }

  /// Called by futures and handles as they are written.
  void note_reference() { holds_references_ = true; }
  bool holds_references() const { return holds_references_; }

 private:
  buffer& out_;
  std::vector<segment>* segments_;
  std::size_t limit_;
  bool holds_references_ = false;
};

/// Reads one value. Segments are copied from where they were received, or, in a
/// reader made with `in_place`, not filled at all: their final places are
/// listed for the transport to receive into.
class reader : public cereal::InputArchive<reader, cereal::AllowEmptyClassElision> {
 public:
  reader(const std::byte* data, std::size_t bytes)
      : cereal::InputArchive<reader, cereal::AllowEmptyClassElision>(this), at_(data), end_(data + bytes) {}
  reader(const std::byte* data, std::size_t bytes, const std::vector<segment>& received) : reader(data, bytes) {
    received_ = &received;
  }
  struct in_place {
    std::vector<segment>& places;
  };
  reader(const std::byte* data, std::size_t bytes, in_place wanted) : reader(data, bytes) { places_ = &wanted.places; }

  void read(void* into, std::size_t bytes) {
    if (bytes >= segment_bytes && places_ != nullptr) {
      places_->push_back({into, bytes});
      return;
    }
    if (bytes >= segment_bytes && received_ != nullptr) {
      if (next_ == received_->size() || (*received_)[next_].bytes != bytes) truncated();
      std::memcpy(into, (*received_)[next_++].data, bytes);
      return;
    }
    if (static_cast<std::size_t>(end_ - at_) < bytes) truncated();
    if (bytes != 0) std::memcpy(into, at_, bytes);
    at_ += bytes;
  }
  const std::byte* position() const { return at_; }

 private:
  [[noreturn]] static void truncated() {
    throw serialization_error(
        "manta: a value's bytes ended before the value was read; its load() reads more than its save() wrote");
  }

  const std::byte* at_;
  const std::byte* end_;
  const std::vector<segment>* received_ = nullptr;
  std::vector<segment>* places_ = nullptr;
  std::size_t next_ = 0;
};

template <class T>
  requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(writer& archive, const T& value) {
  archive.write(&value, sizeof(T));
}
template <class T>
  requires std::is_arithmetic_v<T>
void CEREAL_LOAD_FUNCTION_NAME(reader& archive, T& value) {
  archive.read(&value, sizeof(T));
}
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(writer& archive, const cereal::BinaryData<T>& block) {
  archive.write(block.data, static_cast<std::size_t>(block.size));
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(reader& archive, cereal::BinaryData<T>& block) {
  archive.read(block.data, static_cast<std::size_t>(block.size));
}
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(writer& archive, cereal::NameValuePair<T>& pair) {
  archive(pair.value);
}
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(reader& archive, cereal::NameValuePair<T>& pair) {
  archive(pair.value);
}
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(writer& archive, cereal::SizeTag<T>& tag) {
  archive(tag.size);
}
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(reader& archive, cereal::SizeTag<T>& tag) {
  archive(tag.size);
}

}  // namespace manta::wire

CEREAL_REGISTER_ARCHIVE(manta::wire::writer)
CEREAL_REGISTER_ARCHIVE(manta::wire::reader)
CEREAL_SETUP_ARCHIVE_TRAITS(manta::wire::reader, manta::wire::writer)
