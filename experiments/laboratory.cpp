#include "speclab/experiments/laboratory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "speclab/analysis/estimates.hpp"
#include "speclab/analysis/optimal_gamma.hpp"
#include "speclab/experiments/beam_experiment.hpp"
#include "speclab/experiments/calibration.hpp"
#include "speclab/experiments/format/cells.hpp"
#include "speclab/experiments/format/config_error.hpp"
#include "speclab/experiments/format/validate.hpp"
#include "speclab/experiments/interval_json.hpp"
#include "speclab/experiments/metrics.hpp"
#include "speclab/experiments/names.hpp"
#include "speclab/experiments/schedules.hpp"
#include "speclab/experiments/simulation.hpp"
#include "speclab/experiments/tracing.hpp"
#include "speclab/experiments/verifier_judgement.hpp"
#include "speclab/experiments/version.hpp"

namespace speclab {

namespace {

/// Metrics whose simulated interval is held against the formula when alpha is exact. speed, operations and
/// memory accesses are functions of tokens per round, so that all six count as three comparisons.
constexpr std::array judged{"alpha_examined", "tokens_per_round", "tokens_variance",
                            "speed",          "operations",       "memory_accesses"};
constexpr int independent_judgements = 3;

struct Cell {
  CellSpec spec;
  std::string experiment;
  std::shared_ptr<const Setup> setup;  ///< null for closed forms and coins
  Json finished;                       ///< what an interrupted run already found; null when there is work
  std::vector<Job*> jobs;              ///< by gamma - 1 for optimal_gamma, else one
  Calibration calibration{};           ///< for calibration
};

CostRatios cost_of(const Json& config) {
  return {config.at("cost").at("c").get<double>(), config.at("cost").at("c_hat").get<double>()};
}

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

Cell prepare(CellSpec spec, JobList& jobs) {
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
    const Judging how = judging_of(*cell.setup, config);
    cell.jobs.push_back(&jobs.add_judged(cell.setup, config.at("gamma").get<int>(), how));
  } else if (cell.experiment == "optimal_gamma") {
    const int most = section(config, "search").at("max_gamma").get<int>();
    for (int gamma = 1; gamma <= most; ++gamma) cell.jobs.push_back(&jobs.add(cell.setup, gamma, false));
  } else if (cell.experiment == "calibration") {
    cell.calibration = prepare_calibration(cell.setup, config, jobs);
  }
  return cell;
}

/// Rounds, tokens, sequences or steps of beam searches to simulate.
std::uint64_t total_steps(const std::vector<Cell>& cells, const JobList& jobs) {
  std::uint64_t total = jobs.total();
  for (const Cell& cell : cells) {
    if (cell.experiment == "calibration") total += cell.calibration.sequences();
    if (cell.experiment == "beam") total += beam_workload(*cell.setup, cell.spec.config);
    if (cell.experiment == "schedules") total += schedule_workload(cell.spec.config);
  }
  return total;
}

/// Intervals that hold together when they are to be simultaneous.
int comparisons(const std::vector<Cell>& cells) {
  int total = 0;
  for (const Cell& cell : cells) {
    total += cell.experiment == "calibration"                   ? cell.calibration.intervals()
             : cell.experiment == "verifiers"                   ? judged_numbers
             : cell.spec.config.at("experiment") == "schedules" ? schedule_intervals(cell.spec.config)
                                                                : independent_judgements;
  }
  return total;
}

/// Cells that `earlier`, an interrupted result of the same config, holds whole need no work.
std::vector<Cell> prepare_all(const Json& resolved, const Json& input, const Json& earlier, JobList& jobs) {
  check_names(resolved);
  std::vector<CellSpec> specs = expand(resolved, input);
  // Timings lie outside the result, so that what was timed before the interrupt is timed again.
  const bool resumes = resolved.at("experiment") != "walltime" && earlier.is_object() &&
                       earlier.value("partial", Json()) == true &&
                       earlier.value("config", Json()) == resolved &&
                       earlier.value("speclab", "") == version_string() &&
                       earlier.value("cells", Json::array()).size() == specs.size();
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (resumes && !earlier.at("cells")[i].contains("partial")) {
      cells.push_back({std::move(specs[i]), "", nullptr, earlier.at("cells")[i], {}});
    } else {
      cells.push_back(prepare(std::move(specs[i]), jobs));
    }
  }
  return cells;
}

