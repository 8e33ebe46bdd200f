// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Deterministic 64-bit hashes for task ids, seeds and the digest of the function table. The same input gives the same
// number on every rank and in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace manta::base {

/// The step of splitmix64's counter: 2^64 divided by the golden ratio.
inline constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;

/// The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): every input bit reaches every output bit; 0 gives 0.
constexpr std::uint64_t finalise(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// The number of splitmix64 for the counter x.
constexpr std::uint64_t mix(std::uint64_t x) { return finalise(x + golden); }

/// The inverse of mix: unmix(mix(x)) is x.
constexpr std::uint64_t unmix(std::uint64_t x) {
  x = (x ^ (x >> 31) ^ (x >> 62)) * 0x319642b2d24d8ec3ULL;
  x = (x ^ (x >> 27) ^ (x >> 54)) * 0x96de1b173f119089ULL;
  x = x ^ (x >> 30) ^ (x >> 60);
  return x - golden;
}

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return mix(a ^ mix(b)); }

constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return mix(hash);
}

/// Hashes eight bytes at a time; for contents of files and values rather than for tables.
inline std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed = 0) {
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint64_t hash = mix(seed ^ bytes);
  for (; bytes >= 8; at += 8, bytes -= 8) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, at, 8);
    hash = (hash ^ word) * 0x9fb21c651e98df25ULL;
    hash ^= hash >> 32;
  }
  std::uint64_t rest = 0;
  __builtin_memcpy(&rest, at, bytes);
  return mix(hash ^ mix(rest));
}

}  // namespace manta::base
