// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The state of a trial as bytes: how far it was and what it saved, by cereal.
// Between ranks it travels through the object store, from where it was made to
// where it is needed; on disk it is a file that is replaced at once or not at all.
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <fstream>
#include <istream>
#include <ostream>
#include <streambuf>
#include <string>

#include "manta/tune/append_file.hpp"
#include "manta/tune/crc32c.hpp"

namespace manta::tune {

namespace detail {
/// Writes at the end of a string.
class string_sink : public std::streambuf {
 public:
  explicit string_sink(std::string& out) : out_(out) {}

 protected:
  int_type overflow(int_type c) override {
    out_ += traits_type::to_char_type(c);
    return c;
  }
  std::streamsize xsputn(const char* text, std::streamsize n) override {
    out_.append(text, static_cast<std::size_t>(n));
    return n;
  }

 private:
  std::string& out_;
};
/// Reads where the bytes lie.
class view_source : public std::streambuf {
 public:
  explicit view_source(std::string_view bytes) {
    char* const begin = const_cast<char*>(bytes.data());  // streambuf's get area is never written to
    setg(begin, begin, begin + bytes.size());
  }
};
}  // namespace detail

struct checkpoint {
  std::uint64_t iteration = 0;  ///< reports made before it
  double seconds = 0;           ///< run time before it
  std::string state;

  /// Replaces the state by these values.
  template <class... T>
  void pack(const T&... values) {
    state.clear();
    detail::string_sink sink(state);
    std::ostream stream(&sink);
    cereal::BinaryOutputArchive archive(stream);
    archive(values...);
  }
  /// Fills the values, which must be of the types that were packed, in their order.
  template <class... T>
  void unpack(T&... values) const {
    detail::view_source source(state);
    std::istream stream(&source);
    cereal::BinaryInputArchive archive(stream);
    archive(values...);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(iteration, seconds, state);
  }

  void write(const std::string& path) const {
    std::string bytes;
    detail::string_sink sink(bytes);
    std::ostream stream(&sink);
    cereal::BinaryOutputArchive archive(stream);
    archive(magic, crc32c(state), *this);
    replace_file(path, bytes);
  }
  /// Throws if the file is not there or damaged.
  static checkpoint read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw error("manta: tune: cannot read the checkpoint " + path + ": " + std::strerror(errno));
    checkpoint c;
    std::uint32_t mark = 0, sum = 0;
    try {
      cereal::BinaryInputArchive archive(in);
      archive(mark, sum, c);
    } catch (const std::exception&) {
      mark = 0;
    }
    if (mark != magic || sum != crc32c(c.state)) throw error("manta: tune: the checkpoint " + path + " is damaged");
    return c;
  }

 private:
  static constexpr std::uint32_t magic = 0x314b434dU;  // MCK1
};

}  // namespace manta::tune
