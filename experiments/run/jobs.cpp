#include "experiments/run/jobs.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/models/gguf.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/gpu_decoding.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/setup.hpp"
#include "sim/decode.hpp"
#include "sim/error.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/fast/shared_rows.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// Throws ConfigError if the text will certainly exceed a model's context: each round emits at least one
/// token, and the last drafts gamma more.
void require_context(const Setup& setup, int gamma) {
  std::size_t prompt = 0;
  for (const auto& one : setup.simulation.prompts) prompt = std::max(prompt, one.size());
  const std::size_t text = prompt + setup.simulation.length + static_cast<std::size_t>(gamma);
  for (const Model* model : {&setup.target, &setup.draft}) {
    const auto most = model->max_context();
    if (!most || text <= *most) continue;
    throw ConfigError("/simulation/length",
                      "{} rounds of gamma = {} after a prompt of {} tokens make a text of more "
                      "than {} tokens, which is the context of the {}; decode less in each of "
                      "more trials, or give the model a larger \"context\"",
                      setup.simulation.length, gamma, prompt, *most,
                      model == &setup.target ? "target" : "draft");
  }
}

[[noreturn]] void refuse_fast(std::string_view reason) {
  throw ConfigError("/engine", "\"fast\" does not go with this config: {}; use \"auto\"", reason);
}

/// Starts a job that decodes on the fast engine's tables if they support it and are requested or pay. Throws
/// ConfigError if the job must use the fast engine and cannot.
void choose_engine(Job& job) {
  const Setup& setup = *job.setup;
  const bool asked = setup.engine == Engine::fast;
  if (setup.engine == Engine::plain || job.kind != JobKind::decode) return;
  const auto reason = fast_unsupported_reason(setup.target, setup.draft, setup.rule.sampled);
  if (asked && reason) refuse_fast(*reason);
  if (!reason && (asked || fast_pays(setup.target, setup.draft, setup.simulation)))
    job.engine = EngineUsed::fast;
}

}  // namespace

void check_fast_engine(const ConfigReader& config) {
  if (config[&Config::engine] != Engine::fast || is_recorded(config)) return;
  const RuleConfig& rule = config[&Config::rule];
  // A rule with measured parameters is made later.
  if (!rule.entry().measure) {
    const RulePrograms programs = make_rule(rule, [&] { return config[&Config::gamma]; });
    if (const auto reason = fast_unsupported_reason(programs.sampled)) refuse_fast(*reason);
  }
  const ModelFacts target = facts_of_model(config, false);
  const ModelFacts draft = facts_of_model(config, true);
  const auto neither = [](const ModelConfig& model, const ModelFacts& facts) {
    return gguf_parameters(model) != nullptr || (facts.stored_rows == false && facts.ngrams == false);
  };
  const ModelPair& models = *config[&Config::models];
  for (const ModelConfig* model : {&models.target, &models.draft}) {
    if (sampling_of(*model, config[&Config::sampling]).remembers()) {
      refuse_fast(
          "with penalties, min_tokens or a grammar rows depend on all emitted tokens, and the fast engine's on the last few");
    }
  }
  const bool of_two_kinds =
      target.stored_rows && draft.stored_rows && *target.stored_rows != *draft.stored_rows;
  if (of_two_kinds || neither(models.target, target) || neither(models.draft, draft))
    refuse_fast(other_pair_reason);
}

EngineResult engine_result(const Job& job) {
  constexpr std::array names{"plain", "fast", "iid"};
  EngineResult engine{.name = names.at(static_cast<std::size_t>(job.engine))};
  if (!job.why_plain.empty()) engine.why_plain = job.why_plain;
  if (job.engine == EngineUsed::plain) return engine;
  engine.random_blocks = job.outcome.work.blocks;
  if (job.engine == EngineUsed::fast) engine.residual_passes = job.outcome.work.passes;
  return engine;
}

Independence independence_of_rounds(const Job& job) {
  const bool one_rate = job.kind == JobKind::independent_acceptances || (job.setup && job.setup->exact_alpha);
  return one_rate ? Independence::rounds : independence_of_contexts(job.simulation);
}

Independence independence_of_contexts(const SimulationSize& simulation) {
  return simulation.has_independent_trials() ? Independence::batches : Independence::nothing;
}

JobList::JobList(Backend backend) : backend_(backend), rows_(make_shared_rows()) {}

std::shared_ptr<const Setup> JobList::setup(const Config& config) {
  return setups_.get(config, {"", factory_}, [](const ConfigReader& reader, const SharedPlace& place) {
    auto recorded = recorded_setup(reader, place.factory);
    return recorded ? *std::move(recorded) : build_setup(reader, place.factory);
  });
}

