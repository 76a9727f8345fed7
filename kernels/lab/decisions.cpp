// Checks that decisions agree with the reference, and that they have the same bits wherever they are made.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernels/lab/kernel_check.hpp"
#include "kernels/verify/batch_part.hpp"

namespace speclab {

namespace {

constexpr MadeLogits usual_logits{3, 3, 1.2F};

}  // namespace

std::vector<KernelCheckRow> check_decisions(const KernelCheckOptions& options) {
  const std::int32_t requests = options.place == CheckPlace::gpu ? 64 : 4;
  const BatchRunner runner = runner_of(options.place);
  std::vector<KernelCheckRow> rows;
  for (const ImplementationInfo& info : options.implementations) {
    for (const Dtype dtype : options.dtypes) {
      for (const VerifyRule& rule : checked_rules()) {
        KernelCheckRow& row = rows.emplace_back();
        DecisionAgreement all;
        for (const std::int32_t vocab : {1, 7, 64, 1000, 20001}) {
          for (const std::int32_t gamma : {0, 1, 4}) {
            RequestBatch host({requests, gamma, vocab, dtype}, 11);
            host.batch.rule = rule;
            row = unchecked_row("decisions, " + rule_name(rule), info, host.batch);
            if (!row.detail.empty()) continue;
            host.make(usual_logits);
            host.run(runner, info.implementation);
            all += decision_agreement(info.implementation, host.batch);
          }
        }
        if (all.requests > 0) {
          row.outcome = all.different == 0 ? CheckOutcome::passed : CheckOutcome::failed;
          row.detail = fmt::format("{} requests, {} within the band, {} others differ", all.requests,
                                   all.within_band, all.different);
        }
      }
    }
  }
  return rows;
}

std::vector<KernelCheckRow> check_bits(const KernelCheckOptions& options) {
  std::vector<KernelCheckRow> rows;
  for (const ImplementationInfo& info : options.implementations) {
    for (const Dtype dtype : options.dtypes) {
      for (const VerifyRule& rule : checked_rules()) {
        constexpr std::int32_t requests = 9;
        RequestBatch host({requests, 3, 9001, dtype}, 17);
        host.batch.rule = rule;
        KernelCheckRow& row =
            rows.emplace_back(unchecked_row("same bits, " + rule_name(rule), info, host.batch));
        if (!row.detail.empty()) continue;
        host.make(usual_logits);
        const BatchRunner usual = runner_of(options.place);
        const auto together = host.run(usual, info.implementation);
        int runs = 0;
        std::vector<std::string> different;
        const auto compare = [&](const std::string& what, const BatchRunner& runner) {
          ++runs;
          if (host.run(runner, info.implementation) != together) different.push_back(what);
        };
        compare("again", usual);
        for (int variation = 1; variation <= variations_of(options.place); ++variation)
          compare(fmt::format("variation {}", variation), runner_of(options.place, variation));
        for (const std::int32_t size : {1, 2, 5}) {
          compare(fmt::format("batches of {}", size), [&](Implementation which, const VerifyBatch& batch) {
            for (std::int32_t first = 0; first < requests; first += size)
              usual(which, part_of(batch, first, std::min(size, requests - first)));
          });
        }
        row.outcome = different.empty() ? CheckOutcome::passed : CheckOutcome::failed;
        row.detail =
            different.empty()
                ? fmt::format("{} requests, {} other ways: alone, in batches of 2 and 5, again, {}", requests,
                              runs, options.place == CheckPlace::gpu ? "from a graph" : "in other orders")
                : fmt::format("differs: {}", fmt::join(different, ", "));
      }
    }
  }
  return rows;
}

}  // namespace speclab
