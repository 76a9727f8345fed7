// Stored tables and simple loops for tests of the simulating kernels. Apart from the code that prepares them,
// the loops have no slots, states or launches.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/random/block_random_source.hpp"
#include "kernels/simulate/simulate.hpp"
#include "tests/core/fast/fast_round.hpp"
#include "tests/core/rules/all_rules.hpp"

namespace speclab {

/// A model of stored rows, in the form that core/round/round.hpp needs; vocab^order rows.
struct StoredRows {
  std::int32_t vocab_size = 1;
  std::int32_t order = 0;
  std::vector<double> probabilities;

  std::int32_t vocab() const { return vocab_size; }
  std::uint32_t contexts() const {
    return static_cast<std::uint32_t>(probabilities.size()) / static_cast<std::uint32_t>(vocab_size);
  }
  /// Returns the last `order` tokens as a number in base `vocab`; tokens missing on the left count as 0.
  std::uint32_t context_of(std::span<const Token> tokens) const {
    std::uint32_t index = 0;
    const auto known = static_cast<std::size_t>(order);
    for (std::size_t i = tokens.size() > known ? tokens.size() - known : 0; i < tokens.size(); ++i) {
      index = index * static_cast<std::uint32_t>(vocab_size) + static_cast<std::uint32_t>(tokens[i]);
    }
    return index;
  }
  Row next(std::span<const Token> tokens, std::vector<double>&) const {
    return {probabilities.data() + std::size_t{context_of(tokens)} * static_cast<std::size_t>(vocab_size),
            vocab_size};
  }
};

/// Makes random rows in which one token in four has probability 0.
inline StoredRows random_rows(std::int32_t vocab, std::int32_t order, std::uint64_t seed) {
  StoredRows rows{vocab, order, {}};
  std::size_t count = 1;
  for (std::int32_t i = 0; i < order; ++i) count *= static_cast<std::size_t>(vocab);
  Philox stream(seed, Site{0, 0, Draw{Use::world, 0}});
  for (std::size_t row = 0; row < count; ++row) {
    const std::size_t first = rows.probabilities.size();
    double total = 0;
    for (std::int32_t i = 0; i < vocab; ++i) {
      const bool never = vocab > 2 && i != static_cast<std::int32_t>(row) % vocab && stream() % 4 == 0;
      rows.probabilities.push_back(never ? 0.0 : open_unit(stream()));
      total += rows.probabilities.back();
    }
    for (std::size_t i = first; i < rows.probabilities.size(); ++i) rows.probabilities[i] /= total;
  }
  return rows;
}

/// A pair prepared for the rule, and the run that points into it; hence it must not be copied.
template <class Rule>
class PairInMemory {
 public:
  PairInMemory(StoredRows target_rows, StoredRows draft_rows, const Rule& of_rule, const RunShape& shape,
               std::vector<std::vector<Token>> of_prompts)
      : target(std::move(target_rows)),
        draft(std::move(draft_rows)),
        rule(of_rule),
        prompts(std::move(of_prompts)) {
    const StoredRows& longer = target.order > draft.order ? target : draft;
    const std::uint32_t contexts = longer.contexts();
    const int bits = alias_bits(static_cast<std::size_t>(target.vocab_size));
    const std::size_t width = std::size_t{1} << static_cast<unsigned>(bits);
    slots.resize(slot_parts * contexts * width);
    SlotScratch scratch;
    PositionWeights weights;
    for (std::uint32_t c = 0; c < contexts; ++c) {
      const Row p = row_of(target, c);
      const Row q = row_of(draft, c);
      fill_position_weights(rule, p, q, weights);
      for (const SlotPart part : {drafting_part, replacing_part, bonus_part}) {
        fill_slot_part(part, weights, q, {&slots[(part * contexts + c) * width], width}, scratch);
      }
      overlap.push_back(quanta(rule.acceptance_rate(p, q)));
    }
    run.shape = shape;
    run.tables = {slots.data(),
                  overlap.data(),
                  target.probabilities.data(),
                  draft.probabilities.data(),
                  contexts,
                  target.contexts(),
                  draft.contexts(),
                  static_cast<std::uint32_t>(target.vocab_size),
                  contexts / static_cast<std::uint32_t>(target.vocab_size),
                  bits};
    run.rule = rule;
    for (const auto& prompt : prompts) run.starts.push_back(longer.context_of(prompt));
  }
  PairInMemory(const PairInMemory&) = delete;
  PairInMemory& operator=(const PairInMemory&) = delete;

  static std::uint64_t quanta(double rate) { return static_cast<std::uint64_t>(std::llround(rate * 0x1p32)); }

