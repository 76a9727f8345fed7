#include "experiments/laboratory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/beam_experiment.hpp"
#include "experiments/calibration.hpp"
#include "experiments/compare/comparison.hpp"
#include "experiments/decoding.hpp"
#include "experiments/format/cells.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/names.hpp"
#include "experiments/schedules.hpp"
#include "experiments/simulation.hpp"
#include "experiments/tracing.hpp"
#include "experiments/verifier_judgement.hpp"
#include "experiments/version.hpp"

namespace speclab {

namespace {

struct Cell {
  CellSpec spec;
  std::string experiment;
  std::shared_ptr<const Setup> setup;  ///< null for closed forms and acceptance draws
  Json finished;                       ///< what an interrupted run already found; null when there is work
  std::vector<Job*> jobs;              ///< by gamma - 1 for optimal_gamma, else one
  Calibration calibration{};           ///< for calibration
  std::shared_ptr<const Comparison> comparison{};  ///< for compare
};

Calibration prepare_calibration(const std::shared_ptr<const Setup>& setup, const Json& config,
                                JobList& jobs) {
  Calibration calibration{setup, {}, config.at("gamma").get<int>(), section(config, "calibration")};
  for (const Json& fault : calibration.settings.at("faults")) {
    Json faulty = config;
    faulty["verifier"] = fault;
    calibration.faults.push_back(jobs.setup(faulty));
  }
  check_calibration(calibration);
  return calibration;
}

Cell prepare(CellSpec spec, JobList& jobs, ComparisonMaker& comparisons) {
  Cell cell{std::move(spec), "", nullptr, Json(), {}};
  const Json& config = cell.spec.config;
  cell.experiment = config.at("experiment").get<std::string>();
  if (cell.experiment == "predict") {
    if (!config.contains("alpha")) throw ConfigError("/alpha", "missing; predict needs an acceptance rate");
    return cell;
  }
  if (cell.experiment == "iid") {
    if (!config.contains("alpha")) throw ConfigError("/alpha", "missing; iid needs an acceptance rate");
    cell.jobs.push_back(&jobs.add_iid(config, config.at("alpha").get<double>()));
    return cell;
  }
  if (cell.experiment == "compare") {
    cell.comparison = std::make_shared<const Comparison>(comparisons.make(cell.spec));
    return cell;
  }
  if (cell.experiment == "beam") check_beam(config);
  if (cell.experiment == "schedules") {
    check_schedules(config);
    if (!schedules_have_models(config)) return cell;
  }
  cell.setup = jobs.setup(config);
  if (cell.experiment == "trace" || cell.experiment == "walltime") {
    require_one_draft(cell.setup->rule, cell.experiment);
  }
  if (cell.experiment == "optimal_gamma" && !cell.setup->exact_alpha) {
    throw ConfigError("/models",
                      "optimal_gamma compares with a formula, which needs models of one exact alpha");
  }
  if (cell.experiment == "decode" || cell.experiment == "acceptance") {
    cell.jobs.push_back(
        &jobs.add(cell.setup, config.at("gamma").get<int>(), cell.experiment == "acceptance"));
  } else if (cell.experiment == "verifiers") {
    const RuleQualityOptions how = judging_of(*cell.setup, config);
    cell.jobs.push_back(&jobs.add_judged(cell.setup, config.at("gamma").get<int>(), how));
  } else if (cell.experiment == "optimal_gamma") {
    const int most = section(config, "search").at("max_gamma").get<int>();
    for (int gamma = 1; gamma <= most; ++gamma) cell.jobs.push_back(&jobs.add(cell.setup, gamma, false));
  } else if (cell.experiment == "calibration") {
    cell.calibration = prepare_calibration(cell.setup, config, jobs);
  }
  return cell;
}

/// Throws ConfigError for a cell whose work is not all in jobs that the GPU can run.
void require_gpu_form(const Cell& cell) {
  if (cell.experiment != "iid" && cell.experiment != "decode" && cell.experiment != "optimal_gamma") {
    throw ConfigError("/experiment",
                      fmt::format("\"{}\" does not run on the GPU; --backend cuda runs iid, decode and "
                                  "optimal_gamma, --backend cpu everything",
                                  cell.experiment));
  }
  for (const Job* job : cell.jobs) require_gpu_form(*job);
}

/// Rounds, tokens, sequences or steps of beam searches to simulate.
std::uint64_t total_steps(const std::vector<Cell>& cells, const JobList& jobs) {
  std::uint64_t total = jobs.total();
  for (const Cell& cell : cells) {
    if (cell.experiment == "calibration") total += cell.calibration.sequences();
    if (cell.experiment == "beam") total += beam_workload(*cell.setup, cell.spec.config);
    if (cell.comparison) total += cell.comparison->workload();
    if (cell.experiment == "schedules") total += schedule_workload(cell.spec.config);
  }
  return total;
}

/// Intervals that hold together when they are to be simultaneous.
int comparisons(const std::vector<Cell>& cells) {
  int total = 0;
  for (const Cell& cell : cells) {
    const std::string experiment = cell.spec.config.at("experiment");
    total += experiment == "calibration" ? calibration_intervals(cell.spec.config)
             : experiment == "verifiers" ? judged_numbers
             : experiment == "schedules" ? schedule_intervals(cell.spec.config)
             : experiment == "compare"   ? comparison_intervals(cell.spec.config)
                                         : independent_judgements;
  }
  return total;
}

/// Cells that `earlier`, an interrupted result of the same config, holds whole need no work.
std::vector<Cell> prepare_all(const Json& resolved, const Json& input, const Json& earlier, JobList& jobs) {
  check_names(resolved);
  std::vector<CellSpec> specs = expand(resolved, input);
  if (resolved.at("experiment") == "compare") specs = comparison_cells(specs);
  // Timings lie outside the result, so that what was timed before the interrupt is timed again.
  const bool resumes = resolved.at("experiment") != "walltime" && earlier.is_object() &&
                       earlier.value("partial", Json()) == true &&
                       earlier.value("config", Json()) == resolved &&
                       earlier.value("speclab", "") == version_string() &&
                       earlier.value("cells", Json::array()).size() == specs.size();
  std::vector<Cell> cells;
  ComparisonMaker comparisons;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (resumes && !earlier.at("cells")[i].contains("partial")) {
      cells.push_back({std::move(specs[i]), "", nullptr, earlier.at("cells")[i], {}});
    } else {
      cells.push_back(prepare(std::move(specs[i]), jobs, comparisons));
    }
  }
  return cells;
}

Json describe(const Cell& cell, double confidence, const Control& control, Json& timings) {
  if (!cell.finished.is_null()) return cell.finished;
  const CellSpec& spec = cell.spec;
  Json out = Json{{"label", spec.label}, {"set", spec.set}};
  if (!spec.printed.empty()) out["printed"] = spec.printed;
  if (!spec.measured.empty()) out["measured"] = spec.measured;
  if (!spec.note.empty()) out["note"] = spec.note;
  for (const Job* job : cell.jobs) {
    if (!job->done || job->outcome.partial) out["partial"] = true;
  }
  const bool empty = std::any_of(cell.jobs.begin(), cell.jobs.end(), [](const Job* job) {
    const auto& batches = job->outcome.batches;
    return batches.empty() || std::any_of(batches.begin(), batches.end(), [](const Tally& t) {
             return t.rounds == 0 && t.overlap_contexts == 0;
           });
  });
  // These work here, not in jobs; an interrupt ends the run before the next of them.
  const bool works_here = cell.experiment == "trace" || cell.experiment == "walltime" ||
                          cell.experiment == "beam" || cell.experiment == "calibration" ||
                          cell.comparison != nullptr || cell.experiment == "schedules" ||
                          (cell.experiment == "verifiers" && wants_witness(*cell.setup, spec.config));
  const bool stopped = works_here && control.stop();
  if (stopped) out["partial"] = true;
  if (empty || stopped) return out;

  if (cell.experiment == "predict") {
    describe_prediction(out, spec);
  } else if (cell.experiment == "optimal_gamma") {
    describe_optimum(out, spec, *cell.setup->exact_alpha, cell.jobs, confidence);
  } else if (cell.comparison) {
    describe_comparison(out, *cell.comparison, confidence, control);
  } else if (cell.experiment == "verifiers") {
    describe_judgement(out, *cell.setup, cell.jobs.front()->outcome, spec.config, cost_of(spec.config),
                       confidence, control);
  } else if (cell.experiment == "beam") {
    describe_beams(out, *cell.setup, spec.config, confidence, control);
  } else if (cell.experiment == "schedules") {
    describe_schedules(out, cell.setup.get(), spec.config, confidence, control);
  } else if (cell.experiment == "trace") {
    out["traces"] = trace_rounds(*cell.setup, section(spec.config, "trace"), cost_of(spec.config));
  } else if (cell.experiment == "walltime") {
    timings.push_back(time_walltime(*cell.setup, spec.config.at("gamma").get<int>(),
                                    section(spec.config, "walltime"), spec.label));
  } else if (cell.experiment == "calibration") {
    Json calibration = calibrate(cell.calibration, confidence, control);
    if (calibration.is_null()) {
      out["partial"] = true;
    } else {
      out["calibration"] = std::move(calibration);
    }
  } else {
    describe_decoding(out, spec, *cell.jobs.front(), confidence);
  }
  return out;
}

}  // namespace

