// Binds tests of sequences that serving engines emitted (speclab.audit).
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "analysis/statistics/goodness_of_fit.hpp"
#include "analysis/statistics/multiple_tests.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "experiments/base/command/print_result.hpp"
#include "experiments/verify/check/diagnosis.hpp"
#include "experiments/verify/check/equality_test.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/configs.hpp"
#include "python/bindings/watch.hpp"

namespace speclab::python {

namespace {

using Sequences = nb::ndarray<const Token, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const Token> tokens_of(const Sequences& sequences) { return {sequences.data(), sequences.size()}; }

/// Runs `speclab check CONFIG --samples` on sequences of check.tokens ids below the vocabulary; returns its
/// JSON.
std::string check_emitted(const ConfigText& text, const Sequences& emitted) {
  const Config config = read_config(text);
  Watch watch;
  const std::optional<EqualityResult> result = watch.run([&] {
    return about(text, [&] {
      const auto& settings = config.section<CheckSection>();
      if (emitted.shape(1) != static_cast<std::size_t>(settings.tokens))
        throw ConfigError("/check/tokens", "is not the length of the sequences");
      const Setup setup = build_setup(config);
      return test_and_diagnose(setup, config.gamma, settings, tokens_of(emitted), watch.control(0));
    });
  });
  if (!result) throw std::runtime_error("the test was stopped early");
  return json_text_of(*result);
}

/// Returns the total variation between the cells of the joint test that `samples` sequences of this config
/// detect with probability check.power, as EqualityResult states it; it is known before any sequence is
/// drawn.
double detectable_before(const ConfigText& text, std::uint64_t samples) {
  const Config config = read_config(text);
  Watch watch;
  return watch.run([&] {
    return about(text, [&] {
      const auto& settings = config.section<CheckSection>();
      const Setup setup = build_setup(config);
      const auto exact = exact_plain_distribution(setup, settings.tokens);
      if (!exact) throw ConfigError("/check/tokens", "too many sequences to enumerate");
      return detectable_jointly(*exact, setup.target.vocab(), static_cast<std::size_t>(settings.tokens),
                                samples, settings.level, settings.power)
          .between_cells;
    });
  });
}

nb::dict dict_of(const FitTest& test, double p) {
  nb::dict out;
  out["pearson"] = test.pearson;
  out["degrees"] = test.degrees;
  out["p"] = p;
  out["impossible"] = test.impossible;
  out["samples"] = test.samples;
  return out;
}

/// Tests whether two samples have one distribution, by the joint test of whole sequences; "adjusted_p" is the
/// p-value of all tests together.
nb::dict two_samples(const Sequences& first, const Sequences& second) {
  Watch watch;
  const SequenceTests tests = watch.run(
      [&] { return two_sample_sequence_tests(tokens_of(first), tokens_of(second), first.shape(1)); });
  nb::dict out = dict_of(tests.joint, tests.joint.cells_p());
  out["adjusted_p"] = tests.adjusted_p();
  return out;
}

/// Tests counts of the tokens that came after each token against the rows: the sum of one test per row, with
/// exact tests of rare tokens.
nb::dict transitions(const Counts& counts, const Rows& rows) {
  std::vector<FitTest> tests;
  const std::size_t vocab = rows.shape(1);
  for (std::size_t row = 0; row < rows.shape(0); ++row) {
    tests.push_back(fit_test({counts.data() + row * vocab, vocab}, {rows.data() + row * vocab, vocab},
                             minimum_expectation_for_power));
  }
  const FitTest sum = sum_of_tests(tests);
  return dict_of(sum, sum.p());
}

}  // namespace

void bind_engines(nb::module_& module) {
  module.def("check_emitted", &check_emitted, nb::arg("config"), nb::arg("emitted"));
  module.def("detectable_before", &detectable_before, nb::arg("config"), nb::arg("samples"));
  module.def("two_samples", &two_samples, nb::arg("first"), nb::arg("second"));
  module.def("transitions", &transitions, nb::arg("counts"), nb::arg("rows"));
  module.def(
      "holm", [](const std::vector<double>& p_values) { return holm_adjusted(p_values); },
      nb::arg("p_values"));
}

}  // namespace speclab::python
