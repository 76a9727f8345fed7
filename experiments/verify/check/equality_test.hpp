// `speclab check`: does speculative decoding have the target's distribution?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/exact/round_distribution.hpp"
#include "analysis/statistics/goodness_of_fit.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/run/setup.hpp"
#include "sim/control.hpp"

namespace speclab {

/// The section "check" of a config.
struct CheckSection {
  std::int32_t tokens = 3;         ///< first tokens, whose joint distribution is compared
  std::uint32_t samples = 200000;  ///< sequences from each decoder
  double level = 1e-6;             ///< chance of a false alarm
  double power = 0.99;             ///< at which the detectable effect is stated
};

/// What stands for the target's distribution: computed from its rows, or a sample of plain decoding.
enum class EqualityReference { exact_distribution, second_sample };

/// The token at one position, given those before it.
struct PositionEquality {
  std::int32_t position = 0;  ///< from 1
  std::int32_t prefixes = 0;  ///< how many were tested
  double covered = 0;         ///< share of the samples whose prefix was tested
  double pearson = 0;
  std::int32_t degrees = 0;
  double pearson_p = 1;
  std::uint64_t tails = 0;  ///< exact tests of rare tokens
  double tail_p = 1;        ///< the least of them, adjusted for their number
  double adjusted_p = 1;    ///< of Pearson's statistic and the tails
};

/// How likely the sequences are under one distribution of theirs.
struct LikelihoodFit {
  std::string name;                       ///< "target", or the rule with its default parameters
  std::vector<std::string> also = {};     ///< others that give each of the sequences the same probability
  double log_likelihood = 0;              ///< in nats, over the sequences that are possible
  std::uint64_t impossible = 0;           ///< sequences of probability 0
  std::optional<double> adjusted_p = {};  ///< of the first fit: the tests of the sequences against it
};

/// Null: the first `tokens` tokens after the prompt have the same distribution under speculative decoding as
/// under plain decoding of the target. Tested jointly (Pearson, G, and rare sequences by exact tails) and
/// token by token given those before it; Holm's adjustment makes one verdict of them.
struct EqualityResult : FitTest {  // of whole sequences
  bool different = false;
  EqualityReference reference = EqualityReference::exact_distribution;
  std::int32_t tokens = 0;
  std::uint64_t samples_each = 0;
  double level = 0;
  double adjusted_p = 1;
  double pearson_adjusted_p = 1;
  double g_adjusted_p = 1;
  double tail_adjusted_p = 1;
  std::vector<PositionEquality> positions;
  double power = 0;
  /// What is found with probability `power` or more by the joint test alone, at its share of the level:
  double detectable_effect = 0;           ///< Cohen's w between the classes of the test
  double detectable_between_classes = 0;  ///< total variation between these
  double detectable_total_variation = 0;  ///< total variation between sequences
  /// Sequences (of each decoder) of which this test would say that it finds a total variation of 0.01 so:
  /// with the cells that so many fill, the least such number of two digits. Of a second sample, whose cells
  /// are not known beforehand, with the most that there can be.
  std::optional<std::uint64_t> samples_for_one_percent;
  /// What given sequences are like (experiments/verify/check/diagnosis.hpp), when they differ.
  std::optional<std::vector<LikelihoodFit>> diagnosis;
  /// Planted faults that given sequences could not have shown, when no difference was found.
  std::vector<std::string> unseen_faults;
};
template <>
const Typed<EqualityResult>& described();

/// Throws ConfigError for a power that is not above the level, which every test below refuses; asked before
/// models are built.
void require_power(const CheckSection& settings);

/// The distribution of the first `tokens` tokens of plain decoding, computed from the target's rows: for one
/// prompt and at most 100,000 sequences. Empty for more.
std::optional<SequenceDistribution<double>> exact_plain_distribution(const Setup& setup, int tokens);

/// Sequences that `test_equality` decodes.
std::uint64_t equality_workload(const Setup& setup, const CheckSection& settings);

/// The test of given sequences of settings.tokens tokens below `vocab`, one after the other, against their
/// exact distribution; settings.samples is not read. Throws ConfigError when the power is not above the
/// level.
EqualityResult test_against(const SequenceDistribution<double>& exact, std::int32_t vocab,
                            const CheckSection& settings, std::span<const Token> samples);

/// The same against plain decoding of the set-up's target: sequences of settings.tokens tokens, one after the
/// other (below 2^32 of them). None when `control` ended it early. Throws ConfigError when the power is not
/// above the level.
std::optional<EqualityResult> test_samples(const Setup& setup, const CheckSection& settings,
                                           std::span<const Token> samples, const Control& control);

/// The test of sequences decoded by the set-up's rule. None when `control` ended it early; its progress
/// counts sequences. Throws ConfigError when the power is not above the level.
std::optional<EqualityResult> test_equality(const Setup& setup, int gamma, const CheckSection& settings,
                                            const Control& control);

/// One line per test, ending in the verdict.
Listing equality_text(const EqualityResult& result);

}  // namespace speclab
