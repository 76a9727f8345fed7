#include "sim/fast/fast_pair.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/fast/ngram_pair_decoder.hpp"
#include "sim/fast/ngram_table.hpp"
#include "sim/fast/prepared_pair_decoder.hpp"
#include "sim/fast/shared_rows.hpp"
#include "sim/fast/whole_row_pair.hpp"

namespace speclab {

namespace {

class StoredDecoder final : public FastDecoder {
 public:
  StoredDecoder(const TableModel& target, const TableModel& draft, const AnyRule& rule)
      : table_(target, draft, rule), rule_(rule) {}

  Outcome decode(std::int32_t gamma, const SimulationSize& simulation, const Control& control,
                 std::size_t streams) const override {
    const auto run = [&](const auto& steps) {
      return run_interleaved(steps, gamma, simulation, control, streams);
    };
    if (table_.order() == 0) return run(PreparedPairDecoder<0>(table_, rule_));
    if (table_.order() == 1) return run(PreparedPairDecoder<1>(table_, rule_));
    return run(PreparedPairDecoder<2>(table_, rule_));
  }
  std::size_t bytes() const override { return table_.bytes(); }
  std::size_t contexts() const override { return table_.contexts(); }
  const PreparedPair& table() const { return table_; }

 private:
  PreparedPair table_;
  AnyRule rule_;
};

template <PointwiseRule Rule>
class NgramDecoder final : public FastDecoder {
 public:
  NgramDecoder(const NgramModel& target, const NgramModel& draft, const Rule& rule)
      : table_(target, draft, rule), rule_(rule) {}

  Outcome decode(std::int32_t gamma, const SimulationSize& simulation, const Control& control,
                 std::size_t streams) const override {
    return run_interleaved(NgramPairDecoder<Rule>(table_, rule_, simulation.seed), gamma, simulation, control,
                           streams);
  }
  std::size_t bytes() const override { return table_.bytes(); }
  std::size_t contexts() const override { return table_.contexts(); }

 private:
  NgramTable table_;
  Rule rule_;
};

/// The form in which a pair is prepared: tables of each context's decisions (stored), n-grams with decisions
/// from two probabilities (pointwise), or full rows by target / draft (whole_rows).
enum class FastForm { none, stored, pointwise, whole_rows };

FastForm form_of(const Model& target, const Model& draft, const AnyRule& rule) {
  const PairKind kind = pair_kind(target, draft);
  if (kind == PairKind::other) return FastForm::none;
  if (kind == PairKind::tables && rule->said_by_position()) return FastForm::stored;
  if (kind == PairKind::ngrams && pointwise_rule(rule)) return FastForm::pointwise;
  return reads_whole_rows(rule) ? FastForm::whole_rows : FastForm::none;
}

}  // namespace

std::optional<std::string> memory_reason(double bytes) {
  constexpr double most = 0x1p32;
  if (bytes <= most) return std::nullopt;
  return fmt::format("its tables would take {:.1f} GiB; the limit is {:.0f}", bytes / 0x1p30, most / 0x1p30);
}

std::optional<PointwiseRules> pointwise_rule(const AnyRule& rule) {
  if (const auto* token = rule.get_if<TokenRule>()) return *token;
  if (const auto* lenience = rule.get_if<LenienceRule>()) return *lenience;
  return std::nullopt;
}

std::optional<std::string> fast_unsupported_reason(const AnyRule& rule) {
  if (reads_whole_rows(rule) || rule->said_by_position()) return std::nullopt;
  return "its rule needs more of a row than the fast engine stores, or another kind of round";
}

std::optional<std::string> fast_unsupported_reason(const Model& target, const Model& draft,
                                                   const AnyRule& rule) {
  if (auto reason = fast_unsupported_reason(rule)) return reason;
  switch (form_of(target, draft, rule)) {
    case FastForm::none:
      if (pair_kind(target, draft) != PairKind::other)
        return "its rule needs more of an n-gram row than the fast engine stores (stored rows work)";
      return std::string(other_pair_reason);
    case FastForm::pointwise:
      return std::nullopt;
    case FastForm::stored:
      return memory_reason(PreparedPair::bytes_for(*target.table(), *draft.table()));
    case FastForm::whole_rows:
      break;
  }
  return memory_reason(whole_row_bytes(target, draft, rule));
}

bool fast_pays(const Model& target, const Model& draft, const SimulationSize& simulation) {
  const auto rounds = static_cast<double>(simulation.total());
  const double contexts = row_contexts(target, draft);
  // Preparing the stored rows of a context costs about as much as eight rounds of sim/decode.hpp.
  if (target.table() != nullptr) return rounds >= 8 * contexts;
  // Preparing a context of n-grams with its followers costs about as much as reading 1024 probabilities.
  return rounds * target.vocab() >= 1024 * (contexts - 1);
}

std::shared_ptr<SharedRows> make_shared_rows() { return std::make_shared<SharedRows>(); }

FastPair::FastPair(const Model& target, const Model& draft, const AnyRule& rule)
    : FastPair(target, draft, rule, *make_shared_rows()) {}

FastPair::FastPair(const Model& target, const Model& draft, const AnyRule& rule, SharedRows& rows)
    : rule_(pointwise_rule(rule)) {
  const FastForm form = form_of(target, draft, rule);
  if (form == FastForm::whole_rows) {
    decoder_ = whole_row_pair(target, draft, rule, rows);
  } else if (form == FastForm::stored) {
    auto stored = std::make_unique<const StoredDecoder>(*target.table(), *draft.table(), rule);
    if (rule_) stored_ = &stored->table();
    decoder_ = std::move(stored);
  } else {
    std::visit(
        [&]<class Rule>(const Rule& held) {
          decoder_ = std::make_unique<const NgramDecoder<Rule>>(*target.ngram(), *draft.ngram(), held);
        },
        rule_.value());
  }
}

}  // namespace speclab
