// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/append_file.hpp"
#include "manta/output/bytes.hpp"
#include "manta/output/crc32c.hpp"
#include "manta/rl/offline/episode_file.hpp"
#include "manta/rl/offline/episode_npz.hpp"

namespace manta::rl::detail {

static_assert(std::endian::native == std::endian::little, "files of episodes are little-endian");

inline constexpr std::string_view file_mark = "mantaEP1", record_mark = "EPI1";
inline constexpr std::size_t head_size = 20, record_head_size = 16, facts_size = 26;

template <class T>
void put_number(std::string& to, T number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}
template <class T>
T get_number(std::string_view from, std::size_t at) {
  T number;
  std::memcpy(&number, from.data() + at, sizeof number);
  return number;
}

/// How many bytes the parts of a record take.
class record_layout {
 public:
  explicit record_layout(const any_environment& e)
      : is_image_(e.observations().as_box() != nullptr && e.observations().as_box()->bytes),
        observation(static_cast<std::size_t>(e.observations().size())),
        action(static_cast<std::size_t>(e.actions().size())),
        mask(static_cast<std::size_t>(e.mask_size())) {}

  [[nodiscard]] std::size_t observation_bytes() const { return observation * (is_image_ ? 1 : sizeof(float)); }
  [[nodiscard]] std::size_t step_bytes() const {
    return action * sizeof(float) + sizeof(double) + sizeof(float) + mask + observation_bytes();
  }
  [[nodiscard]] std::size_t bytes(std::size_t steps) const {
    return facts_size + observation_bytes() + steps * step_bytes();
  }
  void put_observation(std::string& to, const float* from) const {
    if (!is_image_) {
      to.append(reinterpret_cast<const char*>(from), observation_bytes());
      return;
    }
    for (std::size_t i = 0; i < observation; ++i) to.push_back(static_cast<char>(static_cast<unsigned char>(from[i])));
  }
  void get_observation(std::string_view from, std::size_t at, float* to) const {
    if (!is_image_) {
      std::memcpy(to, from.data() + at, observation_bytes());
      return;
    }
    for (std::size_t i = 0; i < observation; ++i) to[i] = static_cast<float>(static_cast<unsigned char>(from[at + i]));
  }

 private:
  bool is_image_;

 public:
  std::size_t observation, action, mask;  ///< the numbers of each
};

MANTA_DECL std::string head_of_file(const any_environment& e) {
  const std::string environment = output::pack(e);
  std::string head(file_mark);
  put_number<std::uint64_t>(head, environment.size());
  put_number(head, output::crc32c(environment));
  return head + environment;
}

MANTA_DECL std::string record_of(const any_environment& e, const recorded_episode& r, const episode_origin& from) {
  const record_layout layout(e);
  std::string facts;
  facts.reserve(layout.bytes(r.steps()));
  put_number(facts, from.source);
  put_number(facts, from.number);
  put_number<std::uint64_t>(facts, r.steps());
  facts.push_back(r.terminated ? 1 : 0);
  facts.push_back(r.log_probabilities.empty() ? 0 : 1);
  layout.put_observation(facts, r.observations.col(0).data());
  for (std::size_t t = 0; t < r.steps(); ++t) {
    const auto i = static_cast<Eigen::Index>(t);
    facts.append(reinterpret_cast<const char*>(r.actions.col(i).data()), layout.action * sizeof(float));
    put_number(facts, r.rewards[t]);
    put_number(facts, r.log_probabilities.empty() ? 0.f : r.log_probabilities[t]);
    if (layout.mask > 0) facts.append(reinterpret_cast<const char*>(r.masks.col(i).data()), layout.mask);
    layout.put_observation(facts, r.observations.col(i + 1).data());
  }
  std::string record(record_mark);
  put_number(record, output::crc32c(facts));
  put_number<std::uint64_t>(record, facts.size());
  return record + facts;
}

/// The episode of a whole record.
inline recorded_episode episode_of(std::string_view facts, const record_layout& layout, std::size_t steps) {
  const auto count = static_cast<Eigen::Index>(steps);
  const auto rows = [](std::size_t n) { return static_cast<Eigen::Index>(n); };
  recorded_episode r;
  r.observations.resize(rows(layout.observation), count + 1);
  r.actions.resize(rows(layout.action), count);
  r.masks.resize(rows(layout.mask), count);
  r.rewards.resize(steps);
  r.terminated = facts[24] != 0;
  if (facts[25] != 0) r.log_probabilities.resize(steps);
  std::size_t at = facts_size;
  layout.get_observation(facts, at, r.observations.col(0).data());
  at += layout.observation_bytes();
  for (std::size_t t = 0; t < steps; ++t) {
    const auto i = static_cast<Eigen::Index>(t);
    std::memcpy(r.actions.col(i).data(), facts.data() + at, layout.action * sizeof(float));
    at += layout.action * sizeof(float);
    r.rewards[t] = get_number<double>(facts, at);
    at += sizeof(double);
    if (!r.log_probabilities.empty()) r.log_probabilities[t] = get_number<float>(facts, at);
    at += sizeof(float);
    if (layout.mask > 0) std::memcpy(r.masks.col(i).data(), facts.data() + at, layout.mask);
    at += layout.mask;
    layout.get_observation(facts, at, r.observations.col(i + 1).data());
    at += layout.observation_bytes();
  }
  return r;
}

/// The environment in the head of a file. Throws if there is none.
inline any_environment environment_of(const std::string& path, std::string_view bytes) {
  if (bytes.size() < file_mark.size() || !bytes.starts_with(file_mark))
    throw error(
        base::text("manta: rl: {} is no file of episodes: it does not begin with {}. Files of rl::record do, and "
                   "those of numpy have names that end in .npz",
                   path, file_mark));
  any_environment e;
  const std::uint64_t size = bytes.size() < head_size ? ~std::uint64_t{0} : get_number<std::uint64_t>(bytes, 8);
  if (size > bytes.size() - std::min(bytes.size(), head_size))
    throw error(base::text("manta: rl: {}, episode 0, step 0: the file ends in its head, at byte {}; record it again",
                           path, bytes.size()));
  const std::string_view environment = bytes.substr(head_size, size);
  if (output::crc32c(environment) != get_number<std::uint32_t>(bytes, 16))
    throw error(
        base::text("manta: rl: {}, episode 0, step 0: the head has another checksum than it says: the file is "
                   "damaged; use a copy, or record it again",
                   path));
  output::unpack(environment, e);
  return e;
}

/// Reads the records of a file one after the other.
class record_reader {
 public:
  record_reader(const std::string& path, std::string_view bytes, const any_environment& e, std::size_t begin)
      : path_(path), bytes_(bytes), layout_(e), at_(begin) {}

