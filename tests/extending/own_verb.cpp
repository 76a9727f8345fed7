// A verb: the speedup that some gamma is sure to reach.
#include <fmt/format.h>

#include "analysis/theory/theorems.hpp"
#include "tests/extending/own_kinds.hpp"

namespace speclab {

namespace {

int run(const Values& values) {
  const auto speedup = guaranteed_speedup(values["alpha"].as<double>(), values["c"].as<double>());
  fmt::print("{}\n", speedup.value_or(1));
  return exit_ok;
}

}  // namespace

Verb guarantee_verb() {
  Verb verb{.name = "guarantee",
            .sentence = "the speedup that some gamma is sure to reach",
            .line = "speclab guarantee --alpha A --c C",
            .about = "The speedup (1 + alpha) / (1 + c) that gamma = 1 reaches (Corollary 3.9).",
            .examples = "  speclab guarantee --alpha 0.8 --c 0.05\n",
            .run = run};
  auto add = verb.options.add_options();
  add("alpha", boost::program_options::value<double>()->required(), "acceptance rate");
  add("c", boost::program_options::value<double>()->required(), "time of a draft run");
  return verb;
}

}  // namespace speclab
