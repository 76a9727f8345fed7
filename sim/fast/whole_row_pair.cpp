#include "sim/fast/whole_row_pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "core/fast/whole_row_forms.hpp"
#include "sim/error.hpp"
#include "sim/fast/context_facts.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/fast/ngram_rows.hpp"
#include "sim/fast/shared_rows.hpp"
#include "sim/fast/table_rows.hpp"
#include "sim/fast/truncated_rows.hpp"
#include "sim/fast/whole_row_decoder.hpp"

namespace speclab {

namespace {

/// All ByPosition rules are compiled once, as AnyPositionRule.
using WholeRowRules = std::variant<AnyPositionRule, BlockRule, HsdRule, ScheduledRule, GumbelRule,
                                   RecursiveRule, KSeqRule, TreeRule, TraversalRule>;

template <class... Rules>
void find_held(const AnyRule& rule, std::optional<std::variant<AnyPositionRule, Rules...>>& found) {
  const auto look = [&]<class Rule>(const Rule* held) {
    if (held != nullptr) found = *held;
  };
  (look(rule.get_if<Rules>()), ...);
}

std::optional<WholeRowRules> whole_row_rule(const AnyRule& rule) {
  if (auto program = rule->position_program()) return AnyPositionRule(std::move(program));
  std::optional<WholeRowRules> found;
  find_held(rule, found);
  const HsdRule* hsd = found ? std::get_if<HsdRule>(&*found) : nullptr;
  if (hsd != nullptr && hsd->reading == HsdReading::pseudocode) return std::nullopt;
  return found;
}

/// Throws ModelError if the draft has probabilities by which rules for siblings without replacement cannot
/// divide.
void require_divisible(const Model& draft) {
  constexpr const char* why =
      "siblings without replacement divide by the rest of such a row, which is too small";
  if (const AdjustedModel* sampled = draft.sampled()) {
    // Tokens that top-k or top-p keep are at most about 10^12 times less likely than the best one.
    constexpr double min_temperature = 0.05;
    const double temperature = sampled->how.temperature;
    if (temperature == 0 || temperature >= min_temperature) return;
    throw ModelError(
        fmt::format("the draft's temperature of {} is below {}, and {}", temperature, min_temperature, why));
  }
  const TableModel* table = draft.table();
  for (std::size_t at = 0; table != nullptr && at < table->contexts(); ++at) {
    const Row row = table->row(at);
    for (Token token = 0; token < row.size; ++token) {
      if (!(row[token] > 0) || row[token] >= min_divisible) continue;
      throw ModelError(fmt::format("row {} of the draft gives token {} a probability of {:.3g}, and {}", at,
                                   token, row[token], why));
    }
  }
}

template <WholeRowRule Rule>
class WholeRowPair final : public FastDecoder {
 public:
  WholeRowPair(std::shared_ptr<const PairRows> rows, const Rule& rule)
      : rows_(std::move(rows)), rule_(rule), facts_(*rows_, rule) {}

  Outcome decode(std::int32_t gamma, const SimulationSize& simulation, const Control& control,
                 std::size_t streams) const override {
    return run_whole_rows(*rows_, rule_, gamma, facts_, simulation, control, streams);
  }
  std::size_t bytes() const override { return rows_->bytes() + facts_.bytes(); }
  std::size_t contexts() const override { return rows_->contexts(); }

 private:
  std::shared_ptr<const PairRows> rows_;
  Rule rule_;
  ContextFacts<Rule> facts_;
};

std::shared_ptr<const PairRows> rows_of(const Model& target, const Model& draft, SharedRows& rows) {
  switch (pair_kind(target, draft)) {
    case PairKind::tables:
      return rows.get<TableRows>(*target.table(), *draft.table());
    case PairKind::truncated_ngrams:
      return rows.get<TruncatedRows>(*target.sampled(), *draft.sampled());
    default:
      return rows.get<NgramRows>(*target.ngram(), *draft.ngram());
  }
}

/// Returns an upper bound on the bytes of what rows_of returns.
double row_bytes(const Model& target, const Model& draft) {
  switch (pair_kind(target, draft)) {
    case PairKind::tables:
      return TableRows::bytes_for(*target.table(), *draft.table());
    case PairKind::truncated_ngrams:
      return TruncatedRows::bytes_for(*target.sampled(), *draft.sampled());
    default:
      return NgramRows::bytes_for(*target.ngram(), *draft.ngram());
  }
}

}  // namespace

PairKind pair_kind(const Model& target, const Model& draft) {
  if (target.table() != nullptr && draft.table() != nullptr) return PairKind::tables;
  if (target.ngram() != nullptr && draft.ngram() != nullptr) return PairKind::ngrams;
  if (TruncatedRows::ngram_of(target) != nullptr && TruncatedRows::ngram_of(draft) != nullptr)
    return PairKind::truncated_ngrams;
  return PairKind::other;
}

double row_contexts(const Model& target, const Model& draft) {
  const PairKind kind = pair_kind(target, draft);
  if (kind == PairKind::tables)
    return static_cast<double>(std::max(target.table()->contexts(), draft.table()->contexts()));
  const bool truncated = kind == PairKind::truncated_ngrams;
  return NgramRows::contexts_for(truncated ? *TruncatedRows::ngram_of(target) : *target.ngram(),
                                 truncated ? *TruncatedRows::ngram_of(draft) : *draft.ngram());
}

bool reads_whole_rows(const AnyRule& rule) { return whole_row_rule(rule).has_value(); }

double whole_row_bytes(const Model& target, const Model& draft, const AnyRule& rule) {
  const double contexts = row_contexts(target, draft);
  std::optional<double> followers;
  if (pair_kind(target, draft) == PairKind::ngrams)
    followers = NgramRows::followers_for(*target.ngram(), *draft.ngram());
  return std::visit(
      [&]<class Rule>(const Rule& held) {
        return row_bytes(target, draft) + ContextFacts<Rule>::bytes_for(held, contexts, followers);
      },
      whole_row_rule(rule).value());
}

std::unique_ptr<const FastDecoder> whole_row_pair(const Model& target, const Model& draft,
                                                  const AnyRule& rule, SharedRows& rows) {
  return std::visit(
      [&]<class Rule>(const Rule& held) -> std::unique_ptr<const FastDecoder> {
        if (drafted_shape(held, 1).distinct) require_divisible(draft);
        return std::make_unique<WholeRowPair<Rule>>(rows_of(target, draft, rows), held);
      },
      whole_row_rule(rule).value());
}

}  // namespace speclab
