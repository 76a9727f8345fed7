// Simulates rounds over a pair of stored tables (core/fast/prepared_pair_step.hpp), one thread per sequence.
// Each step takes one Philox block and one slot (16 bytes of a table). The state of a sequence within its
// round is a number, not a place in the program, so that the lanes of a warp run the same instructions
// whatever their acceptance draws are.
//
// With many sequences the number of instructions bounds its speed: 199 PTX instructions per step (nvcc 13.0,
// sm_90), most of them Philox's 20 multiplications to 64 bits, its 20 exclusive ors of three numbers and its
// keys. Some of the 199 only name a value. From order 2 on there is one more division. A step reads one
// sector of 32 bytes from the L2 cache, where the slots of bigrams of a thousand tokens fit (48 V^2 bytes: 3
// MB at V = 256), and 8 bytes of the overlaps, which the L1 cache holds. A round takes one step for each
// token it examines, and one more: 4.36 steps for 3.69 tokens at alpha = 0.8 and gamma = 5, hence 870
// instructions and 140 bytes. With few sequences the latency of a step bounds its speed: each random number
// of a sequence waits for the one before, and some ten thousand sequences are needed to hide that.
#pragma once

#include <cstdint>

#include "core/fast/prepared_pair_step.hpp"
#include "core/round/batches.hpp"
#include "kernels/simt/simt.hpp"

namespace speclab {

/// The arguments: sequences first_trial .. first_trial + sequences - 1, rounds first_round .. last_round - 1
/// of each.
template <class Rule>
struct TableRoundsArgs {
  std::uint64_t seed;
  BatchCut cut;
  std::uint32_t length;
  std::int32_t gamma;
  const RoundState* states;  ///< [2 gamma + 1]
  std::uint32_t start;       ///< state in which a round starts
  PreparedPairView tables;
  Rule rule;
  const std::uint32_t* starts;  ///< [prompts] contexts
  std::uint32_t prompts;
  std::uint32_t first_trial;
  std::uint32_t sequences;
  std::uint32_t first_round;
  std::uint32_t last_round;
  /// [sequences] the context of each sequence; written, and read unless first_round is 0.
  std::uint32_t* contexts;
  std::uint64_t* lengths;  ///< [batches][gamma + 1] counts, which the kernel adds to
  std::uint64_t* overlap;  ///< [batches] sums, which the kernel adds to
};

template <class Rule, int Order>
struct TableRounds {
  using Args = TableRoundsArgs<Rule>;
  static constexpr const char* name = "table rounds";
  static constexpr int threads = 128;
  static constexpr int min_blocks = 8;

  /// Bytes of dynamic shared memory: the states of a round, then gamma + 1 counters of each thread.
  static constexpr std::size_t shared_bytes(std::int32_t gamma) {
    const auto count = static_cast<std::size_t>(gamma);
    return (2 * count + 1) * sizeof(RoundState) + (count + 1) * threads * sizeof(std::uint32_t);
  }

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const int thread = simt::thread_index();
    const std::int32_t gamma = args.gamma;
    auto* const states = reinterpret_cast<RoundState*>(simt::dynamic_shared());
    std::uint32_t* const column = reinterpret_cast<std::uint32_t*>(states + 2 * gamma + 1) + thread;
    for (std::int32_t i = thread; i < 2 * gamma + 1; i += threads) states[i] = args.states[i];
    for (std::int32_t k = 0; k <= gamma; ++k) column[k * threads] = 0;
    simt::sync();
    const std::int64_t sequence = simt::block_index() * threads + thread;
    if (sequence >= args.sequences) return;

    const std::uint32_t trial = args.first_trial + static_cast<std::uint32_t>(sequence);
    const std::uint64_t before = std::uint64_t{trial} * args.length;
    std::uint32_t context =
        args.first_round == 0 ? args.starts[trial % args.prompts] : args.contexts[sequence];
    std::uint32_t round = args.first_round;
    while (round < args.last_round) {
      const std::uint32_t batch = args.cut.batch_of(before + round);
      const std::uint64_t batch_end = args.cut.end(batch) - before;
      const std::uint32_t goal =
          batch_end < args.last_round ? static_cast<std::uint32_t>(batch_end) : args.last_round;
      const std::uint64_t overlap = play(args, states, trial, round, goal, context, column);
      flush(args, batch, column, overlap);
      round = goal;
    }
    args.contexts[sequence] = context;
  }

 private:
  /// Simulates rounds round .. goal - 1 of one sequence. Returns the sum of the overlaps of the contexts it
  /// emitted from.
  SPECLAB_DEVICE static std::uint64_t play(const Args& args, const RoundState* states, std::uint32_t trial,
                                           std::uint32_t round, std::uint32_t goal, std::uint32_t& context,
                                           std::uint32_t* column) {
    std::uint64_t overlap = 0;
    std::uint32_t at = args.start;
    while (round < goal) {
      const RoundState state = states[at];
      const PhiloxWords words = philox_words(args.seed, 0, state.site, round, trial);
      const SlotChoice choice = choose_slot(args.tables, state, context, words.first);
      const SamplingSlot slot = load_slot(choice.slot);
      const StepResult step = take_step(args.tables, args.rule, state, context, choice, slot, words.second);
      overlap += args.tables.overlap[context] & (std::uint64_t{0} - step.emitted);
      context = select(step.emitted, next_context<Order>(args.tables, context, step.token), context);
      at = select(step.emitted, state.yes, state.no);
      const std::uint32_t ended = step.emitted & state.ends;
      column[state.accepted * threads] += ended;
      round += ended;
    }
    return overlap;
  }

  SPECLAB_DEVICE static SamplingSlot load_slot(const SamplingSlot* slot) {
    const simt::Vector16 words = simt::load(reinterpret_cast<const simt::Vector16*>(slot));
    return {words.word[0], words.word[1], words.word[2], words.word[3]};
  }

  /// Adds a thread's counts to those of its batch and clears them.
  SPECLAB_DEVICE static void flush(const Args& args, std::uint32_t batch, std::uint32_t* column,
                                   std::uint64_t overlap) {
    std::uint64_t* const lengths =
        args.lengths + std::uint64_t{batch} * static_cast<std::uint64_t>(args.gamma + 1);
    for (std::int32_t k = 0; k <= args.gamma; ++k) {
      std::uint32_t& count = column[k * threads];
      if (count > 0) simt::fetch_add(lengths + k, std::uint64_t{count});
      count = 0;
    }
    simt::fetch_add(args.overlap + batch, overlap);
  }
};

}  // namespace speclab
