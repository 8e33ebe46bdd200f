// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// cereal archives over bytes. cereal decides what is written; the sink and the source below decide how: runs of bytes
// are one copy, and large arrays travel by themselves. An archive of its own always writes and reads a whole value, so
// that cereal's pointer tracking and class versions begin anew.
//
// This header includes the common standard types. For the others (pointers, variants, lists, ...), which take more
// compile time, the user includes a header of cereal/types/.
#pragma once

#include <cereal/cereal.hpp>  // not found? Install libcereal-dev, or name its include folder by -I or CPATH
#include <cereal/types/array.hpp>
#include <cereal/types/common.hpp>
#include <cereal/types/complex.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/set.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/unordered_map.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>

#include "manta/wire/bytes.hpp"

namespace manta::wire {

/// Writes one value into a sink.
class writer : public cereal::OutputArchive<writer, cereal::AllowEmptyClassElision> {
 public:
  explicit writer(sink& out) : cereal::OutputArchive<writer, cereal::AllowEmptyClassElision>(this), sink_(out) {}
  void write(const void* data, std::size_t bytes) { sink_.write(data, bytes); }
  void note_reference() { sink_.note_reference(); }
  void note_memory(std::size_t bytes) { sink_.note_memory(bytes); }
  /// cereal calls this for each shared pointer, and writes what it points to if the result says that it is new.
  template <class Pointer>
  std::uint32_t registerSharedPointer(const Pointer& pointer) {
    sink_.note_pointer();
    return cereal::OutputArchive<writer, cereal::AllowEmptyClassElision>::registerSharedPointer(pointer);
  }

 private:
  sink& sink_;
};

/// Reads one value from a source.
class reader : public cereal::InputArchive<reader, cereal::AllowEmptyClassElision> {
 public:
  explicit reader(source& in) : cereal::InputArchive<reader, cereal::AllowEmptyClassElision>(this), source_(in) {}
  void read(void* into, std::size_t bytes) { source_.read(into, bytes); }

 private:
  source& source_;
};

/// An estimate of the memory that a container has allocated for its elements; 0 for other types.
template <class T>
std::size_t memory_of_container([[maybe_unused]] const T& value) {
  constexpr std::size_t links = 4 * sizeof(void*);
  if constexpr (requires {
                  typename T::value_type;
                  value.capacity();
                  *value.data();
                }) {
    const auto* const inside = reinterpret_cast<const std::byte*>(value.data());  // a short string lies in the object
    const auto* const self = reinterpret_cast<const std::byte*>(&value);
    if (inside >= self && inside < self + sizeof value) return 0;
    return value.capacity() * sizeof(typename T::value_type);
  } else if constexpr (requires {
                         typename T::node_type;
                         value.size();
                       }) {  // maps and sets
    return value.size() * (sizeof(typename T::value_type) + links);
  } else if constexpr (requires(T & list) {
                         list.push_front(list.front());
                         list.size();
                       }) {
    return value.size() * (sizeof(typename T::value_type) + links);
  } else {
    return 0;
  }
}
/// cereal calls this function with everything that it writes.
template <class T>
void prologue(writer& archive, const T& value) {
  archive.note_memory(memory_of_container(value));
}

template <class T>
  requires(std::is_arithmetic_v<T>)
void CEREAL_SAVE_FUNCTION_NAME(writer& archive, const T& value) { archive.write(&value, sizeof(T)); }
template <class T>
  requires(std::is_arithmetic_v<T>)
void CEREAL_LOAD_FUNCTION_NAME(reader& archive, T& value) { archive.read(&value, sizeof(T)); }
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
