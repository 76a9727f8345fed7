// Binds tests of whether samples have a given distribution.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "analysis/exact/context_rows.hpp"
#include "analysis/exact/round_distribution.hpp"
#include "analysis/statistics/fit_power.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "experiments/base/command/print_result.hpp"
#include "experiments/verify/check/equality_test.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/numbers.hpp"
#include "python/bindings/watch.hpp"
#include "sim/models/model.hpp"

namespace speclab::python {

namespace {

using Samples = nb::ndarray<const Token, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Tests samples against a distribution of sequences of their length, a dict from tuples to probabilities.
/// Returns JSON and text.
nb::tuple check_samples(const Samples& samples, const nb::dict& law, std::int32_t vocab, double level,
                        double power) {
  SequenceDistribution<double> distribution;
  for (const auto [tokens, probability] : law) {
    std::vector<Token> sequence;
    for (const nb::handle token : nb::borrow<nb::tuple>(tokens)) sequence.push_back(nb::cast<Token>(token));
    distribution[std::move(sequence)] = nb::cast<double>(nb::float_(probability));
  }
  CheckSection settings{
      .tokens = static_cast<std::int32_t>(samples.shape(1)), .level = level, .power = power};
  Watch watch;
  const auto [text, words] = watch.run([&] {
    const EqualityResult result =
        test_against(distribution, vocab, settings, std::span(samples.data(), samples.size()));
    return std::pair(json_text_of(result), terminal(equality_text(result)));
  });
  return nb::make_tuple(text, words);
}

/// Returns the number of samples with which the joint test of distributions over `sequences` sequences finds
/// a total variation of `distance` with probability `power`, at its share of `level`.
std::uint64_t samples_for(std::size_t sequences, std::size_t length, double distance, double level,
                          double power) {
  if (sequences < 2) {
    // With a single sequence of positive probability, any other sequence decides.
    return static_cast<std::uint64_t>(std::ceil(std::min(std::log1p(-power) / std::log1p(-distance), 1e18)));
  }
  return planned_samples(2 * distance, static_cast<int>(sequences) - 1, joint_level(level, length, false),
                         power);
}

/// Returns the distribution of the first `length` tokens of decoding without a draft: a dict from tuples to
/// probabilities.
nb::dict plain_law(const Model& target, const std::vector<Token>& context, std::size_t length) {
  Watch watch;
  const SequenceDistribution<double> distribution =
      watch.run([&] { return plain_distribution<double>(target, context, length); });
  nb::dict law;
  for (const auto& [tokens, probability] : distribution) law[python_tuple(tokens)] = probability;
  return law;
}

/// Calls rows_alike with the target's sequences of `most` tokens.
bool alike(const Model& model, const Model& target, const std::vector<Token>& context, std::size_t most) {
  Watch watch;
  return watch.run([&] {
    return rows_alike<double>(model, context, plain_distribution<double>(target, context, most), most);
  });
}

}  // namespace

void bind_tests(nb::module_& module) {
  module.def("check_samples", &check_samples, nb::arg("samples"), nb::arg("law"), nb::arg("vocab"),
             nb::arg("level"), nb::arg("power"));
  module.def("samples_for", &samples_for, nb::arg("sequences"), nb::arg("length"), nb::arg("distance"),
             nb::arg("level"), nb::arg("power"));
  module.def("plain_law", &plain_law, nb::arg("target"), nb::arg("context"), nb::arg("length"));
  module.def("rows_alike", &alike, nb::arg("model"), nb::arg("target"), nb::arg("context"), nb::arg("most"));
}

}  // namespace speclab::python
