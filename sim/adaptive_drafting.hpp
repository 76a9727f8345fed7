// Drafts with a drafter until a policy says stop. drafted_round (core/round/round.hpp) uses it if gamma is
// not fixed or the draft is not just a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/round/round.hpp"
#include "sim/policies/policy.hpp"

namespace speclab {

/// A drafter that draws its tokens itself; other drafters (sim/drafters/drafter.hpp) return a row from which
/// one token is drawn. It appends tokens and rows, and adds to `done`; it may append none.
template <class D, class Real, class Random>
concept ExtendingDrafter = requires(const D& drafter, typename D::Memory& memory, std::vector<Token>& context,
                                    Random& random, RoundScratch<Real>& scratch, Drafted& done) {
  drafter.extend(memory, context, random, scratch, done);
};

/// Draws the next token of a round from the row that the drafter proposes; `done` counts the round's drafted
/// tokens so far. Leaves done.count unchanged if there is no row, and sets it below 0 if the row is invalid.
template <class Drafter, class Real, class Random>
void draft_one(const Drafter& drafter, typename Drafter::Memory& memory, std::vector<Token>& context,
               Random& random, RoundScratch<Real>& scratch, Drafted& done) {
  const auto at = static_cast<std::size_t>(done.count);
  scratch.reserve(at + 1, 0);
  const BasicRow<Real> row = drafter.propose(memory, context, done.count, scratch.draft_rows[at]);
  if (row.size == 0) return;
  const Token token = random.categorical(Draw{Use::draft, static_cast<std::uint16_t>(done.count)}, row);
  if (token < 0) {
    done.count = -1;
    return;
  }
  scratch.drafts[at] = row;
  context.push_back(token);
  ++done.count;
}

/// Drafts the next token or tokens of a round, with `done` as above.
template <class Drafter, class Real, class Random>
void draft_more(const Drafter& drafter, typename Drafter::Memory& memory, std::vector<Token>& context,
                Random& random, RoundScratch<Real>& scratch, Drafted& done) {
  if constexpr (ExtendingDrafter<Drafter, Real, Random>) {
    drafter.extend(memory, context, random, scratch, done);
  } else {
    draft_one(drafter, memory, context, random, scratch, done);
    if (done.count > 0) done.runs = drafter.runs(done.count);
  }
}

/// The drafting of one sequence, in the form that core's drafted_round takes.
template <class Drafter, class Policy>
struct AdaptiveDrafting {
  const Drafter& drafter;
  typename Drafter::Memory& memory;
  const Policy& policy;
  typename Policy::Memory& learned;

  template <class Real, class Random>
  Drafted operator()(std::vector<Token>& context, Random& random, RoundScratch<Real>& scratch) const {
    drafter.read(memory, context);
    Drafted done{0, drafter.runs(0)};
    LastDrafted<Real> last;
    while (done.count < policy.most() && policy.goes_on(learned, done.count, last)) {
      const std::int32_t before = done.count;
      draft_more(drafter, memory, context, random, scratch, done);
      if (done.count <= before) break;
      last = {scratch.drafts[static_cast<std::size_t>(done.count) - 1], context.back()};
    }
    return done;
  }
};

}  // namespace speclab
