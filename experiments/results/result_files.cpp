#include "experiments/results/result_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/base/support/version.hpp"
#include "experiments/config/config_types.hpp"
#include "experiments/config/shown_config.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/terminal_watch.hpp"

namespace speclab {

namespace {

void add_fact(Page& page, const char* name, std::string value) {
  const std::pair<std::string, std::string> fact{name, std::move(value)};
  if (std::find(page.facts.begin(), page.facts.end(), fact) == page.facts.end()) page.facts.push_back(fact);
}

}  // namespace

void remove_result(const std::filesystem::path& folder) {
  static const std::regex own(
      R"((result|timings)\.json|(results|summary)\.csv|report\.html|journal\.jsonl(\.earlier)?|(result-)?figure-\d+\.svg)");
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (std::regex_match(entry.path().filename().string(), own)) std::filesystem::remove(entry.path(), error);
  }
}

void refuse_foreign_result(const std::filesystem::path& folder, const Config& config, const char* remedy) {
  if (std::filesystem::exists(folder / "summary.csv"))
    throw UsageError("{} holds a report of reproduce; {}", folder.string(), remedy);
  const std::filesystem::path file = folder / "result.json";
  std::vector<std::shared_ptr<const Config>> earlier{journal_config(folder)};
  try {
    if (std::filesystem::exists(file))
      earlier.push_back(in_file(file.string(), [&] { return result_head(file).config; }));
  } catch (const ConfigError& error) {
    throw UsageError("{}; {}", error.sentence(), remedy);
  }
  std::erase(earlier, nullptr);
  // A run writes result.json before its page.
  if (earlier.empty() && std::filesystem::exists(folder / "report.html"))
    throw UsageError("{} holds a report.html that no run wrote; {}", folder.string(), remedy);
  for (const std::shared_ptr<const Config>& one : earlier) {
    if (config_json(*one) != config_json(config))
      throw UsageError("{} holds the results of another config; {}", folder.string(), remedy);
  }
}

std::optional<ResultHead> complete_result(const std::filesystem::path& folder) {
  try {
    ResultHead head = result_head(folder / "result.json");
    return head.partial ? std::nullopt : std::optional(std::move(head));
  } catch (const ConfigError&) {  // there is no result
    return std::nullopt;
  }
}

void remove_foreign_result(const std::filesystem::path& folder, const Config& config) {
  try {
    refuse_foreign_result(folder, config);
  } catch (const UsageError&) {
    remove_result(folder);
  }
}

void write_data(const std::filesystem::path& folder, const RunResult& run, CsvText text) {
  const Presentation& presentation = presentation_of(run.result.shown());
  Json timings;
  write(timings_type(run.result.shown().experiment->own_timings), run.timings, timings);
  with_cells(run, [&](const CellSource& cells) {
    write_file_atomically(folder / "result.json",
                          [&](const auto& out) { write_text(run.result, cells, out); });
    write_file_atomically(folder / "results.csv", [&](const auto& out) {
      const auto rows = [&](const std::string& piece) {
        out(text == CsvText::marked ? csv_for_spreadsheets(piece) : piece);
      };
      presentation.needs_all_cells() ? rows(csv_of(run.result, run.timings))
                                     : write_csv(run.result, cells, rows);
    });
  });
  write_file_atomically(folder / "timings.json", timings.dump(1) + "\n");
}

Page page_of_command(const std::string& title, const std::string& command,
                     const std::optional<DeviceTimings>& device) {
  Page page{
      title, "", {{"Version", "speclab " + version_and_commit()}, {"Machine", machine_description()}}, {}};
  if (device) {
    page.facts.emplace_back(
        "GPU", fmt::format("{}, driver {}, runtime {}", device->name, device->driver, device->runtime));
  }
  page.facts.emplace_back("Threads", fmt::format("{}", thread_count()));
  page.facts.emplace_back("Command", command);
  page.citation = fmt::format(
      "@software{{speclab,\n  title   = {{speclab: a laboratory for speculative decoding}},\n  author  = "
      "{{{{The speclab maintainers}}}},\n  version = {{{}}},\n  note    = {{Computed by: {}}}\n}}\n",
      version_and_commit(), command);
  return page;
}

void add_corpus_facts(const Result& result, Page& page) {
  if (!result.corpora) return;
  for (const CorpusFacts& corpus : *result.corpora) {
    std::string text =
        fmt::format("{}: {} tokens, vocabulary {}", corpus.file, corpus.tokens, corpus.vocabulary);
    const bool held_out = corpus.held_out_tokens > 0;
    text += held_out ? fmt::format(", {} tokens held out", corpus.held_out_tokens)
                     : ", nothing held out (corpus.hold_out) to measure perplexity on";
    if (corpus.unknown_share) text += fmt::format(", {:.2f}% <unk>", 100 * *corpus.unknown_share);
    add_fact(page, "Corpus", std::move(text));
    if (!held_out) continue;
    for (const HeldOutPerplexity& model : corpus.models) {
      Json settings = *model.config;
      const std::string kind = settings.value("kind", "");
      settings.erase("kind");
      page.facts.emplace_back(
          "Perplexity on held-out text",
          fmt::format("{} {} {}: {}", model.model, kind, settings.empty() ? "" : settings.dump(),
                      model.perplexity
                          ? fmt::format("{} ({} bits a token)", digits_text(*model.perplexity, 4),
                                        digits_text(*model.bits_per_token, 4))
                          : model.unknown_because.value_or("")));
    }
  }
}

void add_input_facts(const std::vector<InputFile>& inputs, Page& page) {
  for (const InputFile& input : inputs)
    add_fact(page, "Input", fmt::format("{}, {} bytes, SHA-256 {}", input.file, input.bytes, input.sha256));
}

RunResult run_watched(const Config& config, const WatchedRun& options) {
  const auto start = std::chrono::steady_clock::now();
  std::optional<TerminalWatch> watch(std::in_place, options.title, options.quiet);
  const auto control_for = [&](std::uint64_t total) { return watch->control(total); };
  std::optional<Journal> journal;
  const auto resume = [&](const RunIdentity& identity) {
    if (options.overwrites) remove_foreign_result(options.folder, *identity.config);
    if (const auto earlier = complete_result(options.folder); earlier && earlier->inputs != identity.inputs)
      print_error(fmt::format("{}: the new result replaces one of other files: {}", options.folder.string(),
                              changed_input(earlier->inputs, identity.inputs)));
    if (const Experiment& experiment = *shown_part(config).experiment; !experiment.resumable) {
      if (!options.continues) return Resumption{};
      throw UsageError("--resume require: \"{}\" measures times; such a run cannot be continued",
                       experiment.name);
    }
    journal.emplace(options.folder, identity, options.continues);
    for (const std::string& note : journal->notes())
      print_error(fmt::format("{}: {}", options.folder.string(), note));
    Resumption resumption;
    resumption.finished = journal->take_finished();
    resumption.keep = [&](std::size_t cell, const CellResult& result) { journal->add(cell, result); };
    return resumption;
  };
  RunResult run = run_config(config, control_for, resume, options.backend);
  if (presentation_of(shown_part(config)).needs_all_cells()) hold_cells(run);
  watch.reset();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  run.timings.seconds = elapsed.count();
  run.timings.threads = thread_count();
  run.timings.machine = machine_description();
  run.timings.version = version_and_commit();
  return run;
}

}  // namespace speclab
