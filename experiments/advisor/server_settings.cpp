#include "experiments/advisor/server_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "experiments/format/json.hpp"
#include "experiments/support/shell_word.hpp"

namespace speclab {

namespace {

struct NamedMethod {
  const char* word;
  DraftMethod method;
};
constexpr std::array named_methods{
    NamedMethod{"draft", DraftMethod::draft},  NamedMethod{"ngram", DraftMethod::ngram},
    NamedMethod{"eagle", DraftMethod::eagle},  NamedMethod{"eagle3", DraftMethod::eagle3},
    NamedMethod{"mtp", DraftMethod::mtp},      NamedMethod{"medusa", DraftMethod::medusa},
    NamedMethod{"dflash", DraftMethod::dflash}};

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
  ServerSetting setting{.server = "vLLM",
                        .checked = "v0.25.0",
                        .check =
                            "python -c \"import vllm; print(vllm.__version__)\" and "
                            "vllm serve --help=speculative-config"};
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
  return drafter + fmt::format(
                       "--speculative-num-steps {} --speculative-eagle-topk {} "
                       "--speculative-num-draft-tokens {}",
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
    setting =
        sglang_setting(plan, fmt::format("--speculative-algorithm NGRAM --speculative-num-draft-tokens {} "
                                         "--speculative-ngram-max-bfs-breadth 1",
                                         plan.gamma + 1));
    setting.notes = {"NGRAM needs CUDA. A breadth of 1 drafts one chain; the default of 10 drafts a tree."};
  } else if (plan.method == DraftMethod::dflash) {
    // A block of gamma drafts behind the last token; steps and a breadth of its own it sets to 1.
    setting =
        sglang_setting(plan, fmt::format("--speculative-algorithm DFLASH --speculative-draft-model-path {} "
                                         "--speculative-num-draft-tokens {}",
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
        fmt::format("SGLANG_SIMULATE_ACC_LEN={:.4g} SGLANG_SIMULATE_ACC_METHOD=match-expected "
                    "SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token {}",
                    1 + mean_accepted(plan, plan.gamma), setting.lines[0]),
        "the mean; all requests of a step accept the same number, one of the two whole ones beside the mean"};
  }
  return setting;
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
  // It counts drafted tokens alone. A draft model's has to be whole, others are taken for 0, which leaves
  // acceptance as it is.
  const auto forced = [&](const std::string& call) -> std::optional<ServerSetting::Synthetic> {
    const double mean = mean_accepted(plan, plan.gamma);
    const bool whole = plan.method == DraftMethod::draft;
    const double told = whole ? std::round(mean) : mean;
    if (told == 0) return std::nullopt;
    return ServerSetting::Synthetic{
        fmt::format("os.environ[\"TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS\"] = \"{:.4g}\"; {}", told,
                    call),
        whole
            ? fmt::format("the same number in every round, for with a draft model it has to be whole: {:.4g} "
                          "are planned",
                          mean)
            : "the mean; a round accepts one of the two whole numbers beside it"};
  };
  ServerSetting setting{.server = "TensorRT-LLM",
                        .checked = "1.4.0rc1",
                        .check = "python -c \"import tensorrt_llm; print(tensorrt_llm.__version__)\""};
  if (!changes(plan)) {
    setting.lines = {line("")};
    if (plan.method == DraftMethod::mtp) {
      setting.older = {
          {"before 1.3.0rc24",
           {fmt::format("LLM({}, speculative_config=MTPDecodingConfig(num_nextn_predict_layers={}))",
                        quoted(plan.target), plan.gamma)}}};
    }
    if (can_make_up(plan)) setting.synthetic = forced(setting.lines[0]);
    return setting;
  }
  // Keys are the largest batches of their ranges, none is drafted beyond the last. Before, they were the
  // smallest, 1 had to be among them with max_draft_len, and a length of 0 switched drafting off.
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
  setting.lines = {line(fmt::format(", draft_len_schedule={{{}}}", fmt::join(by_last, ", ")))};
  if (plan.batches.front().first == 1 && plan.batches.front().gamma == longest_planned_draft(plan)) {
    setting.older.push_back({"before pull request 10860 (2026), keys are the smallest batches",
                             {line(fmt::format(", draft_len_schedule={{{}}}", fmt::join(by_first, ", ")))}});
  }
  setting.notes = {"draft_len_schedule is an interface for developers, and its keys changed their meaning."};
  if (!unsaid.empty()) {
    setting.notes.push_back(
        fmt::format("Its present form cannot switch drafting off at batches {}, where it does not pay.",
                    fmt::join(unsaid, ", ")));
  }
  if (can_make_up(plan)) setting.synthetic = forced(setting.lines[0]);
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
    setting.lines = {
        fmt::format("llama-server -m {} --spec-type ngram-simple --spec-ngram-simple-size-n {} "
                    "--spec-ngram-simple-size-m {}",
                    target, longest_lookup, plan.gamma)};
    setting.older = {{before,
                      {fmt::format("llama-server -m {} --spec-type ngram-simple --spec-ngram-size-n {} "
                                   "--spec-ngram-size-m {} --draft-max {}",
                                   target, longest_lookup, plan.gamma, plan.gamma)}}};
  } else if (plan.method != DraftMethod::draft) {
    const bool mtp = plan.method == DraftMethod::mtp;
    const bool dflash = plan.method == DraftMethod::dflash;
    setting.checked = mtp      ? "pull request 22673 (May 2026)"
                      : dflash ? "pull request 22105 (June 2026)"
                               : "pull request 18039 (June 2026)";
    setting.lines = {fmt::format(
        "llama-server -m {}{} --spec-type {} --spec-draft-n-max {} --spec-draft-n-min 0 --spec-draft-p-min 0",
        target, mtp ? "" : " -md " + draft,
        mtp      ? "draft-mtp"
        : dflash ? "draft-dflash"
                 : "draft-eagle3",
        plan.gamma)};
  } else {
    setting.lines = {
        fmt::format("llama-server -m {} -md {} --spec-type draft-simple --spec-draft-n-max {} "
                    "--spec-draft-n-min 0 --spec-draft-p-min 0",
                    target, draft, plan.gamma)};
    setting.older = {{before,
                      {fmt::format("llama-server -m {} -md {} --draft-max {} --draft-min 0 --draft-p-min 0",
                                   target, draft, plan.gamma)}}};
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
  for (const NamedMethod& one : named_methods) {
    if (name == one.word) return one.method;
  }
  return std::nullopt;
}

std::string word_of(DraftMethod method) {
  const auto* const found = std::find_if(named_methods.begin(), named_methods.end(),
                                         [&](const NamedMethod& one) { return one.method == method; });
  return found->word;
}

ServedPlan served_plan(const std::string& target, const std::string& draft, DraftMethod method) {
  ServedPlan plan;
  plan.method = method;
  if (!target.empty()) plan.target = target;
  if (!draft.empty()) plan.draft = draft;
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
        "Its trees have these sizes. Their shape follows the draft's confidence, so that they accept as much as "
        "planned, or more."};
  }
  if (plan.method == DraftMethod::eagle3) {
    settings.push_back({.server = "TensorRT-LLM",
                        .checked = "1.4.0rc1",
                        .check = "python -c \"import tensorrt_llm; print(tensorrt_llm.__version__)\"",
                        .lines = {fmt::format(
                            "LLM({}, speculative_config=Eagle3DecodingConfig(max_draft_len={}, "
                            "speculative_model={}, use_dynamic_tree=True, dynamic_tree_max_topK={}, "
                            "max_total_draft_tokens={}, max_batch_size={}))",
                            quoted(plan.target), plan.gamma, quoted(plan.draft), top_k, nodes, max_batch)}});
  }
  return settings;
}

