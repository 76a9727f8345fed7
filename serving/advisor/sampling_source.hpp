// Where the rows of `speclab plan sampling` come from: a pair with few contexts, whose text is known exactly;
// a text that any pair's target draws; or a recording with rows.
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
  std::vector<double> target;         ///< [contexts, vocab], as the target samples from
  std::vector<double> draft;          ///< [contexts, vocab], at temperature 1, all tokens
  std::vector<double> share;          ///< of each context in the text; sums to 1
  std::vector<std::size_t> sequence;  ///< ends of sequences of contexts; empty where nothing was drawn
  /// Tokens a target step with `gamma` drafted tokens of rows [contexts, vocab]; null where no text is known
  /// for this setting.
  std::function<std::optional<Interval>(TextRule rule, std::span<const double> draft, int gamma,
                                        double confidence)>
      tokens = nullptr;

  std::size_t contexts() const { return share.size(); }
};

struct SamplingSource {
  std::string what;    ///< words: "3 contexts, exactly"
  bool exact = false;  ///< without an error of sampling
  /// None when the control ended it early.
  std::function<std::optional<SampledRows>(const Adjustment& target, const Control& control)> rows;
};

/// How much text is drawn of pairs that have no few contexts.
struct TextSize {
  std::uint32_t sequences = 32;
  std::size_t tokens = 32;  ///< of each
};

/// `simulation` has prompts and seed. Exact for pairs of at most max_direct_states contexts whose rounds of
/// `gamma` tokens have at most 4e6 texts; else texts are drawn. Throws UsageError for more rows than memory.
SamplingSource sampling_source(const Model& target, const Model& draft, const SimulationSize& simulation,
                               const TextSize& size, int gamma);

/// Of a config's pair, whose own sampling options must be none. Throws ConfigError.
SamplingSource sampling_source(const Config& config, const TextSize& size, int gamma);

/// Of a recording with rows of both models, whole ones or the largest of each: then over the tokens of
/// either. Its text was drawn at `text_temperature`. Throws UsageError for recordings without.
SamplingSource sampling_source_of_recording(const std::string& file, const std::string& draft,
                                            double text_temperature = 1);

}  // namespace speclab