void add_formulas(Json& out, const FormulaInputs& inputs, const char* alpha_from) {
  out["formula_alpha"] = alpha_from;
  Json& table = out["formula"] = Json::object();
  // A measured alpha is not a formula's value of itself.
  const bool measured = std::string_view(alpha_from) == "measured";
  for (const auto& [name, value] : formulas(inputs)) {
    if (!(measured && name.starts_with("alpha"))) table[name] = value;
  }
}

void add_verdicts(Json& out, const CellSpec& spec, const FormulaInputs& inputs) {
  if (spec.printed.empty()) return;
  double alpha_rounding = 0;
  double c_rounding = 0;
  if (spec.config.contains("input_rounding")) {
    alpha_rounding = spec.config.at("input_rounding").at("alpha").get<double>();
    c_rounding = spec.config.at("input_rounding").at("c").get<double>();
  }
  Json& verdicts = out["verdict"] = Json::object();
  for (const auto& [metric, printed] : spec.printed.items()) {
    verdicts[metric] =
        words(judge_printed(inputs, metric, printed.get<std::string>(), alpha_rounding, c_rounding));
  }
}

/// How decoding ran, and what it took: counts of work, which are the same on every machine.
Json engine_json(const Job& job) {
  Json engine = Json{{"name", job.engine}};
  if (job.engine == std::string_view("plain")) return engine;
  const QuickWork& work = job.outcome.work;
  engine["random_blocks"] = work.blocks;
  if (job.engine == std::string_view("quick")) engine["residual_passes"] = work.passes;
  return engine;
}

/// The acceptance rate that holds in every context, where there is one.
std::optional<double> exact_alpha(const Cell& cell) {
  return cell.setup ? cell.setup->exact_alpha : cell.jobs.front()->iid_alpha;
}

/// decode, iid and acceptance.
void describe_simulation(Json& out, const Cell& cell, double confidence) {
  const Json& config = cell.spec.config;
  const Job& job = *cell.jobs.front();
  const CostRatios cost = cost_of(config);
  const Tally total = job.outcome.total();
  FormulaInputs inputs{0, config.at("gamma").get<int>(), cost.c, cost.c_hat};
  Json simulated = Json::object();
  for (const Estimate& estimate : estimates(job.outcome.batches, cost, confidence)) {
    if (!estimate.interval) continue;
    simulated[estimate.name] = interval_json(*estimate.interval);
    if (estimate.name == "alpha_overlap") inputs.alpha = std::clamp(estimate.interval->estimate, 0.0, 1.0);
  }
  const std::optional<double> exact = exact_alpha(cell);
  if (exact) inputs.alpha = std::clamp(*exact, 0.0, 1.0);
  add_formulas(out, inputs, exact ? "exact" : "measured");
  if (exact) out["exact_alpha"] = *exact;
  out["simulated"] = simulated;
  // What was measured to choose a tree belongs to the result.
  if (cell.setup && cell.setup->verifier != config.at("verifier")) out["verifier"] = cell.setup->verifier;
  if (!job.acceptance) out["engine"] = engine_json(job);
  if (job.acceptance) {
    out["counts"] = Json{{"contexts", total.overlap_contexts}};
    add_verdicts(out, cell.spec, inputs);
    return;
  }
  if (exact) {
    Json& agreement = out["agreement"] = Json::object();
    for (const char* metric : judged) {
      if (!simulated.contains(metric) || !out["formula"].contains(metric)) continue;
      const double value = out["formula"][metric].get<double>();
      agreement[metric] =
          simulated[metric][1].get<double>() <= value && value <= simulated[metric][2].get<double>();
    }
  }
  add_verdicts(out, cell.spec, inputs);
  out["counts"] = Json{{"rounds", total.rounds},
                       {"drafted", total.drafted},
                       {"examined", total.examined},
                       {"accepted", total.accepted},
                       {"emitted", total.emitted}};
  Json& positions = out["positions"] = Json::array();
  for (const PositionAcceptance& at : acceptance_by_position(job.outcome.batches, inputs.gamma, confidence)) {
    positions.push_back({{"unconditional", at.unconditional ? interval_json(*at.unconditional) : Json()},
                         {"conditional", at.conditional ? interval_json(*at.conditional) : Json()}});
  }
}

