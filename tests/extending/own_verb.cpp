// A verb: the speedup that some gamma is sure to reach.
#include <fmt/format.h>

#include "analysis/theory/theorems.hpp"
#include "tests/extending/own_kinds.hpp"

namespace speclab {

namespace {

int run(const std::vector<std::string>& arguments) {
  Usage usage{.line = "guarantee --alpha A --c C",
              .about = "The speedup (1 + alpha) / (1 + c) that gamma = 1 reaches (Corollary 3.9).\n",
              .examples = "  guarantee --alpha 0.8 --c 0.05\n"};
  namespace po = boost::program_options;
  usage.options.add_options()("alpha", po::value<double>()->required(), "acceptance rate")(
      "c", po::value<double>()->required(), "time of a draft run");
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  const auto speedup = guaranteed_speedup((*values)["alpha"].as<double>(), (*values)["c"].as<double>());
  fmt::print("{}\n", speedup.value_or(1));
  return exit_ok;
}

}  // namespace

Verb guarantee_verb() { return {"guarantee", "the speedup that some gamma is sure to reach", run}; }

}  // namespace speclab
