// A draft that is itself decoded speculatively: a drafter drafts for a middle model, whose tokens are drafts
// for the target (staged speculative decoding, Spector and Re 2023; Leviathan et al. 2023, section 6, on
// hierarchies). The inner drafter may itself be hierarchical.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/rules/token.hpp"
#include "sim/adaptive_drafting.hpp"
#include "sim/drafters/nested_random_source.hpp"
#include "sim/policies/fixed.hpp"

namespace speclab {

/// Drafts by speculative rounds: `inner` drafts, and `middle` verifies by token verification, so that tokens
/// have the middle model's distribution and rows are the middle model's. A round is one run of the middle
/// model. It may emit more tokens than the policy asked for; all of them are drafted, because their time is
/// spent anyway.
template <class Middle, class Inner, class Real = double>
class HierarchicalDrafter {
 public:
  struct Memory {
    typename Inner::Memory settled;  ///< the inner drafter's memory of the prompt and the emitted tokens
    typename Inner::Memory working;  ///< the inner drafter's memory, including the round's drafted tokens
    RoundScratch<Real> scratch;
    std::uint32_t rounds = 0;
  };

  /// `gamma` is the maximum of tokens that the inner drafter drafts in each of the middle model's rounds.
  HierarchicalDrafter(Middle middle, Inner inner, std::int32_t gamma)
      : middle_(std::move(middle)), inner_(std::move(inner)), policy_(gamma) {}

  void read(Memory& memory, std::span<const Token> context) const { inner_.read(memory.settled, context); }

  BasicRow<Real> propose(Memory&, std::span<const Token> context, std::int32_t,
                         std::vector<Real>& storage) const {
    return middle_.next(context, storage);
  }

  /// Returns 0: the number of tokens does not determine the runs; `extend` counts them.
  std::int32_t runs(std::int32_t) const { return 0; }
  /// At `most`, the round ends with all tokens of the middle model's last run. Requires an AnyDrafter inside.
  Drafted largest(std::int32_t most) const {
    const Drafted below = inner_.largest(policy_.most());  // of one run of the middle model
    Drafted largest{most > 0 ? most + below.count : 0, most, {most * below.runs}};
    for (std::size_t level = 0; level + 1 < max_inner_levels; ++level)
      largest.inner_runs[level + 1] = most * below.inner_runs[level];
    return largest;
  }

  template <class Random>
  void extend(Memory& memory, std::vector<Token>& context, Random& random, RoundScratch<Real>& scratch,
              Drafted& done) const {
    if (done.count == 0) {
      memory.working = memory.settled;
      memory.rounds = 0;
    }
    auto nested = nested_random_source(random, memory.rounds++);
    FixedPolicy::Memory nothing;
    auto at = static_cast<std::size_t>(done.count);
    const auto keep_row = [&](std::span<const Token>, BasicRow<Real> row, const BasicRow<Real>*) {
      scratch.reserve(at + 1, 0);
      scratch.draft_rows[at].assign(row.probabilities, row.probabilities + row.size);
      scratch.drafts[at] = {scratch.draft_rows[at].data(), row.size};
      ++at;
    };
    const AdaptiveDrafting<Inner, FixedPolicy> drafting{inner_, memory.working, policy_, nothing};
    const Round round =
        drafted_round(middle_, drafting, TokenRule{}, context, nested, memory.scratch, keep_row);
    if (round.next < 0) {
      done.count = -1;
      return;
    }
    done.count += round.accepted + 1;
    ++done.runs;
    done.inner_runs[0] += round.draft_runs;
    for (std::size_t level = 0; level + 1 < max_inner_levels; ++level)
      done.inner_runs[level + 1] += round.inner_runs[level];
  }

 private:
  Middle middle_;
  Inner inner_;
  FixedPolicy policy_;
};

}  // namespace speclab
