// Binds tests of whether samples have a given distribution.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/round_distribution.hpp"
#include "analysis/statistics/fit_power.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "experiments/verify/check/equality_test.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/numbers.hpp"
#include "python/bindings/watch.hpp"
#include "sim/models/model.hpp"

namespace speclab::python {

namespace {

using Samples = nb::ndarray<const Token, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// A distribution of sequences of one length, from a dict of tuples.
class Law {
 public:
  Law(const nb::dict& given, std::int32_t vocab, std::size_t length) : vocab_(vocab), length_(length) {
    for (const auto [tokens, probability] : given) {
      std::vector<Token> sequence;
      for (const nb::handle token : nb::borrow<nb::tuple>(tokens)) sequence.push_back(nb::cast<Token>(token));
      distribution_[std::move(sequence)] = nb::cast<double>(nb::float_(probability));
    }
  }

  /// Returns the test as JSON, and its text.
  nb::tuple test(const Samples& samples, double level, double power) const {
    CheckSection settings;
    settings.tokens = static_cast<std::int32_t>(length_);
    settings.level = level;
    settings.power = power;
    Watch watch;
    const auto [text, words] = watch.run([&] {
      const EqualityResult result =
          test_against(distribution_, vocab_, settings, std::span(samples.data(), samples.size()));
      Json json;
      write(described<EqualityResult>(), result, json);
      return std::pair(json.dump(), terminal(equality_text(result)));
    });
    return nb::make_tuple(text, words);
  }

 private:
  SequenceDistribution<double> distribution_;
  std::int32_t vocab_;
  std::size_t length_;
};

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

}  // namespace

void bind_tests(nb::module_& module) {
  nb::class_<Law>(module, "Law")
      .def(nb::init<const nb::dict&, std::int32_t, std::size_t>(), nb::arg("law"), nb::arg("vocab"),
           nb::arg("length"))
      .def("test", &Law::test, nb::arg("samples"), nb::arg("level"), nb::arg("power"));
  module.def("samples_for", &samples_for, nb::arg("sequences"), nb::arg("length"), nb::arg("distance"),
             nb::arg("level"), nb::arg("power"));
  module.def("plain_law", &plain_law, nb::arg("target"), nb::arg("context"), nb::arg("length"));
}

}  // namespace speclab::python
