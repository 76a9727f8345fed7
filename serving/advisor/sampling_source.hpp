// Sources of rows for `speclab plan sampling`: a pair with few contexts, whose text is known exactly; a text
// drawn from the target; or a recording with rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/exact/text_rounds.hpp"
#include "analysis/statistics/intervals.hpp"
#include "core/distribution/transforms.hpp"
#include "sim/control.hpp"
#include "sim/models/model.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

struct Config;

/// Both models' rows in the contexts of the target's text, for one setting of the target's sampling.
struct SampledRows {
  std::size_t vocab = 0;
  std::vector<double> target;         ///< [contexts, vocab]; the target samples from these
  std::vector<double> draft;          ///< [contexts, vocab]; at temperature 1, all tokens
  std::vector<double> share;          ///< share of the text in each context; sums to 1
  std::vector<std::size_t> sequence;  ///< end index of each drawn sequence; empty if exact
  /// Returns tokens per target step with `gamma` drafted tokens, drawn from the rows `draft` [contexts,
  /// vocab]; null if no text is known for this setting.
  std::function<std::optional<Interval>(TextRule rule, std::span<const double> draft, int gamma,
                                        double confidence)>
      tokens = nullptr;

  std::size_t contexts() const { return share.size(); }
};

struct SamplingSource {
  std::string what;    ///< description: "3 contexts, exactly"
  bool exact = false;  ///< the text has no sampling error
  /// Returns nothing if `control` ended it early.
  std::function<std::optional<SampledRows>(const Adjustment& target, const Control& control)> rows;
};

/// Amount of text to draw for pairs with too many contexts.
struct TextSize {
  std::uint32_t sequences = 32;
  std::size_t tokens = 32;  ///< tokens of each text
};

/// Returns a pair's source. `simulation` holds prompts and seed. It is exact for at most max_direct_states
/// contexts whose rounds of `gamma` tokens have at most 4e6 texts; otherwise texts are drawn. Throws
/// UsageError if memory cannot hold the rows.
SamplingSource sampling_source(const Model& target, const Model& draft, const SimulationSize& simulation,
                               const TextSize& size, int gamma);

/// Returns the source of a config's pair, which must have no sampling options. Throws ConfigError.
SamplingSource sampling_source(const Config& config, const TextSize& size, int gamma);

/// Returns the source of a recording with both models' rows: whole, or the largest entries of each, over the
/// union of their tokens. The text was drawn at `text_temperature`. Throws UsageError for recordings without
/// rows.
SamplingSource sampling_source_of_recording(const std::string& file, const std::string& draft,
                                            double text_temperature = 1);

}  // namespace speclab
