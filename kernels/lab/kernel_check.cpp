#include "kernels/lab/kernel_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "analysis/statistics/multiple_tests.hpp"
#include "core/stop.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/support/version.hpp"
#include "kernels/gpu/device.hpp"
#include "kernels/gpu/run_host_batch.hpp"
#include "kernels/lab/distributions.hpp"
#include "kernels/lab/kernel_result.hpp"

namespace speclab {

namespace {

constexpr std::array<std::pair<std::int32_t, std::int32_t>, 3> distribution_sizes{{{8, 3}, {17, 2}, {64, 1}}};

/// Names in the order of the enumeration.
constexpr std::pair<std::string_view, CheckOutcome> outcome_names[]{{"passed", CheckOutcome::passed},
                                                                    {"FAILED", CheckOutcome::failed},
                                                                    {"refuted", CheckOutcome::refuted},
                                                                    {"left out", CheckOutcome::left_out}};

/// Returns the cases of every implementation: all sizes and rules in the leading format, the first size and
/// rule in the others. Implementations that are not exact are tested with the token rule only.
std::vector<DistributionCase> distribution_cases(const KernelCheckOptions& options, bool exact) {
  std::vector<DistributionCase> cases;
  for (const VerifyRule& rule : checked_rules()) {
    if (!exact && rule.method != KernelRule::token) continue;
    for (const auto& [vocab, gamma] : distribution_sizes)
      cases.push_back({vocab, gamma, options.dtypes.front(), rule});
  }
  for (std::size_t i = 1; i < options.dtypes.size(); ++i) {
    cases.push_back({distribution_sizes.front().first, distribution_sizes.front().second, options.dtypes[i],
                     VerifyRule{}});
  }
  return cases;
}

}  // namespace

KernelCheckRow unchecked_row(std::string test, const ImplementationInfo& info, const VerifyBatch& batch) {
  return {std::move(test), info.name, batch.target.dtype, CheckOutcome::left_out,
          unsupported_reason(info.implementation, batch).value_or("")};
}

BatchRunner runner_of(CheckPlace place, int variation) {
  if (place == CheckPlace::gpu) {
    const GpuLaunch how = variation == 0 ? GpuLaunch::stream : GpuLaunch::graph;
    return [how](Implementation which, const VerifyBatch& batch) {
      end_if_stopped();
      run_host_batch_on_gpu(which, batch, how);
    };
  }
  const std::array<simt::Order, 3> orders{simt::Order::forward, simt::Order::backward, simt::Order::shuffled};
  const simt::Order order = orders.at(static_cast<std::size_t>(variation));
  return [order](Implementation which, const VerifyBatch& batch) {
    end_if_stopped();
    run_emulated(which, batch, order);
  };
}

int variations_of(CheckPlace place) { return place == CheckPlace::gpu ? 1 : 2; }

std::vector<KernelCheckRow> check_distributions(const KernelCheckOptions& options) {
  const std::int32_t requests_a_batch = options.place == CheckPlace::gpu ? 1 << 16 : 64;
  const BatchRunner runner = runner_of(options.place);
  std::vector<KernelCheckRow> rows;
  std::vector<double> p_values;      // of exact implementations
  std::vector<std::size_t> rows_of;  // row of each p-value
  for (const ImplementationInfo& info : options.implementations) {
    for (const DistributionCase& distribution : distribution_cases(options, info.exact)) {
      end_if_stopped();
      VerifyBatch batch = shape_batch({1, distribution.gamma, distribution.vocab, distribution.dtype}).batch;
      batch.rule = distribution.rule;
      const std::string title = fmt::format("distribution, {}, V = {}, gamma = {}", rule_name(batch.rule),
                                            distribution.vocab, distribution.gamma);
      KernelCheckRow& row = rows.emplace_back(unchecked_row(title, info, batch));
      if (!row.detail.empty()) continue;
      const DistributionTests tests = test_distribution(distribution, runner, info.implementation, info.exact,
                                                        options.requests, requests_a_batch);
      std::vector<std::string> listed;
      for (const auto& [name, p] : tests.p_values) listed.push_back(fmt::format("{}: {:.2g}", name, p));
      row.detail = fmt::format("{} requests; p: {}", options.requests, fmt::join(listed, ", "));
      if (info.exact) {
        row.outcome = CheckOutcome::passed;  // unless Holm's adjustment rejects it
        for (const auto& [name, p] : tests.p_values) {
          rows_of.push_back(rows.size() - 1);
          p_values.push_back(p);
        }
      } else {
        const bool refuted =
            tests.valid && tests.least() * static_cast<double>(tests.p_values.size()) <= options.level;
        row.outcome = refuted ? CheckOutcome::refuted : CheckOutcome::failed;
        if (tests.valid) {
          row.detail += fmt::format("; {}, TV {:.4f}", refuted ? "refuted as expected" : "NOT refuted",
                                    tests.total_variation);
        }
      }
    }
  }
  const std::vector<double> adjusted = holm_adjusted(p_values);
  for (std::size_t at = 0; at < adjusted.size(); ++at) {
    if (adjusted[at] > options.level) continue;
    rows[rows_of[at]].outcome = CheckOutcome::failed;
    rows[rows_of[at]].detail += fmt::format("; adjusted (Holm): {:.2g}", adjusted[at]);
  }
  return rows;
}

SPECLAB_DESCRIBED(CheckOutcome, choice<CheckOutcome>(outcome_names));
SPECLAB_CHOICE(CheckPlace, {"GPU", CheckPlace::gpu}, {"emulator", CheckPlace::emulator});
SPECLAB_RESULT(KernelCheckRow, "row", test, implementation, dtype, outcome, detail);
SPECLAB_RESULT(KernelCheckReport, "check kernels", version, command, place, device, level, requests, rows,
               failures);

KernelCheckReport check_kernels(const KernelCheckOptions& options) {
  KernelCheckReport report{version_string(), options.command, options.place, {},
                           options.level,    options.requests};
  if (options.place == CheckPlace::gpu) report.device = current_device().value().name;
  for (const auto part : {check_decisions, check_bits, check_edges, check_distributions}) {
    end_if_stopped();
    for (KernelCheckRow& row : part(options)) {
      report.failures += row.outcome == CheckOutcome::failed ? 1 : 0;
      report.rows.push_back(std::move(row));
    }
  }
  return report;
}

std::string kernel_check_text(const KernelCheckReport& report) {
  std::string text = fmt::format("on        {}\n", report.device.value_or("the emulator"));
  // Edges that passed have no detail, and many tests are left out for the same reason: both are counted.
  std::vector<std::pair<std::string, int>> counted;
  const auto count = [&](std::string what) {
    const auto found = std::ranges::find_if(counted, [&](const auto& known) { return known.first == what; });
    if (found != counted.end())
      ++found->second;
    else
      counted.emplace_back(std::move(what), 1);
  };
  for (const KernelCheckRow& row : report.rows) {
    const std::string whose =
        fmt::format("{:<9} {}, {}: ", outcome_names[static_cast<std::size_t>(row.outcome)].first,
                    row.implementation, dtype_name(row.dtype));
    if (row.outcome == CheckOutcome::left_out) {
      count(whose + row.detail);
    } else if (row.detail.empty()) {
      count(whose + "edges");
    } else {
      text += fmt::format("{}{}: {}\n", whose, row.test, row.detail);
    }
  }
  for (const auto& [what, times] : counted) text += fmt::format("{}: {}\n", what, times);
  text += fmt::format(
      "verdict   {} of {} rows failed (distributions: {} requests each, level {:g}, Holm-adjusted)\n",
      report.failures, report.rows.size(), report.requests, report.level);
  return text;
}

}  // namespace speclab
