// Runs simulations on any device, launch after launch. A device has, for T trivially copyable,
//     copy(host, count)            returns memory with these elements, as a unique_ptr<T[], ...>
//     zeros<T>(count)              returns memory of zeros
//     run<Kernel>(launch, args)    launches a kernel, after the launches before it
//     take(memory, count, room)    waits, moves the elements to host memory and leaves zeros
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "kernels/simulate/iid_rounds_kernel.hpp"
#include "kernels/simulate/simulate.hpp"
#include "kernels/simulate/simulate_layout.hpp"
#include "kernels/simulate/table_rounds_kernel.hpp"

namespace speclab {

/// Adds the counts of the launches since the last call to `sums`, so that no counter on the device overflows.
template <class Device, class Memory, class Sum>
void take_counts(Device& device, const Memory& memory, std::vector<Sum>& sums,
                 std::vector<std::uint64_t>& scratch) {
  scratch.resize(sums.size());
  device.take(memory.get(), scratch.size(), scratch.data());
  for (std::size_t i = 0; i < scratch.size(); ++i) sums[i] += scratch[i];
}

template <class Device>
RoundCounts simulate(Device&& device, const IidRun& run, const Watch& watch) {
  const RunShape& shape = run.shape;
  const IidLayout layout = iid_layout(shape);
  const BatchCut cut = shape.cut();
  const std::vector<std::uint64_t> thresholds = iid_thresholds(run.alpha, shape.gamma);
  RoundCounts counts{.gamma = shape.gamma, .lengths = {}, .overlap = {}};
  counts.lengths.resize(std::size_t{cut.count()} * (thresholds.size() + 1));
  const auto on_device = device.copy(thresholds.data(), thresholds.size());
  const auto lengths = device.template zeros<std::uint64_t>(counts.lengths.size());
  std::vector<std::uint64_t> scratch;
  const std::uint64_t pieces = piece_count(cut);
  for (std::uint64_t first = 0; first < pieces && !counts.partial; first += layout.pieces) {
    const std::uint64_t last = std::min(pieces, first + layout.pieces);
    simt::Launch launch = layout.launch;
    launch.blocks = static_cast<std::int64_t>((last - first) * layout.shares);
    device.template run<IidRounds>(launch, {.seed = shape.seed,
                                            .cut = cut,
                                            .length = shape.length,
                                            .gamma = shape.gamma,
                                            .thresholds = on_device.get(),
                                            .first_piece = first,
                                            .shares = layout.shares,
                                            .lengths = lengths.get()});
    take_counts(device, lengths, counts.lengths, scratch);
    std::uint64_t rounds = 0;
    for (std::uint64_t i = first; i < last; ++i) {
      const Piece piece = piece_at(cut, i);
      rounds += piece.rounds();
      counts.blocks += iid_blocks(piece, shape.length);
    }
    counts.partial = !watch(rounds) && last < pieces;
  }
  return counts;
}

template <class Rule, int Order, class Device>
RoundCounts simulate_tables(Device& device, const TableRun& run, const Rule& rule, const Watch& watch) {
  const RunShape& shape = run.shape;
  const PreparedPairView& tables = run.tables;
  const TableLayout layout = table_layout(shape, tables, run.starts.size());
  const BatchCut cut = shape.cut();
  const RoundStates rounds = round_states(shape.gamma, false);
  RoundCounts counts{.gamma = shape.gamma, .lengths = {}, .overlap = {}};
  counts.lengths.resize(std::size_t{cut.count()} * (rounds.gamma + 1));
  counts.overlap.resize(cut.count());

  const std::size_t slot_count = (slot_parts * tables.contexts) << static_cast<unsigned>(tables.bits);
  const auto slots = device.copy(tables.slots, slot_count);
  const auto rates = device.copy(tables.overlap, tables.contexts);
  const auto target = device.copy(tables.target, std::size_t{tables.target_contexts} * tables.vocab);
  const auto draft = device.copy(tables.draft, std::size_t{tables.draft_contexts} * tables.vocab);
  const auto states = device.copy(rounds.states.data(), rounds.states.size());
  const auto starts = device.copy(run.starts.data(), run.starts.size());
  const auto contexts = device.template zeros<std::uint32_t>(layout.sequences);
  const auto lengths = device.template zeros<std::uint64_t>(counts.lengths.size());
  const auto overlap = device.template zeros<std::uint64_t>(counts.overlap.size());
  TableRoundsArgs<Rule> args{.seed = shape.seed,
                             .cut = cut,
                             .length = shape.length,
                             .gamma = shape.gamma,
                             .states = states.get(),
                             .start = rounds.start,
                             .tables = tables,
                             .rule = rule,
                             .starts = starts.get(),
                             .prompts = static_cast<std::uint32_t>(run.starts.size()),
                             .first_trial = 0,
                             .sequences = 0,
                             .first_round = 0,
                             .last_round = 0,
                             .contexts = contexts.get(),
                             .lengths = lengths.get(),
                             .overlap = overlap.get()};
  args.tables.slots = slots.get();
  args.tables.overlap = rates.get();
  args.tables.target = target.get();
  args.tables.draft = draft.get();

  std::vector<std::uint64_t> scratch;
  std::uint64_t done = 0;
  while (done < shape.total() && !counts.partial) {
    args.sequences = std::min(layout.sequences, shape.trials - args.first_trial);
    args.last_round = args.first_round + std::min(layout.stretch, shape.length - args.first_round);
    simt::Launch launch = layout.launch;
    using Kernel = TableRounds<Rule, Order>;
    launch.blocks = (args.sequences + std::int64_t{Kernel::threads} - 1) / Kernel::threads;
    device.template run<Kernel>(launch, args);
    take_counts(device, lengths, counts.lengths, scratch);
    take_counts(device, overlap, counts.overlap, scratch);
    const std::uint64_t played = std::uint64_t{args.sequences} * (args.last_round - args.first_round);
    done += played;
    counts.partial = !watch(played) && done < shape.total();
    args.first_round = args.last_round;
    if (args.first_round == shape.length) {
      args.first_round = 0;
      args.first_trial += args.sequences;
    }
  }
  for (std::size_t i = 0; i < counts.lengths.size(); ++i) {
    // A round examines the accepted tokens and the rejected one, if any, and draws one more.
    const std::uint64_t accepted = i % (rounds.gamma + 1);
    counts.blocks += counts.lengths[i] * (std::min<std::uint64_t>(accepted + 1, rounds.gamma) + 1);
  }
  return counts;
}

template <class Device>
RoundCounts simulate(Device&& device, const TableRun& run, const Watch& watch) {
  return std::visit(
      [&](const auto& rule) {
        using Rule = std::decay_t<decltype(rule)>;
        if (run.tables.contexts == 1) return simulate_tables<Rule, 0>(device, run, rule, watch);
        if (run.tables.suffix_contexts == 1) return simulate_tables<Rule, 1>(device, run, rule, watch);
        return simulate_tables<Rule, 2>(device, run, rule, watch);
      },
      run.rule);
}

}  // namespace speclab
