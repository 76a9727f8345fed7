#include "sim/fast/whole_row_pair.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "core/fast/whole_row_forms.hpp"
#include "sim/fast/context_facts.hpp"
#include "sim/fast/ngram_rows.hpp"
#include "sim/fast/shared_rows.hpp"
#include "sim/fast/table_rows.hpp"
#include "sim/fast/whole_row_decoder.hpp"

namespace speclab {

namespace {

/// All rules that decide position by position are compiled as one.
using WholeRowRules = std::variant<PositionForms, BlockRule, ScheduledRule, GumbelRule, RecursiveRule,
                                   KSeqRule, TreeRule, TraversalRule>;

template <class Found, class... Rules>
void find_held(const AnyRule& rule, std::optional<Found>& found, const std::variant<Rules...>*) {
  const auto look = [&]<class Rule>(const Rule* held) {
    if (held != nullptr) found = *held;
  };
  (look(rule.get_if<Rules>()), ...);
}

std::optional<WholeRowRules> whole_row_rule(const AnyRule& rule) {
  std::optional<PositionForms> by_position;
  find_held(rule, by_position, static_cast<const PositionForms*>(nullptr));
  if (by_position) return std::move(*by_position);
  std::optional<WholeRowRules> found;
  find_held(rule, found, static_cast<const WholeRowRules*>(nullptr));
  return found;
}

/// Over stored rows those that accept or replace a token have tables of their own to decode by
/// (sim/fast/prepared_pair.hpp), but not to be measured by.
bool reads_table_rows(const WholeRowRules& rule) {
  const auto* by_position = std::get_if<PositionForms>(&rule);
  return by_position == nullptr || std::holds_alternative<TokenRule>(*by_position) ||
         std::holds_alternative<MatchRule>(*by_position);
}

template <class Rows, WholeRowRule Rule>
class WholeRowPair final : public WholeRowDecoder {
 public:
  WholeRowPair(std::shared_ptr<const Rows> rows, const Rule& rule)
      : rows_(std::move(rows)), rule_(rule), facts_(*rows_, rule) {}

  Outcome decode(std::int32_t gamma, const SimulationSize& simulation, const Control& control,
                 std::size_t streams) const override {
    return run_whole_rows(*rows_, rule_, gamma, facts_, nullptr, simulation, control, streams);
  }
  Outcome measure_quality(std::int32_t gamma, std::int32_t drafts, bool lossless,
                          const SimulationSize& simulation, const Control& control,
                          std::size_t streams) const override {
    typename QualityFacts<Rows>::Distance distance;
    if constexpr (requires { facts_.emitted_distance(0U); }) {
      if (!lossless) distance = [this](std::uint32_t context) { return facts_.emitted_distance(context); };
    }
    const QualityFacts<Rows> quality(*rows_, drafts, std::move(distance));
    return run_whole_rows(*rows_, rule_, gamma, facts_, &quality, simulation, control, streams);
  }
  std::size_t bytes() const override { return rows_->bytes() + facts_.bytes(); }
  std::size_t contexts() const override { return rows_->contexts(); }

 private:
  std::shared_ptr<const Rows> rows_;
  Rule rule_;
  ContextFacts<Rows, Rule> facts_;
};

}  // namespace

bool reads_whole_rows(const AnyRule& rule) { return whole_row_rule(rule).has_value(); }

bool whole_rows_are_of(const Model& target, const Model& draft, const AnyRule& rule) {
  const auto held = whole_row_rule(rule);
  if (!held) return false;
  if (target.ngram() != nullptr && draft.ngram() != nullptr) return true;
  const bool tables = target.table() != nullptr && draft.table() != nullptr;
  return tables && reads_table_rows(*held);
}

bool emitted_distance_is_known(const Model& target, const Model& draft, const AnyRule& rule) {
  const auto held = whole_row_rule(rule);
  return held && std::holds_alternative<PositionForms>(*held) && target.ngram() != nullptr &&
         draft.ngram() != nullptr;
}

double whole_row_bytes(const Model& target, const Model& draft, const AnyRule& rule) {
  return std::visit(
      [&]<class Rule>(const Rule& held) {
        if (target.table() != nullptr) {
          const auto contexts =
              static_cast<double>(std::max(target.table()->contexts(), draft.table()->contexts()));
          return TableRows::bytes_for(*target.table(), *draft.table()) +
                 ContextFacts<TableRows, Rule>::bytes_for(held, contexts, 0);
        }
        const NgramModel& p = *target.ngram();
        const NgramModel& q = *draft.ngram();
        return NgramRows::bytes_for(p, q) +
               ContextFacts<NgramRows, Rule>::bytes_for(held, NgramRows::contexts_for(p, q),
                                                        NgramRows::followers_for(p, q));
      },
      whole_row_rule(rule).value());
}

std::unique_ptr<const WholeRowDecoder> whole_row_pair(const Model& target, const Model& draft,
                                                      const AnyRule& rule, SharedRows& rows) {
  return std::visit(
      [&]<class Rule>(const Rule& held) -> std::unique_ptr<const WholeRowDecoder> {
        if (target.table() != nullptr) {
          return std::make_unique<WholeRowPair<TableRows, Rule>>(
              rows.get<TableRows>(*target.table(), *draft.table()), held);
        }
        return std::make_unique<WholeRowPair<NgramRows, Rule>>(
            rows.get<NgramRows>(*target.ngram(), *draft.ngram()), held);
      },
      whole_row_rule(rule).value());
}

}  // namespace speclab
