#include "serving/advisor/plan_words.hpp"

namespace speclab {

std::string speedup_lines(const Interval& speedup, const std::optional<SpeedupRange>& at_other_costs,
                          const std::string& why) {
  std::string out = plan_line("expected speedup", ranged(speedup, why) + " × plain decoding");
  if (speedup.bounded() && speedup.low != speedup.high)
    out += plan_line("", "the interval covers acceptance only; costs are taken as exact");
  if (at_other_costs) {
    out += plan_line("at other costs",
                     "{:.4g} to {:.4g}: efficiencies a fifth lower or higher, overheads half or double",
                     at_other_costs->low, at_other_costs->high);
  }
  return out;
}

Table metrics_table(const AcceptanceMetrics& metrics, const std::string& of_what) {
  Table table{.id = "metrics",
              .caption = "Acceptance " + of_what + ", by every definition in use",
              .columns = {"metric", "value", "who prints it"}};
  const auto add = [&](const char* metric, std::optional<double> value, const char* names) {
    table.rows.push_back({text_cell(metric), short_cell(value), text_cell(names)});
  };
  // The names come from docs/acceptance-metrics.md.
  add("accepted / drafted", metrics.accepted_of_drafted,
      "vLLM draft acceptance rate, llama.cpp draft acceptance, TensorRT-LLM numAcceptedTokens / numDraftTokens");
  add("accepted / examined", metrics.accepted_of_examined, "α here, if acceptances are i.i.d.");
  add("accepted / emitted", metrics.accepted_of_emitted, "share of the text that was drafted");
  add("emitted / verified", metrics.emitted_of_verified,
      "DSpark acceptance rate, with the bonus; vLLM V0 system efficiency");
  add("accepted a round", metrics.accepted_a_round, "TGI skipped tokens: length without the bonus");
  add("emitted a round", metrics.emitted_a_round,
      "vLLM and llama.cpp mean acceptance length, SGLang accept len, TensorRT-LLM acceptanceLength, τ");
  if (metrics.mean_of_rates) {
    add("mean of rounds' rates", metrics.mean_of_rates, "accepted / drafted of each round, averaged");
  }
  if (!metrics.by_position.empty()) {
    table.note =
        "By position vLLM and llama.cpp print \"all up to here\"; \"a, given those before\" is the conditional rate, EAGLE's n-α at position n + 1.";
  }
  return table;
}

}  // namespace speclab
