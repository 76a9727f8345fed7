// Measures the time of model runs and of decoding, in one thread, with models that cache no rows. Timings are
// never part of a result's identity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/any_rule.hpp"
#include "sim/control.hpp"

namespace speclab {

/// Wall time, or the processor time of this thread, which other programs disturb less but which excludes
/// threads that the models start.
enum class ClockKind { wall, processor };

/// Seconds per run by number of new positions: element n - 1 is a run over n positions that computes their
/// rows.
struct RunSeconds {
  std::vector<double> target;
  std::vector<double> draft;
};

/// Returns medians over `starts`. At each start, rounds of 0, 1, ..., most - 1 drafted tokens are run along
/// every text in the order of decoding, since earlier runs change a run's time: a target run over the same
/// number of positions, draft runs, then the timed target run. The draft's second entry is the time of a run
/// with two new tokens, as after a round that accepted everything, including the time that it adds to the
/// next run. Several texts form a batch: models that can run them together do so, and these runs are timed
/// together. Requires start > most >= 2, and texts with `most`, and at least 3, tokens from `start` on.
RunSeconds measure_runs(const Model& target, const Model& draft, std::span<const std::vector<Token>> texts,
                        std::span<const std::size_t> starts, std::size_t most, ClockKind clock);

struct ClockedDecode {
  double seconds = 0;
  std::uint64_t tokens = 0;
  std::uint64_t rounds = 0;
};

struct ClockedGammas {
  std::vector<ClockedDecode> plain;                ///< by repeat
  std::vector<std::vector<ClockedDecode>> gammas;  ///< by gamma, then repeat
};

/// In every repeat, decodes once without speculation and once with each gamma, from the same prompts, until
/// each text of a batch of `batch` has at least `tokens` tokens. Texts cycle through the prompts, which are
/// read before the clock starts. Returns nothing if `control` stopped it; its progress counts tokens of a
/// text.
ClockedGammas clock_decoding(const Model& target, const Model& draft, const AnyRule& rule,
                             std::span<const std::int32_t> gammas,
                             std::span<const std::vector<Token>> prompts, std::uint64_t seed,
                             std::size_t tokens, std::uint32_t repeats, std::size_t batch, ClockKind clock,
                             const Control& control = {});

}  // namespace speclab
