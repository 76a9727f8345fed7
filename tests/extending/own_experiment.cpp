// An experiment with a section and a result of its own: how often a round accepts everything.
#include <cmath>

#include "experiments/page/cells.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "tests/extending/own_kinds.hpp"

namespace speclab {

namespace {

struct WholeRounds {
  std::uint64_t rounds = 0;
  std::uint64_t whole = 0;  ///< rounds that accepted every drafted token
  double share = 0;
};

const Typed<WholeRounds>& whole_rounds_type() {
  static const auto type = object<WholeRounds>(
      "whole_rounds", "Rounds that accepted every drafted token.",
      {field("rounds", &WholeRounds::rounds, count<std::uint64_t>(), "Rounds."),
       field("whole", &WholeRounds::whole, count<std::uint64_t>(), "Those that accepted everything."),
       field("share", &WholeRounds::share, any_number(), "Their share.")});
  return type;
}

class WholeRoundsCell final : public PreparedCell {
 public:
  explicit WholeRoundsCell(Job& job) { jobs.push_back(&job); }
  void run(CellResult& result, const RunContext&) override {
    const Tally total = jobs.front()->outcome.total();
    const auto gamma = static_cast<std::size_t>(jobs.front()->gamma);
    auto own = std::make_shared<WholeRounds>();
    own->rounds = total.rounds;
    own->whole = gamma < total.accepted_lengths.size() ? total.accepted_lengths[gamma] : 0;
    own->share = static_cast<double>(own->whole) / static_cast<double>(own->rounds);
    result.own = std::move(own);
  }
};

std::unique_ptr<PreparedCell> prepare_whole_rounds(const CellSpec& cell, JobList& jobs) {
  return std::make_unique<WholeRoundsCell>(jobs.decode(jobs.setup(cell.config), cell.config.gamma));
}

std::vector<Table> whole_rounds_tables(const Result& result, const Timings&, const std::string& id) {
  Table table{id + "-table", result.title, {"case", "share of whole rounds"}, {}, ""};
  for (const CellResult& cell : result.cells)
    table.rows.push_back({text_cell(cell.label), number_cell(own<WholeRounds>(cell).share)});
  return {table};
}

}  // namespace

const Experiment& whole_rounds_experiment() {
  static const Experiment experiment{.name = "whole-rounds",
                                     .sentence = "How often a round accepts every drafted token.",
                                     .prepare = prepare_whole_rounds,
                                     .own_key = "whole_rounds",
                                     .own_result = whole_rounds_type().type,
                                     .presentation = presented({.tables = whole_rounds_tables})};
  return experiment;
}

}  // namespace speclab
