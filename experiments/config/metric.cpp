#include "experiments/config/metric.hpp"

#include <fmt/format.h>

#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"

namespace speclab {

namespace {

const MetricInfo& info(Metric metric) { return metric_infos()[static_cast<std::size_t>(metric)]; }

}  // namespace

const std::vector<MetricInfo>& metric_infos() {
  using enum Metric;
  static const std::vector<MetricInfo> all{
      {alpha_overlap, "alpha_overlap", "α (contexts)"},
      {alpha_examined, "alpha_examined", "α (examined)"},
      {alpha_drafted, "alpha_drafted", "accepted / drafted"},
      {accepted_per_target_step, "accepted_per_target_step", "accepted per target step"},
      {tokens_per_target_step, "tokens_per_target_step", "tokens per target step"},
      {tokens_variance, "tokens_variance", "variance of tokens per target step"},
      {first_token_acceptance, "first_token_acceptance", "first-token acceptance"},
      {optimal_transport_bound, "optimal_transport_bound", "optimal transport bound"},
      {speedup, "speedup", "speedup"},
      {operations, "operations", "arithmetic vs plain decoding"},
      {memory_accesses, "memory_accesses", "memory accesses vs plain decoding"},
      {tv_to_target, "tv_to_target", "TV to target"},
      {regret, "regret", "regret"},
      {target_rows, "target_rows", "target rows vs plain decoding"},
      {identical_beams, "identical_beams", "share of identical beams"},
      {optimal_gamma, "optimal_gamma", "optimal γ"},
      {best_speedup, "best_speedup", "speedup at optimal γ"},
      {upper_bound_drafting_free, "upper_bound_drafting_free", "upper bound on speedup, drafting free"},
      {upper_bound_drafting_paid, "upper_bound_drafting_paid", "upper bound on speedup, drafting paid"},
      {upper_bound_gain_drafting_free, "upper_bound_gain_drafting_free",
       "gain of the upper bound, drafting free"},
      {upper_bound_gain_drafting_paid, "upper_bound_gain_drafting_paid",
       "gain of the upper bound, drafting paid"},
      {tv_to_draft, "tv_to_draft", "TV to draft"},
      {perplexity, "perplexity", "perplexity under the target"},
      {greedy_agreement, "greedy_agreement", "likeliest token is the target's"},
      {invalid_rows, "invalid_rows", "share of invalid rows"},
      {percent_saved, "percent_saved", "Δ%"},
      {calls_left, "calls_left", "share of calls left"},
      {sampling_share, "sampling_share", "share of sampling in a decoding step"},
      {quotient, "quotient", "quotient"},
      {quoted, "quoted", "value quoted"},
      {least_of, "least_of", "least"},
      {most_of, "most_of", "most"},
      {microseconds, "microseconds", "time of a call, µs"},
      {megabytes, "megabytes", "size, MB"},
      {gb_per_s, "gb_per_s", "bandwidth, GB/s"}};
  return all;
}

const std::string& metric_name(Metric metric) { return info(metric).name; }
const char* metric_label(Metric metric) { return info(metric).label; }

std::optional<Metric> metric_named(std::string_view name) {
  const MetricInfo* const found = find_named(metric_infos(), name);
  return found != nullptr ? std::optional(found->metric) : std::nullopt;
}

Metric known_metric(std::string_view name, const std::string& path) {
  const auto unknown = [&](const std::string& near) {
    return ConfigError(path, "unknown metric \"{}\"{}", name, near);
  };
  return named_entry(metric_infos(), std::string(name), unknown).metric;
}

const Typed<Metric>& metric_type() {
  static const Typed<Metric> type = [] {
    std::vector<std::pair<std::string_view, Metric>> names;
    for (const MetricInfo& one : metric_infos()) names.emplace_back(one.name, one.metric);
    return choice<Metric>(names);
  }();
  return type;
}

}  // namespace speclab
