// An experiment with a result of its own: how often a round accepts everything.
#include "experiments/base/format/result_fields.hpp"
#include "experiments/config/config.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/setup.hpp"
#include "tests/extending/own_kinds.hpp"

namespace speclab {

namespace {

struct WholeRounds {
  std::uint64_t rounds = 0;
  std::uint64_t whole = 0;  ///< rounds that accepted every drafted token
  double share = 0;
};

}  // namespace

SPECLAB_RESULT(WholeRounds, "whole_rounds", rounds, whole, share);

namespace {

Work prepare_whole_rounds(const CellSpec& cell, JobList& jobs) {
  Job& job = jobs.decode(jobs.setup(cell.config), cell.config.gamma);
  return {.jobs = {&job}, .finish = [&job](CellResult& result, const auto&) {
            const auto total = job.outcome.total();
            const auto gamma = static_cast<std::size_t>(job.gamma);
            WholeRounds own{.rounds = total.rounds};
            if (gamma < total.accepted_lengths.size()) own.whole = total.accepted_lengths[gamma];
            own.share = static_cast<double>(own.whole) / static_cast<double>(own.rounds);
            result.own = own;
          }};
}

}  // namespace

const Experiment& whole_rounds_experiment() {
  static const Experiment experiment{.name = "whole-rounds",
                                     .sentence = "How often a round accepts every drafted token.",
                                     .reads = {"models", "rule", "gamma", "simulation"},
                                     .check = check_setup,
                                     .prepare = prepare_whole_rounds,
                                     .recordings = Recordings::decoding,
                                     .own_key = "whole_rounds",
                                     .own_result = described<WholeRounds>().type,
                                     .presentation = presented({.tables = own_tables, .csv = own_csv})};
  return experiment;
}

}  // namespace speclab
