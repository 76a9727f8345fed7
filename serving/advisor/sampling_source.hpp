// Sources of the rows of `speclab plan sampling`: a pair with few contexts, whose text is known exactly; a
// text drawn from the target of any pair; or a recording with rows.
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

/// Rows of both models in the contexts of the target's text, for one setting of the target's sampling.
struct SampledRows {
  std::size_t vocab = 0;
  std::vector<double> target;         ///< [contexts, vocab], from which the target samples
  std::vector<double> draft;          ///< [contexts, vocab], at temperature 1, all tokens
  std::vector<double> share;          ///< share of each context in the text; sums to 1
  std::vector<std::size_t> sequence;  ///< ends of sequences of contexts; empty if nothing was drawn
  /// Returns the tokens per target step with `gamma` drafted tokens, where the draft samples from rows
  /// [contexts, vocab]; null if no text is known for this setting.
  std::function<std::optional<Interval>(TextRule rule, std::span<const double> draft, int gamma,
                                        double confidence)>
      tokens = nullptr;

  std::size_t contexts() const { return share.size(); }
};

struct SamplingSource {
  std::string what;    ///< description of the text: "3 contexts, exactly"
  bool exact = false;  ///< the text has no sampling error
  /// Returns nothing when `control` ended it early.
  std::function<std::optional<SampledRows>(const Adjustment& target, const Control& control)> rows;
};

/// How much text is drawn for pairs that have too many contexts.
struct TextSize {
  std::uint32_t sequences = 32;
  std::size_t tokens = 32;  ///< tokens of each text
};

/// Returns the source of a pair. `simulation` has prompts and seed. The source is exact for pairs of at most
/// max_direct_states contexts whose rounds of `gamma` tokens have at most 4e6 texts; otherwise texts are
/// drawn. Throws UsageError if the rows need more than memory.
SamplingSource sampling_source(const Model& target, const Model& draft, const SimulationSize& simulation,
                               const TextSize& size, int gamma);

/// Returns the source of a config's pair, which must have no sampling options of its own. Throws ConfigError.
SamplingSource sampling_source(const Config& config, const TextSize& size, int gamma);

/// Returns the source of a recording with rows of both models: whole rows, or the largest entries of each;
/// rows are then over the union of their tokens. The recorded text was drawn at `text_temperature`. Throws
/// UsageError for recordings without rows.
SamplingSource sampling_source_of_recording(const std::string& file, const std::string& draft,
                                            double text_temperature = 1);

}  // namespace speclab
