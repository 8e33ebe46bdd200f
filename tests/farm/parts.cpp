// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The parts of manta-farm that need neither a run nor processes.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>

#include "line.hpp"
#include "placement.hpp"
#include "source.hpp"
#include "text.hpp"

namespace {

std::string shell(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  ::pclose(pipe);
  return text;
}

farm::line made(const std::string& text) {
  farm::line_maker maker({});
  farm::line line;
  REQUIRE(maker.make(text, 9, line));
  return line;
}

std::string mistake_of(const std::string& text) {
  farm::line_maker maker({});
  farm::line line;
  try {
    maker.make(text, 9, line);
  } catch (const farm::mistake& m) {
    return m.what();
  }
  return {};
}

farm::line_options with(const std::string& text) {
  farm::line_options o;
  farm::set_options(o, text);
  return o;
}

}  // namespace

TEST_CASE("a quoted word is what the shell reads, whatever its characters") {
  std::mt19937 random(7);
  constexpr std::string_view characters = "a '\"\\$`!{}*?#;&|<>()[]~\t=%-\n";
  std::string command = "printf '%s\\1'", expected;
  for (int i = 0; i < 60; ++i) {
    std::string word;
    for (std::size_t n = random() % 8; n > 0; --n) word += characters[random() % characters.size()];
    command += " " + farm::quoted(word);
    expected += word + '\1';
  }
  CHECK(shell(command) == expected);
}

TEST_CASE("options of a line stand in a comment of the shell, and nowhere else") {
  const farm::line a =
      made("run --x 3 'a #manta b' \"#manta\" \\#manta c#manta   #manta cpus=4 timeout=1h30m memory=2G");
  CHECK(a.command == "run --x 3 'a #manta b' \"#manta\" \\#manta c#manta");
  CHECK(a.options.cpus == 4);
  CHECK(a.options.timeout == 5400);
  CHECK(a.options.memory == std::uint64_t{2} << 30U);
  CHECK(made("run #mantas").options.cpus == 1);
  CHECK(made("run #manta after=1,3-5").options.after == std::vector<int>{1, 3, 4, 5});
}

TEST_CASE("options in a line of their own hold for the lines below") {
  farm::line_maker maker({});
  farm::line line;
  CHECK(!maker.make("#manta retries=2 cpus=3", 1, line));
  CHECK(maker.make("run #manta cpus=1", 2, line));
  CHECK(line.options.retries == 2);
  CHECK(line.options.cpus == 1);
  CHECK(maker.make("run", 3, line));
  CHECK(line.options.cpus == 3);
}

TEST_CASE("a wrong option is a sentence that names the line") {
  CHECK(mistake_of("run #manta cups=4").starts_with("line 9: there is no option 'cups' of lines; there are cpus, "));
  CHECK(mistake_of("run #manta cpus=0") == "line 9: cpus=0: a whole number of at least 1 is wanted");
  CHECK(mistake_of("run #manta timeout=10x") == "line 9: timeout=10x: a time is wanted, such as 90, 10m or 1h30m");
  CHECK(mistake_of("run #manta memory=4X") == "line 9: memory=4X: a number of at least 0 is wanted");
  CHECK(mistake_of("run #manta after=9") == "line 9: after=9: a line can wait for lines above it alone; move it down");
}

TEST_CASE("a line is known by its text and by which of its equals it is") {
  farm::line_maker maker({});
  farm::line a, b, c, d;
  maker.make("run", 1, a);
  maker.make("run #manta cpus=2", 2, b);
  maker.make(" run\r", 3, c);
  maker.make("run 2", 4, d);
  CHECK(a.key.text().ends_with(".0"));
  CHECK(b.key.text() == a.key.text().substr(0, 33) + "1");
  CHECK(c.key.text() == a.key.text().substr(0, 33) + "2");
  CHECK(d.key.text().substr(0, 32) != a.key.text().substr(0, 32));
  CHECK(farm::line_key::of(c.key.text()) == c.key);
  // The hash is FNV-1a of 128 bits, so that results are found by later versions too.
  CHECK(farm::key_of("a").text() == "d228cb696f1a8caf78912b704e4a8964.0");
}

TEST_CASE("lists are ranges, words or files") {
  CHECK(farm::list_of("8..11") == std::vector<std::string>{"8", "9", "10", "11"});
  CHECK(farm::list_of("-1..1") == std::vector<std::string>{"-1", "0", "1"});
  CHECK(farm::list_of("008..010") == std::vector<std::string>{"008", "009", "010"});
  CHECK(farm::list_of("a,b c,") == std::vector<std::string>{"a", "b c", ""});
  CHECK(farm::list_of("/etc/passw[d]") == std::vector<std::string>{"/etc/passwd"});
  CHECK_THROWS_WITH(farm::list_of("3..1"), "the list 3..1 is empty: its last number is below its first");
  CHECK_THROWS_WITH(farm::list_of("/nowhere/*"), "no file matches the list /nowhere/*");
}

TEST_CASE("a template takes words in their places and leaves other braces to the shell") {
  CHECK(farm::filled("f {} {2} {#}.h5 {1/.} ${HOME} {a,b} {", {"d/x.dat", "a b"}, 7) ==
        "f d/x.dat 'a b' 'a b' 7.h5 x ${HOME} {a,b} {");
  CHECK(farm::filled("{.} {/} {/.}", {"a.b/c"}, 1) == "a.b/c c c");
  CHECK_THROWS_WITH(farm::filled("{3}", {"a"}, 1), "{3} names a list, and there are 1");
}

TEST_CASE("the cores of a node belong to all of its ranks, and no core to two lines") {
  std::vector<farm::rank_place> ranks;
  for (int i = 0; i < 4; ++i) ranks.push_back({i, i / 2, 1, 0, 100, {i % 2}, "n" + std::to_string(i / 2)});
  farm::placement places(ranks, 0);
  CHECK(places.all_cores() == 4);
  CHECK(places.why_never(with("cpus=2 memory=200")).empty());
  CHECK(places.why_never(with("cpus=3")) == "it asks for 3 cores, and the largest node has 2");
  CHECK(!places.why_never(with("gpus=1")).empty());

  const auto wide = places.take(with("cpus=2"));
  REQUIRE(wide.has_value());
  CHECK(wide->is_pinned);
  CHECK(std::set<int>(wide->cores.begin(), wide->cores.end()) == std::set<int>{0, 1});
  const auto one = places.take({}), two = places.take({});
  REQUIRE((one && two));
  CHECK(places.host(one->rank) != places.host(wide->rank));
  CHECK(one->rank != two->rank);
  CHECK(one->cores != two->cores);
  CHECK(!places.take({}));
  places.give_back(*two, {});
  CHECK(!places.take(with("cpus=2")));
  places.give_back(*one, {});
  CHECK(places.take(with("cpus=2 memory=200")).has_value());
}

TEST_CASE("no line starts on a rank that has died") {
  farm::placement places({{0, 0, 2, 0, 0, {0, 1}, "a"}, {1, 0, 2, 0, 0, {0, 1}, "a"}}, 0);
  places.lose(1);
  CHECK(places.take({})->rank == 0);
  CHECK(places.take({})->rank == 0);
}
