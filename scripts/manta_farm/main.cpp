// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// manta-farm: command lines as tasks, for people who have no program of tasks. scripts/manta-farm.md explains it.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <manta/manta.hpp>

#include "farm.hpp"
#include "options.hpp"
#include "results.hpp"
#include "warden.hpp"

namespace {

int say(const std::exception& e) {
  std::fprintf(stderr, "manta-farm: %s\n", e.what());
  return 2;
}

int print_outputs(const farm::options& o) {
  std::unordered_map<int, std::string> last;  // by number
  for (const int number : o.numbers) last[number];
  farm::read_records(o.folder + "/results.jsonl", [&](const farm::record& each, std::string_view text) {
    if (const auto at = last.find(each.line); at != last.end()) at->second = text;
  });
  for (const int number : o.numbers) {
    if (last[number].empty()) {
      throw farm::mistake("line " + std::to_string(number) + " has no result in " + o.folder +
                          "; it may still run, or have no command");
    }
    farm::print_pieces(o.folder, farm::pieces_of(last[number]));
    const std::string_view cut = farm::field(last[number], "cut_bytes");
    if (cut != "0")
      std::fprintf(stderr, "manta-farm: %.*s more bytes were not kept (--most-output)\n", static_cast<int>(cut.size()),
                   cut.data());
  }
  return 0;
}

int print_results(const farm::options& o) {
  const std::string journal = o.folder + "/results.jsonl";
  if (!o.prints_json) return farm::print_csv(journal, stdout), 0;
  farm::read_records(journal, [](const farm::record&, std::string_view text) {
    std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
  });
  return 0;
}

/// What needs no run; -1: this does.
int answer_at_once(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "--help";
  const bool is_verb =
      first == "output" || first == "results" || first == "--help" || first == "-h" || first == "--version";
  if (!is_verb) return -1;
  const farm::options o = farm::read_command_line(argc, argv);
  switch (o.what) {
    case farm::verb::output: return print_outputs(o);
    case farm::verb::results: return print_results(o);
    case farm::verb::version: return std::puts("manta-farm " MANTA_FARM_VERSION), 0;
    default: return std::fputs(farm::help_text(), argc > 1 ? stdout : stderr), argc > 1 ? 0 : 2;
  }
}

int run_farm(int argc, char** argv) {
  try {
    const farm::options o = farm::read_command_line(argc, argv);
    if (o.what != farm::verb::run)
      throw farm::mistake("this option has to be the first word: manta-farm " + std::string(argv[argc - 1]));
    return farm::farm(o).run();
  } catch (const farm::mistake& m) {
    return say(m);
  }
}

/// Opens /dev/null in place of standard streams that are closed: a file that is opened later must not take their numbers.
void fill_standard_streams() {
  for (int file = ::open("/dev/null", O_RDWR); file >= 0; file = ::open("/dev/null", O_RDWR)) {
    if (file <= 2) continue;
    ::close(file);
    return;
  }
}

/// Whether no launcher has started this process as one of several ranks.
bool is_alone() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  try {
    if (const int status = answer_at_once(argc, argv); status >= 0) return status;
    if (is_alone()) {
      farm::open_source(farm::read_command_line(argc, argv).lines);  // says at once what is wrong
      ::setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);  // MPI starts no daemon for this process: half the time
    }
  } catch (const farm::mistake& m) {
    return say(m);
  }
  ::unsetenv("MANTA_JOURNAL");  // its results would stand for lines that have to run; the farm has a journal of its own
  farm::warden::start();
  // A line may take longer to its end than a process usually has after SIGTERM: --drain limits that.
  const manta::runtime_options how = {.rank0_tasks = true, .term_grace = 0, .summary = "0"};
  const int status = manta::run(argc, argv, how, [&] { return run_farm(argc, argv); });
  farm::warden::dismiss();
  return status;
}
