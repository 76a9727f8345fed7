#include "serving/advisor/benchmark_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "serving/advisor/plan_words.hpp"

namespace speclab {

SPECLAB_RESULT(PerRequest, "per request", mean, deviation);
SPECLAB_RESULT(BenchmarkPlan, "benchmark", what, first, second, confidence, power, difference_percent,
               requests, asked_requests, asked_finds_percent);

namespace {

constexpr double percent = 100;

/// Returns the setting whose requests vary more, relative to their mean.
PerRequest rougher(const BenchmarkPlan& plan) {
  const bool first = plan.first.deviation / plan.first.mean >= plan.second.deviation / plan.second.mean;
  return first ? plan.first : plan.second;
}

/// Rounds numbers that do not fit into 64 bits.
std::string count_words(double count) {
  return count < 1e15 ? grouped(static_cast<std::uint64_t>(count)) : fmt::format("{:.4g}", count);
}

}  // namespace

void finish(BenchmarkPlan& plan, std::optional<double> asked_requests) {
  plan.difference_percent =
      percent *
      (std::max(plan.first.mean, plan.second.mean) / std::min(plan.first.mean, plan.second.mean) - 1);
  plan.requests = requests_needed(plan.first, plan.second, plan.confidence, plan.power);
  plan.asked_requests = asked_requests;
  if (asked_requests)
    plan.asked_finds_percent =
        percent * difference_found(rougher(plan), *asked_requests, plan.confidence, plan.power);
}

Listing benchmark_text(const BenchmarkPlan& plan) {
  std::string out = plan_line("compared", plan.what);
  out += plan_line("of one setting", "{:.4g}, standard deviation {:.4g} between requests", plan.first.mean,
                   plan.first.deviation);
  out +=
      plan_line("of the other", "{:.4g}, standard deviation {:.4g}", plan.second.mean, plan.second.deviation);
  out += plan_line("difference", "{:.3g}%", plan.difference_percent);
  out +=
      plan_line("requests of each",
                std::isfinite(plan.requests)
                    ? fmt::format("{}, found with probability {:g} by a t-test at {} confidence",
                                  count_words(plan.requests), plan.power, confidence_percent(plan.confidence))
                    : "no number tells equal settings apart");
  if (plan.asked_requests) {
    out += plan_line(count_words(*plan.asked_requests) + " requests find",
                     std::isfinite(*plan.asked_finds_percent)
                         ? fmt::format("differences from {:.3g}% on", *plan.asked_finds_percent)
                         : "no difference so often, however large");
  }
  out +=
      "Requests must be independent, and assigned to the settings in turn or at random; a server whose speed drifts needs more.\n";
  return {{out}};
}

std::string benchmark_headline(const BenchmarkPlan& plan) {
  if (!std::isfinite(plan.requests)) return "No number of requests tells equal settings apart.";
  return fmt::format("{} requests of each setting find a difference of {:.3g}%.", count_words(plan.requests),
                     plan.difference_percent);
}

}  // namespace speclab
