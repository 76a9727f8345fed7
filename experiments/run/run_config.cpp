#include "experiments/run/run_config.hpp"

#include <filesystem>
#include <set>
#include <utility>

#include "analysis/statistics/intervals.hpp"
#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/version.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/jobs.hpp"
#include "sim/error.hpp"

namespace speclab {

namespace {

/// The combined needs of all cells.
struct Survey {
  std::vector<InputFile> inputs;  ///< existing files only: models report missing ones
  int intervals = 0;              ///< intervals that hold jointly at the confidence if "simultaneous" is set
  CorpusSurvey corpora;
};

Survey survey_of(const CellGrid& grid) {
  Survey survey;
  std::set<std::string> seen;
  std::vector<std::string> named;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    end_if_stopped();
    const Config config = grid[i].config;
    survey.corpora.add(config);
    survey.intervals += grid.experiment().intervals(config);
    named.clear();
    config_type().type->add_input_files(&config, named);
    for (const std::string& file : named) {
      if (seen.insert(file).second && std::filesystem::exists(file))
        survey.inputs.push_back(input_file_of(file));
    }
  }
  return survey;
}

/// Divides all cells into turns (groups that run together). Cells that share jobs are in one turn. Closed
/// forms share none; since a cell's config and preparation take several times the memory of its result, they
/// form several turns.
std::vector<Turn> turns_of_all(const CellGrid& grid) {
  const std::size_t cells_in_turn = grid.experiment().closed_forms ? 4096 : grid.size();
  std::vector<Turn> turns;
  for (std::size_t cell = 0; cell < grid.size(); ++cell) {
    if (cell % cells_in_turn == 0) turns.emplace_back();
    turns.back().push_back(cell);
  }
  return turns;
}

bool cells_are_held(const CellGrid& grid) {
  return !grid.experiment().closed_forms || grid.size() <= max_cells_held;
}

std::size_t cells_in(const std::vector<Turn>& turns) {
  std::size_t cells = 0;
  for (const Turn& turn : turns) cells += turn.size();
  return cells;
}

}  // namespace

std::shared_ptr<const Config> with_sections(const Config& config) {
  auto whole = std::make_shared<Config>(config);
  for (const std::string& key : config.experiment->sections) whole->add_section(key);
  return whole;
}

void check_cells(const CellGrid& grid) {
  const Experiment& experiment = grid.experiment();
  for (std::size_t i = 0; experiment.check && i < grid.size(); ++i) {
    end_if_stopped();
    experiment.check(grid[i].config);
  }
}

Workload measure_workload(const Config& config) {
  const CellGrid grid(*with_sections(config));
  check_cells(grid);
  if (cells_are_held(grid)) require_memory_of_cells(grid.size());
  JobList jobs;
  FinishedCells none;
  Workload workload{.cells = grid.size()};
  for (const Turn& turn : turns_of_all(grid)) {
    jobs.clear();
    workload.steps += steps_of(prepare(turn, grid, config.confidence, jobs, none), jobs);
  }
  return workload;
}

void hold_cells(RunResult& run) {
  if (!run.all) return;
  require_memory_of_cells(run.all->size());
  run.all->each([&](const CellResult& cell) { run.result.cells.push_back(cell); });
  run.all.reset();
}

RunResult run_config(const Config& given, const std::function<Control(std::uint64_t total)>& control_for,
                     const std::function<Resumption(const RunIdentity& identity)>& resume, Backend backend) {
  const auto shared_config = with_sections(given);
  const Config& config = *shared_config;
  const CellGrid grid(config);
  check_cells(grid);
  const Survey survey = survey_of(grid);
  Resumption resumption = resume({shared_config, grid.size(), survey.inputs, backend, &grid});
  const bool shared = resumption.turns.has_value();
  const bool held = !shared && cells_are_held(grid);
  if (held) require_memory_of_cells(grid.size());
  if (!shared) resumption.turns = turns_of_all(grid);

  RunResult run;
  Result& result = run.result;
  result.version = version_string();
  result.title = config.title;
  result.config = shared_config;
  result.inputs = survey.inputs;
  result.interval_confidence =
      config.simultaneous ? family_confidence(config.confidence, survey.intervals) : config.confidence;
  run.timings.device = device_timings(backend);
  std::optional<Control> control;
  JobList jobs(backend);
  for (const Turn& turn : *resumption.turns) {
    // A run that is not shared must have all its cells.
    if (shared && control && control->stop()) {
      result.partial = true;
      break;
    }
    jobs.clear();
    PreparedCells cells = prepare(turn, grid, result.interval_confidence, jobs, resumption.finished);
    if (backend != Backend::cpu) require_gpu_form(cells);
    if (!control) {
      const auto steps = static_cast<double>(steps_of(cells, jobs));
      const auto turns_like_this =
          static_cast<double>(cells_in(*resumption.turns)) / static_cast<double>(turn.size());
      control = control_for(static_cast<std::uint64_t>(steps * turns_like_this));
    }
    const RunContext context{result.interval_confidence, *control, run.timings};
    CellRunner runner(cells, resumption.keep, shared, context);
    try {
      jobs.run(*control, [&](const Job& job) { runner.after(job); });
    } catch (const ModelError& error) {
      // Only the text shows such a row: with a grammar it depends on all tokens before it.
      throw ConfigError("/models", "{}{}", error.what(),
                        config.sampling.remembers()
                            ? "; the options of /sampling may leave a row no token that the model gives"
                            : "");
    }
    runner.rest();
    for (PreparedCell& cell : cells) {
      result.partial = result.partial || cell.result.partial;
      if (held) result.cells.push_back(std::move(cell.result));
    }
  }
  if (!shared && !held) run.all = recomputed_cells(config, result.interval_confidence);
  // Facts are added even if every cell was already finished: a result must not depend on how it was obtained.
  if (!survey.corpora.corpora().empty() && resumption.describes) {
    try {
      std::vector<CorpusFacts> facts;
      for (const CorpusCells& corpus : survey.corpora.corpora())
        facts.push_back(corpus_facts(corpus, jobs.factory()));
      result.corpora = std::move(facts);
    } catch (const Stopped&) {
      result.partial = true;
    }
  }
  return run;
}

}  // namespace speclab
