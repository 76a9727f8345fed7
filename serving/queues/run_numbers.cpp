#include "serving/queues/run_numbers.hpp"

namespace speclab {

namespace {

double quantile(std::vector<double>& values, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

Latencies latencies_of(std::vector<double> values, double share) {
  Latencies out;
  if (values.empty()) return out;
  const auto count = static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) out.mean += value / count;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.deviation = std::sqrt(squares / count);
  out.median = quantile(values, 0.5);
  out.high = quantile(values, share);
  return out;
}

}  // namespace

RunNumbers numbers_of(const ServingRun& run, double percentile, const LoadTargets& targets) {
  std::vector<double> latency;
  std::vector<double> ttft;
  std::vector<double> tpot;
  RunNumbers out;
  for (std::size_t i = 0; i < run.served.size(); ++i) {
    const Request& request = run.requests[i];
    const Served& served = run.served[i];
    latency.push_back(served.end_ms - request.arrival_ms);
    ttft.push_back(served.first_ms - request.arrival_ms);
    bool keeps = !targets.ttft_ms || ttft.back() <= *targets.ttft_ms;
    if (request.output > 1) {
      tpot.push_back((served.end_ms - served.first_ms) / (request.output - 1));
      keeps = keeps && (!targets.tpot_ms || tpot.back() <= *targets.tpot_ms);
    }
    out.kept += keeps ? 1 : 0;
    out.asked += request.output;
  }
  out.requests = static_cast<double>(run.served.size());
  out.kept /= out.requests;
  const double share = percentile / 100;
  out.latency = latencies_of(std::move(latency), share);
  out.ttft = latencies_of(std::move(ttft), share);
  out.tpot = latencies_of(std::move(tpot), share);
  out.gap_mean = run.gaps.mean();
  out.gap_high = run.gaps.quantile(share);
  out.totals = run.totals;
  out.window_ms = run.window_ms;
  return out;
}

}  // namespace speclab
