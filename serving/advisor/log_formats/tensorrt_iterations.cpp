// Reads TensorRT-LLM's statistics of iterations, from LLM.get_stats() or trtllm-serve's /metrics:
// specDecodingStats sums the rounds of all requests in a batch. One iteration of one request is one round.
#include <nlohmann/json.hpp>

#include "serving/advisor/json_records.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr const char* requests_key = "numRequestsWithDraftTokens";
constexpr const char* batch_key = "inflightBatchingStats";

ModelLogs read_tensorrt_iterations(const LogSource& source) {
  struct Iteration {
    std::string where;
    std::uint64_t requests;
    std::uint64_t drafted;
    std::uint64_t accepted;
  };
  std::vector<Iteration> iterations;
  bool alone = true;
  for (const auto& [place, model, usage] : records_with(source, {requests_key})) {
    const Iteration one{place.where, count_in(place.at(requests_key)), count_in(place.at("numDraftTokens")),
                        count_in(place.at("numAcceptedTokens"))};
    if (one.requests == 0) continue;
    check_stated(place, {{"acceptanceLength",
                          1 + static_cast<double>(one.accepted) / static_cast<double>(one.requests)}});
    alone = alone && one.requests == 1;
    iterations.push_back(one);
  }
  ModelLog log;
  std::uint64_t rounds = 0;
  std::uint64_t accepted = 0;
  for (const Iteration& one : iterations) {
    rounds += one.requests;
    accepted += one.accepted;
    if (alone) {
      log.add_round(one.where, one.drafted, one.accepted);
    } else {
      log.add_sums(one.where, one.requests, one.drafted, one.accepted);
    }
  }
  std::uint64_t runs = 0;
  for (const JsonRecord& record : records_with(source, {batch_key, "numActiveRequests"})) {
    const JsonPlace& one = record.place;
    if (one.has(batch_key) && one.at(batch_key).has("numGenRequests"))
      runs += count_in(one.at(batch_key).at("numGenRequests"));
    else if (one.has("numActiveRequests"))
      runs += count_in(one.at("numActiveRequests"));
  }
  check_drafting(source.name(), rounds, runs, accepted, drafting_share_with_prompts);
  return {{"", log}};
}

}  // namespace

LogFormat tensorrt_iterations_log_format() {
  return {
      "tensorrt_iterations",
      "TensorRT-LLM",
      "Statistics of iterations with specDecodingStats, from LLM.get_stats() or /metrics with enable_iter_perf_stats; only means if several requests share a batch.",
      "[{\"iter\": 7, \"specDecodingStats\": {\"numDraftTokens\": 12, \"numAcceptedTokens\": 7, "
      "\"numRequestsWithDraftTokens\": 4, \"acceptanceLength\": 2.75, \"iterLatencyMS\": 3.1, \"draftOverhead\": 0.2}}]\n",
      "https://nvidia.github.io/TensorRT-LLM/features/speculative-decoding.html",
      [](const LogSource& source) { return has_record_with(source, {requests_key}); },
      read_tensorrt_iterations};
}

}  // namespace speclab
