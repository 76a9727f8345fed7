#include "experiments/verify/check/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"

namespace speclab {

namespace {

/// Most branches of one round, which take about a second.
constexpr double max_branches = 1e6;
constexpr double same = 1e-9;  // total variation up to which distributions count as one
constexpr std::size_t max_shown = 6;
/// Samples do not rule out distributions whose likelihood is lower than the greatest by up to this factor.
constexpr double nearly_as_likely = 20;

using SequenceCounts = std::map<std::vector<Token>, std::uint64_t>;

SequenceCounts counted(std::span<const Token> samples, std::size_t length) {
  SequenceCounts counts;
  for (; !samples.empty(); samples = samples.subspan(length))
    ++counts[{samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(length)}];
  return counts;
}

LikelihoodFit fit_of(std::string name, const SequenceDistribution<double>& law,
                     const SequenceCounts& counts) {
  LikelihoodFit fit{.name = std::move(name)};
  for (const auto& [tokens, count] : counts) {
    const double probability = probability_of(law, tokens);
    if (probability > 0) {
      fit.log_likelihood += static_cast<double>(count) * std::log(probability);
    } else {
      fit.impossible += count;
    }
  }
  return fit;
}

/// Distributions that give each observed sequence the same probability.
struct AlikeLaws {
  LikelihoodFit fit;
  /// Distributions that differ on unobserved sequences.
  std::vector<const SequenceDistribution<double>*> laws;
};

bool equal_on(const SequenceCounts& counts, const SequenceDistribution<double>& one,
              const SequenceDistribution<double>& other) {
  return std::all_of(counts.begin(), counts.end(), [&](const auto& seen) {
    const double a = probability_of(one, seen.first);
    const double b = probability_of(other, seen.first);
    // A sequence that only one of two rules can emit distinguishes them, however rare it is.
    return (a > 0) == (b > 0) && std::abs(a - b) < same;
  });
}

/// Returns a rule's distribution with its default parameters; empty for rules with required parameters or too
/// many branches.
std::optional<SequenceDistribution<double>> distribution_under(const RuleKind& kind, const Setup& setup,
                                                               int gamma, std::size_t length) {
  try {
    const RulePrograms rule = make_rule(selected(kind), gamma);
    const auto vocab = static_cast<std::size_t>(setup.target.vocab());
    if (rule.enumerated->branch_bound(gamma, vocab, vocab) > max_branches) return std::nullopt;
    return sequence_distribution<double>(setup.target, setup.draft, rule.enumerated, gamma,
                                         setup.simulation.prompt(0), length);
  } catch (const ConfigError&) {
    return std::nullopt;  // the rule has parameters that must be given or measured
  }
}

/// Writes where the sequences begin and, if they show no difference, what they cannot show.
void add_scope(EqualityResult& result, const Setup& setup, int gamma) {
  const auto& prompts = setup.simulation.prompts;
  result.texts = prompts.size() > 1   ? fmt::format("after {} prompts", prompts.size())
                 : prompts[0].empty() ? "without a prompt"
                                      : "after the prompt " + context_words(prompts[0]);
  if (result.different) return;
  if (result.tokens <= gamma) {
    result.not_compared = fmt::format(
        "what follows the first {} of a round's tokens, such as the one after γ = {} accepted ones, because check.tokens is {}",
        result.tokens, gamma, result.tokens);
  } else if (result.tokens == gamma + 1 && (setup.target.memory() != 0 || setup.draft.memory() != 0)) {
    result.not_compared = fmt::format(
        "rounds that start after other tokens, because check.tokens is γ + 1 = {}; give more, or several prompts",
        result.tokens);
  }
}

/// Returns the names, such as "typical, sigmoid and fault-accept-all".
std::string names_of(const LikelihoodFit& fit, const std::string& before_last) {
  std::string names = fit.name;
  for (const std::string& other : fit.also)
    names += fmt::format("{}{}", &other == &fit.also.back() ? " " + before_last + " " : ", ", other);
  return names;
}

}  // namespace

std::vector<CandidateLaw> candidate_laws(const Setup& setup, int gamma, int tokens, Candidates candidates,
                                         const Control& control) {
  std::optional<SequenceDistribution<double>> target = exact_plain_distribution(setup, tokens);
  if (!target) return {};
  std::vector<CandidateLaw> laws{{"target", true, std::move(*target)}};
  for (std::size_t i = 0; i < rule_family().size(); ++i) {
    if (control.stop()) return {};
    const RuleKind& kind = rule_family().entry(i);
    const bool planted = kind.surveyed.empty();
    if (candidates == Candidates::planted_faults && !planted) continue;
    auto found = distribution_under(kind, setup, gamma, static_cast<std::size_t>(tokens));
    if (found) laws.push_back({kind.name, expected_lossless(selected(kind), 1), std::move(*found)});
  }
  return laws;
}

std::vector<LikelihoodFit> diagnose(std::span<const CandidateLaw> laws, std::int32_t vocab, int tokens,
                                    std::span<const Token> samples) {
  if (laws.empty()) return {};
  const auto length = static_cast<std::size_t>(tokens);
  const SequenceCounts counts = counted(samples, length);
  std::vector<AlikeLaws> groups;
  for (const CandidateLaw& candidate : laws) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const AlikeLaws& other) {
      return equal_on(counts, candidate.distribution, *other.laws.front());
    });
    if (group == groups.end()) {
      groups.push_back({fit_of(candidate.name, candidate.distribution, counts), {&candidate.distribution}});
      continue;
    }
    const bool known = std::any_of(group->laws.begin(), group->laws.end(), [&](const auto* law) {
      return distribution_distance(candidate.distribution, *law) < same;
    });
    if (!known) group->laws.push_back(&candidate.distribution);
    // The target represents all lossless rules, which are not listed.
    const bool told = group == groups.begin() && candidate.lossless;
    if (!told) group->fit.also.push_back(candidate.name);
  }
  const auto likelier = [](const AlikeLaws& a, const AlikeLaws& b) {
    if (a.fit.impossible != b.fit.impossible) return a.fit.impossible < b.fit.impossible;
    return a.fit.log_likelihood > b.fit.log_likelihood;
  };
  std::stable_sort(groups.begin(), groups.end(), likelier);
  double adjusted_p = 0;
  for (const auto* law : groups.front().laws)
    adjusted_p = std::max(adjusted_p, ExactSequenceTests(*law, vocab, length).test(samples).adjusted_p());
  groups.front().fit.adjusted_p = adjusted_p;
  std::vector<LikelihoodFit> fits;
  for (AlikeLaws& group : groups) fits.push_back(std::move(group.fit));
  return fits;
}

