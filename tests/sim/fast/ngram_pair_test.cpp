// Tests fast decoding of n-grams against dense rows: the draws' distribution, every probability, and outcomes
// bit for bit.
#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <vector>

#include "core/random/block_random_source.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/decode.hpp"
#include "sim/error.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/fast/ngram_pair_decoder.hpp"
#include "sim/fast/ngram_table.hpp"
#include "tests/sim/fast/ngram_models.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;

namespace {

/// Returns the exact distribution of kept draws in a context, as far as 32-bit cuts determine it.
std::vector<double> draw_distribution(const NgramTable& table, std::uint32_t at, Side side) {
  std::vector<double> distribution(static_cast<std::size_t>(table.vocab()));
  const std::uint32_t longest = at;
  double weight = 1;
  double kept = 0;
  for (;;) {
    const NgramTable::Context& context = table.context(at);
    const double slots = std::ldexp(1.0, context.bits);
    double onward = 0;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(slots); ++i) {
      const NgramTable::Slot& slot = table.block(context, side)[i];
      const double own = slot.cut * 0x1p-32 / slots;
      for (const auto& [outcome, probability] : {std::pair{slot.own, own}, {slot.other, 1 / slots - own}}) {
        if (outcome.token >= 0) {
          const double mass = weight * probability * table.kept_share(longest, at, outcome.token, side);
          distribution[static_cast<std::size_t>(outcome.token)] += mass;
          kept += mass;
        }
        if (outcome.token == NgramTable::shorter) onward += probability;
        if (probability > 0) CHECK(outcome.token != NgramTable::empty);
      }
    }
    if (at == 0) break;
    weight *= onward;
    at = context.below[side];
  }
  for (double& mass : distribution) mass /= kept;
  return distribution;
}

/// Does the same as NgramPairDecoder, from dense rows and whole histories; only the draws come from the
/// table.
class Reference {
 public:
  Reference(const NgramModel& target, const NgramModel& draft, const NgramTable& table)
      : models_{&target, &draft}, table_(table) {}

  template <class Rule>
  Outcome decode(const Rule& rule, std::int32_t gamma, const SimulationSize& simulation) const {
    return run_trials(
        simulation, Control{},
        [&](std::uint32_t trial, std::uint32_t number, std::vector<Token>& context, Tally& tally,
            RoundScratch<double>&) {
          tally.add_round(play(rule, gamma, At{simulation.seed, trial, number}, context, tally));
        });
  }

 private:
  struct At {
    std::uint64_t seed;
    std::uint32_t trial;
    std::uint32_t round;
  };
  struct Drawn {
    Token token;
    double u;
  };

  /// Draws from the next block at a site, and from further blocks as far as the draw needs them.
  Drawn draw(const At& where, const std::vector<Token>& context, Side side, Use use, std::uint16_t slot,
             std::uint32_t& block) const {
    const std::uint32_t longest = table_.context(table_.context_of(context)).longest[side];
    std::uint32_t at = longest;
    for (;;) {
      const NgramTable::Context& here = table_.context(at);
      Philox words(where.seed, Site{where.trial, where.round, Draw{use, slot, block++}});
      const std::uint64_t pick = words();
      const NgramTable::Slot& found = table_.block(here, side)[alias_slot(pick, here.bits)];
      const Token token = alias_fraction(pick, here.bits) < found.cut ? found.own.token : found.other.token;
      if (token == NgramTable::shorter) {
        at = table_.context(at).below[side];
        continue;
      }
      const double u = open_unit(words());
      const double kept = table_.kept_share(longest, at, token, side);
      if (u < kept) return {token, u / kept};
      at = longest;
    }
  }

  template <class Rule>
  Round play(const Rule& rule, std::int32_t gamma, const At& where, std::vector<Token>& context,
             Tally& tally) const {
    Round round{gamma, gamma, 0, 0, 0};
    std::vector<double> scratch_p;
    std::vector<double> scratch_q;
    for (std::uint16_t slot = 0;; ++slot) {
      const Row p = models_[0]->next(context, scratch_p);
      const Row q = models_[1]->next(context, scratch_q);
      std::uint32_t block = 0;
      const Drawn drafted = draw(where, context, draft_side, Use::draft, slot, block);
      const double kept = rule.acceptance_probability(p[drafted.token], q[drafted.token]);
      tally.overlap_quanta += bernoulli_quanta(bernoulli_bits(kept));
      ++tally.overlap_contexts;
      block = 0;
      if (slot == gamma) {
        context.push_back(draw(where, context, target_side, Use::bonus, slot, block).token);
        return round;
      }
      ++round.examined;
      if (drafted.u < kept) {
        ++round.accepted;
        context.push_back(drafted.token);
        continue;
      }
      for (std::uint32_t proposal = 0; proposal < max_proposals(p.size); ++proposal) {
        const Drawn proposed = draw(where, context, target_side, Use::replace, slot, block);
        if (proposed.u >= residual_acceptance(rule, p[proposed.token], q[proposed.token])) continue;
        context.push_back(proposed.token);
        return round;
      }
      BlockRandomSource random(where.seed, where.trial, where.round);
      context.push_back(categorical_or(random, Draw{Use::replace, slot, block}, rule.replacement(p, q), p));
      return round;
    }
  }

  std::array<const NgramModel*, 2> models_;
  const NgramTable& table_;
};

