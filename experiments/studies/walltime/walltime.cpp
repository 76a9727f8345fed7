// The experiment "walltime": real time of neural models, with the predictions of Theorem 3.8 at measured
// costs.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/models/gguf.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/run/timings.hpp"
#include "experiments/studies/walltime/clocked_models.hpp"

namespace speclab {

namespace {

struct WalltimeSection {
  std::int32_t tokens = 500;
  std::int32_t repeats = 4;
  std::vector<std::int32_t> gammas;
  std::vector<std::int32_t> batches{1};
  ClockKind clock = ClockKind::wall;
};

/// Returns what the clock measured so far; empty before.
const WalltimeTimings& measured(const Timings& timings) {
  static const WalltimeTimings none;
  return timings.own ? timings.own.as<WalltimeTimings>() : none;
}

const std::vector<ClockedGamma>& clocked(const Timings& timings) { return measured(timings).clocked; }

Work time_neural(const CellSpec& cell, std::shared_ptr<const Setup> setup) {
  const auto& section = cell.config.section<WalltimeSection>();
  ClockSettings settings{.gammas = section.gammas,
                         .tokens = static_cast<std::size_t>(section.tokens),
                         .repeats = static_cast<std::uint32_t>(section.repeats),
                         .batches = section.batches,
                         .clock = section.clock};
  if (settings.gammas.empty()) settings.gammas.push_back(cell.config.gamma);
  const auto finish = [&cell, settings, setup = std::move(setup)](CellResult&, const RunContext& context) {
    WalltimeTimings all = measured(context.timings);
    for (ClockedGamma& row : clock_models(*setup, settings, context.confidence, context.control)) {
      row.label = cell.label;
      all.clocked.push_back(std::move(row));
    }
    context.timings.own = std::move(all);
  };
  return {.finish = finish, .own_steps = clock_workload(settings)};
}

/// Throws ConfigError for batches of several texts that the models cannot run or memory cannot hold.
void check_batches(const Config& config, ModelFactory& factory) {
  const auto& batches = config.section<WalltimeSection>().batches;
  if (batches.empty()) throw ConfigError("/walltime/batches", "is empty; give [1], or leave it out");
  const std::int32_t most = std::ranges::max(batches);
  if (most == 1) return;
  for (const ModelConfig* model : {&config.models->target, &config.models->draft})
    require_gguf_together(*model, most, factory);
}

void check_walltime(const Config& cell) {
  const std::string& name = cell.experiment->name;
  check_setup(cell);
  if (gguf_parameters(cell.models->target) == nullptr) {
    throw ConfigError(
        "/models/target",
        "the experiment {} times neural models; give a target of kind \"gguf\" (for other models the experiment decode states speedups at the costs of the section cost)",
        name);
  }
  require_one_draft(cell.rule, name);
  require_every_gamma(cell.rule, name);
}

Work prepare_walltime(const CellSpec& cell, JobList& jobs) {
  Config clocked = cell.config;
  clocked.models->target = for_the_clock(clocked.models->target);
  clocked.models->draft = for_the_clock(clocked.models->draft);
  check_batches(clocked, jobs.factory());
  return time_neural(cell, jobs.setup(clocked));
}

std::vector<Figure> walltime_figures(const Result& result, const Timings& timings) {
  return clocked_figures(clocked(timings), result.title);
}

std::string walltime_headline(const Result& result, const Timings& timings) {
  if (!clocked(timings).empty()) return clocked_headline(clocked(timings));
  return metric_headline(result, timings);
}

std::vector<Table> walltime_tables(const Result&, const Timings& timings, const std::string& id) {
  if (clocked(timings).empty()) return {};
  return {clocked_table(clocked(timings), id + "-table")};
}

std::string walltime_csv(const Result&, const Timings& timings) { return clocked_csv(clocked(timings)); }

}  // namespace

SectionKind walltime_section() {
  using Own = WalltimeSection;
  return {
      "walltime",
      object<Own>(
          "walltime", "The experiment walltime: which decodings are timed, and how often.",
          {with_unit(integer_field("tokens", &Own::tokens, 1, 1e7, "Tokens per repeat."), "tokens"),
           integer_field("repeats", &Own::repeats, 1, 1000, "Repeats, plain and speculative alternating."),
           field("gammas", &Own::gammas, list(integer<std::int32_t>(1, 64), 0, 64),
                 "Gammas, decoded in turn and compared in pairs (default: the config's gamma)."),
           field(
               "batches", &Own::batches, list(integer<std::int32_t>(1, 64), 0, 16),
               "Numbers of texts to decode at once, in common runs. Speedups compare with decoding as many token by token."),
           field(
               "clock", &Own::clock,
               choice<ClockKind>({{"wall", ClockKind::wall}, {"processor", ClockKind::processor}}),
               "\"processor\" is the processor time of the thread that decodes, which other programs disturb less; it leaves out further threads of a model.")})
          .type};
}

const Experiment& walltime_experiment() {
  static const Experiment experiment{
      .name = "walltime",
      .sentence = "Real time of neural models beside Theorem 3.8 at the measured costs.",
      .sections = {"walltime"},
      .reads = {"corpus", "models", "sampling", "rule", "gamma", "simulation/trials", "simulation/prompt",
                "simulation/prompt_tokens"},
      .check = check_walltime,
      .prepare = prepare_walltime,
      // Timings are not part of the result, so after an interrupt they must be measured again.
      .resumable = false,
      .own_timings = described<WalltimeTimings>().type,
      .presentation = presented({.tables = walltime_tables,
                                 .figures = walltime_figures,
                                 .headline = walltime_headline,
                                 .csv = walltime_csv})};
  return experiment;
}

}  // namespace speclab