  StoredRows target;
  StoredRows draft;
  Rule rule;
  std::vector<std::vector<Token>> prompts;
  std::vector<SamplingSlot> slots;
  std::vector<std::uint64_t> overlap;
  TableRun run;

 private:
  static Row row_of(const StoredRows& rows, std::uint32_t context) {
    return {rows.probabilities.data() +
                std::size_t{context % rows.contexts()} * static_cast<std::size_t>(rows.vocab_size),
            rows.vocab_size};
  }
};

/// Returns the batch of each round, by counting: the first units % batches batches have one unit of rounds
/// more.
inline std::vector<std::uint32_t> batches_of_rounds(const RunShape& shape) {
  const std::uint64_t units = shape.total() / shape.batch_unit;
  std::vector<std::uint32_t> batches;
  for (std::uint32_t batch = 0; batches.size() < shape.total(); ++batch) {
    const std::uint64_t size = units / shape.batches + (batch < units % shape.batches ? 1 : 0);
    batches.insert(batches.end(), size * shape.batch_unit, batch);
  }
  return batches;
}

inline RoundCounts empty_counts(const RunShape& shape, bool tables) {
  const auto batches =
      static_cast<std::size_t>(std::min<std::uint64_t>(shape.batches, shape.total() / shape.batch_unit));
  RoundCounts counts;
  counts.gamma = shape.gamma;
  counts.lengths.resize(batches * static_cast<std::size_t>(shape.gamma + 1));
  if (tables) counts.overlap.resize(batches);
  return counts;
}

/// The definition of the results: round r of a trial takes word r % 2 of block r / 2, and accepts the largest
/// number k <= gamma of tokens with word < alpha^k 2^64.
inline RoundCounts plain_loop(const IidRun& run) {
  const RunShape& shape = run.shape;
  RoundCounts counts = empty_counts(shape, false);
  const std::vector<std::uint32_t> batches = batches_of_rounds(shape);
  for (std::uint32_t trial = 0; trial < shape.trials; ++trial) {
    for (std::uint32_t round = 0; round < shape.length; ++round) {
      Philox words(shape.seed, Site{trial, round / 2, Draw{Use::iid, 0}});
      std::uint64_t word = words();
      if (round % 2 == 1) word = words();
      std::int32_t kept = 0;
      double power = run.alpha;
      for (; kept < shape.gamma && static_cast<double>(word) < power * 0x1p64; power *= run.alpha) ++kept;
      const std::uint32_t batch = batches[std::size_t{trial} * shape.length + round];
      ++counts.lengths[batch * static_cast<std::size_t>(shape.gamma + 1) + static_cast<std::size_t>(kept)];
    }
  }
  return counts;
}

/// Runs tests/core/fast/fast_round.hpp on BlockRandomSource without proposals, round by round, on whole
/// contexts.
template <class Rule>
RoundCounts plain_loop(const PairInMemory<Rule>& pair) {
  const RunShape& shape = pair.run.shape;
  RoundCounts counts = empty_counts(shape, true);
  const std::vector<std::uint32_t> batches = batches_of_rounds(shape);
  RoundScratch<double> scratch;
  std::vector<double> row_scratch;
  for (std::uint32_t trial = 0; trial < shape.trials; ++trial) {
    std::vector<Token> context = pair.prompts[trial % pair.prompts.size()];
    for (std::uint32_t number = 0; number < shape.length; ++number) {
      BlockRandomSource random(shape.seed, trial, number);
      const std::size_t start = context.size();
      const Round round =
          fast_round(pair.target, pair.draft, pair.rule, shape.gamma, 0, context, random, scratch);
      const std::uint32_t batch = batches[std::size_t{trial} * shape.length + number];
      ++counts.lengths[batch * static_cast<std::size_t>(shape.gamma + 1) +
                       static_cast<std::size_t>(round.accepted)];
      counts.blocks += static_cast<std::uint64_t>(round.examined) + 1;
      const std::span<const Token> all(context);
      for (std::size_t at = start; at < context.size(); ++at) {
        const Row p = pair.target.next(all.first(at), row_scratch);
        const Row q = pair.draft.next(all.first(at), row_scratch);
        counts.overlap[batch] += PairInMemory<Rule>::quanta(pair.rule.acceptance_rate(p, q));
      }
    }
  }
  return counts;
}

/// Compares everything except the block counts, which the simple loops do not count for acceptance draws.
inline bool same_counts(const RoundCounts& a, const RoundCounts& b) {
  return a.gamma == b.gamma && a.lengths == b.lengths && a.overlap == b.overlap && a.partial == b.partial;
}

}  // namespace speclab
