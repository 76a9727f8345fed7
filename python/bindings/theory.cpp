// Binds closed forms, and acceptance rates of rows.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "analysis/exact/text_rounds.hpp"
#include "analysis/statistics/intervals.hpp"
#include "analysis/statistics/sample_intervals.hpp"
#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "core/stop.hpp"
#include "experiments/base/command/print_result.hpp"
#include "experiments/studies/decode/prediction.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/row_fault.hpp"
#include "python/bindings/watch.hpp"
#include "sim/parallel.hpp"

namespace speclab::python {

namespace {

template <class Scalar>
using RowArray = nb::ndarray<const Scalar, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Written = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Calls of(target row, draft row) for every pair of rows.
template <class Scalar, class Of>
void by_row(const RowArray<Scalar>& target, const RowArray<Scalar>& draft, const Written& written,
            const Of& of) {
  const std::size_t vocab = target.shape(1);
  const Scalar* const targets = target.data();
  const Scalar* const drafts = draft.data();
  double* const out = written.data();
  const std::size_t rows = target.shape(0);
  const std::size_t some = 1 + 16384 / (vocab + 1);
  const auto part = [&](std::size_t index) {
    end_if_stopped();
    for (std::size_t i = index * some; i < std::min(rows, (index + 1) * some); ++i)
      out[i] = of(targets + i * vocab, drafts + i * vocab, static_cast<std::int32_t>(vocab));
  };
  const std::size_t parts = (rows + some - 1) / some;
  Watch watch;
  watch.run([&] { parts == 1 ? part(0) : for_each_index(parts, part); });
}

template <class Scalar>
void overlaps(const RowArray<Scalar>& target, const RowArray<Scalar>& draft, const Written& out) {
  by_row(target, draft, out, [](const Scalar* p, const Scalar* q, std::int32_t vocab) {
    const auto scale = [vocab](const Scalar* row) {
      return 1 / sum_terms<double>(0, vocab, [row](std::int32_t i) { return row[i]; });
    };
    return sum_terms<double>(0, vocab, [p, q, a = scale(p), b = scale(q)](std::int32_t i) {
      return std::min(p[i] * a, q[i] * b);
    });
  });
}

/// Computes overlaps from log-probabilities.
template <class Scalar>
void log_overlaps(const RowArray<Scalar>& target, const RowArray<Scalar>& draft, const Written& out) {
  by_row(target, draft, out, [](const Scalar* p, const Scalar* q, std::int32_t vocab) {
    return sum_terms<double>(0, vocab, [p, q](std::int32_t i) {
      return std::exp(static_cast<double>(p[i] < q[i] ? p[i] : q[i]));
    });
  });
}

template <class Scalar>
bool are_distributions(const RowArray<Scalar>& rows) {
  const auto vocab = static_cast<std::int32_t>(rows.shape(1));
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    if (fault_of(BasicRow<Scalar>{rows.data() + i * rows.shape(1), vocab}) != nullptr) return false;
  }
  return true;
}

template <class Scalar>
void bind_overlaps(nb::module_& module) {
  module.def("overlaps", &overlaps<Scalar>, nb::arg("target").noconvert(), nb::arg("draft").noconvert(),
             nb::arg("out"));
  module.def("are_distributions", &are_distributions<Scalar>, nb::arg("rows").noconvert());
  module.def("log_overlaps", &log_overlaps<Scalar>, nb::arg("target").noconvert(),
             nb::arg("draft").noconvert(), nb::arg("out"));
}

/// Returns the expected target steps of a text, by the token before it, for rows [V, V] by the last token.
std::vector<double> steps_of_rows(const RowArray<double>& target, const RowArray<double>& draft,
                                  const std::string& rule, int gamma, int tokens) {
  const auto vocab = target.shape(1);
  TextChain chain{static_cast<std::int32_t>(vocab), {}};
  for (std::size_t at = 0; at < target.size(); ++at)
    chain.successor.push_back(static_cast<std::int32_t>(at % vocab));
  const TextRule text_rule = rule == "match"   ? TextRule::match
                             : rule == "token" ? TextRule::token
                                               : TextRule::block;
  Watch watch;
  return watch.run([&] {
    return expected_steps(chain, {target.data(), target.size()}, {draft.data(), draft.size()}, text_rule,
                          gamma, tokens);
  });
}

/// Returns the ratio of sums over groups with bounds; None if bounds cannot be computed.
nb::object ratio_of_sums(const std::vector<double>& numerators, const std::vector<double>& denominators,
                         double confidence) {
  const std::optional<Interval> found = ratio_interval(numerators, denominators, confidence);
  if (!found || !found->bounded()) return nb::none();
  return nb::make_tuple(found->estimate, found->low, found->high);
}

}  // namespace

void bind_theory(nb::module_& module) {
  module.attr("row_tolerance") = row_tolerance;
  bind_overlaps<float>(module);
  bind_overlaps<double>(module);
  module.def(
      "optimal_gamma",
      [](double alpha, double c) {
        const OptimalGamma best = optimal_gamma(alpha, c);
        return nb::make_tuple(best.gamma, best.speedup, best.reason);
      },
      nb::arg("alpha"), nb::arg("c"));
  module.def("expected_steps", &steps_of_rows, nb::arg("target").noconvert(), nb::arg("draft").noconvert(),
             nb::arg("rule"), nb::arg("gamma"), nb::arg("tokens"));
  module.def("ratio_interval", &ratio_of_sums, nb::arg("numerators"), nb::arg("denominators"),
             nb::arg("confidence"));
  module.def("expected_tokens", &expected_tokens, nb::arg("alpha"), nb::arg("gamma"));
  module.def("speedup", &speedup, nb::arg("alpha"), nb::arg("gamma"), nb::arg("c"));
  module.def(
      "predict",
      [](double alpha, double c, double c_hat, std::optional<int> gamma) {
        const Prediction prediction = predict(alpha, c, c_hat, gamma);
        return nb::make_tuple(json_text_of(prediction), prediction_text(prediction));
      },
      nb::arg("alpha"), nb::arg("c"), nb::arg("c_hat"), nb::arg("gamma").none());
  // Returns (estimate, low, high) for the mean of independent values from 0 to 1.
  module.def(
      "mean_interval",
      [](const Written& values, double confidence) {
        const Interval mean = independent_mean_interval({values.data(), values.shape(0)}, {0, 1}, confidence);
        return nb::make_tuple(mean.estimate, mean.low, mean.high);
      },
      nb::arg("values"), nb::arg("confidence"));
}

}  // namespace speclab::python
