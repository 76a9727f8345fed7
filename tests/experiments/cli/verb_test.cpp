// Tests that verbs are declarations: help, completion and manual read them and run nothing.
#include "experiments/cli/program.hpp"

#include <doctest/doctest.h>

#include <set>
#include <stdexcept>

#include "experiments/base/format/config_error.hpp"

using namespace speclab;

namespace {

/// Calls `look` for every verb, with the words that lead to it.
void each_verb(const std::vector<Verb>& all, const std::string& called,
               const std::function<void(const Verb&, const std::string&)>& look) {
  for (const Verb& verb : all) {
    look(verb, called + " " + verb.name);
    each_verb(verb.verbs, called + " " + verb.name, look);
  }
}

Verb family() {
  Verb first{
      .name = "first", .sentence = "one", .positional = "file", .run = [](const Values&) { return 7; }};
  first.options.add_options()("size", boost::program_options::value<int>(), "a number");
  Verb second{.name = "second", .sentence = "two", .run = [](const Values&) -> int {
                throw std::logic_error("ran");
              }};
  second.options.add_options()("only", "a flag");
  return {.name = "family", .sentence = "both", .verbs = {first, second}};
}

}  // namespace

TEST_CASE("every verb says how it is called, with examples that begin so") {
  int verbs_seen = 0;
  each_verb(verbs(), "speclab", [&](const Verb& verb, const std::string& called) {
    CAPTURE(called);
    ++verbs_seen;
    CHECK_FALSE(verb.sentence.empty());
    CHECK(verb.line.starts_with(called));
    CHECK(verb.examples.find("  " + called) != std::string::npos);
    CHECK((verb.run || !verb.verbs.empty()));
    const std::string help = help_text(verb);
    CHECK(help.find("usage: " + called) == 0);
    std::set<std::string> names;
    for (const OptionHelp& option : option_helps(verb)) {
      CHECK(names.insert(option.name).second);
      CHECK_FALSE(option.sentence.empty());
      if (verb.run && option.name != "--help") CHECK(help.find(option.name) != std::string::npos);
    }
  });
  CHECK(verbs_seen > 35);
}

TEST_CASE("an option that a verb does not declare is refused with the verbs beside it that do") {
  const Verb above = family();
  const Values values = parse(above.verbs[0], "family first", {"--size", "3", "name"}, &above);
  CHECK(values["size"].as<int>() == 3);
  CHECK(values.text("file") == "name");
  CHECK_THROWS_WITH_AS(parse(above.verbs[0], "family first", {"--only", "name"}, &above),
                       "--only goes with family second, not with family first", UsageError);
  CHECK_THROWS_WITH_AS(parse(above.verbs[0], "family first", {"--only=3", "name"}, &above),
                       "--only goes with family second, not with family first", UsageError);
  CHECK_THROWS_WITH_AS(parse(above.verbs[0], "family first", {"--none", "name"}, &above),
                       "unrecognised option '--none' (see family first --help)", UsageError);
  CHECK_THROWS_AS(parse(above.verbs[0], "family first", {}, &above), UsageError);
  CHECK(parse(above.verbs[0], "family first", {"--help"}).has("help"));
}