Job& JobList::shared_job(const std::shared_ptr<const Setup>& setup, int gamma, JobKind kind,
                         const RuleQualityOptions& options) {
  Job*& job = by_inputs_[{setup.get(), gamma, kind, options}];
  if (job != nullptr) return *job;
  require_context(*setup, gamma);
  job = &jobs_.emplace_back(Job{.kind = kind,
                                .setup = setup,
                                .simulation = setup->simulation,
                                .gamma = gamma,
                                .quality_options = options,
                                .wanted = setup->wanted});
  choose_engine(*job);
  if (job->engine == EngineUsed::fast) ++prepared_[setup.get()].users;
  return *job;
}

Job& JobList::independent_acceptances(const Config& config, double alpha) {
  return jobs_.emplace_back(Job{.kind = JobKind::independent_acceptances,
                                .simulation = simulation_size(config),
                                .gamma = config.gamma,
                                .alpha = alpha,
                                .engine = EngineUsed::iid,
                                .wanted = wanted_interval(config)});
}

void JobList::clear() {
  setups_.clear();
  by_inputs_.clear();
  prepared_.clear();
  jobs_.clear();
}

std::uint64_t JobList::total() const {
  std::uint64_t total = 0;
  for (const Job& job : jobs_) {
    if (job.done) continue;
    total += job.precision ? job.wanted->until.max_rounds : job.simulation.total();
  }
  return total;
}

bool decodes(const Job& job) {
  return job.kind == JobKind::decode || job.kind == JobKind::independent_acceptances;
}

void require_gpu_form(const Job& job) {
  if (job.kind == JobKind::independent_acceptances) return;
  constexpr const char* remedy =
      "--backend cuda runs independent acceptances, and on the fast engine two models of stored rows with a "
      "rule that reads two probabilities alone, as token verification does; --backend cpu runs everything";
  const Setup& setup = *job.setup;
  if (setup.target.table() == nullptr || setup.draft.table() == nullptr) {
    throw ConfigError("/models", "the rows of these are not stored; {}", remedy);
  }
  if (!pointwise_rule(setup.rule.sampled)) {
    throw ConfigError("/rule", "it has no form for the GPU; {}", remedy);
  }
  if (const auto reason = fast_unsupported_reason(setup.target, setup.draft, setup.rule.sampled)) {
    throw ConfigError("/engine", "\"fast\" does not go with this config: {}; {}", *reason, remedy);
  }
  if (job.engine == EngineUsed::fast) return;
  if (setup.engine == Engine::plain) {
    throw ConfigError("/engine", "\"plain\" reads whole rows on the CPU; {}", remedy);
  }
  throw ConfigError("/simulation",
                    "so few rounds that engine \"auto\" takes \"plain\" for them, which runs on the CPU; say "
                    "\"engine\": \"fast\", or use --backend cpu");
}

const FastPair* JobList::prepared_for(Job& job) {
  if (job.engine != EngineUsed::fast) return nullptr;
  const Setup& setup = *job.setup;
  Prepared& prepared = prepared_.at(&setup);
  std::call_once(prepared.once, [&] {
    isolated([&] {
      try {
        prepared.pair =
            std::make_shared<const FastPair>(setup.target, setup.draft, setup.rule.sampled, *rows_);
      } catch (const ModelError& error) {
        if (setup.engine == Engine::fast) refuse_fast(error.what());
        prepared.why_not = error.what();
      }
    });
  });
  if (prepared.pair == nullptr) {
    job.engine = EngineUsed::plain;
    job.why_plain = prepared.why_not;
  }
  return prepared.pair.get();
}

Outcome JobList::run_once(Job& job, const Control& control) {
  const SimulationSize& size = job.simulation;
  if (job.kind == JobKind::independent_acceptances)
    return decode_iid_on(backend_, job.alpha, job.gamma, size, control);
  const auto& [target, draft, rule] = std::tie(job.setup->target, job.setup->draft, job.setup->rule.sampled);
  if (job.kind == JobKind::acceptance) return measure_acceptance(target, draft, rule, size, control);
  if (job.kind == JobKind::rule_quality)
    return measure_rule_quality(target, draft, rule, job.gamma, job.quality_options, size, control);
  if (const FastPair* pair = prepared_for(job))
    return decode_pair_on(backend_, *pair, job.gamma, size, control);
  return decode_speculatively(target, draft, rule, job.gamma, size, control);
}

void JobList::run_job(Job& job, const Control& control) {
  const bool uses_tables = job.engine == EngineUsed::fast;
  const auto once = [&] { return run_once(job, control); };
  if (job.precision) {
    look_until_precise(job, once);
  } else {
    job.outcome = once();
  }
  if (uses_tables) {
    Prepared& prepared = prepared_.at(job.setup.get());
    if (--prepared.users == 0) prepared.pair.reset();
  }
  job.done = true;
}

void JobList::run(const Control& control, const std::function<void(const Job& job)>& done) {
  for_each_index(jobs_.size(), [&](std::size_t i) {
    if (jobs_[i].done || control.stop()) return;
    try {
      run_job(jobs_[i], control);
    } catch (const Stopped&) {
      return;  // it was stopped before its first round
    }
    done(jobs_[i]);
  });
  rows_->let_go();
}

}  // namespace speclab
