// `speclab check`: tests whether speculative decoding has the target's distribution.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/exact/round_distribution.hpp"
#include "analysis/statistics/goodness_of_fit.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/run/setup.hpp"
#include "sim/control.hpp"

namespace speclab {

/// The section "check" of a config.
struct CheckSection {
  std::int32_t tokens = 3;         ///< number of first tokens whose joint distribution is compared
  std::uint32_t samples = 200000;  ///< number of sequences from each decoder
  double level = 1e-6;             ///< probability of a false alarm
  double power = 0.99;             ///< power for which the detectable effect is stated
};

/// The reference for the target's distribution: computed from its rows, or a sample of plain decoding.
enum class EqualityReference { exact_distribution, second_sample };

/// The tests of the token at one position, given the tokens before it.
struct PositionEquality {
  std::int32_t position = 0;  ///< counted from 1
  std::int32_t prefixes = 0;  ///< number of prefixes tested
  double covered = 0;         ///< share of the samples whose prefix was tested
  double pearson = 0;
  std::int32_t degrees = 0;
  double pearson_p = 1;
  std::uint64_t tails = 0;  ///< number of exact tests of rare tokens
  double tail_p = 1;        ///< smallest p-value of those tests, adjusted for their number
  double adjusted_p = 1;    ///< adjusted p-value of Pearson's statistic and the tails
};

/// The likelihood of the sequences under one distribution.
struct LikelihoodFit {
  std::string name;                    ///< "target", or the rule with its default parameters
  std::vector<std::string> also = {};  ///< other rules that give each of the sequences the same probability
  double log_likelihood = 0;           ///< in nats, over the possible sequences
  std::uint64_t impossible = 0;        ///< number of sequences with probability 0
  std::optional<double> adjusted_p = {};  ///< only in the first fit: of the tests of the sequences against it
};

/// The result of testing whether the first `tokens` tokens after the prompt have the same distribution under
/// speculative decoding as under plain decoding of the target (the null hypothesis). They are tested jointly
/// (Pearson, G, and rare sequences by exact tails) and token by token given those before; Holm's adjustment
/// combines the tests into one verdict.
struct EqualityResult : FitTest {  // The base is the joint test of whole sequences.
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
  /// Differences that the joint test alone finds with probability `power` or more, at its share of the level:
  double detectable_effect = 0;           ///< Cohen's w between the classes of the test
  double detectable_between_classes = 0;  ///< total variation between the classes
  double detectable_total_variation = 0;  ///< total variation between sequences
  /// The least number of sequences of each decoder, with two significant digits, with which this test would
  /// find a total variation of 0.01 in this way, given the cells that so many sequences fill. The cells of a
  /// second sample are not known beforehand: there, the largest possible number of cells is assumed.
  std::optional<std::uint64_t> samples_for_one_percent;
  /// The distributions that given sequences fit best, if they differ
  /// (experiments/verify/check/diagnosis.hpp).
  std::optional<std::vector<LikelihoodFit>> diagnosis;
  /// The planted faults that given sequences could not have shown, if no difference was found.
  std::vector<std::string> unseen_faults;
};
template <>
const Typed<EqualityResult>& described();

/// Throws ConfigError if the power is not above the level. Every test below does so; this check can come
/// before models are built.
void require_power(const CheckSection& settings);

/// Computes the distribution of the first `tokens` tokens of plain decoding from the target's rows. Empty
/// unless there is one prompt and at most 100,000 sequences.
std::optional<SequenceDistribution<double>> exact_plain_distribution(const Setup& setup, int tokens);

/// Returns the number of sequences that `test_equality` decodes.
std::uint64_t equality_workload(const Setup& setup, const CheckSection& settings);

/// Tests given sequences against their exact distribution. `samples` holds sequences of settings.tokens
/// tokens below `vocab`, one after the other; settings.samples is not read. Throws ConfigError if the power
/// is not above the level.
EqualityResult test_against(const SequenceDistribution<double>& exact, std::int32_t vocab,
                            const CheckSection& settings, std::span<const Token> samples);

/// Tests given sequences against plain decoding of the set-up's target. `samples` holds sequences of
/// settings.tokens tokens, one after the other (fewer than 2^32 sequences). Returns nothing if `control`
/// ended the work early. Throws ConfigError if the power is not above the level.
std::optional<EqualityResult> test_samples(const Setup& setup, const CheckSection& settings,
                                           std::span<const Token> samples, const Control& control);

/// Tests sequences decoded by the set-up's rule. Returns nothing if `control` ended the work early; its
/// progress counts sequences. Throws ConfigError if the power is not above the level.
std::optional<EqualityResult> test_equality(const Setup& setup, int gamma, const CheckSection& settings,
                                            const Control& control);

/// Returns one line per test, and the verdict at the end.
Listing equality_text(const EqualityResult& result);
std::string equality_headline(const EqualityResult& result);
/// Returns a figure of each test's adjusted p-value beside the level.
std::vector<Figure> equality_figures(const EqualityResult& result);

}  // namespace speclab
