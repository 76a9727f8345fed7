#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>

#include "core/distribution/number.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/proof.hpp"
#include "experiments/registry.hpp"
#include "experiments/verifiers.hpp"
#include "sim/error.hpp"

namespace speclab {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else if (c != ' ') {
      parts.back() += c;
    }
  }
  return parts;
}

std::optional<Rational> parse_decimal(std::string_view text) {
  std::string digits;
  int exponent = 0;
  bool point = false;
  std::size_t at = 0;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.' && !point) {
      point = true;
    } else if (text[at] >= '0' && text[at] <= '9') {
      digits += text[at];
      if (point) --exponent;
    } else {
      return std::nullopt;
    }
  }
  if (digits.empty()) return std::nullopt;
  if (at < text.size()) {
    const std::string rest(text.substr(at + 1));
    std::size_t used = 0;
    int shift = 0;
    try {
      shift = std::stoi(rest, &used);
    } catch (const std::exception&) {
      return std::nullopt;
    }
    if (used != rest.size() || std::abs(shift) > 400) return std::nullopt;
    exponent += shift;
  }
  const auto zeros = static_cast<std::size_t>(std::abs(exponent));
  // A leading zero would be read as octal.
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return exponent < 0 ? Rational(digits + "/1" + std::string(zeros, '0'))
                      : Rational(digits + std::string(digits == "0" ? 0 : zeros, '0'));
}

void normalise_exactly(std::vector<Rational>& row) {
  Rational total(0);
  for (const Rational& probability : row) total += probability;
  for (Rational& probability : row) probability /= total;
}

/// The rows as they were computed, each probability the very double it is.
ExactRows computed_rows(const TableModel& table) {
  ExactRows rows;
  for (std::size_t context = 0; context < table.contexts(); ++context) {
    const Row row = table.row(context);
    rows.emplace_back(row.probabilities, row.probabilities + row.size);
    normalise_exactly(rows.back());
  }
  return rows;
}

bool unadjusted(const Json& spec, const Json& config) {
  const Json& sampling = spec.contains("sampling") ? spec.at("sampling") : config.at("sampling");
  return sampling.at("temperature") == 1.0 && sampling.at("top_k") == 0 && sampling.at("top_p") == 1.0;
}

/// The rows as the config writes them, where it does; none for distributions that are computed.
std::optional<ExactRows> written_rows(const Json& spec, const Json& config, std::size_t vocab,
                                      const std::optional<ExactRows>& target) {
  if (!unadjusted(spec, config)) return std::nullopt;
  const auto kind = spec.at("kind").get<std::string>();
  ExactRows rows;
  if (kind == "table" && spec.contains("rows")) {
    for (const Json& row : spec.at("rows")) {
      rows.emplace_back();
      for (const Json& probability : row)
        rows.back().emplace_back(decimal_fraction(probability.get<double>()));
    }
  } else if (kind == "uniform" || kind == "random") {
    rows.emplace_back(vocab, Rational(1));
  } else if (kind == "point") {
    rows.emplace_back(vocab, Rational(0));
    rows.back()[spec.at("token").get<std::size_t>()] = 1;
  } else if (kind == "mixture" && spec.contains("epsilon")) {
    const auto base =
        spec.at("base") == "target" ? target : written_rows(spec.at("base"), config, vocab, target);
    const auto other = written_rows(spec.at("other"), config, vocab, target);
    if (!base || !other) return std::nullopt;
    const Rational epsilon(decimal_fraction(spec.at("epsilon").get<double>()));
    for (std::size_t context = 0; context < std::max(base->size(), other->size()); ++context) {
      rows.emplace_back();
      for (std::size_t id = 0; id < vocab; ++id) {
        rows.back().push_back((1 - epsilon) * (*base)[context % base->size()][id] +
                              epsilon * (*other)[context % other->size()][id]);
      }
    }
  } else {
    return std::nullopt;
  }
  for (auto& row : rows) normalise_exactly(row);
  return rows;
}

const TableModel& stored(const Model& model, const char* path) {
  if (model.table() != nullptr) return *model.table();
  throw ConfigError(path,
                    "prove follows every branch and needs a model that stores its rows: table, markov, zipf, "
                    "dirichlet, uniform, point, or a mixture of them; for others use \"speclab check\"");
}

std::size_t largest_support(const ExactRows& rows) {
  std::size_t largest = 0;
  for (const auto& row : rows) {
    largest = std::max(
        largest, static_cast<std::size_t>(std::count_if(
                     row.begin(), row.end(), [](const Rational& probability) { return probability > 0; })));
  }
  return largest;
}

