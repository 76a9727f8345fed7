// Counts over rounds. Integers only, so that the order of merging cannot change a result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/round/round_counts.hpp"
#include "sim/quality_sums.hpp"

namespace speclab {

/// Sums over rounds, in the project's terms: drafted, examined, accepted, emitted.
struct Tally {
  std::uint64_t rounds = 0;
  std::uint64_t drafted = 0;
  std::uint64_t draft_runs = 0;  ///< sequential runs: tokens of one depth of a tree share a run
  std::array<std::uint64_t, max_inner_levels> inner_runs{};  ///< as in Round
  std::uint64_t examined = 0;
  std::uint64_t accepted = 0;
  std::uint64_t emitted = 0;
  std::uint64_t emitted_squared = 0;            ///< sum over rounds of emitted^2
  WideCount overlap_quanta = 0;                 ///< sum of overlaps, in units of 2^-32
  std::uint64_t overlap_contexts = 0;           ///< number of contexts in that sum
  std::vector<std::uint64_t> accepted_lengths;  ///< rounds by length of the accepted prefix
  RuleQuality quality;                          ///< only from measure_rule_quality

  static constexpr double quantum = ContextSum::quantum;

  void add_round(const Round& round) { add_rounds(round, 1); }

  /// Adds `count` rounds with equal counts.
  void add_rounds(const Round& round, std::uint64_t count) {
    if (count == 0) return;
    const auto length = static_cast<std::uint64_t>(round.accepted);
    if (accepted_lengths.size() <= length) accepted_lengths.resize(length + 1);
    accepted_lengths[length] += count;
    rounds += count;
    drafted += count * static_cast<std::uint64_t>(round.drafted);
    draft_runs += count * static_cast<std::uint64_t>(round.draft_runs);
    for (std::size_t level = 0; level < max_inner_levels; ++level)
      inner_runs[level] += count * static_cast<std::uint64_t>(round.inner_runs[level]);
    examined += count * static_cast<std::uint64_t>(round.examined);
    accepted += count * length;
    emitted += count * (length + 1);
    emitted_squared += count * (length + 1) * (length + 1);
  }

  /// Leaves out the token after the accepted ones of a round that was added, because its text had ended.
  void leave_out_next(const Round& round) {
    emitted -= 1;
    emitted_squared -= 2 * static_cast<std::uint64_t>(round.accepted) + 1;
  }

  /// Adds the same overlap in `contexts` contexts. It is rounded to the nearest quantum: an error of at most
  /// 2^-33 per context, far below sampling errors above 2^-17.
  void add_overlap(double overlap, std::uint64_t contexts = 1) {
    overlap_quanta += WideCount(ContextSum::quanta_of(overlap)) * contexts;
    overlap_contexts += contexts;
  }

  double overlap_sum() const { return static_cast<double>(overlap_quanta) * quantum; }

  Tally& operator+=(const Tally& other) {
    rounds += other.rounds;
    drafted += other.drafted;
    draft_runs += other.draft_runs;
    for (std::size_t level = 0; level < max_inner_levels; ++level)
      inner_runs[level] += other.inner_runs[level];
    examined += other.examined;
    accepted += other.accepted;
    emitted += other.emitted;
    emitted_squared += other.emitted_squared;
    overlap_quanta += other.overlap_quanta;
    overlap_contexts += other.overlap_contexts;
    quality += other.quality;
    if (accepted_lengths.size() < other.accepted_lengths.size())
      accepted_lengths.resize(other.accepted_lengths.size());
    for (std::size_t k = 0; k < other.accepted_lengths.size(); ++k)
      accepted_lengths[k] += other.accepted_lengths[k];
    return *this;
  }

  bool operator==(const Tally&) const = default;
};

}  // namespace speclab
