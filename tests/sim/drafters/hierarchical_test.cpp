// Tests the largest counts of a round: no round of a hierarchy exceeds them, and one that accepts everything
// reaches them.
#include "sim/drafters/hierarchical.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "sim/drafters/any_drafter.hpp"
#include "sim/drafters/lookup.hpp"
#include "sim/drafters/model_drafter.hpp"
#include "sim/models/synthetic.hpp"

using namespace speclab;

namespace {

using Hierarchy = HierarchicalDrafter<Model, AnyDrafter>;

Model markov(std::uint64_t seed) { return Model(TableModel(6, 1, dirichlet_rows(6, 6, 4, seed))); }

/// Returns the largest of each count over rounds that a fixed gamma ends.
Drafted largest_seen(const AnyDrafter& drafter, std::int32_t gamma) {
  const FixedPolicy policy(gamma);
  AnyDrafter::Memory memory;
  FixedPolicy::Memory learned;
  RoundScratch<double> scratch;
  const AdaptiveDrafting<AnyDrafter, FixedPolicy> drafting{drafter, memory, policy, learned};
  std::vector<Token> context{0};
  Drafted seen;
  for (std::uint32_t round = 0; round < 2000; ++round) {
    SampledRandomSource random = sampled_random_source(7, 0, round);
    const Drafted done = drafting(context, random, scratch);
    seen.count = std::max(seen.count, done.count);
    seen.runs = std::max(seen.runs, done.runs);
    for (std::size_t level = 0; level < max_inner_levels; ++level)
      seen.inner_runs[level] = std::max(seen.inner_runs[level], done.inner_runs[level]);
    context.resize(1);
    context.front() = static_cast<Token>(round % 6);
  }
  return seen;
}

}  // namespace

TEST_CASE("a hierarchy drafts more than the policy's most, and never more than its largest round") {
  const AnyDrafter small = ModelDrafter(markov(3));
  const AnyDrafter two = Hierarchy(markov(2), small, 3);
  const AnyDrafter three = Hierarchy(markov(1), two, 2);
  for (const std::int32_t gamma : {0, 1, 2, 5}) {
    CAPTURE(gamma);
    for (const AnyDrafter& drafter : {two, three}) {
      const Drafted seen = largest_seen(drafter, gamma);
      const Drafted bound = drafter.largest(gamma);
      CHECK((seen.count > gamma) == (gamma > 0));
      CHECK(seen.count == bound.count);
      CHECK(seen.runs == bound.runs);
      for (std::size_t level = 0; level < max_inner_levels; ++level)
        CHECK(seen.inner_runs[level] <= bound.inner_runs[level]);
    }
    CHECK(two.largest(gamma).inner_runs == InnerRuns{3 * gamma, 0, 0});
    // Each of the middle model's runs has 2 rounds below, of at most 3 runs each.
    CHECK(three.largest(gamma).inner_runs == InnerRuns{2 * gamma, 6 * gamma, 0});
  }
  CHECK(two.largest(4).count == 4 + 3);
  CHECK(three.largest(4).count == 4 + 2 + 3);
}

TEST_CASE("other drafters end at the policy's most") {
  const AnyDrafter model = ModelDrafter(markov(1));
  CHECK(model.largest(4).count == 4);
  CHECK(model.largest(4).runs == 4);
  const AnyDrafter lookup = LookupDrafter(6);
  CHECK(lookup.largest(4).count == 4);
  CHECK(lookup.largest(4).runs == 1);
  const Grammar grammar{{.next = {{0, 1}}, .other = 0}, {.next = {{1, 0}}}};
  CHECK(AnyDrafter(ModelDrafter(markov(1), {.grammar = grammar}, grammar)).largest(4).runs == 4);
  CHECK(AnyDrafter(ModelDrafter(6, grammar)).largest(4).runs == 0);
}