void check_probabilities(const NgramModel& target, const NgramModel& draft, const NgramTable& table) {
  std::vector<double> scratch;
  std::vector<double> row(static_cast<std::size_t>(table.vocab()));
  for (int length = 0; length <= 3; ++length) {
    for (const std::vector<Token>& tokens : all_contexts(table.vocab(), length)) {
      const std::uint32_t at = table.context_of(tokens);
      for (const auto& [model, side] : {std::pair{&target, target_side}, {&draft, draft_side}}) {
        const Row dense = model->next(tokens, scratch);
        table.fill_row(at, side, row);
        const std::vector<double> distribution =
            draw_distribution(table, table.context(at).longest[side], side);
        for (Token token = 0; token < table.vocab(); ++token) {
          const auto id = static_cast<std::size_t>(token);
          CHECK(table.find(at, token).probabilities[side] == dense[token]);
          CHECK(row[id] == dense[token]);
          CHECK(distribution[id] == doctest::Approx(dense[token]).epsilon(1e-7));
          std::vector<Token> longer = tokens;
          longer.push_back(token);
          CHECK(table.find(at, token).next == table.context_of(longer));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE(
    "probabilities have the bits of the dense rows, draws have their distribution, tokens lead to the right "
    "context") {
  for (const auto& [target_order, draft_order] : {std::pair{2, 2}, {3, 2}, {1, 2}, {4, 1}, {2, 3}, {1, 1}}) {
    const NgramModel target = trained(1, 9, target_order, 400);
    const NgramModel draft = trained(2, 9, draft_order, 300);
    check_probabilities(target, draft, NgramTable(target, draft, TokenRule{}));
  }
}

TEST_CASE("a whole outcome is that of dense rows, for all orders, rules, gammas, lanes and threads") {
  for (const auto& [target_order, draft_order] : {std::pair{2, 2}, {5, 2}, {1, 3}, {3, 3}}) {
    for (const bool low : {false, true}) {
      const NgramModel plain_target = trained(3, 40, target_order, 3000);
      const NgramModel plain_draft = trained(4, 40, draft_order, 2000);
      const auto target =
          std::make_shared<const NgramModel>(low ? with_low_ngrams(plain_target, 8) : plain_target);
      const auto draft =
          std::make_shared<const NgramModel>(low ? with_low_ngrams(plain_draft, 9) : plain_draft);
      const auto check = [&](const auto& rule) {
        const NgramTable table(*target, *draft, rule);
        const Model target_model(target);
        const Model draft_model(draft);
        const FastPair pair(target_model, draft_model, AnyRule(rule));
        for (const std::int32_t gamma : {0, 1, 4}) {
          SimulationSize simulation;
          simulation.seed = 5;
          simulation.trials = 35;
          simulation.length = 40;
          simulation.batches = 7;
          simulation.prompts = {{1, 2, 3, 4, 5, 6}, {}, {39}};
          const Outcome expected = Reference(*target, *draft, table).decode(rule, gamma, simulation);
          for (const std::size_t lanes : {1, 16, 33}) {
            CHECK(pair.decode(gamma, simulation, Control{}, lanes).batches == expected.batches);
          }
          const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
          CHECK(pair.decode(gamma, simulation).batches == expected.batches);
        }
      };
      check(TokenRule{});
      check(LenienceRule{0.5, Residual::literal});
    }
  }
}

TEST_CASE("rows that had to be renormalised keep their scale") {
  NgramList list = trained(6, 9, 3, 400).listed();
  for (auto& level : list.levels) {
    for (ListedNgram& ngram : level) ngram.probability *= 1.0001;
  }
  const NgramModel model(list, RowSums::renormalised);
  const NgramModel draft = trained(7, 9, 2, 300);
  check_probabilities(model, draft, NgramTable(model, draft, TokenRule{}));
}

TEST_CASE("models at a temperature are models of the same kind") {
  for (const double temperature : {0.3, 0.8, 3.0}) {
    const Adjustment how{.temperature = temperature};
    for (const bool low : {false, true}) {
      const NgramModel target = trained(1, 9, 3, 400);
      const NgramModel draft = trained(2, 9, 2, 300);
      const auto hot = (low ? with_low_ngrams(target, 10) : target).adjusted(how);
      const auto other = (low ? with_low_ngrams(draft, 11) : draft).adjusted({.temperature = 0.6});
      REQUIRE((hot && other));
      check_probabilities(*hot, *other, NgramTable(*hot, *other, TokenRule{}));
    }
  }
}

TEST_CASE("n-grams listed below their back-off are drawn by their rows") {
  for (const auto& [target_order, draft_order] : {std::pair{2, 2}, {3, 2}, {4, 3}, {1, 3}}) {
    const NgramModel target = with_low_ngrams(trained(1, 9, target_order, 400), 10);
    const NgramModel draft = with_low_ngrams(trained(2, 9, draft_order, 300), 11);
    const NgramTable table(target, draft, TokenRule{});
    bool rejects = false;
    for (std::uint32_t at = 0; at < table.contexts(); ++at) rejects |= table.context(at).rejects[draft_side];
    CHECK(rejects);
    check_probabilities(target, draft, table);
  }
}

TEST_CASE("a model that keeps hardly any draw is refused") {
  // After 0, the probability of all tokens but the rare token 1 is close to 0.
  const NgramPacking packing(2);
  const auto key = [&](std::vector<Token> tokens) { return packing.pack(tokens); };
  const NgramList list{2, {{{key({0}), 0.999, 1}, {key({1}), 0.001, 1}}, {{key({0, 0}), 1e-9, 1}}}};
  const NgramModel model(list, RowSums::renormalised);
  CHECK_THROWS_WITH_AS((NgramTable(model, model, TokenRule{})), doctest::Contains("256"), ModelError);
}
