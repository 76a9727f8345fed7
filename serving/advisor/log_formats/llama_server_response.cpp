// Reads the timings in llama-server's responses: draft_n drafted and draft_n_accepted accepted tokens.
// mlx-vlm writes the same, and draft_rounds.
#include <nlohmann/json.hpp>

#include "serving/advisor/json_records.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr const char* timing_key = "draft_n_accepted";

/// Returns the number of rounds of an answer with `emitted` tokens (0: not known). llama-server drafts at
/// most up to the token before the last one, so that each run of the target, except the prompt's, drafts,
/// perhaps except the one for the last token. Throws UsageError if so few tokens were drafted that other runs
/// drafted fewer than gamma.
std::uint64_t rounds_drafting(const std::string& where, std::uint64_t gamma, std::uint64_t drafted,
                              std::uint64_t accepted, std::uint64_t emitted) {
  const std::uint64_t full = (drafted + gamma - 1) / gamma;
  if (emitted <= accepted + 1) return full;
  const std::uint64_t runs = emitted - accepted - 1;
  if (runs < full) return full;
  if (runs * gamma - drafted > gamma * (gamma + 1) / 2) {
    throw UsageError(
        "{}: {} tokens drafted in {} runs of the target, which emitted {:.3g} tokens a run: not {} in each; the log of llama-server has the rounds",
        where, drafted, runs, static_cast<double>(emitted - 1) / static_cast<double>(runs), gamma);
  }
  return std::max(full, runs * gamma - drafted >= gamma ? runs - 1 : runs);
}

ModelLogs read_llama_server_response(const LogSource& source) {
  ModelLogs logs;
  for (const auto& [place, model] : records_with(source, timing_key)) {
    const std::uint64_t drafted = count_in(place.at("draft_n"));
    if (drafted == 0) continue;
    const std::uint64_t accepted = count_in(place.at(timing_key));
    std::uint64_t rounds = 0;
    if (place.has("draft_rounds")) {
      rounds = count_in(place.at("draft_rounds"));
    } else {
      const std::uint64_t gamma =
          drafted_option(source, "timings without draft_rounds do not say (llama-server's log does)");
      const std::uint64_t emitted = place.has("predicted_n") ? count_in(place.at("predicted_n")) : 0;
      rounds = rounds_drafting(place.where, gamma, drafted, accepted, emitted);
    }
    logs[model].add_sums(place.where, rounds, drafted, accepted);
  }
  return logs;
}

}  // namespace

LogFormat llama_server_response_log_format() {
  return {
      "llama_server_response",
      "llama.cpp, MLX",
      "timings of responses with draft_n and draft_n_accepted; llama-server's need --drafted, its --spec-draft-n-max, with --spec-draft-p-min 0.",
      "{\"timings\": {\"predicted_n\": 111, \"draft_kind\": \"mtp\", \"draft_rounds\": 30, \"draft_n\": 90, "
      "\"draft_n_accepted\": 81}}\n",
      "https://github.com/ggml-org/llama.cpp/pull/12603",
      [](const LogSource& source) { return no_record_with(source, timing_key); },
      read_llama_server_response};
}

}  // namespace speclab
