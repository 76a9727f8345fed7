#include "speclab/experiments/simulation.hpp"

#include <variant>

#include "speclab/experiments/tree_choice.hpp"
#include "speclab/sim/decode.hpp"
#include "speclab/sim/parallel.hpp"

namespace speclab {

namespace {

/// What the set-up, and nothing but the set-up, depends on.
std::string setup_key(const Json& config) {
  std::string key;
  for (const char* name : {"models", "corpus", "sampling", "verifier", "plan", "seed"}) {
    if (config.contains(name)) key += config.at(name).dump() + "\n";
  }
  if (has_tree(config.at("verifier"))) key += config.at("gamma").dump() + config.at("cost").dump();
  return key;
}

void run_job(Job& job, const Control& control) {
  const Setup& setup = *job.setup;
  job.outcome = std::visit(
      [&](const auto& rule) {
        if (job.judging) {
          return judge_rule(setup.target, setup.draft, rule, job.gamma, *job.judging, setup.plan, control);
        }
        return job.acceptance
                   ? measure_acceptance(setup.target, setup.draft, rule, setup.plan, control)
                   : decode_speculatively(setup.target, setup.draft, rule, job.gamma, setup.plan, control);
      },
      setup.rule);
  job.done = true;
}

}  // namespace

std::shared_ptr<const Setup> JobList::setup(const Json& config) {
  auto& setup = setups_[setup_key(config)];
  if (!setup) setup = std::make_shared<const Setup>(registry_.build(config));
  return setup;
}

Job& JobList::job(const std::shared_ptr<const Setup>& setup, int gamma, Work work) {
  Job*& job = by_key_[{setup.get(), work == Work::acceptance ? 0 : gamma, work}];
  if (job == nullptr) job = &jobs_.emplace_back(Job{setup, gamma, work == Work::acceptance, {}, false});
  return *job;
}

Job& JobList::add(const std::shared_ptr<const Setup>& setup, int gamma, bool acceptance) {
  return job(setup, gamma, acceptance ? Work::acceptance : Work::decode);
}

Job& JobList::add_judged(const std::shared_ptr<const Setup>& setup, int gamma, const Judging& how) {
  Job& judged = job(setup, gamma, Work::judge);
  judged.judging = how;
  return judged;
}

std::uint64_t JobList::total() const {
  std::uint64_t total = 0;
  for (const Job& job : jobs_) total += job.setup->plan.total();
  return total;
}

void JobList::run(const Control& control) {
  for_each_index(jobs_.size(), [&](std::size_t i) {
    if (!control.stop()) run_job(jobs_[i], control);
  });
}

}  // namespace speclab
