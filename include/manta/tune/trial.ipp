// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "manta/base/text.hpp"
#include "manta/output/append_file.hpp"
#include "manta/tune/output/output.hpp"
#include "manta/tune/training.hpp"
#include "manta/tune/trial.hpp"

namespace manta::tune {

MANTA_DECL trial_number trial::id() const { return line_.begun_with().id; }
MANTA_DECL const config& trial::parameters() const { return line_.begun_with().parameters; }
MANTA_DECL std::uint64_t trial::iteration() const { return line_.iteration(); }
MANTA_DECL int trial::repeat() const { return line_.begun_with().repeat; }
MANTA_DECL bool trial::restored() const { return line_.is_restored(); }
MANTA_DECL bool trial::should_end() const { return line_.is_over(); }
MANTA_DECL const std::string& trial::metric() const { return line_.begun_with().metric; }

MANTA_DECL std::uint64_t trial::seed() const {
  const detail::order& o = line_.begun_with();
  return random(o.seed, o.id, 0x747269616cULL + (static_cast<std::uint64_t>(o.repeat) << 40)).bits();
}

MANTA_DECL std::string trial::folder() const {
  const detail::order& o = line_.begun_with();
  if (o.folder.empty()) throw error("manta: tune: trial::folder: the experiment has no folder; give it one");
  const std::string path =
      trial_folder(o.folder, o.id) + (o.repeats > 1 ? base::text("/repeat-{}", o.repeat) : std::string());
  manta::output::make_folders(path);
  return path;
}

MANTA_DECL void trial::keep() {
  save_by([](checkpoint&) {}, true);
  release_source();
}

MANTA_DECL bool trial::report(const metrics& values) { return line_.report(values); }
MANTA_DECL bool trial::report(std::string_view metric, double value) { return line_.report({{metric, value}}); }

MANTA_DECL void trial::note(std::string name, std::string text) { line_.note({std::move(name), std::move(text)}); }

MANTA_DECL void trial::attach(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path own = folder(), given = path, file = given.is_absolute() ? given : own / given;
  if (!fs::exists(file))
    throw error(
        base::text("manta: tune: trial::attach: there is no file {}; write it into trial.folder()", file.string()));
  fs::path inside = fs::relative(file, own);
  if (inside.empty() || *inside.begin() == "..") {
    inside = file.filename();
    fs::copy_file(file, own / inside, fs::copy_options::overwrite_existing);
  }
  line_.note({fs::relative(own / inside, line_.begun_with().folder).string(), "", true});
}

MANTA_DECL void trial::save_by(std::function<void(checkpoint&)> saver, bool of_locals) {
  line_.keep(std::move(saver), of_locals);
}
MANTA_DECL const checkpoint* trial::source() const { return line_.source(); }
MANTA_DECL void trial::release_source() { line_.release_source(); }

}  // namespace manta::tune
