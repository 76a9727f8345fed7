// Examines a round from each context in which one can start, and makes rows that differ by context. A rule
// that reads the row of a wrong position is detected only if rows differ by position. If the given rows are
// equal in all contexts that occur, the round is also examined on rows made from them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/exact/losslessness.hpp"
#include "core/distribution/row.hpp"

namespace speclab {

/// Returns the row after token `last`, made from a row over V ids. After token 0, and before any token, it is
/// the row itself. After token x > 0 the weights are multiplied by 1, 2, ..., V, shifted by x ids, and
/// normalised: the number of possible ids stays the same, equal rows stay equal, and small fractions stay
/// small.
template <class Real>
std::vector<Real> row_after(BasicRow<Real> row, Token last) {
  const auto vocab = static_cast<std::size_t>(row.size);
  std::vector<Real> made(vocab);
  Real total(0);
  for (std::size_t id = 0; id < vocab; ++id) {
    const auto weight = last > 0 ? static_cast<std::int64_t>(id) + 1 : 1;
    Real& place = made[(id + static_cast<std::size_t>(last)) % vocab];
    place = row[static_cast<Token>(id)] * Real(weight);
    total += place;
  }
  for (Real& probability : made) probability /= total;
  return made;
}

/// A model whose rows are made to depend on the last token by `row_after`. Satisfies LanguageModel<Real>. The
/// given model must keep its rows in place and outlive this one, which stores the made rows. For one thread.
template <class Real>
class MadeByContext {
 public:
  explicit MadeByContext(ModelRef<Real> model) : model_(model) {}

  std::int32_t vocab() const { return model_.vocab(); }
  BasicRow<Real> next(std::span<const Token> context, std::vector<Real>& scratch) const {
    const BasicRow<Real> row = model_.next(context, scratch);
    if (context.empty() || context.back() == 0) return row;
    const auto [found, added] = rows_.try_emplace({row.probabilities, context.back()});
    if (added) found->second = row_after(row, context.back());
    return {found->second.data(), row.size};
  }

 private:
  ModelRef<Real> model_;
  mutable std::map<std::pair<const Real*, Token>, std::vector<Real>> rows_;
};

/// Returns whether a model has the same row after `context` and after each of the contexts that add up to
/// `most` of the tokens of a sequence of `reached`. One such row cannot show that another position's is read.
/// False if nothing can be added or only one token is known. Instantiated for double and Rational.
template <class Real>
bool rows_alike(ModelRef<Real> model, std::span<const Token> context,
                const SequenceDistribution<Real>& reached, std::size_t most);

/// The rows on which the verdict rests.
enum class ProvedRows {
  given,      ///< only the given rows: they differ by context, or they refute the rule
  also_made,  ///< the given rows, and rows made from them that differ by context
  made,       ///< lossless on the given rows, but refuted on made rows, to which all numbers refer
  alike       ///< the given and the made rows, which are both equal in all contexts that occur
};

/// The contexts from which rounds were examined on the given rows.
struct ExaminedContexts {
  std::uint64_t count = 1;
  bool all = false;  ///< whether no round can start in another one
  /// The context that refutes the rule, to which all numbers refer, if the given one does not.
  std::optional<std::vector<Token>> refuting = {};
};

template <class Real>
struct ExaminedRound {
  Losslessness<Real> round;
  /// The largest acceptance of any lossless rule at the first position, for candidates drawn in the same way;
  /// none if the search would take too long, or the draft has no rows.
  std::optional<Real> optimal_transport_bound;
};

template <class Real>
struct ExaminedByContext : ExaminedRound<Real> {
  std::optional<ExaminedRound<Real>> given = {};  ///< of the given rows and context, if the base is of others
  ExaminedContexts contexts = {};
  ProvedRows rows = ProvedRows::given;
  /// If the numbers refer to made rows: these rows, [V][V], after each token. Empty for a model whose given
  /// rows were used, and above 100 tokens.
  std::vector<std::vector<Real>> made_target = {}, made_draft = {};
};

/// Says what the caller knows of the models beside their rows.
struct KnownRows {
  bool draft_has_rows = true;  ///< else the rule drafts by itself, and only the draft's vocabulary is read
  std::optional<std::size_t> memory = {};  ///< number of last tokens on which both rows depend
  double max_branches = 0;                 ///< to follow from contexts other than the given one
};

/// Calls `examine` on the given rows. If the rule passes, and the rows' memory is known, calls it from each
/// other context that plain decoding reaches, up to the first that refutes the rule, or to `max_branches`. If
/// the rule passes, and the target's rows (with gamma 1 or more) or the draft's (with 2 or more) are equal in
/// all contexts that the target reaches, calls it again with these rows made to differ by context. Calls
/// `rule` before each examination. The models must keep their rows in place. Instantiated for double and
/// Rational.
template <class Real>
ExaminedByContext<Real> examine_by_context(ModelRef<Real> target, ModelRef<Real> draft,
                                           const std::function<EnumerableRule()>& rule, std::int32_t gamma,
                                           std::span<const Token> context, const KnownRows& known = {});

}  // namespace speclab
