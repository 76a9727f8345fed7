#include "analysis/exact/context_rows.hpp"

#include <algorithm>
#include <set>

#include "analysis/exact/enumeration_program.hpp"

namespace speclab {

namespace {

/// Largest vocabulary for which made rows are listed.
constexpr std::int32_t max_listed = 100;

template <class Real>
std::vector<std::vector<Real>> listed(const MadeByContext<Real>& made) {
  std::vector<std::vector<Real>> rows;
  if (made.vocab() > max_listed) return rows;
  std::vector<Real> scratch;
  for (Token last = 0; last < made.vocab(); ++last) {
    const BasicRow<Real> row = made.next(std::span(&last, 1), scratch);
    rows.emplace_back(row.probabilities, row.probabilities + row.size);
  }
  return rows;
}

/// Examines rounds from the contexts that plain decoding reaches from `context`, of the last `memory` tokens.
template <class Real, class Examine>
void examine_reached(std::span<const Token> context, std::size_t memory, double max_branches,
                     const Examine& examined, ExaminedByContext<Real>& found) {
  std::vector<Token> first(memory, 0);  // shorter contexts count as preceded by token 0
  const std::span<const Token> last = context.last(std::min(memory, context.size()));
  std::copy(last.begin(), last.end(), first.end() - std::ssize(last));
  std::vector<std::vector<Token>> starts{first};
  std::set<std::vector<Token>> seen{first};
  const auto add_after = [&](std::vector<Token> start, const SequenceDistribution<Real>& reached) {
    for (const auto& [tokens, probability] : reached) {
      if (memory == 0 || tokens.empty()) continue;
      std::vector<Token> next(start.begin() + 1, start.end());
      next.push_back(tokens.front());
      if (seen.insert(next).second) starts.push_back(std::move(next));
    }
  };
  add_after(first, found.round.target_distribution);
  std::uint64_t branches = found.round.branches;
  for (std::size_t at = 1; at < starts.size(); ++at) {
    if (static_cast<double>(branches + found.round.branches) > max_branches) return;
    ExaminedRound<Real> here = examined(starts[at]);
    ++found.contexts.count;
    if (!here.round.lossless()) {
      found.given = std::exchange<ExaminedRound<Real>>(found, std::move(here));
      found.contexts.refuting = starts[at];
      return;
    }
    branches += here.round.branches;
    add_after(starts[at], here.round.target_distribution);
  }
  found.contexts.all = true;
}

}  // namespace

template <class Real>
bool rows_alike(ModelRef<Real> model, std::span<const Token> context,
                const SequenceDistribution<Real>& reached, std::size_t most) {
  if (most == 0 || model.vocab() == 1) return false;
  std::vector<Real> first_scratch;
  std::vector<Real> scratch;
  const BasicRow<Real> first = model.next(context, first_scratch);
  std::vector<Token> seen(context.begin(), context.end());
  std::span<const Token> before;
  for (const auto& [tokens, probability] : reached) {
    // The rows after the tokens with which the sequence before begins, too, have been compared.
    const auto compared = std::mismatch(tokens.begin(), tokens.end(), before.begin(), before.end()).first;
    auto at = static_cast<std::size_t>(compared - tokens.begin());
    seen.resize(context.size());
    seen.insert(seen.end(), tokens.begin(), compared);
    for (; at < std::min(tokens.size(), most); ++at) {
      seen.push_back(tokens[at]);
      const BasicRow<Real> row = model.next(seen, scratch);
      if (row.probabilities != first.probabilities &&
          !std::equal(first.probabilities, first.probabilities + first.size, row.probabilities))
        return false;
    }
    before = tokens;
  }
  return true;
}
template bool rows_alike(ModelRef<double>, std::span<const Token>, const SequenceDistribution<double>&,
                         std::size_t);

template <class Real>
ExaminedByContext<Real> examine_by_context(ModelRef<Real> target, ModelRef<Real> draft,
                                           const std::function<EnumerableRule()>& rule, std::int32_t gamma,
                                           std::span<const Token> context, const KnownRows& known) {
  const auto examined = [&](ModelRef<Real> p, ModelRef<Real> q, std::span<const Token> from) {
    const EnumerableRule program = rule();
    ExaminedRound<Real> found{examine<Real>(p, q, program, gamma, from), std::nullopt};
    std::vector<Real> target_row;
    std::vector<Real> draft_row;
    if (known.draft_has_rows) {
      found.optimal_transport_bound =
          program->best_acceptance(p.next(from, target_row), q.next(from, draft_row));
    }
    return found;
  };
  // A round reads the target's rows after up to gamma tokens, the draft's after up to gamma - 1.
  const auto drafted = static_cast<std::size_t>(gamma);
  const auto alike = [&](const ModelRef<Real>& model, const ExaminedRound<Real>& found, std::size_t most) {
    return rows_alike(model, context, found.round.target_distribution, most);
  };
  const auto before_last = drafted > 0 ? drafted - 1 : 0;
  ExaminedByContext<Real> given{examined(target, draft, context)};
  if (!given.round.lossless()) return given;
  const bool makes_target = alike(target, given, drafted);
  const bool makes_draft = known.draft_has_rows && alike(draft, given, before_last);
  if (known.memory) {
    const auto from = [&](std::span<const Token> start) { return examined(target, draft, start); };
    examine_reached(context, *known.memory, known.max_branches, from, given);
  }
  if (given.given || (!makes_target && !makes_draft)) return given;

  const MadeByContext<Real> made_target(target);
  const MadeByContext<Real> made_draft(draft);
  const ModelRef<Real> new_target = makes_target ? ModelRef<Real>(made_target) : target;
  const ModelRef<Real> new_draft = makes_draft ? ModelRef<Real>(made_draft) : draft;
  ExaminedRound<Real> made = examined(new_target, new_draft, context);
  if (made.round.lossless()) {
    const bool still_alike = (makes_target && alike(new_target, made, drafted)) ||
                             (makes_draft && alike(new_draft, made, before_last));
    given.rows = still_alike ? ProvedRows::alike : ProvedRows::also_made;
    return given;
  }
  given.given = std::exchange<ExaminedRound<Real>>(given, std::move(made));
  given.rows = ProvedRows::made;
  if (makes_target) given.made_target = listed(made_target);
  if (makes_draft) given.made_draft = listed(made_draft);
  return given;
}

template ExaminedByContext<double> examine_by_context(ModelRef<double>, ModelRef<double>,
                                                      const std::function<EnumerableRule()>&, std::int32_t,
                                                      std::span<const Token>, const KnownRows&);
template ExaminedByContext<Rational> examine_by_context(ModelRef<Rational>, ModelRef<Rational>,
                                                        const std::function<EnumerableRule()>&, std::int32_t,
                                                        std::span<const Token>, const KnownRows&);

}  // namespace speclab
