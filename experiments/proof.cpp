#include "experiments/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "analysis/exact/losslessness.hpp"
#include "analysis/theory/optimal_acceptance.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/verifiers.hpp"

namespace speclab {

namespace {

/// Distributions of doubles are compared to this: rounding of sums over at most millions of branches.
constexpr double rounding = 1e-10;

template <class Real>
std::vector<std::vector<Real>> converted(const ExactRows& rows) {
  std::vector<std::vector<Real>> out;
  for (const auto& row : rows) {
    out.emplace_back();
    for (const Rational& probability : row) out.back().push_back(static_cast<Real>(probability));
  }
  return out;
}

Json number_json(const Rational& value) { return value.str(); }
Json number_json(double value) { return value; }

std::string key_of(const std::vector<Token>& tokens) { return fmt::format("{}", fmt::join(tokens, ",")); }

/// Null above this many sequences: nobody reads them, and objects that keep their order are slow to fill.
constexpr std::size_t most_sequences = 10000;

template <class Real>
Json distribution_json(const SequenceDistribution<Real>& distribution) {
  if (distribution.size() > most_sequences) return Json();
  Json out = Json::object();
  for (const auto& [tokens, probability] : distribution) {
    if (probability > Real(0)) out[key_of(tokens)] = number_json(probability);
  }
  return out;
}

/// The best acceptance at the first position for candidates drawn as the rule draws them; none when the
/// vocabulary is too large for the search that siblings without replacement need.
template <class Rule, class Real>
std::optional<Real> optimal_transport_bound(const Rule& rule, BasicRow<Real> target, BasicRow<Real> draft) {
  if constexpr (PathsRule<Rule>) {
    return optimal_transport_acceptance(target, draft, rule.paths);
  } else if constexpr (GrowingRule<Rule>) {
    std::vector<Token> best;
    for (Token id = 0; id < draft.size; ++id) {
      if (draft[id] > Real(0)) best.push_back(id);
    }
    std::stable_sort(best.begin(), best.end(), [&](Token a, Token b) { return draft[a] > draft[b]; });
    const auto most = static_cast<std::size_t>(std::min(rule.branching, rule.nodes));
    if (best.size() > most) best.resize(most);
    return optimal_acceptance_fixed(target, std::span<const Token>(best));
  } else if constexpr (AnyTreeRule<Rule>) {
    if (target.size > max_searched_vocab) return std::nullopt;
    const auto drafts = static_cast<std::int32_t>(rule.tree->children(-1).size());
    return optimal_acceptance_without_replacement(target, draft, drafts);
  } else {
    return overlap(target, draft);
  }
}

/// Probability of the sequence under the distribution, 0 when it does not occur.
template <class Real>
Real at(const SequenceDistribution<Real>& distribution, const std::vector<Token>& tokens) {
  const auto found = distribution.find(tokens);
  return found == distribution.end() ? Real(0) : found->second;
}

template <class Real>
Json prove_in(const ProofTask& task) {
  const ExactTable<Real> target(converted<Real>(task.target));
  const ExactTable<Real> draft(converted<Real>(task.draft));
  const AnyRule any = make_rule(task.verifier, task.gamma);
  return std::visit(
      [&](const auto& rule) {
        const auto found = examine<Real>(target, draft, rule, task.gamma, task.context);
        const bool lossless =
            static_cast<double>(found.distance) <= (std::is_same_v<Real, double> ? rounding : 0.0);
        std::vector<Real> room;
        const auto best =
            optimal_transport_bound(rule, target.next(task.context, room), draft.next(task.context, room));
        Json out{{"verifier", task.verifier},
                 {"gamma", task.gamma},
                 {"lossless", lossless},
                 {"tv", number_json(found.distance)},
                 {"acceptance", number_json(found.acceptance())},
                 {"optimum", best ? number_json(*best) : Json()},
                 {"expected_accepted", number_json(found.expected_accepted)},
                 {"expected_emitted", number_json(found.expected_emitted)},
                 {"rejection", number_json(found.rejection)}};
        if (!lossless) {
          const std::vector<Token>& tokens = *found.counterexample;
          out["counterexample"] = {{"tokens", tokens},
                                   {"law", number_json(at(found.distribution, tokens))},
                                   {"target_law", number_json(at(found.target_distribution, tokens))}};
        }
        out["law"] = distribution_json(found.distribution);
        out["target_law"] = distribution_json(found.target_distribution);
        out["branches"] = found.branches;
        out["arithmetic"] = std::is_same_v<Real, double> ? "double" : "rational";
        return out;
      },
      any);
}

/// Fractions that fill more than half a line are shown by their value.
std::string shown_number(const Json& value) {
  constexpr std::size_t longest = 40;
  if (value.is_null()) return "–";
  if (!value.is_string()) return fmt::format("{:.12g}", value.get<double>());
  auto fraction = value.get<std::string>();
  if (fraction.size() <= longest) return fraction;
  return fmt::format("{:.12g} (a fraction of {} digits, see --json)", static_cast<double>(Rational(fraction)),
                     fraction.size() - 1);
}

}  // namespace

double branch_limit(bool exact) { return exact ? 1e6 : 2e7; }

Json prove(const ProofTask& task, bool exact) {
  return exact ? prove_in<Rational>(task) : prove_in<double>(task);
}

std::string proof_text(const Json& proof) {
  const bool lossless = proof.at("lossless").get<bool>();
  const bool exact = proof.at("arithmetic") == "rational";
  const int length = proof.at("gamma").get<int>() + 1;
  std::string out;
  const auto line = [&](const char* label, const std::string& value) {
    out += fmt::format("{:<18}{}\n", label, value);
  };
  line("verifier", proof.at("verifier").at("kind").get<std::string>());
  line("lossless", lossless ? fmt::format("yes: the joint law of {} tokens is the target's, {}", length,
                                          exact ? "exactly" : "to rounding (--exact proves it)")
                            : fmt::format("NO: the joint law of {} tokens is not the target's", length));
  line("total variation", shown_number(proof.at("tv")));
  for (const auto& [label, key] : {std::pair{"acceptance", "acceptance"},
                                   {"optimum", "optimum"},
                                   {"E[accepted]", "expected_accepted"},
                                   {"E[emitted]", "expected_emitted"},
                                   {"P(rejection)", "rejection"}}) {
    line(label, shown_number(proof.at(key)));
  }
  line("branches", fmt::format("{} ({})", proof.at("branches").get<std::uint64_t>(),
                               proof.at("arithmetic").get<std::string>()));
  if (!lossless) {
    const Json& counter = proof.at("counterexample");
    line("counterexample",
         fmt::format("{}: {} instead of {}", key_of(counter.at("tokens").get<std::vector<Token>>()),
                     shown_number(counter.at("law")), shown_number(counter.at("target_law"))));
  }
  constexpr std::size_t longest = 27;
  if (proof.at("law").is_null() || proof.at("target_law").is_null()) return out;
  Json all = proof.at("target_law");
  all.update(proof.at("law"));
  if (all.size() > longest) return out;
  out += fmt::format("\n{:<12}{:<28}{}\n", "tokens", "law", "target's");
  std::vector<std::string> keys;
  for (const auto& [key, value] : all.items()) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  for (const std::string& key : keys) {
    const auto value = [&](const char* distribution) {
      return shown_number(proof.at(distribution).value(key, exact ? Json("0") : Json(0.0)));
    };
    out += fmt::format("{:<12}{:<28}{}\n", key, value("law"), value("target_law"));
  }
  return out;
}

}  // namespace speclab
