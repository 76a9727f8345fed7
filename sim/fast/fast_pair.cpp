#include "sim/fast/fast_pair.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/fast/ngram_pair_decoder.hpp"
#include "sim/fast/prepared_pair_decoder.hpp"

namespace speclab {

namespace {

using PointwiseRules = std::variant<TokenRule, LenienceRule>;
using Table = std::variant<PreparedPair, NgramTable>;

constexpr double most_table_bytes = 0x1p32;

std::optional<PointwiseRules> pointwise(const AnyRule& rule) {
  return std::visit(
      [](const auto& any) -> std::optional<PointwiseRules> {
        if constexpr (PointwiseRule<std::decay_t<decltype(any)>>) return PointwiseRules(any);
        return std::nullopt;
      },
      rule);
}

Table make_table(const Model& target, const Model& draft, const PointwiseRules& rule) {
  return std::visit(
      [&](const auto& r) {
        return target.table() != nullptr
                   ? Table(std::in_place_type<PreparedPair>, *target.table(), *draft.table(), r)
                   : Table(std::in_place_type<NgramTable>, *target.ngram(), *draft.ngram(), r);
      },
      rule);
}

}  // namespace

std::optional<std::string> fast_unsupported_reason(const Model& target, const Model& draft,
                                                   const AnyRule& rule) {
  if (!pointwise(rule)) {
    return "its rule reads whole rows; token and lenient read the drafted token's probabilities alone";
  }
  if (target.ngram() != nullptr && draft.ngram() != nullptr) return std::nullopt;
  if (target.table() == nullptr || draft.table() == nullptr) {
    return "it takes two models of stored rows or two n-gram models, without sampling options for the latter";
  }
  const double bytes = PreparedPair::bytes_for(*target.table(), *draft.table());
  if (bytes <= most_table_bytes) return std::nullopt;
  return fmt::format("its tables would take {:.1f} GiB; at most {:.0f} are used", bytes / 0x1p30,
                     most_table_bytes / 0x1p30);
}

bool fast_pays(const Model& target, const Model& draft, const SimulationSize& simulation) {
  const auto rounds = static_cast<double>(simulation.total());
  if (target.table() != nullptr) {
    // Preparing a row costs about as much as eight plain rounds, which read several rows each.
    const std::size_t contexts = std::max(target.table()->contexts(), draft.table()->contexts());
    return rounds >= 8 * static_cast<double>(contexts);
  }
  // A context with its followers costs about as much as reading 1024 probabilities.
  double contexts = 0;
  for (const NgramModel* model : {target.ngram(), draft.ngram()}) {
    for (int length = 1; length < model->order(); ++length)
      contexts += static_cast<double>(model->contexts(length));
  }
  return rounds * target.vocab() >= 1024 * contexts;
}

FastPair::FastPair(const Model& target, const Model& draft, const AnyRule& rule)
    : rule_(*pointwise(rule)), table_(make_table(target, draft, rule_)) {}

Outcome FastPair::decode(std::int32_t gamma, const SimulationSize& simulation, const Control& control,
                         std::size_t streams) const {
  return std::visit(
      [&](const auto& rule) {
        using Rule = std::decay_t<decltype(rule)>;
        const auto run = [&](const auto& steps) {
          return run_interleaved(steps, gamma, simulation, control, streams);
        };
        if (const auto* ngrams = std::get_if<NgramTable>(&table_)) {
          return run(NgramPairDecoder<Rule>(*ngrams, rule, simulation.seed));
        }
        const auto& table = std::get<PreparedPair>(table_);
        if (table.order() == 0) return run(PreparedPairDecoder<Rule, 0>(table, rule));
        if (table.order() == 1) return run(PreparedPairDecoder<Rule, 1>(table, rule));
        return run(PreparedPairDecoder<Rule, 2>(table, rule));
      },
      rule_);
}

std::size_t FastPair::bytes() const {
  return std::visit([](const auto& table) { return table.bytes(); }, table_);
}

std::size_t FastPair::contexts() const {
  return std::visit([](const auto& table) { return table.contexts(); }, table_);
}

}  // namespace speclab
