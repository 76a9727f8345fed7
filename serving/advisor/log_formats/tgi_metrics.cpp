// Reads the histogram tgi_request_skipped_tokens of Hugging Face Text Generation Inference: a step's tokens
// beyond the first, which are the accepted ones. A request's first step reads the prompt and counts as one
// that accepted none.
#include "serving/advisor/log_format.hpp"
#include "serving/advisor/prometheus_page.hpp"

namespace speclab {

namespace {

constexpr std::string_view tgi_histogram = "tgi_request_skipped_tokens";

ModelLogs read_tgi_metrics(const LogSource& source) {
  std::map<std::uint64_t, std::uint64_t> at_most;
  std::uint64_t steps = 0;
  std::uint64_t requests = 0;
  for (const PrometheusSample& sample : prometheus_samples(source, "tgi_request")) {
    if (sample.name == "tgi_request_skipped_tokens_count") steps += counter_of(sample);
    if (sample.name == "tgi_request_success") requests += counter_of(sample);
    if (sample.name != "tgi_request_skipped_tokens_bucket" || sample.label("le") == "+Inf") continue;
    const auto bound = as_count(number_in(sample.label("le")));
    if (!bound) refuse_line(sample.line, "le is \"{}\"; expected 0, 1, 2, ...", brief(sample.label("le")));
    at_most[*bound] += counter_of(sample);
  }
  if (steps == 0 || at_most.size() < 2) {
    throw UsageError("{}: needs {}_bucket and {}_count", source.name(), tgi_histogram, tgi_histogram);
  }
  std::vector<std::uint64_t> by_accepted;
  std::uint64_t before = 0;
  for (const auto& [bound, count] : at_most) {
    if (bound != by_accepted.size() || count < before || count > steps) {
      throw UsageError("{}: buckets of {} are not those of 0, 1, 2, ...", source.name(), tgi_histogram);
    }
    by_accepted.push_back(count - before);
    before = count;
  }
  by_accepted.front() -= std::min(requests, by_accepted.front());
  ModelLog log;
  log.add_histogram(source.name(), by_accepted);
  return {{"", log}};
}

}  // namespace

LogFormat tgi_metrics_log_format() {
  return {
      "tgi_metrics",
      "Hugging Face TGI",
      "A page of /metrics of a server with --speculate N; with --since, only counts after an earlier page.",
      "tgi_request_success 1\ntgi_request_skipped_tokens_bucket{le=\"0\"} 3\n"
      "tgi_request_skipped_tokens_bucket{le=\"1\"} 5\ntgi_request_skipped_tokens_bucket{le=\"2\"} 9\n"
      "tgi_request_skipped_tokens_bucket{le=\"+Inf\"} 9\ntgi_request_skipped_tokens_sum 10\n"
      "tgi_request_skipped_tokens_count 9\n",
      "https://huggingface.co/docs/text-generation-inference/reference/metrics",
      [](const LogSource& source) { return has_sample(source, tgi_histogram); },
      read_tgi_metrics};
}

}  // namespace speclab