const std::vector<ServerOption>& server_options() {
  // Read in November 2026.
  constexpr const char* vllm_pages = "https://docs.vllm.ai/en/latest/features/speculative_decoding/";
  constexpr const char* vllm_ranges =
      "https://github.com/vllm-project/vllm/blob/main/docs/features/speculative_decoding/"
      "dynamic_speculative_decoding.md";
  constexpr const char* sglang_page = "https://docs.sglang.io/docs/advanced_features/speculative_decoding.md";
  constexpr const char* tensorrt_page =
      "https://nvidia.github.io/TensorRT-LLM/1.4.0rc1/features/speculative-decoding.html";
  constexpr const char* tensorrt_schedule = "https://github.com/NVIDIA/TensorRT-LLM/pull/10860";
  constexpr const char* llama_renamed = "https://github.com/ggml-org/llama.cpp/pull/22397";
  constexpr const char* llama_types = "https://github.com/ggml-org/llama.cpp/pull/22964";
  constexpr const char* llama_dflash = "https://github.com/ggml-org/llama.cpp/pull/22105";
  constexpr const char* llama_page = "https://github.com/ggml-org/llama.cpp/blob/master/docs/speculative.md";
  constexpr const char* llama_before = "before pull request 22397";
  constexpr const char* hugging_face =
      "https://huggingface.co/docs/transformers/main_classes/text_generation";
  constexpr const char* hugging_face_assisted = "https://huggingface.co/docs/transformers/assisted_decoding";
  constexpr const char* vllm_synthetic = "https://docs.vllm.ai/en/latest/api/vllm/config/speculative/";
  constexpr const char* sglang_simulated =
      "https://github.com/sgl-project/sglang/blob/v0.5.23/python/sglang/srt/environ.py";
  constexpr const char* sglang_dflash =
      "https://github.com/sgl-project/sglang/blob/v0.5.23/python/sglang/srt/arg_groups/speculative_hook.py";
  constexpr const char* tensorrt_forced = "https://github.com/NVIDIA/TensorRT-LLM/pull/13569";
  constexpr const char* llama_synthetic = "https://github.com/ggml-org/llama.cpp/pull/27711";
  static const std::vector<ServerOption> options{
      {"vLLM", "--speculative-config", "v0.25.0", vllm_pages},
      {"vLLM", "method", "v0.25.0", vllm_pages},
      {"vLLM", "model", "v0.25.0", vllm_pages},
      {"vLLM", "num_speculative_tokens", "v0.25.0", vllm_pages},
      {"vLLM", "prompt_lookup_max", "v0.25.0", vllm_pages},
      {"vLLM", "num_speculative_tokens_per_batch_size", "v0.25.0", vllm_ranges},
      {"vLLM", "rejection_sample_method", "0.33.0", vllm_synthetic},
      {"vLLM", "synthetic_acceptance_rates", "0.33.0", vllm_synthetic},
      {"SGLang", "--model-path", "2026", sglang_page},
      {"SGLang", "--speculative-algorithm", "2026", sglang_page},
      {"SGLang", "--speculative-draft-model-path", "2026", sglang_page},
      {"SGLang", "--speculative-num-steps", "2026", sglang_page},
      {"SGLang", "--speculative-eagle-topk", "2026", sglang_page},
      {"SGLang", "--speculative-num-draft-tokens", "2026", sglang_page},
      {"SGLang", "--speculative-ngram-max-bfs-breadth", "2026", sglang_page},
      {"SGLang", "--speculative-algorithm", "DFLASH: 0.5.23", sglang_dflash},
      {"SGLang", "SGLANG_SIMULATE_ACC_LEN", "0.5.23", sglang_simulated},
      {"SGLang", "SGLANG_SIMULATE_ACC_METHOD", "0.5.23", sglang_simulated},
      {"SGLang", "SGLANG_SIMULATE_ACC_TOKEN_MODE", "0.5.23", sglang_simulated},
      {"TensorRT-LLM", "speculative_config", "1.4.0rc1", tensorrt_page},
      {"TensorRT-LLM", "max_draft_len", "1.4.0rc1", tensorrt_page},
      {"TensorRT-LLM", "speculative_model", "1.4.0rc1", tensorrt_page},
      {"TensorRT-LLM", "use_dynamic_tree", "1.4.0rc1", tensorrt_page},
      {"TensorRT-LLM", "dynamic_tree_max_topK", "1.4.0rc1", tensorrt_page},
      {"TensorRT-LLM", "max_total_draft_tokens", "1.4.0rc1", tensorrt_page},
      {"TensorRT-LLM", "max_batch_size", "1.4.0rc1", tensorrt_page},
      {"TensorRT-LLM", "DFlashDecodingConfig", "1.4.0rc1",
       "https://nvidia.github.io/TensorRT-LLM/1.4.0rc1/llm-api/reference/DFlashDecodingConfig.html"},
      {"TensorRT-LLM", "max_matching_ngram_size", "1.4.0rc1", tensorrt_page},
      {"TensorRT-LLM", "num_nextn_predict_layers", "before 1.3.0rc24",
       "https://nvidia.github.io/TensorRT-LLM/1.0.0/examples/llm_speculative_decoding.html"},
      {"TensorRT-LLM", "draft_len_schedule", "since pull request 10860", tensorrt_schedule},
      {"TensorRT-LLM", "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS", "since pull request 13569",
       tensorrt_forced},
      {"llama.cpp", "-m", "every", llama_page},
      {"llama.cpp", "-md", "every", llama_page},
      {"llama.cpp", "--spec-type", "draft-simple since pull request 22964", llama_types},
      {"llama.cpp", "--spec-type", "draft-dflash since pull request 22105", llama_dflash},
      {"llama.cpp", "--spec-draft-n-max", "since pull request 22397", llama_renamed},
      {"llama.cpp", "--spec-draft-n-min", "since pull request 22397", llama_renamed},
      {"llama.cpp", "--spec-draft-p-min", "since pull request 22397", llama_page},
      {"llama.cpp", "--spec-ngram-simple-size-n", "since pull request 22397", llama_renamed},
      {"llama.cpp", "--spec-ngram-simple-size-m", "since pull request 22397", llama_renamed},
      {"llama.cpp", "--spec-ngram-size-n", llama_before, llama_renamed},
      {"llama.cpp", "--spec-ngram-size-m", llama_before, llama_renamed},
      {"llama.cpp", "--draft-max", llama_before, llama_renamed},
      {"llama.cpp", "--draft-min", llama_before, llama_renamed},
      {"llama.cpp", "--draft-p-min", llama_before, llama_page},
      {"llama.cpp", "--spec-synthetic-acceptance-length", "since pull request 27711", llama_synthetic},
      {"Hugging Face", "assistant_model", "Transformers 5", hugging_face_assisted},
      {"Hugging Face", "prompt_lookup_num_tokens", "Transformers 5", hugging_face_assisted},
      {"Hugging Face", "num_assistant_tokens", "Transformers 5", hugging_face},
      {"Hugging Face", "num_assistant_tokens_schedule", "Transformers 5", hugging_face},
      {"Hugging Face", "assistant_confidence_threshold", "Transformers 5", hugging_face}};
  return options;
}

}  // namespace speclab
