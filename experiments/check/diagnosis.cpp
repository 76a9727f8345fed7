#include "experiments/check/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/round_distribution.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "experiments/config/config_error.hpp"
#include "experiments/report/cells.hpp"

namespace speclab {

namespace {

/// Branches of one round, at most: about a second.
constexpr double most_branches = 1e6;
constexpr double same = 1e-9;  // total variation up to which distributions count as one
constexpr std::size_t most_shown = 6;

using SequenceCounts = std::map<std::vector<Token>, std::uint64_t>;

SequenceCounts counted(std::span<const Token> samples, std::size_t length) {
  SequenceCounts counts;
  for (; !samples.empty(); samples = samples.subspan(length)) {
    ++counts[{samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(length)}];
  }
  return counts;
}

LikelihoodFit fit_of(std::string name, const SequenceDistribution<double>& distribution,
                     const SequenceCounts& counts) {
  LikelihoodFit fit{.name = std::move(name)};
  for (const auto& [tokens, count] : counts) {
    const auto found = distribution.find(tokens);
    if (found == distribution.end() || !(found->second > 0)) {
      fit.impossible += count;
    } else {
      fit.log_likelihood += static_cast<double>(count) * std::log(found->second);
    }
  }
  return fit;
}

/// The distribution under a rule with its default parameters; none for rules that need other ones or too many
/// branches.
std::optional<SequenceDistribution<double>> distribution_under(const RuleKind& kind, const Setup& setup,
                                                               int gamma, std::size_t length) {
  try {
    const RulePrograms rule = make_rule(selected(kind), gamma);
    const auto vocab = static_cast<std::size_t>(setup.target.vocab());
    if (rule.enumerated->branch_bound(gamma, vocab, vocab) > most_branches) return std::nullopt;
    return sequence_distribution<double>(setup.target, setup.draft, rule.enumerated, gamma,
                                         setup.simulation.prompt(0), length);
  } catch (const ConfigError&) {
    return std::nullopt;  // its parameters have to be given, or measured
  }
}

}  // namespace

std::vector<LikelihoodFit> diagnose(const Setup& setup, int gamma, int tokens, std::span<const Token> samples,
                                    const Control& control) {
  const std::optional<SequenceDistribution<double>> target = exact_plain_distribution(setup, tokens);
  if (!target) return {};
  const auto length = static_cast<std::size_t>(tokens);
  const SequenceCounts counts = counted(samples, length);
  std::vector<SequenceDistribution<double>> seen{*target};
  std::vector<LikelihoodFit> fits{fit_of("target", *target, counts)};
  for (std::size_t i = 0; i < rule_family().size(); ++i) {
    if (control.stop()) return {};
    const RuleKind& kind = rule_family().entry(i);
    auto distribution = distribution_under(kind, setup, gamma, length);
    if (!distribution) continue;
    const bool known = std::any_of(seen.begin(), seen.end(), [&](const auto& other) {
      return distribution_distance(*distribution, other) < same;
    });
    if (known) continue;
    fits.push_back(fit_of(kind.name, *distribution, counts));
    seen.push_back(std::move(*distribution));
  }
  std::stable_sort(fits.begin(), fits.end(), [](const LikelihoodFit& a, const LikelihoodFit& b) {
    if (a.impossible != b.impossible) return a.impossible < b.impossible;
    return a.log_likelihood > b.log_likelihood;
  });
  const auto best = std::find_if(seen.begin(), seen.end(), [&](const auto& distribution) {
    const LikelihoodFit fit = fit_of("", distribution, counts);
    return fit.impossible == fits.front().impossible && fit.log_likelihood == fits.front().log_likelihood;
  });
  fits.front().adjusted_p = ExactSequenceTests(*best, setup.target.vocab(), length, samples.size() / length)
                                .test(samples)
                                .adjusted_p();
  return fits;
}

Listing diagnosis_text(const std::vector<LikelihoodFit>& fits, double level) {
  Listing out;
  if (fits.empty()) {
    out +=
        "no diagnosis: the target's distribution is computed for one prompt and at most 100,000 "
        "sequences\n";
    return out;
  }
  Table table{"likelihoods",
              "Likelihoods of the samples",
              {"like those of", "log-likelihood", "sequences that it cannot emit"}};
  for (std::size_t i = 0; i < fits.size(); ++i) {
    const LikelihoodFit& fit = fits[i];
    if (i < most_shown || fit.name == "target") {
      table.rows.push_back({text_cell(fit.name),
                            {fmt::format("{:.1f}", fit.log_likelihood), fit.log_likelihood},
                            count_cell(fit.impossible)});
    }
  }
  out += std::move(table);
  const LikelihoodFit& best = fits.front();
  if (best.adjusted_p.value_or(0) <= level) {
    out +=
        fmt::format("diagnosis none of these: the likeliest, {}, is refuted by the tests, too\n", best.name);
  } else {
    out += fmt::format("diagnosis {}: the tests find no difference from it (p = {:.2g})\n", best.name,
                       *best.adjusted_p);
  }
  return out;
}

}  // namespace speclab
