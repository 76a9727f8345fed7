#include "experiments/base/format/any_struct.hpp"

#include <doctest/doctest.h>

#include "experiments/config/config.hpp"

using namespace speclab;

namespace {

struct NoSection {};

}  // namespace

TEST_CASE("a struct is read as what it is, and as nothing else") {
  const AnyStruct nothing;
  CHECK(nothing == nullptr);
  CHECK_THROWS_AS(nothing.as<int>(), std::logic_error);
  const AnyStruct search = std::make_shared<SearchSection>(SearchSection{.max_gamma = 3});
  CHECK(search != nullptr);
  CHECK(search.as<SearchSection>().max_gamma == 3);
  CHECK_FALSE(search.is<NoSection>());
  CHECK_THROWS_AS(search.as<NoSection>(), std::logic_error);
}

TEST_CASE("a section is found by its struct, with its defaults where the config has none") {
  Config config;
  CHECK(config.section<SearchSection>().max_gamma == SearchSection().max_gamma);
  config.sections["search"] = std::make_shared<SearchSection>(SearchSection{.max_gamma = 3});
  CHECK(config.section<SearchSection>().max_gamma == 3);
  CHECK_THROWS_AS(config.section<NoSection>(), std::logic_error);
}
