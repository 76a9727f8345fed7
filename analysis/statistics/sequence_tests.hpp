// Tests whether a decoder has the target's distribution, on token sequences: jointly, and token by token
// given the preceding tokens. Marginals of single positions are not tested, because all of them can be right
// while every conditional is wrong.
//
// A sample holds independent sequences of `length` tokens each, in sequence.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/exact/round_distribution.hpp"
#include "analysis/statistics/fit_power.hpp"
#include "core/token.hpp"

namespace speclab {

/// Tests the token at one position, given the tokens before it: the sum of one test for each prefix that is
/// seen often enough for two cells, or for one cell and rare tokens. Given the prefixes the tests are
/// independent, so statistics and degrees add.
struct PositionTest {
  FitTest sum;         ///< its p() is the p-value of this position
  int prefixes = 0;    ///< number of prefixes tested
  double covered = 0;  ///< share of the samples whose prefix was tested
};

struct SequenceTests {
  FitTest
      joint;  ///< test of sequences as classes; rare ones adjacent in the order of their tokens form a group
  std::uint64_t own_cells = 0;          ///< sequences with their own cell, in a test of two samples
  std::vector<PositionTest> positions;  ///< one per position

  /// Returns the number of p-values before those of the positions: that of the cells of whole sequences, and
  /// of the tails of rare sequences if there are any.
  std::size_t joint_tests() const { return joint.tails > 0 ? 2 : 1; }
  /// Returns these p-values, then one per position (1 if no prefix could be tested).
  std::vector<double> p_values() const;
  /// Returns the smallest of them after Holm's adjustment: at most `level` with probability `level` under the
  /// null.
  double adjusted_p() const;
};

/// Tests whether two samples have one distribution. Expectations come from both samples together, which the
/// null fixes, so neither grouping classes nor the choice of prefixes biases a test.
SequenceTests two_sample_sequence_tests(std::span<const Token> first, std::span<const Token> second,
                                        std::size_t length, double minimum = minimum_expectation_for_power);

/// Tests samples against an exactly known distribution: half the samples give the same power as a two-sample
/// test.
class ExactSequenceTests {
 public:
  /// `distribution` gives sequences of `length` tokens below `vocab`, or shorter ones that end because their
  /// next row is invalid; absent sequences are impossible.
  ExactSequenceTests(const SequenceDistribution<double>& distribution, std::int32_t vocab, std::size_t length,
                     double minimum = minimum_expectation_for_power);

  /// Tests any number of sequences.
  SequenceTests test(std::span<const Token> sample) const;

 private:
  PositionTest position_test(std::span<const Token> sample, std::size_t position) const;

  std::size_t length_;
  double minimum_;
  std::unordered_map<std::uint64_t, std::uint32_t> class_of_;  ///< by hash of the sequence
  std::vector<double> probabilities_;  ///< by class; the last, of probability 0, has all other sequences
  /// For each position, the probabilities of the next tokens, by hash of the prefix.
  std::vector<std::unordered_map<std::uint64_t, std::vector<double>>> next_;
};

/// Returns a level below the one that Holm's procedure leaves the joint test if only it rejects: it counts
/// one p-value too many, because Pearson's statistic and G must both reject.
double joint_level(double level, std::size_t length, bool rare);

/// Returns the differences that the joint test of ExactSequenceTests finds in `samples` samples with
/// probability `power`, at its `joint_level`.
DetectableDifference detectable_jointly(const SequenceDistribution<double>& distribution, std::int32_t vocab,
                                        std::size_t length, std::uint64_t samples, double level, double power,
                                        double minimum = minimum_expectation_for_power);

/// Returns the largest number of degrees of freedom that the joint test of two samples can have with
/// `samples_each`, given an earlier test: its samples in rare sequences may be spread over sequences that
/// barely get a cell. There are at most `sequences` sequences.
double max_joint_degrees(const SequenceTests& two_samples, std::uint64_t samples_each, double sequences,
                         double minimum = minimum_expectation_for_power);

}  // namespace speclab