Json with_sections(Json resolved) {
  for (const auto& [experiment, name] : {std::pair{"trace", "trace"},
                                         {"walltime", "walltime"},
                                         {"optimal_gamma", "search"},
                                         {"verifiers", "verifiers"},
                                         {"beam", "beam"},
                                         {"schedules", "schedules"},
                                         {"calibration", "calibration"},
                                         {"compare", "compare"}}) {
    if (resolved.at("experiment") == experiment) resolved[name] = section(resolved, name);
  }
  return resolved;
}

Workload measure_workload(const Json& input) {
  JobList jobs;
  const std::vector<Cell> cells = prepare_all(resolve(input), input, Json(), jobs);
  return {cells.size(), total_steps(cells, jobs)};
}

Findings run_config(const Json& input, const std::function<Control(std::uint64_t total)>& control_for,
                    const Json& earlier, Backend backend) {
  const Json resolved = with_sections(resolve(input));
  JobList jobs;
  const std::vector<Cell> cells = prepare_all(resolved, input, earlier, jobs);
  if (backend != Backend::cpu) {
    for (const Cell& cell : cells) {
      if (cell.finished.is_null()) require_gpu_form(cell);
    }
  }
  const Control control = control_for(total_steps(cells, jobs));
  jobs.run(control, backend);

  const auto stated = resolved.at("confidence").get<double>();
  const double confidence =
      resolved.at("simultaneous").get<bool>() ? family_confidence(stated, comparisons(cells)) : stated;

  Findings findings;
  Json& result = findings.result;
  result["speclab"] = version_string();
  result["title"] = resolved.at("title");
  result["config"] = resolved;
  result["interval_confidence"] = confidence;
  result["partial"] = false;
  findings.timings = Json{{"walltime", Json::array()}};
  if (const Json device = backend_json(backend); !device.is_null()) findings.timings["device"] = device;
  Json& described = result["cells"] = Json::array();
  for (const Cell& cell : cells) {
    described.push_back(describe(cell, confidence, control, findings.timings["walltime"]));
    if (described.back().contains("partial")) result["partial"] = true;
  }
  return findings;
}

}  // namespace speclab
