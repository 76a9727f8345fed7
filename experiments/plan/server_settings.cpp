#include "experiments/plan/server_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace speclab {

namespace {

/// A lookup needs the length of what it looks up; 4 and 2 are the examples of the servers' pages.
constexpr int longest_lookup = 4;

/// Does the choice change with the batch?
bool changes(const ServedPlan& plan) { return plan.batches.size() > 1; }

/// Servers that follow the batch reserve room for the longest draft of any.
int longest_draft(const ServedPlan& plan) {
  int longest = plan.gamma;
  for (const BatchRange& range : plan.batches) longest = std::max(longest, range.gamma);
  return longest;
}

// docs.vllm.ai/en/latest/features/speculative_decoding/: draft_model, n_gram, and (v0.25.0)
// dynamic_speculative_decoding, whose ranges are [first batch, last batch, tokens].
ServerSetting vllm(const ServedPlan& plan) {
  std::string config =
      plan.by_lookup
          ? fmt::format(R"({{"method": "ngram", "num_speculative_tokens": {}, "prompt_lookup_max": {})",
                        longest_draft(plan), longest_lookup)
          : fmt::format(R"({{"method": "draft_model", "model": "{}", "num_speculative_tokens": {})",
                        plan.draft, longest_draft(plan));
  if (changes(plan)) {
    std::vector<std::string> ranges;
    for (const BatchRange& range : plan.batches) {
      ranges.push_back(fmt::format("[{}, {}, {}]", range.first, range.last, range.gamma));
    }
    config += fmt::format(R"(, "num_speculative_tokens_per_batch_size": [{}])", fmt::join(ranges, ", "));
  }
  return {"vLLM",
          "docs.vllm.ai, latest (2026), dynamic ranges v0.25.0",
          {fmt::format("vllm serve {} --speculative-config '{}}}'", plan.target, config)}};
}

// docs.sglang.io/docs/advanced_features/speculative_decoding and server_arguments. A chain of gamma tokens
// has one branch, gamma steps, and gamma + 1 tokens to verify.
ServerSetting sglang(const ServedPlan& plan) {
  const std::string drafter =
      plan.by_lookup
          ? fmt::format("--speculative-algorithm NGRAM --speculative-num-draft-tokens {}", plan.gamma + 1)
          : fmt::format(
                "--speculative-algorithm STANDALONE --speculative-draft-model-path {} "
                "--speculative-num-steps {} --speculative-eagle-topk 1 "
                "--speculative-num-draft-tokens {}",
                plan.draft, plan.gamma, plan.gamma + 1);
  return {"SGLang",
          "docs.sglang.io (2026)",
          {fmt::format("python -m sglang.launch_server --model-path {} {}", plan.target, drafter)}};
}

// nvidia.github.io/TensorRT-LLM/1.4.0rc1/features/speculative-decoding; draft_len_schedule: pull request
// 10860 of NVIDIA/TensorRT-LLM, largest batch of a range -> tokens, none beyond the last.
ServerSetting tensorrt_llm(const ServedPlan& plan) {
  std::string schedule;
  if (changes(plan)) {
    std::vector<std::string> entries;
    for (const BatchRange& range : plan.batches) {
      if (range.gamma > 0) entries.push_back(fmt::format("{}: {}", range.last, range.gamma));
    }
    schedule = fmt::format(", draft_len_schedule={{{}}}", fmt::join(entries, ", "));
  }
  const std::string config =
      plan.by_lookup ? fmt::format("NGramDecodingConfig(max_draft_len={}, max_matching_ngram_size={}{})",
                                   longest_draft(plan), longest_lookup, schedule)
                     : fmt::format("DraftTargetDecodingConfig(max_draft_len={}, speculative_model=\"{}\"{})",
                                   longest_draft(plan), plan.draft, schedule);
  return {
      "TensorRT-LLM", "1.4.0rc1", {fmt::format("LLM(\"{}\", speculative_config={})", plan.target, config)}};
}

/// The name a converted model usually gets.
std::string file_of(const std::string& repository) {
  return repository.substr(repository.rfind('/') + 1) + ".gguf";
}

// github.com/ggml-org/llama.cpp docs/speculative.md and common/arg.cpp: in 2026 --draft-max and --draft-min
// became --spec-draft-n-max and --spec-draft-n-min. --draft-p-min 0 keeps the draft from stopping early.
ServerSetting llama_cpp(const ServedPlan& plan) {
  const std::string target = file_of(plan.target);
  const std::string draft = file_of(plan.draft);
  if (plan.by_lookup) {
    return {"llama.cpp",
            "docs/speculative.md (2026)",
            {fmt::format("llama-server -m {} --spec-type ngram-simple --spec-ngram-size-n {} "
                         "--draft-max {}",
                         target, longest_lookup, plan.gamma)}};
  }
  return {"llama.cpp",
          "docs/speculative.md (2026)",
          {fmt::format("llama-server -m {} -md {} --spec-type draft-simple --spec-draft-n-max {} "
                       "--spec-draft-n-min 0 --spec-draft-p-min 0",
                       target, draft, plan.gamma),
           fmt::format("older builds: llama-server -m {} -md {} --draft-max {} --draft-min 0 --draft-p-min 0",
                       target, draft, plan.gamma)}};
}

// huggingface.co/docs/transformers: main_classes/text_generation (GenerationConfig) and assisted_decoding. A
// threshold of 0 keeps the assistant from stopping early.
ServerSetting transformers(const ServedPlan& plan) {
  if (plan.by_lookup) {
    return {"Hugging Face",
            "Transformers 5",
            {fmt::format("model.generate(**inputs, prompt_lookup_num_tokens={})", plan.gamma)}};
  }
  return {"Hugging Face",
          "Transformers 5",
          {fmt::format("assistant = AutoModelForCausalLM.from_pretrained(\"{}\")", plan.draft),
           fmt::format("assistant.generation_config.num_assistant_tokens = {}", plan.gamma),
           "assistant.generation_config.num_assistant_tokens_schedule = \"constant\"",
           "assistant.generation_config.assistant_confidence_threshold = 0",
           "model.generate(**inputs, assistant_model=assistant)"}};
}

}  // namespace

std::vector<ServerSetting> server_settings(const ServedPlan& plan) {
  return {vllm(plan), sglang(plan), tensorrt_llm(plan), llama_cpp(plan), transformers(plan)};
}

}  // namespace speclab
