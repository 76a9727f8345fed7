// `speclab check`: tests whether speculative decoding has the target's distribution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
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
  std::int32_t tokens = 3;         ///< tokens after the prompt whose joint distribution is compared
  std::uint32_t samples = 200000;  ///< number of sequences from each decoder
  double level = 1e-6;             ///< false-alarm probability
  double power = 0.99;             ///< power at which the detectable effect is stated
};

/// The reference distribution: computed from the target's rows, or sampled token by token.
enum class EqualityReference { exact_distribution, second_sample };

/// Tests of the token at one position, given the tokens before it (its prefix): added up over prefixes.
struct PositionEquality : FitTest {
  std::int32_t position = 0;  ///< counted from 1
  std::int32_t prefixes = 0;  ///< number of prefixes tested
  double covered = 0;         ///< share of samples whose prefix was tested
  double adjusted_p = 1;      ///< adjusted FitTest::p
};

/// The samples' likelihood under one distribution.
struct LikelihoodFit {
  std::string name;                       ///< "target", or the rule with its default parameters
  std::vector<std::string> also = {};     ///< rules that give each sequence the same probability
  double log_likelihood = 0;              ///< in nats, over sequences with probability above 0
  std::uint64_t impossible = 0;           ///< number of sequences with probability 0
  std::optional<double> adjusted_p = {};  ///< of testing the samples against it; first fit only
};

/// Tests the null hypothesis that the first `tokens` tokens after the prompt have the same distribution under
/// speculative decoding as under the target. The tests are joint (Pearson and G together, and exact tails for
/// rare sequences), and token by token given those before; Holm's adjustment combines them into one verdict.
struct EqualityResult : FitTest {  // The base is the joint test of whole sequences.
  bool different = false;
  EqualityReference reference = EqualityReference::exact_distribution;
  std::int32_t tokens = 0;
  std::uint64_t samples_each = 0;
  double level = 0;
  double adjusted_p = 1;
  double cells_adjusted_p = 1;  ///< of FitTest::cells_p
  double tail_adjusted_p = 1;
  std::vector<PositionEquality> positions;
  double power = 0;
  /// Differences that the joint test alone, at its share of the level, finds with at least probability
  /// `power`:
  /// Cohen's w between the classes that Pearson's χ² finds, where all expected counts are large. A difference
  /// in few rare classes needs a larger one, because G must reject, too.
  double detectable_effect = 0;
  double detectable_between_classes = 0;  ///< total variation between the classes
  double detectable_total_variation = 0;  ///< total variation between sequences
  /// Fewest sequences per decoder, to two digits, with which this test would find a total variation of 0.01
  /// in this way, given the cells that so many sequences fill. The cells of a second sample are unknown
  /// beforehand; their largest possible number is assumed.
  std::optional<std::uint64_t> samples_for_one_percent;
  /// The distributions that fit given sequences best, if they differ (diagnosis.hpp).
  std::optional<std::vector<LikelihoodFit>> diagnosis;
  /// Planted faults that given sequences cannot show, if no difference was found.
  std::optional<std::vector<std::string>> unseen_faults;
  std::optional<std::string> texts;  ///< where the sequences begin: "after the prompt 0"
  /// Says what the sequences cannot show of a round, if they showed no difference.
  std::optional<std::string> not_compared;
};
SPECLAB_IS_DESCRIBED(EqualityResult);

/// Throws ConfigError unless the power is above the level. All tests below do so; calling this first avoids
/// building models in vain.
void require_power(const CheckSection& settings);

/// Computes the target's distribution of the first `tokens` tokens from its rows; empty unless there is one
/// prompt and at most 100,000 sequences.
std::optional<SequenceDistribution<double>> exact_plain_distribution(const Setup& setup, int tokens);

/// Returns the number of sequences that `test_equality` decodes.
std::uint64_t equality_workload(const Setup& setup, const CheckSection& settings);

/// Tests given sequences against their exact distribution. `samples` holds sequences of settings.tokens
/// tokens below `vocab`, one after the other; settings.samples is not read. Throws ConfigError unless the
/// power is above the level.
EqualityResult test_against(const SequenceDistribution<double>& exact, std::int32_t vocab,
                            const CheckSection& settings, std::span<const Token> samples);

/// Tests given sequences against the set-up's target. `samples` holds fewer than 2^32 sequences of
/// settings.tokens tokens, one after the other. Returns nothing if `control` ended it early. Throws
/// ConfigError unless the power is above the level.
std::optional<EqualityResult> test_samples(const Setup& setup, const CheckSection& settings,
                                           std::span<const Token> samples, const Control& control);

/// Tests sequences decoded by the set-up's rule. Progress counts sequences. Returns nothing if `control`
/// ended it early. Throws ConfigError unless the power is above the level.
std::optional<EqualityResult> test_equality(const Setup& setup, int gamma, const CheckSection& settings,
                                            const Control& control);

/// Returns one line per test, then the verdict.
Listing equality_text(const EqualityResult& result);
std::string equality_headline(const EqualityResult& result);
/// Returns a figure of each test's adjusted p-value beside the level.
std::vector<Figure> equality_figures(const EqualityResult& result);

/// Reads sequences emitted by another program. Returns the first `length` tokens of every sequence of a file,
/// concatenated. The file holds JSON lines, each a list of ids or {"tokens": [...]}; or (.npy) a NumPy array
/// of integers, one sequence per row; or (.npz) one such array. Throws ConfigError, naming the line or row,
/// for anything else, for shorter sequences, and for ids outside [0, vocab).
std::vector<Token> read_samples(const std::filesystem::path& file, std::size_t length, std::int32_t vocab);

}  // namespace speclab