std::vector<std::string> unseen(std::span<const CandidateLaw> laws) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < laws.size(); ++i) {
    const bool alike = distribution_distance(laws[i].distribution, laws[0].distribution) < same;
    if (alike) names.push_back(laws[i].name);
  }
  return names;
}

std::optional<EqualityResult> test_rule(const Setup& setup, int gamma, const CheckSection& settings,
                                        const Control& control) {
  auto result = test_equality(setup, gamma, settings, control);
  if (result) add_scope(*result, setup, gamma);
  return result;
}

std::optional<EqualityResult> test_and_diagnose(const Setup& setup, int gamma, const CheckSection& settings,
                                                std::span<const Token> samples, const Control& control) {
  auto result = test_samples(setup, settings, samples, control);
  if (!result) return result;
  const std::vector<CandidateLaw> laws =
      candidate_laws(setup, gamma, settings.tokens,
                     result->different ? Candidates::all : Candidates::planted_faults, control);
  if (result->different) {
    result->diagnosis = diagnose(laws, setup.target.vocab(), settings.tokens, samples);
  } else {
    result->unseen_faults = unseen(laws);
  }
  add_scope(*result, setup, gamma);
  return result;
}

Listing diagnosis_text(const std::vector<LikelihoodFit>& fits, double level) {
  Listing out;
  if (fits.empty()) {
    out +=
        "no diagnosis: the target's distribution is computed for one prompt and at most 100,000 sequences\n";
    return out;
  }
  Table table{"likelihoods",
              "Likelihoods of the samples",
              {"like those of", "log-likelihood", "sequences that it cannot emit"}};
  for (std::size_t i = 0; i < fits.size(); ++i) {
    const LikelihoodFit& fit = fits[i];
    if (i < max_shown || fit.name == "target") {
      table.rows.push_back({text_cell(names_of(fit, "and")),
                            {fmt::format("{:.1f}", fit.log_likelihood), fit.log_likelihood},
                            count_cell(fit.impossible)});
    }
  }
  out += std::move(table);
  const LikelihoodFit& best = fits.front();
  const bool one = best.also.empty();
  std::string near;
  for (const LikelihoodFit& fit : std::span(fits).subspan(1)) {
    if (fit.impossible != best.impossible) break;
    if (best.log_likelihood - fit.log_likelihood > std::log(nearly_as_likely)) break;
    near += fmt::format("{}{}", near.empty() ? "" : ", ", names_of(fit, "or"));
  }
  if (best.adjusted_p.value_or(0) <= level) {
    out += fmt::format("diagnosis none of these: the likeliest, {}, {} refuted by the tests, too\n",
                       names_of(best, "and"), one ? "is" : "are");
  } else {
    out += fmt::format("diagnosis {}: {}the tests find no difference from {} (p = {:.2g})\n",
                       names_of(best, "or"), one ? "" : "these samples cannot tell them apart, and ",
                       one ? "it" : "them", *best.adjusted_p);
  }
  if (!near.empty()) {
    out += fmt::format("          less likely by a factor of {:g} at most, and not ruled out: {}\n",
                       nearly_as_likely, near);
  }
  return out;
}

}  // namespace speclab
