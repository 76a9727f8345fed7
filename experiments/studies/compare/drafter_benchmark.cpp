#include "experiments/studies/compare/drafter_benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/setup.hpp"
#include "sim/models/request_model.hpp"
#include "sim/text/documents.hpp"
#include "sim/text/text_target.hpp"

namespace speclab {

namespace {

/// Returns the end of a document's prompt; empty if the document is unsuitable.
std::optional<std::size_t> prompt_end(const std::vector<Token>& document, std::optional<Token> until,
                                      std::size_t tokens) {
  const std::size_t end = until ? position_after(document, *until) : tokens;
  return end < document.size() ? std::optional(end) : std::nullopt;
}

std::optional<Token> prompt_until(const TaskConfig& task, const std::string& path, const CorpusText& text) {
  const std::string& word = task.prompt_until;
  if (word.empty()) return text.separator;
  const std::vector<Token> tokens =
      at_path(path + "/prompt_until", [&] { return text.vocabulary.tokens(word); });
  if (tokens.size() != 1) {
    throw ConfigError(path + "/prompt_until", "\"{}\" is {} tokens; give a single one", word, tokens.size());
  }
  if (task.prompt_tokens != TaskConfig().prompt_tokens)
    throw ConfigError(path + "/prompt_tokens",
                      "the prompt ends with \"{}\" (prompt_until); leave one of them out", word);
  return tokens.front();
}

BenchmarkTask make_task(const ConfigReader& whole, const SharedPlace& place, const TaskConfig& config,
                        std::int32_t batches) {
  const std::string& path = place.path;
  ModelFactory& factory = place.factory;
  const std::string corpus_path = path + "/corpus";
  const std::shared_ptr<const CorpusText> text = factory.text(config.corpus, corpus_path);
  if (text->held_out.empty()) {
    throw ConfigError(corpus_path + "/hold_out",
                      "missing; a task decodes held-out documents, so that some must be held out");
  }
  std::optional<BuiltModel> target;
  if (config.target) {
    const ModelRequest request{factory, &config.corpus, corpus_path, nullptr, std::nullopt};
    target = factory.prompted(*config.target, request, whole[&Config::sampling]);
  }
  BenchmarkTask task{text, std::move(target), PointRows(text->vocabulary.size()), {}, {}};
  task.sequences.seed = whole[&Config::seed];
  task.sequences.batches = static_cast<std::uint32_t>(batches);
  const std::optional<Token> until = prompt_until(config, path, *text);
  const auto wanted = static_cast<std::size_t>(config.sequences);
  const auto most = static_cast<std::size_t>(config.tokens);
  for (const auto& document : text->held_out) {
    if (task.documents.size() >= wanted) break;
    const auto end = prompt_end(document, until, static_cast<std::size_t>(config.prompt_tokens));
    if (!end) continue;
    const std::size_t tokens = task.target ? most : std::min(most, document.size() - *end);
    task.documents.push_back(document);
    task.sequences.sequences.push_back(
        {{document.begin(), document.begin() + static_cast<std::ptrdiff_t>(*end)},
         static_cast<std::uint32_t>(tokens),
         !task.target && tokens == document.size() - *end});
  }
  if (const std::size_t found = task.documents.size(); found < wanted) {
    throw ConfigError(
        path + "/sequences",
        "{} of {} held-out documents suit the prompt, too few for {} sequences: {}shorten the prompt, or hold out more by a smaller \"hold_out\"",
        found, text->held_out.size(), wanted, found < 2 ? "" : fmt::format("ask for at most {}, ", found));
  }
  return task;
}

}  // namespace

Model BenchmarkTask::target_of(std::size_t sequence) const {
  if (!target) return TextTarget{documents[sequence], &rows};
  if (!target->remembered.remembers()) return target->model;
  return requested(target->model, target->remembered, sequences.sequences[sequence].prompt.size());
}

double BenchmarkEntry::round_time(std::int32_t drafted) const {
  return 1 + verify * drafted + costs.front() * drafter->largest(drafted).runs;
}

double BenchmarkEntry::time(const Tally& tally) const {
  double total = static_cast<double>(tally.rounds) + verify * static_cast<double>(tally.drafted) +
                 costs.front() * static_cast<double>(tally.draft_runs);
  for (std::size_t level = 1; level < costs.size(); ++level)
    total += costs[level] * static_cast<double>(tally.inner_runs[level - 1]);
  return total;
}

Support BenchmarkEntry::possible_speedups(std::int32_t most) const {
  const Drafted largest = drafter->largest(most);
  Tally slowest;
  slowest.add_round({.drafted = largest.count, .draft_runs = largest.runs, .inner_runs = largest.inner_runs});
  Support speeds{1 / time(slowest), drafter->foretells_runs() ? 1.0 : 1.0 + largest.count};
  for (std::int32_t drafted = 0; drafted <= most; ++drafted)
    speeds.high = std::max(speeds.high, (1 + drafted) / round_time(drafted));
  return speeds;
}

std::shared_ptr<const BenchmarkTask> shared_task(const TaskConfig& task, const std::string& path,
                                                 const Config& config, JobList& jobs) {
  static const Typed<std::int32_t> number = count<std::int32_t>();
  const auto build = [](const auto&... inputs) { return make_task(inputs...); };
  return jobs.shared<BenchmarkTask>(config, path, build, Given<TaskConfig>{task_type(), task},
                                    Given<std::int32_t>{number, config.section<CompareSection>().batches});
}

BenchmarkEntry make_entry(const DrafterConfig& drafter, const TaskConfig& task_config,
                          const std::string& task_path, const BenchmarkTask& task, const Config& config,
                          ModelFactory& factory) {
  const RuleConfig& rule = drafter.rule ? *drafter.rule : config.rule;
  // A text as the target is greedy.
  const double temperature =
      task_config.target ? sampling_of(*task_config.target, config.sampling).temperature : 0;
  return {make_drafter(drafter, {.factory = factory,
                                 .corpus = task_config.corpus,
                                 .corpus_path = task_path + "/corpus",
                                 .sampling = config.sampling,
                                 .text = *task.text,
                                 .target = task.target ? &task.target->model : nullptr,
                                 .seed = config.seed,
                                 .grammar = task.target ? task.target->remembered.grammar : Grammar{}}),
          config.section<CompareSection>().verify, make_rule(rule, 1).sampled,
          expected_lossless(rule, temperature) ? "" : rule.name()};
}

}  // namespace speclab
