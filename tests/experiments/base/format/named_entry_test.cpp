#include "experiments/base/format/named_entry.hpp"

#include <doctest/doctest.h>

using namespace speclab;

namespace {

struct Thing {
  std::string name;
  int number = 0;
};

const std::vector<Thing> things{{"first", 1}, {"second", 2}};

}  // namespace

TEST_CASE("the entry of a name is found, and of another name none") {
  REQUIRE(find_named(things, "second") != nullptr);
  CHECK(find_named(things, "second")->number == 2);
  CHECK(find_named(things, "secon") == nullptr);
  CHECK(entry_names(things) == std::vector<std::string>{"first", "second"});
}

TEST_CASE("a name that no entry has is refused with what is near") {
  const auto unknown = [](const std::string& near) { return UsageError("--thing: unknown" + near); };
  CHECK(named_entry(things, "first", unknown).number == 1);
  CHECK_THROWS_WITH_AS(named_entry(things, "secon", unknown), "--thing: unknown; did you mean \"second\"?",
                       UsageError);
}