  /// The next episode into `to`. Returns false at the end, and where the rest is torn and `torn` allows that.
  bool next(read_file& to, bool torn) {
    const std::string_view rest = bytes_.substr(at_);
    if (rest.empty()) return false;
    if (rest.substr(0, record_mark.size()) != record_mark.substr(0, rest.size()))
      damaged(to.episodes.size(), "does not begin as an episode does");
    if (rest.size() < record_head_size + facts_size) return cut(to.episodes.size(), 0, torn);
    const auto size = get_number<std::uint64_t>(rest, 8);
    const auto steps = get_number<std::uint64_t>(rest, record_head_size + 16);
    const std::string_view facts = rest.substr(record_head_size, size);
    if (steps == 0 || steps > size || size > (std::uint64_t{1} << 40U) || size != layout_.bytes(steps))
      damaged(to.episodes.size(), base::text("has {} steps and {} bytes, which do not agree", steps, size));
    if (facts.size() < size) {
      const std::size_t before = facts_size + layout_.observation_bytes();
      return cut(to.episodes.size(), facts.size() < before ? 0 : (facts.size() - before) / layout_.step_bytes(), torn);
    }
    if (output::crc32c(facts) != get_number<std::uint32_t>(rest, 4))
      damaged(to.episodes.size(), "has another checksum than it says");
    to.episodes.push_back(episode_of(facts, layout_, steps));
    to.origins.push_back({get_number<std::uint64_t>(facts, 0), get_number<std::uint64_t>(facts, 8)});
    at_ += record_head_size + size;
    return true;
  }
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  [[noreturn]] void damaged(std::size_t episode, const std::string& what) const {
    throw error(
        base::text("manta: rl: {}, episode {}, step 0: the record at byte {} {}: the file is damaged; use a copy, "
                   "or record it again",
                   path_, episode, at_, what));
  }
  [[nodiscard]] bool cut(std::size_t episode, std::size_t step, bool torn) const {
    if (torn) return false;
    throw error(
        base::text("manta: rl: {}, episode {}, step {}: the file ends here, in the middle of the episode: its "
                   "recording was cut short. The same rl::record goes on with it, and {.unfinished = true} of "
                   "rl::read_episodes reads what is whole",
                   path_, episode, step));
  }

  std::string path_;
  std::string_view bytes_;
  record_layout layout_;
  std::size_t at_;
};

MANTA_DECL read_file read_episode_file(const std::string& path, bool torn) {
  if (std::filesystem::is_directory(path)) throw error(base::text("manta: rl: {} is a folder, no file", path));
  std::FILE* const f = std::fopen(path.c_str(), "rb");
  if (f == nullptr) throw error(base::text("manta: rl: {} cannot be read: {}", path, std::strerror(errno)));
  std::fclose(f);
  const std::string bytes = output::read_file(path);
  read_file read;
  read.environment = environment_of(path, bytes);
  record_reader reader(path, bytes, read.environment, head_size + get_number<std::uint64_t>(bytes, 8));
  while (reader.next(read, torn)) {
  }
  read.whole_bytes = reader.at();
  return read;
}

MANTA_DECL void write_episode_file(const std::string& path, const any_environment& e,
                                   const std::vector<recorded_episode>& all) {
  std::string bytes = head_of_file(e);
  for (std::size_t i = 0; i < all.size(); ++i) bytes += record_of(e, all[i], {0, i});
  output::make_folder_of(path);
  output::replace_file(path, bytes);
}

MANTA_DECL std::vector<recorded_episode> read_file::take(const std::string& path, const any_environment& known) {
  return arrays.empty() ? std::move(episodes) : episodes_of_arrays(path, arrays, known);
}

}  // namespace manta::rl::detail
