// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "manta/output/crc32c.hpp"

namespace manta::output {

MANTA_DECL std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto tables = [] {
    std::array<std::array<std::uint32_t, 256>, 8> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = (c & 1U) != 0 ? c >> 1U ^ 0x82f63b78U : c >> 1U;
      t[0][i] = c;
    }
    for (std::size_t k = 1; k < 8; ++k) {
      for (std::size_t i = 0; i < 256; ++i) t[k][i] = t[k - 1][i] >> 8U ^ t[0][t[k - 1][i] & 255U];
    }
    return t;
  }();
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  std::uint32_t c = ~0U;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    const std::uint32_t low = c ^ (byte(i) | byte(i + 1) << 8U | byte(i + 2) << 16U | byte(i + 3) << 24U);
    c = tables[7][low & 255U] ^ tables[6][low >> 8U & 255U] ^ tables[5][low >> 16U & 255U] ^ tables[4][low >> 24U] ^
        tables[3][byte(i + 4)] ^ tables[2][byte(i + 5)] ^ tables[1][byte(i + 6)] ^ tables[0][byte(i + 7)];
  }
  for (; i < bytes.size(); ++i) c = c >> 8U ^ tables[0][(c ^ byte(i)) & 255U];
  return ~c;
}

}  // namespace manta::output
