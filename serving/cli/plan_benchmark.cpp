#include <fmt/format.h>

#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/benchmark_plan.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"
#include "serving/queues/benchmark_size.hpp"

namespace speclab {

namespace {

/// Returns the option's rate, which must lie strictly between 0 and 1.
double rate_of(const Values& values, const char* name) {
  const double rate = checked_number(values, name, 0, 1);
  if (rate <= 0 || rate >= 1) throw UsageError("--{} {}: expected a rate above 0 and below 1", name, rate);
  return alpha_of_rate(values, rate, name);
}

std::optional<PlanAnswer> answer_benchmark(const Values& values, const Control& /*control*/) {
  BenchmarkPlan plan;
  plan.confidence = confidence_option(values);
  plan.power = checked_number(values, "power", 0.01, 0.9999);
  const bool by_rates = values.has("alpha") || values.has("other");
  const bool by_times = values.has("difference") || values.has("deviation");
  if (by_rates == by_times || values.has("alpha") != values.has("other") ||
      values.has("difference") != values.has("deviation")) {
    throw UsageError(
        "plan benchmark: give --alpha and --other, two acceptance rates, or --difference and --deviation, in percent");
  }
  if (by_rates) {
    const double alpha = rate_of(values, "alpha");
    const double other = rate_of(values, "other");
    const double spread = spread_option(values, {alpha, other});
    const auto gamma = static_cast<std::uint32_t>(checked_count(values, "gamma", 1, longest_draft));
    const double output = checked_number(values, "output", 2, 1e9);
    plan.first = steps_a_token(alpha, spread, gamma, output);
    plan.second = steps_a_token(other, spread, gamma, output);
    plan.what = fmt::format(
        "target steps a token, γ = {}, outputs of {:g} tokens, α = {:g} and {:g}{}", gamma, output, alpha,
        other, spread > 0 ? fmt::format(", standard deviation {:g} between requests", spread) : "");
  } else {
    refuse_given(values, {"gamma", "output", "alpha-spread", "of-drafted"},
                 "--difference and --deviation are of times, and it belongs to acceptance rates");
    constexpr double percent = 100;
    const double difference = checked_number(values, "difference", 1e-6, 1e4) / percent;
    const double deviation = checked_number(values, "deviation", 1e-6, 1e4) / percent;
    plan.first = {1, deviation};
    plan.second = faster(plan.first, difference);
    plan.what = fmt::format(
        "times of requests with a standard deviation of {:g}% of the mean; one setting {:g}% faster",
        percent * deviation, percent * difference);
  }
  finish(plan, values.has("requests") ? std::optional<double>(checked_count(values, "requests", 2, 1e12))
                                      : std::nullopt);
  return answer_of(values, plan, benchmark_text, benchmark_headline);
}

}  // namespace

PlanWay plan_benchmark() {
  Verb verb{
      .name = "benchmark",
      .sentence = "compute how many requests tell two settings apart",
      .line =
          "speclab plan benchmark --alpha A --other B --gamma G | --difference PERCENT --deviation PERCENT [options]",
      .about =
          R"(Computes how many requests of each of two settings a benchmark needs to find a difference, and which difference a given
number of requests finds. The difference is between two acceptance rates, measured in target steps per token, or between
times of requests with a given standard deviation.)",
      .examples = R"(  speclab plan benchmark --alpha 0.60 --other 0.65 --gamma 5
  speclab plan benchmark --difference 3.6 --deviation 40 --requests 176
)"};
  verb.section("Acceptance rates");
  verb.add<double>("alpha", "acceptance rate of one setting");
  verb.add<double>("other", "acceptance rate of the other setting");
  add_rate_option(verb);
  verb.add_value("gamma", number_or(5), "drafted tokens");
  verb.add_value("alpha-spread", number_or(0.1), "standard deviation of the rate between requests");
  verb.add_value("output", number_or(256), "tokens of a request");
  verb.section("Times");
  verb.add<double>("difference PERCENT", "how much faster one setting is");
  verb.add<double>("deviation PERCENT", "standard deviation of requests' times, relative to the mean");
  verb.section("Test");
  verb.add_value("power", number_or(0.8), "probability that the difference is found");
  verb.add<double>("requests", "requests of each setting; prints the difference that these find");
  add_answer_options(verb);
  return {verb, answer_benchmark};
}

}  // namespace speclab
