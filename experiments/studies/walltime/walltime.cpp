// The experiment "walltime": real time, of neural models or of a target that is made slow, with the
// predictions of Theorem 3.8 at measured costs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "experiments/catalog/models/gguf.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/csv_values.hpp"
#include "experiments/page/cells.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/cell_spec.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/run/timings.hpp"
#include "experiments/studies/walltime/clocked_models.hpp"
#include "sim/walltime.hpp"

namespace speclab {

namespace {

struct WalltimeSection {
  std::int64_t target_weights = 2000000;
  std::int64_t draft_weights = 40000;
  std::int32_t tokens = 500;
  std::int32_t repeats = 4;
  std::vector<std::int32_t> gammas;
  std::vector<std::int32_t> batches{1};
  ClockKind clock = ClockKind::wall;
};

WalltimeRow timed(const CellSpec& cell, const Setup& setup) {
  const std::int32_t gamma = cell.config.gamma;
  const auto& section = cell.config.section<WalltimeSection>();
  const Walltime measured = measure_walltime(
      setup.target, setup.draft, setup.rule.sampled, gamma, setup.simulation.prompt(0), setup.simulation.seed,
      static_cast<std::uint32_t>(section.tokens), static_cast<std::size_t>(section.target_weights),
      static_cast<std::size_t>(section.draft_weights), static_cast<std::uint32_t>(section.repeats));
  return {.label = cell.label,
          .gamma = gamma,
          .target_run_microseconds = 1e6 * measured.target_run_seconds,
          .draft_run_microseconds = 1e6 * measured.draft_run_seconds,
          .c = measured.c(),
          .tokens_per_target_step = measured.tokens_per_round,
          .plain_tokens_per_second = 1 / measured.plain_seconds_per_token,
          .speculative_tokens_per_second = 1 / measured.speculative_seconds_per_token,
          .speedup = measured.speedup(),
          .predicted_speedup = measured.tokens_per_round / (gamma * measured.c() + 1)};
}

/// Of models that take their own time.
Work time_neural(const CellSpec& cell, std::shared_ptr<const Setup> setup) {
  const auto& section = cell.config.section<WalltimeSection>();
  ClockSettings settings{.gammas = section.gammas,
                         .tokens = static_cast<std::size_t>(section.tokens),
                         .repeats = static_cast<std::uint32_t>(section.repeats),
                         .batches = section.batches,
                         .clock = section.clock};
  if (settings.gammas.empty()) settings.gammas.push_back(cell.config.gamma);
  const auto finish = [&cell, settings, setup = std::move(setup)](CellResult&, const RunContext& context) {
    for (ClockedGamma& row : clock_models(*setup, settings, context.confidence, context.control)) {
      row.label = cell.label;
      context.timings.clocked.push_back(std::move(row));
    }
  };
  return {.finish = finish, .own_steps = clock_workload(settings)};
}

/// Throws ConfigError for batches of several texts that the models cannot run, or that memory does not hold.
void check_batches(const Config& config, ModelFactory& factory) {
  const auto& batches = config.section<WalltimeSection>().batches;
  if (batches.empty()) throw ConfigError("/walltime/batches", "is empty; give [1], or leave it out");
  const std::int32_t most = std::ranges::max(batches);
  if (most == 1) return;
  for (const ModelConfig* model : {&config.models->target, &config.models->draft}) {
    require_gguf_together(*model, most, factory);
  }
}

/// Predicted and measured speedup of each case.
std::vector<Figure> measured_figures(const std::vector<WalltimeRow>& rows) {
  if (rows.empty()) return {};
  Figure figure;
  figure.title = "Speedup by the clock, and predicted";
  figure.y_label = "speedup";
  Series predicted{.name = "Theorem 3.8", .style = SeriesStyle::levels};
  Series measured{.name = "by the clock", .style = SeriesStyle::points};
  for (const WalltimeRow& row : rows) {
    const double at = figure.add_category(row.label.empty() ? fmt::format("γ = {}", row.gamma) : row.label);
    predicted.add(at, row.predicted_speedup);
    measured.add(at, row.speedup);
  }
  figure.series = {std::move(predicted), std::move(measured)};
  figure.caption = "Predicted: measured tokens per target step / (γc + 1) at the measured c.";
  return {figure};
}

bool is_neural(const Config& cell) { return cell.models && gguf_parameters(cell.models->target) != nullptr; }

void check_walltime(const Config& cell) {
  check_setup(cell);
  require_one_draft(cell.rule, cell.experiment->name);
  if (is_neural(cell)) require_every_gamma(cell.rule, cell.experiment->name);
}

Work prepare_walltime(const CellSpec& cell, JobList& jobs) {
  if (is_neural(cell.config)) {
    Config clocked = cell.config;
    clocked.models->target = for_the_clock(clocked.models->target);
    clocked.models->draft = for_the_clock(clocked.models->draft);
    check_batches(clocked, jobs.factory());
    return time_neural(cell, jobs.setup(clocked));
  }
  const auto setup = jobs.setup(cell.config);
  const auto finish = [&cell, setup](CellResult&, const RunContext& context) {
    context.timings.walltime.push_back(timed(cell, *setup));
  };
  return {.finish = finish, .own_steps = 0};
}

std::vector<Figure> walltime_figures(const Result& result, const Timings& timings) {
  if (timings.clocked.empty()) return measured_figures(timings.walltime);
  return clocked_figures(timings.clocked, result.title);
}

std::string walltime_headline(const Result& result, const Timings& timings) {
  if (!timings.clocked.empty()) return clocked_headline(timings.clocked);
  if (timings.walltime.empty()) return metric_headline(result, timings);
  const auto best = std::ranges::max_element(timings.walltime, {}, &WalltimeRow::speedup);
  return fmt::format("γ = {} is {} times as fast as plain decoding by the clock; {} was predicted at c = {}.",
                     best->gamma, number_text(best->speedup), number_text(best->predicted_speedup),
                     number_text(best->c));
}

std::vector<Table> walltime_tables(const Result&, const Timings& timings, const std::string& id) {
  if (!timings.clocked.empty()) return {clocked_table(timings.clocked, id + "-table")};
  Table table{id + "-table",
              "Measured on this machine",
              {"case", "γ", "target run, µs", "draft run, µs", "c", "tokens per target step",
               "speedup, predicted", "speedup, measured"},
              {},
              "Prediction: measured tokens per target step / (γc + 1) at the measured c (Theorem 3.8)."};
  for (const WalltimeRow& row : timings.walltime) {
    table.rows.push_back({text_cell(row.label), number_cell(row.gamma),
                          number_cell(row.target_run_microseconds), number_cell(row.draft_run_microseconds),
                          number_cell(row.c), number_cell(row.tokens_per_target_step),
                          number_cell(row.predicted_speedup), number_cell(row.speedup)});
  }
  return {table};
}

std::string walltime_csv(const Result&, const Timings& timings) {
  if (!timings.clocked.empty()) return clocked_csv(timings.clocked);
  return csv_of(
      described<WalltimeRow>(), timings.walltime,
      {"label", "gamma", "target_run_microseconds", "draft_run_microseconds", "c", "tokens_per_target_step",
       "plain_tokens_per_second", "speculative_tokens_per_second", "predicted_speedup", "speedup"});
}

}  // namespace

SectionKind walltime_section() {
  using Own = WalltimeSection;
  return {
      "walltime",
      object<Own>(
          "walltime",
          "The experiment walltime: how often decoding is timed, and work that is added to each run of a "
          "model that is not neural.",
          {integer_field("target_weights", &Own::target_weights, 0, 1e9,
                         "Multiply-adds added to a target run."),
           integer_field("draft_weights", &Own::draft_weights, 0, 1e9, "Multiply-adds added to a draft run."),
           with_unit(integer_field("tokens", &Own::tokens, 1, 1e7, "Tokens per repeat."), "tokens"),
           integer_field("repeats", &Own::repeats, 1, 1000, "Repeats, plain and speculative alternating."),
           field("gammas", &Own::gammas, list(integer<std::int32_t>(1, 64), 0, 64),
                 "Of neural models: decoded in turn and compared pair by pair; without any the config's "
                 "gamma."),
           field("batches", &Own::batches, list(integer<std::int32_t>(1, 64), 0, 16),
                 "Of neural models: how many texts are decoded at once, their runs made together. Speedups "
                 "are over plain decoding of as many."),
           field("clock", &Own::clock,
                 choice<ClockKind>({{"wall", ClockKind::wall}, {"processor", ClockKind::processor}}),
                 "Of neural models: \"processor\" is the processor time of the thread that decodes, which "
                 "other programs disturb less; it leaves out further threads of a model.")})
          .type};
}

const Experiment& walltime_experiment() {
  static const Experiment experiment{
      .name = "walltime",
      .sentence =
          "Real time of neural models, or of a slowed target, beside Theorem 3.8 at the measured costs.",
      .sections = {"walltime"},
      .check = check_walltime,
      .prepare = prepare_walltime,
      // Timings lie outside the result, so that what was timed before an interrupt is timed again.
      .resumable = false,
      .presentation = presented({.tables = walltime_tables,
                                 .figures = walltime_figures,
                                 .headline = walltime_headline,
                                 .csv = walltime_csv})};
  return experiment;
}

}  // namespace speclab
