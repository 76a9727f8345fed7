// Reads answer files of Spec-Bench, which EAGLE, Medusa and others use with Hugging Face models:
// accept_lengths has the emitted tokens of each step.
#include <nlohmann/json.hpp>

#include "serving/advisor/json_records.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr const char* lengths_key = "accept_lengths";

ModelLogs read_spec_bench(const LogSource& source) {
  ModelLogs logs;
  const std::uint64_t gamma = drafted_option(
      source, "accept_lengths do not say whether drafts were trees, for which there is no α, or");
  for (const auto& [place, model, usage] : records_with(source, {lengths_key}, "model_id")) {
    const JsonPlace list = place.at(lengths_key);
    const std::vector<std::uint64_t> lengths = counts_in(list);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] == 0) list.at(i).refuse("1 or more: a step emits a token more than it accepts");
      logs[model].add_round(list.at(i).where, gamma, lengths[i] - 1);
    }
  }
  return logs;
}

}  // namespace

LogFormat spec_bench_log_format() {
  return {"spec_bench",
          "Hugging Face",
          "Answers of Spec-Bench, one per line, from assisted decoding, EAGLE and others; needs --drafted.",
          "{\"question_id\": 81, \"model_id\": \"m\", \"choices\": [{\"index\": 0, \"new_tokens\": [9], "
          "\"accept_lengths\": [3, 1, 4, 1]}]}\n",
          "https://github.com/hemingkx/Spec-Bench",
          [](const LogSource& source) { return has_record_with(source, {lengths_key}); },
          read_spec_bench};
}

}  // namespace speclab
