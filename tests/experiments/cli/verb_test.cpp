// Tests that verbs are declarations: help, completion and the manual read them without running anything.
#include "experiments/cli/program.hpp"

#include <doctest/doctest.h>

#include <set>
#include <sstream>
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
  CHECK(verbs_seen > 30);
}

TEST_CASE("help shows examples before options, and each option in its section with type and default") {
  Verb verb{.name = "first",
            .sentence = "one",
            .line = "first",
            .about = "About.",
            .examples = "  first --size 3\n"};
  verb.run = [](const Values&) { return 0; };
  verb.section("Sizes");
  verb.add<int>("size", 8, "a size");
  verb.add<double>("share", "a share");
  verb.section("Files");
  verb.add<Words>("set PATH=VALUE", "a change");
  verb.add<std::string>("name", "", "a name");
  verb.add("quiet,q", "print nothing");
  CHECK(help_text(verb) == R"(usage: first

About.

Examples:
  first --size 3

Sizes:
  --size INTEGER   a size (default 8)
  --share NUMBER   a share

Files:
  --set PATH=VALUE a change
  --name TEXT      a name
  -q [ --quiet ]   print nothing
)");
  CHECK(parse(verb, "first", {"--set", "a=1", "--set", "b=2"}).texts("set") == Words{"a=1", "b=2"});
}

TEST_CASE("a long sentence of help is wrapped, and a verb of more than 15 options has sections") {
  Verb verb{.name = "first", .sentence = "one", .line = "first", .about = "About."};
  verb.run = [](const Values&) { return 0; };
  std::string sentence;
  for (int i = 0; i < 60; ++i) sentence += "word ";
  verb.add("a-name-that-is-longer-than-the-first-column", sentence.c_str());
  const auto check_lines = [](const std::string& help) {
    std::istringstream lines(help.substr(help.find("\nExamples:")));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK((line.size() <= 110 || line.starts_with("  speclab ")));
      CHECK((line.empty() || !line.ends_with(' ')));
    }
  };
  check_lines(help_text(verb));
  each_verb(verbs(), "speclab", [&](const Verb& one, const std::string& called) {
    CAPTURE(called);
    const std::string help = help_text(one);
    check_lines(help);
    if (one.options.options().size() > 15) CHECK(one.sections.size() > 2);
    for (const auto& [before, title] : one.sections) {
      CHECK(before < one.options.options().size());
      CHECK(help.find("\n" + title + ":\n") > help.find("\nExamples:\n"));
    }
    CHECK(help.find(" arg ") == std::string::npos);
  });
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
