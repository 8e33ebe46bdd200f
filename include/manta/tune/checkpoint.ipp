// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstring>
#include <fstream>

#include "manta/base/text.hpp"
#include "manta/output/append_file.hpp"
#include "manta/output/crc32c.hpp"
#include "manta/tune/checkpoint.hpp"

namespace manta::tune {

MANTA_DECL void checkpoint::write(const std::string& path) const {
  manta::output::replace_file(path, manta::output::pack(magic, manta::output::crc32c(state), *this));
}

MANTA_DECL std::string checkpoint::part_of(const std::string& file, int part) {
  return part == 0 ? file : base::text("{}.{}", file, part);
}

MANTA_DECL checkpoint checkpoint::read(const std::string& path) {
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
  if (mark != magic || sum != manta::output::crc32c(c.state))
    throw error("manta: tune: the checkpoint " + path + " is damaged");
  return c;
}

}  // namespace manta::tune