/// The simulated speed curve over gamma, its argmax, and how far the formula's choice is from it.
void describe_optimum(Json& out, const Cell& cell, double confidence) {
  const CostRatios cost = cost_of(cell.spec.config);
  const double alpha = *cell.setup->exact_alpha;
  add_formulas(out, {alpha, cell.spec.config.at("gamma").get<int>(), cost.c, cost.c_hat}, "exact");
  out["exact_alpha"] = alpha;

  // gamma = 0 is plain decoding: speed 1 by definition.
  std::vector<std::vector<double>> by_gamma{
      std::vector<double>(cell.jobs.front()->outcome.batches.size(), 1.0)};
  std::vector<double> means{1.0};
  Json& curve = out["speed_by_gamma"] = Json::array({Json::array({1.0, 1.0, 1.0})});
  for (const Job* job : cell.jobs) {
    std::vector<double>& speeds = by_gamma.emplace_back();
    for (const Tally& batch : job->outcome.batches) speeds.push_back(batch_speed(batch, cost.c));
    const Interval interval = *mean_interval(speeds, confidence);
    means.push_back(interval.estimate);
    curve.push_back(interval_json(interval));
  }
  const auto best = static_cast<std::size_t>(std::max_element(means.begin(), means.end()) - means.begin());
  const OptimalGamma theory = optimal_gamma(alpha, cost.c);
  const std::size_t theory_gamma =
      theory.gamma ? std::min(static_cast<std::size_t>(*theory.gamma), means.size() - 1) : means.size() - 1;
  // Batch by batch: the batches of two gammas share random numbers, and pairing takes that into account.
  std::vector<double> differences;
  for (std::size_t batch = 0; batch < by_gamma[best].size(); ++batch) {
    differences.push_back(by_gamma[best][batch] - by_gamma[theory_gamma][batch]);
  }
  const Interval gap = *mean_interval(differences, confidence);
  const auto at = static_cast<double>(best);
  out["simulated"] = Json{{"optimal_gamma", Json::array({at, at, at})}, {"best_speed", curve[best]}};
  out["gap"] = interval_json(gap);
  out["agreement"] = Json{{"optimal_gamma", best == theory_gamma || (gap.low <= 0 && gap.high >= 0)}};
  out["capped"] = !theory.gamma || static_cast<std::size_t>(*theory.gamma) >= means.size();
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
                          cell.experiment == "schedules" ||
                          (cell.experiment == "verifiers" && wants_witness(*cell.setup, spec.config));
  const bool stopped = works_here && control.stop();
  if (stopped) out["partial"] = true;
  if (empty || stopped) return out;

  if (cell.experiment == "predict") {
    const CostRatios cost = cost_of(spec.config);
    const FormulaInputs inputs{spec.config.at("alpha").get<double>(), spec.config.at("gamma").get<int>(),
                               cost.c, cost.c_hat};
    add_formulas(out, inputs, "given");
    add_verdicts(out, spec, inputs);
  } else if (cell.experiment == "optimal_gamma") {
    describe_optimum(out, cell, confidence);
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
    describe_simulation(out, cell, confidence);
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
                                         {"calibration", "calibration"}}) {
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
                    const Json& earlier) {
  const Json resolved = with_sections(resolve(input));
  JobList jobs;
  const std::vector<Cell> cells = prepare_all(resolved, input, earlier, jobs);
  const Control control = control_for(total_steps(cells, jobs));
  jobs.run(control);

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
  Json& described = result["cells"] = Json::array();
  for (const Cell& cell : cells) {
    described.push_back(describe(cell, confidence, control, findings.timings["walltime"]));
    if (described.back().contains("partial")) result["partial"] = true;
  }
  return findings;
}

}  // namespace speclab
