// Reads counters of speculative decoding on a page of /metrics of vLLM, or of llama-server (--metrics), which
// has them under another prefix: rounds, drafted tokens, and how many rounds accepted each position, by the
// label model_name and summed over engines. Pages of early versions have only drafted and accepted tokens;
// those of vLLM's V0 engine also emitted tokens, and accepted ones that include those after a rejection.
#include "serving/advisor/log_format.hpp"
#include "serving/advisor/prometheus_page.hpp"

namespace speclab {

namespace {

constexpr std::string_view drafts_counter = "spec_decode_num_drafts";
constexpr std::string_view draft_tokens_counter = "spec_decode_num_draft_tokens";
constexpr std::string_view accepted_counter = "spec_decode_num_accepted_tokens";
constexpr std::string_view per_position_counter = "spec_decode_num_accepted_tokens_per_pos";
constexpr std::string_view emitted_counter = "spec_decode_num_emitted_tokens";

/// A server's prefix, and its counters of all tokens and of first tokens (empty if it has none).
struct PageNames {
  std::string_view prefix;
  std::string_view tokens;
  std::string_view requests;
};
constexpr PageNames vllm_names{"vllm:", "generation_tokens", "time_to_first_token_seconds_count"};
constexpr PageNames llama_names{"llamacpp:", "tokens_predicted", ""};

/// The counters of one model, summed over engines.
struct PageCounters {
  std::map<std::string, std::uint64_t, std::less<>> totals = {};
  std::map<std::uint64_t, std::uint64_t> by_position = {};

  std::optional<std::uint64_t> total(std::string_view name) const {
    const auto found = totals.find(name);
    return found == totals.end() ? std::nullopt : std::optional(found->second);
  }
};

void add_page(ModelLog& log, const PageCounters& counters, const LogSource& source, const PageNames& names) {
  const std::string& where = source.name();
  std::vector<std::uint64_t> by_position;
  std::uint64_t accepted = 0;
  for (const auto& [position, count] : counters.by_position) {
    if (position != by_position.size())
      throw UsageError("{}: {}{} has no position {}", where, names.prefix, per_position_counter,
                       by_position.size());
    by_position.push_back(count);
    accepted += count;
  }
  auto rounds = counters.total(drafts_counter);
  auto drafted = counters.total(draft_tokens_counter);
  const bool counted = rounds ? !by_position.empty() || (drafted && counters.total(accepted_counter))
                              : by_position.empty() && drafted && counters.total(accepted_counter);
  if (rounds == 0u) return;
  if (!counted)
    throw UsageError("{}: needs samples of {}{} and {}{}", where, names.prefix, drafts_counter, names.prefix,
                     per_position_counter);
  // A page may be read between the counters' updates.
  constexpr double in_flight = 0.01;
  const auto stated = counters.total(accepted_counter);
  if (by_position.empty())
    accepted = *stated;
  else if (stated)
    check_stated(where, accepted_counter, static_cast<double>(*stated), static_cast<double>(accepted),
                 1 + in_flight * static_cast<double>(accepted));
  if (!rounds) {
    const std::uint64_t gamma = drafted_option(source, "pages of early versions do not say");
    rounds = (*drafted + gamma - 1) / gamma;
    if (const auto emitted = counters.total(emitted_counter))
      accepted = accepted_of(where, *emitted, *rounds);
  }
  const auto requests = counters.total(names.requests);
  check_drafting(where, *rounds,
                 runs_of(counters.total(names.tokens).value_or(0), accepted, requests.value_or(0)), accepted,
                 requests ? drafting_share : drafting_share_with_prompts);
  drafted = drafted.value_or(*rounds * by_position.size());
  if (const auto emitted = counters.total(names.tokens); emitted && !names.requests.empty()) {
    // Each request has one token of its prompt's run, a last round that may be cut, and rounds that began
    // before its end was noticed; those that ran when the earlier page was saved are not counted.
    constexpr std::uint64_t running = 256;
    constexpr std::uint64_t late_rounds = 4;
    check_emitted(where, *rounds, *drafted, accepted, *emitted,
                  late_rounds * (requests.value_or(*emitted - std::min(*emitted, *rounds)) +
                                 (source.options().earlier_file.empty() ? 0 : running)),
                  in_flight);
  }
  if (by_position.empty()) return log.add_sums(where, *rounds, *drafted, accepted);
  log.add_totals(where, *rounds, by_position, *drafted);
}

ModelLogs read_spec_decode_page(const LogSource& source, const PageNames& names) {
  const auto gauges = {fmt::format("{}spec_decode_efficiency", names.prefix),
                       fmt::format("{}spec_decode_draft_acceptance_rate", names.prefix)};
  std::map<std::string, PageCounters> models;
  for (const std::string_view part : {std::string_view("spec_decode"), names.tokens, names.requests}) {
    if (part.empty()) continue;
    const std::string beginning = fmt::format("{}{}", names.prefix, part);
    for (const PrometheusSample& sample : prometheus_samples(source, beginning, gauges)) {
      PageCounters& counters = models[sample.label("model_name")];
      const std::string_view name = std::string_view(sample.name).substr(names.prefix.size());
      if (name == per_position_counter) {
        if (sample.labels.count("position") == 0) refuse_line(sample.line, "no label \"position\"");
        counters.by_position[count_of(sample.line, sample.label("position"), "position")] +=
            counter_of(sample);
      }
      for (const std::string_view known : {drafts_counter, draft_tokens_counter, accepted_counter,
                                           emitted_counter, names.tokens, names.requests}) {
        if (name == known) counters.totals[std::string(name)] += counter_of(sample);
      }
    }
  }
  // A model without counters of drafts does not speculate.
  std::erase_if(models, [](const auto& model) {
    return !model.second.total(drafts_counter) && !model.second.total(draft_tokens_counter);
  });
  if (models.empty()) models[""];
  ModelLogs logs;
  for (const auto& [model, counters] : models) add_page(logs[model], counters, source, names);
  return logs;
}

}  // namespace

LogFormat vllm_metrics_log_format() {
  return {"vllm_metrics",
          "vLLM",
          "A page of /metrics; with --since, only counts after an earlier page.",
          "vllm:spec_decode_num_drafts_total{model_name=\"m\"} 4.0\n"
          "vllm:spec_decode_num_draft_tokens_total{model_name=\"m\"} 8.0\n"
          "vllm:spec_decode_num_accepted_tokens_per_pos_total{model_name=\"m\",position=\"0\"} 3.0\n"
          "vllm:spec_decode_num_accepted_tokens_per_pos_total{model_name=\"m\",position=\"1\"} 2.0\n",
          "https://docs.vllm.ai/en/latest/usage/metrics.html",
          [](const LogSource& source) { return has_sample(source, "vllm:"); },
          [](const LogSource& source) { return read_spec_decode_page(source, vllm_names); }};
}

LogFormat llama_metrics_log_format() {
  return {"llama_metrics",
          "llama.cpp",
          "A page of llama-server's /metrics (--metrics); with --since, only counts after an earlier page.",
          "llamacpp:spec_decode_num_drafts_total 4\n"
          "llamacpp:spec_decode_num_draft_tokens_total 8\n"
          "llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position=\"0\"} 3\n"
          "llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position=\"1\"} 2\n",
          "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
          [](const LogSource& source) { return has_sample(source, "llamacpp:"); },
          [](const LogSource& source) { return read_spec_decode_page(source, llama_names); }};
}

}  // namespace speclab
