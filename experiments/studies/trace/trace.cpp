// The experiment "trace": single rounds of one sequence, as text coloured by the fate of each token and as
// timelines (Leviathan et al. 2023, Figures 1 and 5).
#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/studies/finished_cells.hpp"
#include "sim/sequences.hpp"

namespace speclab {

namespace {

struct TraceSection {
  std::int32_t tokens = 40;
  std::vector<std::int32_t> gammas{5};
  bool text = true;
  bool timeline = true;
};

struct TracedRound {
  std::vector<std::string> drafted;
  std::int32_t accepted = 0;
  std::string next;
};

struct TracedGamma {
  std::int32_t gamma = 0;
  std::vector<std::string> prompt = {};
  std::uint64_t target_runs = 0;
  std::uint64_t draft_runs = 0;
  std::uint64_t tokens = 0;  ///< emitted
  double time = 0;           ///< in target runs
  double c = 0;
  std::vector<TracedRound> rounds = {};
};

struct TraceResult {
  std::vector<TracedGamma> gammas;
};

std::vector<std::string> texts(const Setup& setup, const std::vector<Token>& tokens) {
  std::vector<std::string> all;
  for (const Token token : tokens)
    all.push_back(setup.vocabulary ? setup.vocabulary->text(token) : fmt::format("{}", token));
  return all;
}

TracedGamma trace_gamma(const Setup& setup, std::int32_t gamma, std::size_t tokens, double c) {
  const std::vector<RoundRecord> records =
      record_rounds(setup.target, setup.draft, setup.rule.sampled, gamma, setup.simulation.prompt(0), tokens,
                    setup.simulation.seed);
  TracedGamma traced{.gamma = gamma, .prompt = texts(setup, setup.simulation.prompt(0)), .c = c};
  for (const RoundRecord& record : records) {
    traced.rounds.push_back(
        {texts(setup, record.drafted), record.accepted, texts(setup, {record.next}).front()});
    traced.tokens += static_cast<std::uint64_t>(record.accepted) + 1;
  }
  traced.target_runs = records.size();
  traced.draft_runs = records.size() * static_cast<std::uint64_t>(gamma);
  traced.time = static_cast<double>(records.size()) * (1 + gamma * c);
  return traced;
}

void add_word(std::vector<TextSpan>& line, const std::string& word, SpanKind kind) {
  if (!line.empty()) line.push_back({" ", SpanKind::plain});
  line.push_back({word, kind});
}

/// Returns the rounds with one gamma as text, one line per round.
Passage passage(const TracedGamma& traced, const std::string& id) {
  Passage passage;
  passage.id = id;
  passage.caption = fmt::format(
      "γ = {}: {} tokens in {} target runs. Each line is one round: accepted tokens, then the first rejected one with its correction, or the bonus token.",
      traced.gamma, traced.tokens, traced.target_runs);
  if (!traced.prompt.empty()) {
    // The prompt has a line of its own, which cannot be taken for a round, with colours or without.
    std::vector<TextSpan>& prompt = passage.lines.emplace_back();
    prompt.push_back({"prompt:", SpanKind::plain});
    for (const std::string& word : traced.prompt) add_word(prompt, word, SpanKind::prompt);
  }
  for (const TracedRound& round : traced.rounds) {
    std::vector<TextSpan>& line = passage.lines.emplace_back();
    const auto accepted = static_cast<std::size_t>(round.accepted);
    for (std::size_t i = 0; i < accepted; ++i) add_word(line, round.drafted[i], SpanKind::accepted);
    const bool corrected = accepted < round.drafted.size();
    if (corrected) add_word(line, round.drafted[accepted], SpanKind::rejected);
    add_word(line, round.next, corrected ? SpanKind::correction : SpanKind::bonus);
  }
  return passage;
}

Table runs_table(const TraceResult& trace, const std::string& id) {
  Table table{id, "Runs", {"γ", "tokens", "target runs", "draft runs", "time in target runs", "speedup"}};
  for (const TracedGamma& traced : trace.gammas) {
    const auto tokens = static_cast<double>(traced.tokens);
    table.rows.push_back({number_cell(traced.gamma), number_cell(tokens),
                          number_cell(static_cast<double>(traced.target_runs)),
                          number_cell(static_cast<double>(traced.draft_runs)), number_cell(traced.time),
                          number_cell(tokens / traced.time)});
  }
  return table;
}

/// Draws timelines of the recorded rounds, in target runs.
Figure timeline(const TraceResult& trace) {
  Figure figure;
  for (const TracedGamma& traced : trace.gammas) {
    TraceRow row;
    row.label = traced.gamma == 0 ? "plain" : fmt::format("γ = {}", traced.gamma);
    double now = 0;
    for (std::size_t round = 0; round < traced.rounds.size(); ++round) {
      for (int i = 0; i < traced.gamma && traced.c > 0; ++i) {
        row.blocks.push_back({now, now + traced.c, "draft run"});
        now += traced.c;
      }
      row.blocks.push_back({now, now + 1, "target run"});
      now += 1;
    }
    figure.trace.push_back(std::move(row));
  }
  figure.x_label = "time, in target runs";
  return figure;
}

void check_trace(const Config& cell) {
  check_setup(cell);
  require_one_draft(cell.rule, cell.experiment->name);
}

Work prepare_trace(const CellSpec& cell, JobList& jobs) {
  const auto setup = jobs.setup(cell.config);
  const auto finish = [&cell, setup](CellResult& result, const RunContext&) {
    const auto& section = cell.config.section<TraceSection>();
    TraceResult trace;
    for (const std::int32_t gamma : section.gammas) {
      trace.gammas.push_back(
          trace_gamma(*setup, gamma, static_cast<std::size_t>(section.tokens), cell.config.cost.c));
    }
    result.own = std::move(trace);
  };
  return {.finish = finish, .own_steps = 0};
}

std::vector<Table> trace_tables(const Result& result, const Timings&, const std::string& id) {
  std::vector<Table> tables;
  for (const auto& [index, cell, own] : finished_cells<TraceResult>(result))
    tables.push_back(runs_table(own, fmt::format("{}-runs-{}", id, tables.size() + 1)));
  return tables;
}

std::vector<Figure> trace_figures(const Result& result, const Timings&) {
  std::vector<Figure> figures;
  if (!result.shown().section<TraceSection>().timeline) return figures;
  for (const auto& [index, cell, own] : finished_cells<TraceResult>(result)) {
    Figure& figure = figures.emplace_back(timeline(own));
    figure.title = result.title;
    figure.caption =
        "Timelines drawn from recorded rounds that generate at least the same number of tokens: each draft run takes c, each target run 1.";
  }
  return figures;
}

std::string trace_headline(const Result& result, const Timings&) {
  const auto all = finished_cells<TraceResult>(result);
  if (all.empty()) return "Interrupted: partial.";
  std::string text;
  for (const TracedGamma& traced : all.front().own.gammas) {
    text +=
        fmt::format("{}{}: {} tokens in {} target runs, speedup {}", text.empty() ? "" : "; ",
                    traced.gamma == 0 ? "plain decoding" : fmt::format("γ = {}", traced.gamma), traced.tokens,
                    traced.target_runs, number_text(static_cast<double>(traced.tokens) / traced.time));
  }
  return text + ".";
}

std::vector<Passage> trace_passages(const Result& result, const std::string& id) {
  std::vector<Passage> passages;
  if (!result.shown().section<TraceSection>().text) return passages;
  std::size_t number = 0;
  for (const auto& [index, cell, own] : finished_cells<TraceResult>(result)) {
    ++number;
    for (const TracedGamma& traced : own.gammas)
      passages.push_back(passage(traced, fmt::format("{}-text-{}-{}", id, number, passages.size() + 1)));
  }
  return passages;
}

}  // namespace

SPECLAB_RESULT(TracedRound, "round", drafted, accepted, next);
SPECLAB_RESULT(TracedGamma, "gamma", gamma, prompt, target_runs, draft_runs, tokens, time, c, rounds);
SPECLAB_RESULT(TraceResult, "trace", gammas);

SectionKind trace_section() {
  using Own = TraceSection;
  return {"trace",
          object<Own>(
              "trace", "The drawings of the experiment trace.",
              {with_unit(integer_field("tokens", &Own::tokens, 1, 100000, "Tokens to generate."), "tokens"),
               field("gammas", &Own::gammas, list(integer<std::int32_t>(0, 64), 1, 16),
                     "One timeline for each gamma; 0 is plain decoding."),
               field("text", &Own::text, boolean(),
                     "Show the generated text, coloured by what happened to each token."),
               field("timeline", &Own::timeline, boolean(), "Draw the timelines.")})
              .type};
}

const Experiment& trace_experiment() {
  static const Experiment experiment{
      .name = "trace",
      .sentence =
          "Single rounds, drawn: generated text coloured by accepted and rejected tokens, and a timeline for each gamma.",
      .sections = {"trace"},
      .reads = {"corpus", "models", "sampling", "rule", "cost/c", "simulation/prompt",
                "simulation/prompt_tokens"},
      .instead = {{"gamma", "give \"gammas\" to \"trace\""}},
      .check = check_trace,
      .prepare = prepare_trace,
      .own_key = "trace",
      .own_result = described<TraceResult>().type,
      .presentation = presented({.tables = trace_tables,
                                 .figures = trace_figures,
                                 .passages = trace_passages,
                                 .headline = trace_headline,
                                 .outcome = "drawn from recorded rounds"})};
  return experiment;
}

}  // namespace speclab
