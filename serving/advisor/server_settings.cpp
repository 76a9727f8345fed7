#include "serving/advisor/server_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <utility>

#include "experiments/base/format/json.hpp"
#include "experiments/base/support/shell_word.hpp"

namespace speclab {

namespace {

/// By DraftMethod.
constexpr std::array method_words{"draft", "ngram", "eagle", "eagle3", "mtp", "medusa", "dflash"};

/// A lookup needs the length of what it looks up; 4 and 2 are the examples of the servers' pages.
constexpr int longest_lookup = 4;

/// A name as a string of JSON, which is one of Python, too.
std::string quoted(const std::string& name) {
  return Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Does the choice change with the batch?
bool changes(const ServedPlan& plan) { return plan.batches.size() > 1; }

/// Whether acceptance can be made up: a lookup does not draft where it finds nothing.
bool can_make_up(const ServedPlan& plan) {
  return !plan.accepted.empty() && plan.method != DraftMethod::ngram;
}

/// Accepted tokens of a round of `gamma` drafted ones, mean.
double mean_accepted(const ServedPlan& plan, int gamma) {
  return std::accumulate(plan.accepted.begin(), plan.accepted.begin() + gamma, 0.0);
}

bool is_eagle(const ServedPlan& plan) {
  return plan.method == DraftMethod::eagle || plan.method == DraftMethod::eagle3;
}

/// Whose drafts come from a model of its own, or heads in a file of their own.
bool has_draft_file(const ServedPlan& plan) {
  return plan.method != DraftMethod::ngram && plan.method != DraftMethod::mtp;
}

std::string vllm_name(DraftMethod method) {
  return method == DraftMethod::draft ? "draft_model" : word_of(method);
}

using Offered = std::optional<ServerSetting>;

Offered vllm(const ServedPlan& plan) {
  ServerSetting setting{
      .server = "vLLM",
      .checked = "v0.25.0",
      .check = "python -c \"import vllm; print(vllm.__version__)\" and vllm serve --help=speculative-config"};
  std::string config = fmt::format(R"({{"method": "{}")", vllm_name(plan.method));
  if (has_draft_file(plan)) config += fmt::format(R"(, "model": {})", quoted(plan.draft));
  config += fmt::format(R"(, "num_speculative_tokens": {})", longest_planned_draft(plan));
  if (plan.method == DraftMethod::ngram)
    config += fmt::format(R"(, "prompt_lookup_max": {})", longest_lookup);
  if (plan.method == DraftMethod::medusa) {
    setting.notes.emplace_back(
        "vLLM 0.33 has no Medusa heads any more: its method is not in vllm/config/speculative.py.");
  }
  if (plan.method == DraftMethod::mtp) {
    setting.notes.emplace_back(
        "mtp needs a target with modules for it, such as DeepSeek-V3, MiMo or Qwen3-Next.");
  }
  const auto line = [&](const std::string& more) {
    return fmt::format("vllm serve {} --speculative-config {}", shell_word(plan.target),
                       shell_word(config + more + "}"));
  };
  if (changes(plan)) {
    setting.older.push_back({"before v0.25.0, without ranges", {line("")}});
    std::vector<std::string> ranges;
    for (const BatchRange& range : plan.batches) {
      ranges.push_back(fmt::format("[{}, {}, {}]", range.first, range.last, range.gamma));
    }
    config += fmt::format(R"(, "num_speculative_tokens_per_batch_size": [{}])", fmt::join(ranges, ", "));
    if (!is_eagle(plan) && plan.method != DraftMethod::dflash) {
      setting.notes.emplace_back(
          "vLLM tests ranges by batch with the methods eagle, eagle3 and dflash; with this one they may or may not work.");
    }
    setting.notes.emplace_back(
        "With data parallelism it ignores the ranges and drafts num_speculative_tokens throughout.");
  }
  setting.lines = {line("")};
  if (can_make_up(plan)) {
    setting.synthetic = {
        line(fmt::format(
            R"(, "rejection_sample_method": "synthetic", "synthetic_acceptance_rates": [{:.4g}])",
            fmt::join(plan.accepted.begin(), plan.accepted.begin() + longest_planned_draft(plan), ", "))),
        "as planned at every position"};
  }
  return setting;
}

/// `nodes` drafted tokens in gamma levels, with at most top_k branches. The tokens to verify are one more.
std::string sglang_drafter(const ServedPlan& plan, int nodes, int top_k) {
  const char* algorithm = plan.method == DraftMethod::draft    ? "STANDALONE"
                          : plan.method == DraftMethod::eagle3 ? "EAGLE3"
                                                               : "EAGLE";
  std::string drafter = fmt::format("--speculative-algorithm {} ", algorithm);
  if (has_draft_file(plan))
    drafter += fmt::format("--speculative-draft-model-path {} ", shell_word(plan.draft));
  return drafter +
         fmt::format(
             "--speculative-num-steps {} --speculative-eagle-topk {} --speculative-num-draft-tokens {}",
             plan.gamma, top_k, nodes + 1);
}

ServerSetting sglang_setting(const ServedPlan& plan, const std::string& drafter) {
  return {.server = "SGLang",
          .checked = "docs.sglang.io of 2026",
          .check = "python -m sglang.launch_server --help",
          .lines = {fmt::format("python -m sglang.launch_server --model-path {} {}", shell_word(plan.target),
                                drafter)}};
}

Offered sglang(const ServedPlan& plan) {
  if (plan.method == DraftMethod::medusa) return std::nullopt;
  ServerSetting setting;
  if (plan.method == DraftMethod::ngram) {
    setting = sglang_setting(
        plan,
        fmt::format(
            "--speculative-algorithm NGRAM --speculative-num-draft-tokens {} --speculative-ngram-max-bfs-breadth 1",
            plan.gamma + 1));
    setting.notes = {"NGRAM needs CUDA. A breadth of 1 drafts one chain; the default of 10 drafts a tree."};
  } else if (plan.method == DraftMethod::dflash) {
    // A block of gamma drafts behind the last token; steps and a breadth of its own it sets to 1.
    setting = sglang_setting(
        plan,
        fmt::format(
            "--speculative-algorithm DFLASH --speculative-draft-model-path {} --speculative-num-draft-tokens {}",
            shell_word(plan.draft), plan.gamma + 1));
  } else {
    setting = sglang_setting(plan, sglang_drafter(plan, plan.gamma, 1));
    if (is_eagle(plan)) {
      setting.notes.emplace_back(
          "An eagle-topk above 1 drafts a tree, of which a plan of chains says nothing: speclab plan tree does.");
    }
  }
  if (changes(plan)) setting.notes.emplace_back("The number of drafted tokens is the same at every batch.");
  if (can_make_up(plan)) {
    setting.synthetic = {
        fmt::format(
            "SGLANG_SIMULATE_ACC_LEN={:.4g} SGLANG_SIMULATE_ACC_METHOD=match-expected SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token {}",
            1 + mean_accepted(plan, plan.gamma), setting.lines[0]),
        "the mean; all requests of a step accept the same number, one of the two whole ones beside the mean"};
  }
  return setting;
}

ServerSetting tensorrt_setting(const std::string& line) {
  return {.server = "TensorRT-LLM",
          .checked = "1.4.0rc1",
          .check = "python -c \"import tensorrt_llm; print(tensorrt_llm.__version__)\"",
          .lines = {line}};
}

Offered tensorrt_llm(const ServedPlan& plan) {
  // Its PyTorch backend knows the heads of EAGLE-3 alone, and none of Medusa.
  if (plan.method == DraftMethod::eagle || plan.method == DraftMethod::medusa) return std::nullopt;
  const auto line = [&](const std::string& schedule) {
    std::string config;
    if (plan.method == DraftMethod::ngram) {
      config = fmt::format("NGramDecodingConfig(max_draft_len={}, max_matching_ngram_size={}{})",
                           longest_planned_draft(plan), longest_lookup, schedule);
    } else if (plan.method == DraftMethod::mtp) {
      config = fmt::format("MTPDecodingConfig(max_draft_len={}{})", longest_planned_draft(plan), schedule);
    } else {
      const char* kind = plan.method == DraftMethod::eagle3   ? "Eagle3"
                         : plan.method == DraftMethod::dflash ? "DFlash"
                                                              : "DraftTarget";
      config = fmt::format("{}DecodingConfig(max_draft_len={}, speculative_model={}{})", kind,
                           longest_planned_draft(plan), quoted(plan.draft), schedule);
    }
    return fmt::format("LLM({}, speculative_config={})", quoted(plan.target), config);
  };
  ServerSetting setting = tensorrt_setting(line(""));
  if (changes(plan)) {
    // Keys are the largest batches of their ranges, none is drafted beyond the last. Before, they were the
    // smallest, 1 had to be among them with max_draft_len, and a length of 0 switched drafting off.
    const auto schedule = [&](const std::vector<std::string>& keys) {
      return line(fmt::format(", draft_len_schedule={{{}}}", fmt::join(keys, ", ")));
    };
    std::vector<std::string> by_last;
    std::vector<std::string> by_first;
    std::vector<std::string> unsaid;
    std::string last_unpaid;
    for (const BatchRange& range : plan.batches) {
      if (range.gamma > 0 && !last_unpaid.empty()) unsaid.push_back(last_unpaid);
      last_unpaid = range.gamma > 0 ? "" : fmt::format("{} to {}", range.first, range.last);
      if (range.gamma > 0) by_last.push_back(fmt::format("{}: {}", range.last, range.gamma));
      by_first.push_back(fmt::format("{}: {}", range.first, range.gamma));
    }
    setting.lines = {schedule(by_last)};
    if (plan.batches.front().first == 1 && plan.batches.front().gamma == longest_planned_draft(plan)) {
      setting.older.push_back(
          {"before pull request 10860 (2026), keys are the smallest batches", {schedule(by_first)}});
    }
    setting.notes = {
        "draft_len_schedule is an interface for developers, and its keys changed their meaning."};
    if (!unsaid.empty()) {
      setting.notes.push_back(
          fmt::format("Its present form cannot switch drafting off at batches {}, where it does not pay.",
                      fmt::join(unsaid, ", ")));
    }
  } else if (plan.method == DraftMethod::mtp) {
    setting.older = {
        {"before 1.3.0rc24",
         {fmt::format("LLM({}, speculative_config=MTPDecodingConfig(num_nextn_predict_layers={}))",
                      quoted(plan.target), plan.gamma)}}};
  }
  if (!can_make_up(plan)) return setting;
  // It counts drafted tokens alone. A draft model's has to be whole, others are taken for 0, which leaves
  // acceptance as it is.
  const double mean = mean_accepted(plan, plan.gamma);
  const bool whole = plan.method == DraftMethod::draft;
  const double told = whole ? std::round(mean) : mean;
  if (told == 0) return setting;
  setting.synthetic = {
      fmt::format(R"(os.environ["TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"] = "{:.4g}"; {})", told,
                  setting.lines[0]),
      whole
          ? fmt::format(
                "the same number in every round, for with a draft model it has to be whole: {:.4g} are planned",
                mean)
          : "the mean; a round accepts one of the two whole numbers beside it"};
  return setting;
}

/// The name a converted model usually gets.
std::string file_of(const std::string& repository) {
  return repository.substr(repository.rfind('/') + 1) + ".gguf";
}

// --spec-draft-p-min 0 keeps the draft from stopping early.
Offered llama_cpp(const ServedPlan& plan) {
  if (plan.method == DraftMethod::eagle || plan.method == DraftMethod::medusa) return std::nullopt;
  const std::string target = shell_word(file_of(plan.target));
  const std::string draft = shell_word(file_of(plan.draft));
  ServerSetting setting{.server = "llama.cpp",
                        .checked = "pull requests 22397 and 22964 (April and May 2026)",
                        .check = "llama-server --help: an option that was removed says so there"};
  constexpr const char* before = "before pull request 22397";
  if (plan.method == DraftMethod::ngram) {
    setting.lines = {fmt::format(
        "llama-server -m {} --spec-type ngram-simple --spec-ngram-simple-size-n {} --spec-ngram-simple-size-m {}",
        target, longest_lookup, plan.gamma)};
    setting.older = {
        {before,
         {fmt::format(
             "llama-server -m {} --spec-type ngram-simple --spec-ngram-size-n {} --spec-ngram-size-m {} --draft-max {}",
             target, longest_lookup, plan.gamma, plan.gamma)}}};
  } else {
    const char* type = "draft-simple";
    if (plan.method == DraftMethod::draft) {
      setting.older = {{before,
                        {fmt::format("llama-server -m {} -md {} --draft-max {} --draft-min 0 --draft-p-min 0",
                                     target, draft, plan.gamma)}}};
    } else {
      std::tie(type, setting.checked) =
          plan.method == DraftMethod::mtp      ? std::pair{"draft-mtp", "pull request 22673 (May 2026)"}
          : plan.method == DraftMethod::dflash ? std::pair{"draft-dflash", "pull request 22105 (June 2026)"}
                                               : std::pair{"draft-eagle3", "pull request 18039 (June 2026)"};
    }
    setting.lines = {fmt::format(
        "llama-server -m {}{} --spec-type {} --spec-draft-n-max {} --spec-draft-n-min 0 --spec-draft-p-min 0",
        target, has_draft_file(plan) ? " -md " + draft : "", type, plan.gamma)};
  }
  if (changes(plan)) setting.notes.emplace_back("The number of drafted tokens is the same at every batch.");
  if (can_make_up(plan)) {
    setting.synthetic = {fmt::format("{} --spec-synthetic-acceptance-length {:.4g}", setting.lines[0],
                                     1 + mean_accepted(plan, plan.gamma)),
                         "the mean, with one rate at every position"};
  }
  return setting;
}

// A threshold of 0 keeps the assistant from stopping early.
Offered transformers(const ServedPlan& plan) {
  if (plan.method != DraftMethod::draft && plan.method != DraftMethod::ngram) return std::nullopt;
  ServerSetting setting{.server = "Hugging Face",
                        .checked = "Transformers 5",
                        .check = "python -c \"import transformers; print(transformers.__version__)\""};
  if (plan.method == DraftMethod::ngram) {
    setting.lines = {fmt::format("model.generate(**inputs, prompt_lookup_num_tokens={})", plan.gamma)};
  } else {
    setting.lines = {fmt::format("assistant = AutoModelForCausalLM.from_pretrained({})", quoted(plan.draft)),
                     fmt::format("assistant.generation_config.num_assistant_tokens = {}", plan.gamma),
                     "assistant.generation_config.num_assistant_tokens_schedule = \"constant\"",
                     "assistant.generation_config.assistant_confidence_threshold = 0",
                     "model.generate(**inputs, assistant_model=assistant)"};
  }
  return setting;
}

}  // namespace

DraftRuns draft_runs(DraftMethod method) {
  return method == DraftMethod::medusa || method == DraftMethod::dflash ? DraftRuns::a_round
                                                                        : DraftRuns::a_token;
}

std::optional<DraftMethod> draft_method_named(const std::string& name) {
  const auto* const found = std::find(method_words.begin(), method_words.end(), name);
  if (found == method_words.end()) return std::nullopt;
  return static_cast<DraftMethod>(found - method_words.begin());
}

std::string word_of(DraftMethod method) { return method_words[static_cast<std::size_t>(method)]; }

ServedPlan served_plan(const PlannedPair& pair, int gamma) {
  ServedPlan plan;
  plan.method = pair.method;
  plan.gamma = gamma;
  if (!pair.target.empty()) plan.target = pair.target;
  if (!pair.draft.empty()) plan.draft = pair.draft;
  return plan;
}

// Servers that follow the batch reserve room for it.
int longest_planned_draft(const ServedPlan& plan) {
  int longest = plan.gamma;
  for (const BatchRange& range : plan.batches) longest = std::max(longest, range.gamma);
  return longest;
}

std::vector<ServerSetting> server_settings(const ServedPlan& plan) {
  std::vector<ServerSetting> settings;
  for (Offered& offered :
       std::array{vllm(plan), sglang(plan), tensorrt_llm(plan), llama_cpp(plan), transformers(plan)}) {
    if (offered) settings.push_back(std::move(*offered));
  }
  return settings;
}

std::vector<ServerSetting> tree_settings(const ServedPlan& plan, int nodes, int top_k, int max_batch) {
  std::vector<ServerSetting> settings;
  if (plan.method != DraftMethod::ngram && draft_runs(plan.method) == DraftRuns::a_token) {
    settings.push_back(sglang_setting(plan, sglang_drafter(plan, nodes, top_k)));
    settings.back().notes = {
        "Its trees have these sizes. Their shape follows the draft's confidence, so that they accept as much as planned, or more."};
  }
  if (plan.method == DraftMethod::eagle3) {
    settings.push_back(tensorrt_setting(fmt::format(
        "LLM({}, speculative_config=Eagle3DecodingConfig(max_draft_len={}, speculative_model={}, use_dynamic_tree=True, dynamic_tree_max_topK={}, max_total_draft_tokens={}, max_batch_size={}))",
        quoted(plan.target), plan.gamma, quoted(plan.draft), top_k, nodes, max_batch)));
  }
  return settings;
}

const std::vector<ServerOption>& server_options() {
  static const std::vector<ServerOption> options = [] {
    std::vector<ServerOption> all;
    const auto read = [&](const char* server, const char* version, const char* source,
                          std::initializer_list<const char*> names) {
      for (const char* name : names) all.push_back({server, name, version, source});
    };
    // In November 2026.
    read("vLLM", "v0.25.0", "https://docs.vllm.ai/en/latest/features/speculative_decoding/",
         {"--speculative-config", "method", "model", "num_speculative_tokens", "prompt_lookup_max"});
    read(
        "vLLM", "v0.25.0",
        "https://github.com/vllm-project/vllm/blob/main/docs/features/speculative_decoding/dynamic_speculative_decoding.md",
        {"num_speculative_tokens_per_batch_size"});
    read("vLLM", "0.33.0", "https://docs.vllm.ai/en/latest/api/vllm/config/speculative/",
         {"rejection_sample_method", "synthetic_acceptance_rates"});
    read("SGLang", "2026", "https://docs.sglang.io/docs/advanced_features/speculative_decoding.md",
         {"--model-path", "--speculative-algorithm", "--speculative-draft-model-path",
          "--speculative-num-steps", "--speculative-eagle-topk", "--speculative-num-draft-tokens",
          "--speculative-ngram-max-bfs-breadth"});
    read(
        "SGLang", "DFLASH: 0.5.23",
        "https://github.com/sgl-project/sglang/blob/v0.5.23/python/sglang/srt/arg_groups/speculative_hook.py",
        {"--speculative-algorithm"});
    read("SGLang", "0.5.23",
         "https://github.com/sgl-project/sglang/blob/v0.5.23/python/sglang/srt/environ.py",
         {"SGLANG_SIMULATE_ACC_LEN", "SGLANG_SIMULATE_ACC_METHOD", "SGLANG_SIMULATE_ACC_TOKEN_MODE"});
    constexpr const char* tensorrt = "TensorRT-LLM";
    constexpr const char* tensorrt_page =
        "https://nvidia.github.io/TensorRT-LLM/1.4.0rc1/features/speculative-decoding.html";
    read(tensorrt, "1.4.0rc1", tensorrt_page,
         {"speculative_config", "max_draft_len", "speculative_model", "use_dynamic_tree",
          "dynamic_tree_max_topK", "max_total_draft_tokens", "max_batch_size"});
    read(tensorrt, "1.4.0rc1",
         "https://nvidia.github.io/TensorRT-LLM/1.4.0rc1/llm-api/reference/DFlashDecodingConfig.html",
         {"DFlashDecodingConfig"});
    read(tensorrt, "1.4.0rc1", tensorrt_page, {"max_matching_ngram_size"});
    read(tensorrt, "before 1.3.0rc24",
         "https://nvidia.github.io/TensorRT-LLM/1.0.0/examples/llm_speculative_decoding.html",
         {"num_nextn_predict_layers"});
    read(tensorrt, "since pull request 10860", "https://github.com/NVIDIA/TensorRT-LLM/pull/10860",
         {"draft_len_schedule"});
    read(tensorrt, "since pull request 13569", "https://github.com/NVIDIA/TensorRT-LLM/pull/13569",
         {"TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"});
    constexpr const char* llama = "llama.cpp";
    constexpr const char* llama_page =
        "https://github.com/ggml-org/llama.cpp/blob/master/docs/speculative.md";
    constexpr const char* renamed = "https://github.com/ggml-org/llama.cpp/pull/22397";
    constexpr const char* since = "since pull request 22397";
    constexpr const char* before = "before pull request 22397";
    read(llama, "every", llama_page, {"-m", "-md"});
    read(llama, "draft-simple since pull request 22964", "https://github.com/ggml-org/llama.cpp/pull/22964",
         {"--spec-type"});
    read(llama, "draft-dflash since pull request 22105", "https://github.com/ggml-org/llama.cpp/pull/22105",
         {"--spec-type"});
    read(llama, since, renamed, {"--spec-draft-n-max", "--spec-draft-n-min"});
    read(llama, since, llama_page, {"--spec-draft-p-min"});
    read(llama, since, renamed, {"--spec-ngram-simple-size-n", "--spec-ngram-simple-size-m"});
    read(llama, before, renamed,
         {"--spec-ngram-size-n", "--spec-ngram-size-m", "--draft-max", "--draft-min"});
    read(llama, before, llama_page, {"--draft-p-min"});
    read(llama, "since pull request 27711", "https://github.com/ggml-org/llama.cpp/pull/27711",
         {"--spec-synthetic-acceptance-length"});
    read("Hugging Face", "Transformers 5", "https://huggingface.co/docs/transformers/assisted_decoding",
         {"assistant_model", "prompt_lookup_num_tokens"});
    read("Hugging Face", "Transformers 5",
         "https://huggingface.co/docs/transformers/main_classes/text_generation",
         {"num_assistant_tokens", "num_assistant_tokens_schedule", "assistant_confidence_threshold"});
    return all;
  }();
  return options;
}

}  // namespace speclab
