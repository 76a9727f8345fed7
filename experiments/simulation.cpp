#include "experiments/simulation.hpp"

#include <fmt/format.h>

#include <string_view>
#include <variant>

#include "experiments/format/config_error.hpp"
#include "experiments/gpu_decoding.hpp"
#include "experiments/tree_choice.hpp"
#include "sim/decode.hpp"
#include "sim/error.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// What the set-up, and nothing but the set-up, depends on.
std::string setup_key(const Json& config) {
  std::string key;
  for (const char* name : {"models", "corpus", "sampling", "verifier", "plan", "seed", "engine"}) {
    if (config.contains(name)) key += config.at(name).dump() + "\n";
  }
  if (has_tree(config.at("verifier"))) key += config.at("gamma").dump() + config.at("cost").dump();
  return key;
}

/// Whether decoding starts out on fast tables. Throws ConfigError when it has to and cannot.
bool wants_fast(const Setup& setup) {
  if (setup.engine == Engine::plain) return false;
  const std::optional<std::string> unsupported_reason =
      fast_unsupported_reason(setup.target, setup.draft, setup.rule);
  if (setup.engine == Engine::automatic)
    return !unsupported_reason && fast_pays(setup.target, setup.draft, setup.plan);
  if (unsupported_reason) {
    throw ConfigError(
        "/engine", fmt::format("quick does not go with this config: {}; use \"auto\"", *unsupported_reason));
  }
  return true;
}

}  // namespace

std::shared_ptr<const Setup> JobList::setup(const Json& config) {
  auto& setup = setups_[setup_key(config)];
  if (!setup) setup = std::make_shared<const Setup>(registry_.build(config));
  return setup;
}

Job& JobList::job(const std::shared_ptr<const Setup>& setup, int gamma, Work work) {
  Job*& job = by_key_[{setup.get(), work == Work::acceptance ? 0 : gamma, work}];
  if (job != nullptr) return *job;
  job = &jobs_.emplace_back(
      Job{.setup = setup, .plan = setup->plan, .gamma = gamma, .acceptance = work == Work::acceptance});
  if (work == Work::decode && wants_fast(*setup)) {
    job->engine = "quick";
    ++prepared_[setup.get()].users;
  }
  return *job;
}

Job& JobList::add_iid(const Json& config, double alpha) {
  return jobs_.emplace_back(Job{.setup = nullptr,
                                .plan = build_plan(config),
                                .gamma = config.at("gamma").get<int>(),
                                .iid_alpha = alpha,
                                .engine = "iid"});
}

Job& JobList::add(const std::shared_ptr<const Setup>& setup, int gamma, bool acceptance) {
  return job(setup, gamma, acceptance ? Work::acceptance : Work::decode);
}

Job& JobList::add_judged(const std::shared_ptr<const Setup>& setup, int gamma,
                         const RuleQualityOptions& how) {
  Job& judged = job(setup, gamma, Work::judge);
  judged.judging = how;
  return judged;
}

std::uint64_t JobList::total() const {
  std::uint64_t total = 0;
  for (const Job& job : jobs_) total += job.plan.total();
  return total;
}

void require_gpu_form(const Job& job) {
  if (job.iid_alpha) return;
  constexpr const char* remedy =
      "--backend cuda runs coins (experiment iid), and decode and optimal_gamma of two models of stored "
      "rows, "
      "verified by token or lenient, on the quick engine; --backend cpu runs everything";
  if (job.judging || job.acceptance) {
    throw ConfigError("/experiment", fmt::format("it has no form for the GPU; {}", remedy));
  }
  const Setup& setup = *job.setup;
  if (setup.target.table() == nullptr || setup.draft.table() == nullptr) {
    throw ConfigError("/models", fmt::format("the rows of these are not stored; {}", remedy));
  }
  if (const auto unsupported_reason = fast_unsupported_reason(setup.target, setup.draft, setup.rule)) {
    throw ConfigError("/engine",
                      fmt::format("quick does not go with this config: {}; {}", *unsupported_reason, remedy));
  }
  if (job.engine == std::string_view("quick")) return;
  if (setup.engine == Engine::plain) {
    throw ConfigError("/engine", fmt::format("\"plain\" reads whole rows on the CPU; {}", remedy));
  }
  throw ConfigError("/plan",
                    "so few rounds that engine \"auto\" takes \"plain\" for them, which runs on the CPU; say "
                    "\"engine\": \"quick\", or use --backend cpu");
}

void JobList::decode(Job& job, const Control& control, Backend backend) {
  const Setup& setup = *job.setup;
  if (job.engine == std::string_view("quick")) {
    Prepared& prepared = prepared_.at(&setup);
    std::call_once(prepared.once, [&] {
      isolated([&] {
        try {
          prepared.pair = std::make_unique<const FastPair>(setup.target, setup.draft, setup.rule);
        } catch (const ModelError& error) {
          if (setup.engine == Engine::fast) throw ConfigError("/engine", error.what());
        }
      });
    });
    if (prepared.pair) job.outcome = decode_pair_on(backend, *prepared.pair, job.gamma, job.plan, control);
    const bool done = prepared.pair != nullptr;
    if (--prepared.users == 0) prepared.pair.reset();
    if (done) return;
    job.engine = "plain";
  }
  job.outcome = std::visit(
      [&](const auto& rule) {
        return decode_speculatively(setup.target, setup.draft, rule, job.gamma, job.plan, control);
      },
      setup.rule);
}

void JobList::run_job(Job& job, const Control& control, Backend backend) {
  if (job.iid_alpha) {
    job.outcome = decode_iid_on(backend, *job.iid_alpha, job.gamma, job.plan, control);
  } else if (job.judging || job.acceptance) {
    const Setup& setup = *job.setup;
    job.outcome = std::visit(
        [&](const auto& rule) {
          return job.judging ? measure_rule_quality(setup.target, setup.draft, rule, job.gamma, *job.judging,
                                                    job.plan, control)
                             : measure_acceptance(setup.target, setup.draft, rule, job.plan, control);
        },
        setup.rule);
  } else {
    decode(job, control, backend);
  }
  job.done = true;
}

void JobList::run(const Control& control, Backend backend) {
  for_each_index(jobs_.size(), [&](std::size_t i) {
    if (!control.stop()) run_job(jobs_[i], control, backend);
  });
}

}  // namespace speclab
