#include "experiments/studies/walltime/measured_pair.hpp"

#include <algorithm>

#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/config_error.hpp"

namespace speclab {

namespace {

/// The number of places along each text at which runs are timed.
constexpr std::size_t places_a_text = 8;

std::vector<double> medians_of(const std::vector<std::vector<double>>& times) {
  std::vector<double> all;
  for (const auto& some : times) all.push_back(median(some));
  return all;
}

}  // namespace

std::optional<MeasuredPair> measure_pair(const Setup& setup, const PairMeasurement& how,
                                         const Control& control) {
  const std::size_t room = std::max<std::size_t>(how.positions, 3);
  if (how.tokens < 2 * room + places_a_text) {
    throw ConfigError("/walltime/tokens", "{} are too few to time runs over {} positions; give at least {}",
                      how.tokens, how.positions, 2 * room + places_a_text);
  }
  Setup alone = setup;
  alone.simulation.trials = how.texts;
  MeasuredPair found{record_pair(alone, how.tokens, {.stop = control.stop}), {}};
  if (found.text.partial) return std::nullopt;

  std::vector<std::vector<Token>> texts;
  for (std::uint32_t trial = 0; trial < how.texts; ++trial) {
    texts.push_back(setup.simulation.prompt(trial));
    const auto first = found.text.tokens.begin() + static_cast<std::ptrdiff_t>(trial * how.tokens);
    texts.back().insert(texts.back().end(), first, first + static_cast<std::ptrdiff_t>(how.tokens));
  }
  for (const std::int32_t batch : how.batches) {
    std::vector<std::vector<double>> target(how.positions);
    std::vector<std::vector<double>> draft(2);
    for (std::size_t trial = 0; trial < texts.size(); ++trial) {
      if (control.stop()) return std::nullopt;
      // The places of a batch are those of its shortest text.
      std::vector<std::vector<Token>> together;
      std::size_t length = texts[trial].size();
      for (std::size_t i = 0; i < static_cast<std::size_t>(batch); ++i) {
        together.push_back(texts[(trial + i) % texts.size()]);
        length = std::min(length, together.back().size());
      }
      std::vector<std::size_t> starts;
      for (std::size_t i = 0; i < places_a_text; ++i) {
        // leaves room for a run before and after
        starts.push_back(length - how.tokens + room + 1 + i * (how.tokens - 2 * room - 1) / places_a_text);
      }
      const RunSeconds here =
          measure_runs(setup.target, setup.draft, together, starts, how.positions, how.clock);
      for (std::size_t i = 0; i < target.size(); ++i) target[i].push_back(here.target[i]);
      for (std::size_t i = 0; i < draft.size(); ++i) draft[i].push_back(here.draft[i]);
    }
    found.runs.push_back({medians_of(target), medians_of(draft)});
  }
  return found;
}

}  // namespace speclab
