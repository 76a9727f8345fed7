// Measures how long runs of models and decoding by them take, in one thread, with models that keep no rows.
// Timings are measurements, never part of a result's identity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/any_rule.hpp"
#include "sim/control.hpp"

namespace speclab {

/// The clock: wall time, or the processor time of this thread, which other programs disturb less. Processor
/// time leaves out threads that the models start.
enum class ClockKind { wall, processor };

/// Seconds per run, by new positions: element n - 1 is for a run over n positions, with their rows.
struct RunSeconds {
  std::vector<double> target;
  std::vector<double> draft;
};

/// Returns medians over `starts`, which are visited in turn. At each start, rounds of 0, 1, ..., most - 1
/// drafted tokens are run along every text in the order of decoding, since earlier runs change a run's time:
/// a target run of as many positions, draft runs, then the target run that is timed. The draft's second entry
/// is the time of a run with two new tokens, as after a round that accepted everything, including the time
/// that it adds to the next run. Several texts form a batch: models that can make their runs together, and
/// these are timed together. Requires start > most >= 2, and texts with `most`, and at least 3, tokens from
/// `start` on.
RunSeconds measure_runs(const Model& target, const Model& draft, std::span<const std::vector<Token>> texts,
                        std::span<const std::size_t> starts, std::size_t most, ClockKind clock);

/// One decoding of a batch of texts.
struct ClockedDecode {
  double seconds = 0;
  std::uint64_t tokens = 0;
  std::uint64_t rounds = 0;
};

struct ClockedGammas {
  std::vector<ClockedDecode> plain;                ///< by repeat
  std::vector<std::vector<ClockedDecode>> gammas;  ///< by gamma, then repeat
};

/// Decodes plainly and with each gamma in turn, in every repeat, from the same prompts, until each text of a
/// batch of `batch` has at least `tokens` tokens. Texts take the prompts in turn; these are read before the
/// clock starts. Returns nothing if `control` ended it; its progress counts tokens of a text.
ClockedGammas clock_decoding(const Model& target, const Model& draft, const AnyRule& rule,
                             std::span<const std::int32_t> gammas,
                             std::span<const std::vector<Token>> prompts, std::uint64_t seed,
                             std::size_t tokens, std::uint32_t repeats, std::size_t batch, ClockKind clock,
                             const Control& control = {});

}  // namespace speclab