/// Ways to draw `count` different ids of `support`, in order; fewer ids than that are all drawn.
double arrangements(std::size_t support, std::size_t count) {
  double ways = 1;
  for (std::size_t i = 0; i < std::min(support, count); ++i) ways *= static_cast<double>(support - i);
  return ways;
}

}  // namespace

std::optional<Rational> parse_rational(std::string_view text) {
  const std::size_t slash = text.find('/');
  auto above = parse_decimal(text.substr(0, slash));
  if (slash == std::string_view::npos || !above) return above;
  const auto below = parse_decimal(text.substr(slash + 1));
  if (!below || *below == 0) return std::nullopt;
  return *above / *below;
}

ExactRows parse_rows(const std::string& text, const std::string& option) {
  ExactRows rows;
  for (const std::string& line : split(text, ';')) {
    rows.emplace_back();
    for (const std::string& word : split(line, ',')) {
      const auto probability = parse_rational(word);
      if (!probability) {
        throw UsageError(
            fmt::format("{} {}: \"{}\" is not a mass; expected decimals or fractions, such as .5,.3,.2 or "
                        "1/3,2/3, rows separated by \";\"",
                        option, text, word));
      }
      rows.back().push_back(*probability);
    }
    if (rows.back().size() != rows.front().size()) {
      throw UsageError(fmt::format("{} {}: row {} has {} masses, the first has {}", option, text, rows.size(),
                                   rows.back().size(), rows.front().size()));
    }
    if (std::all_of(rows.back().begin(), rows.back().end(),
                    [](const Rational& probability) { return probability == 0; })) {
      throw UsageError(fmt::format("{} {}: row {} has no mass", option, text, rows.size()));
    }
    normalise_exactly(rows.back());
  }
  try {
    table_order(rows.size(), rows.front().size());
  } catch (const ModelError& error) {
    throw UsageError(fmt::format("{} {}: {}", option, text, error.what()));
  }
  return rows;
}

ProofTask proof_task(const Json& config) {
  refuse_many_cells(config, "prove examines");
  Registry registry;
  const Setup setup = registry.build(config);
  const TableModel& target = stored(setup.target, "/models/target");
  const TableModel& draft = stored(setup.draft, "/models/draft");
  const auto vocab = static_cast<std::size_t>(target.vocab());
  const Json& models = config.at("models");
  const auto written_target = written_rows(models.at("target"), config, vocab, std::nullopt);
  const auto written_draft = written_rows(models.at("draft"), config, vocab, written_target);
  ProofTask task;
  task.target = written_target ? *written_target : computed_rows(target);
  task.draft = written_draft ? *written_draft : computed_rows(draft);
  task.verifier = config.at("verifier");
  task.gamma = config.at("gamma").get<std::int32_t>();
  task.context = setup.plan.prompt(0);
  return task;
}

double branch_bound(const ProofTask& task) {
  const std::size_t drafts = largest_support(task.draft);
  const auto emitted = static_cast<double>(largest_support(task.target));
  const auto q = static_cast<double>(drafts);
  const double gamma = task.gamma;
  return std::visit(
      [&]<class Rule>(const Rule& rule) -> double {
        if constexpr (PathsRule<Rule>) {
          // Which path is accepted at each position, or the position of the rejection; a rule may flip one
          // more acceptance draw to choose a path before it is judged.
          double outcomes = 0;
          for (double i = 0, ways = 1; i <= gamma; ++i, ways *= std::max(rule.paths, 2)) outcomes += 2 * ways;
          return std::pow(q, rule.paths * gamma) * outcomes * emitted;
        } else if constexpr (GrowingRule<Rule>) {
          return (rule.nodes + 1) * emitted;
        } else if constexpr (AnyTreeRule<Rule>) {
          double ways = 1;
          for (std::int32_t node = -1; node < rule.tree->size(); ++node) {
            ways *= arrangements(drafts, rule.tree->children(node).size());
          }
          return ways * (rule.tree->size() + 1) * emitted;
        } else {
          return std::pow(q, gamma) * (gamma + 1) * emitted;
        }
      },
      make_rule(task.verifier, task.gamma));
}

void check_branches(const ProofTask& task, double limit) {
  const double bound = branch_bound(task);
  if (bound <= limit) return;
  throw UsageError(fmt::format(
      "up to {:.3g} branches, more than {:.3g}: lower gamma ({}), the number of drafts or the vocabulary "
      "({}), or allow it with --max-branches; \"speclab check\" tests large cases by sampling",
      bound, limit, task.gamma, task.target.front().size()));
}

}  // namespace speclab
