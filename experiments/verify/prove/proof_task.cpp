#include "experiments/verify/prove/proof_task.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "core/distribution/number.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/run/until.hpp"
#include "experiments/verify/prove/request_faults.hpp"
#include "sim/error.hpp"

namespace speclab {

namespace {

std::optional<Rational> parse_decimal(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  std::string digits(text.substr(0, mark));
  int exponent = 0;
  if (const std::size_t point = digits.find('.'); point != std::string::npos) {
    digits.erase(point, 1);
    exponent = -static_cast<int>(digits.size() - point);
  }
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  if (mark < text.size()) {
    const std::optional<int> shift = decimal_exponent(text.substr(mark + 1));
    constexpr int largest_shift = 400;
    if (!shift || std::abs(*shift) > largest_shift) return std::nullopt;
    exponent += *shift;
  }
  const auto zeros = static_cast<std::size_t>(std::abs(exponent));
  // A leading zero would make the number octal.
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return exponent < 0 ? Rational(digits + "/1" + std::string(zeros, '0'))
                      : Rational(digits + std::string(digits == "0" ? 0 : zeros, '0'));
}

/// Returns the computed rows, each double as an exact fraction.
ExactRows computed_rows(const TableModel& table) {
  ExactRows rows;
  for (std::size_t context = 0; context < table.contexts(); ++context) {
    const Row row = table.row(context);
    rows.emplace_back();
    for (Token id = 0; id < row.size; ++id) rows.back().emplace_back(row[id]);
  }
  normalise_exactly(rows);
  return rows;
}

void require_stored(bool stored, const std::string& path) {
  if (stored) return;
  throw ConfigError(
      path,
      "prove follows every branch and needs a model that stores its rows: table, markov, zipf, dirichlet, uniform, point, or a mixture of them; for others use \"speclab check\"");
}

const TableModel& stored(const Model& model, const std::string& path) {
  require_stored(model.table() != nullptr, path);
  return *model.table();
}

}  // namespace

std::optional<Rational> parse_rational(std::string_view text) {
  const std::size_t slash = text.find('/');
  auto above = parse_decimal(trimmed(text.substr(0, slash)));
  if (slash == std::string_view::npos || !above) return above;
  const auto below = parse_decimal(trimmed(text.substr(slash + 1)));
  if (!below || *below == 0) return std::nullopt;
  return *above / *below;
}

ExactRows parse_rows(const std::string& text, const std::string& option) {
  ExactRows rows;
  for (const std::string& line : split(text, ';')) {
    rows.emplace_back();
    for (const std::string& word : split(line, ',')) {
      const auto weight = parse_rational(word);
      if (!weight) {
        throw UsageError(
            "{} {}: \"{}\" is not a probability; expected decimals or fractions, such as .5,.3,.2 or 1/3,2/3, rows separated by \";\"",
            option, text, word);
      }
      rows.back().push_back(*weight);
    }
    if (rows.back().size() != rows.front().size()) {
      throw UsageError("{} {}: row {} has {} entries, the first has {}", option, text, rows.size(),
                       rows.back().size(), rows.front().size());
    }
    const auto total =
        static_cast<double>(std::accumulate(rows.back().begin(), rows.back().end(), Rational()));
    if (!(std::abs(total - 1) <= row_tolerance)) {
      throw UsageError(
          "{} {}: row {} sums to {:.6g}, not 1; expected probabilities. Weights are written over their sum, such as 5/9,3/9,1/9",
          option, text, rows.size(), total);
    }
  }
  normalise_exactly(rows);
  try {
    table_order(rows.size(), rows.front().size());
  } catch (const ModelError& error) {
    throw UsageError("{} {}: {}", option, text, error.what());
  }
  return rows;
}

ProofTask proof_task(const Config& given) {
  refuse_many_cells(given, "prove examines");
  refuse_until(given, "prove simulates nothing");
  check_setup(given);
  ProofTask task;
  task.request = request_of(given);
  Config config = given;
  if (task.request) {
    const std::string& fault = given.section<ProveSection>().fault;
    if (fault != "none") task.fault = fault;
    // The proof filters the rows itself, in every round anew.
    config.sampling = {};
    config.models->target.sampling.reset();
    config.models->draft.sampling.reset();
  }
  const auto& [target_config, draft_config] = *config.models;
  require_stored(facts_of_model(config, false).stored_rows.value_or(true), target_config.path);
  require_stored(facts_of_model(config, true).stored_rows.value_or(true), draft_config.path);
  const Setup setup = build_setup(config);
  const TableModel& target = stored(setup.target, target_config.path);
  const TableModel& draft = stored(setup.draft, draft_config.path);
  const auto vocab = static_cast<std::size_t>(target.vocab());
  const auto written_target = written_rows(target_config, config.sampling, vocab, std::nullopt);
  const auto written_draft = written_rows(draft_config, config.sampling, vocab, written_target);
  task.target = written_target ? *written_target : computed_rows(target);
  task.draft = written_draft ? *written_draft : computed_rows(draft);
  task.rule = setup.rule_config;
  task.gamma = config.gamma;
  task.context = setup.simulation.prompt(0);
  return task;
}

}  // namespace speclab
