// Room (view) 1: one round of a rule on two rows, sampled, shown draw by draw, and enumerated.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/exact/context_rows.hpp"
#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/losslessness.hpp"
#include "analysis/exact/rational.hpp"
#include "core/distribution/divergence.hpp"
#include "core/random/enumerated_random_source.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "explorer/engine/record.hpp"
#include "explorer/engine/rules.hpp"

namespace speclab::explorer {

/// The inputs of room 1. Rows are weights, normalised as the program normalises them.
struct RoundTask {
  std::string_view rule;
  double parameter = 0;
  std::int32_t gamma = 1;
  std::span<const std::int32_t> target;  ///< same size as `draft`, not all 0
  std::span<const std::int32_t> draft;
};

/// Largest number of branches, so that the page answers while the user drags a bar.
inline constexpr double max_branches = 20000;

template <class Real>
ExactTable<Real> table_of(std::span<const std::int32_t> weights) {
  Rational total(0);
  for (const std::int32_t weight : weights) total += Rational(weight);
  if (total == Rational(0)) throw std::invalid_argument("a row needs one token of positive probability");
  std::vector<Real> row;
  for (const std::int32_t weight : weights) row.push_back(static_cast<Real>(Rational(weight) / total));
  return ExactTable<Real>({std::move(row)});
}

/// Normalises like the simulator's tables: sum and division in double.
inline ExactTable<double> sampled_table_of(std::span<const std::int32_t> weights) {
  std::vector<double> row(weights.begin(), weights.end());
  normalise(row);
  return ExactTable<double>({std::move(row)});
}

/// Writes the overlap and, if the rule accepts or replaces position by position, its treatment of each token:
/// accept[x], the probability to accept a drafted x, which is drafted with q(x) > 0; replacement[x], the
/// probability of x after a rejection. The first emitted token is x with probability kept[x] + replaced[x];
/// the draft proposes x with probability kept[x] + refused[x].
inline void describe_rows(const RoundTask& task, Record& out) {
  const ExactTable<double> target = sampled_table_of(task.target);
  const ExactTable<double> draft = sampled_table_of(task.draft);
  std::vector<double> scratch;
  const Row p = target.next({}, scratch);
  const Row q = draft.next({}, scratch);
  out.list("p", std::span(p.probabilities, task.target.size()));
  out.list("q", std::span(q.probabilities, task.draft.size()));
  out.number("overlap", overlap(p, q));
  const RulePrograms rule = rule_named(task.rule, task.parameter, task.gamma);
  if (!rule.sampled->accepts_or_replaces()) return;
  PositionDistribution found;
  rule.enumerated->describe_position(p, q, found);
  std::vector<double> accept;
  std::vector<double> replacement;
  std::vector<double> refused;
  for (Token token = 0; token < p.size; ++token) {
    const double kept = found.accepted[static_cast<std::size_t>(token)];
    accept.push_back(q[token] > 0 ? kept / q[token] : 0);
    refused.push_back(q[token] - kept);
    if (found.rejection > 0)
      replacement.push_back(found.corrected[static_cast<std::size_t>(token)] / found.rejection);
  }
  out.list("accept", accept);
  out.list("replacement", replacement);
  out.list("kept", found.accepted);
  out.list("refused", refused);
  out.list("replaced", found.corrected);
  out.number("acceptance", 1 - found.rejection);
}

namespace detail {

inline std::string shown(const Rational& value) { return value.str(); }

inline std::string joined(const std::vector<Token>& tokens) {
  std::string text;
  for (const Token token : tokens) text += (text.empty() ? "" : ",") + std::to_string(token);
  return text;
}

/// Returns a text for each row.
inline std::vector<std::string> shown(const std::vector<std::vector<Rational>>& rows) {
  std::vector<std::string> texts;
  for (const auto& row : rows) {
    std::string& text = texts.emplace_back();
    for (const Rational& value : row) text += (text.empty() ? "" : ", ") + shown(value);
  }
  return texts;
}

}  // namespace detail

/// Writes the proof of `speclab prove --exact`: fractions as texts, under the names of its --json. A rule
/// that passes on the given rows is tried on rows made by the last token, too
/// (analysis/exact/context_rows.hpp).
inline void prove_round(const RoundTask& task, Record& out) {
  const ExactTable<Rational> target = table_of<Rational>(task.target);
  const ExactTable<Rational> draft = table_of<Rational>(task.draft);
  const auto program = [&] { return rule_named(task.rule, task.parameter, task.gamma).enumerated; };
  const auto support = [](std::span<const std::int32_t> weights) {
    return static_cast<std::size_t>(
        std::count_if(weights.begin(), weights.end(), [](auto w) { return w > 0; }));
  };
  const double bound = program()->branch_bound(task.gamma, support(task.draft), support(task.target));
  out.number("branch_bound", bound);
  if (bound > max_branches) return;
  const ExaminedByContext<Rational> examined = examine_by_context<Rational>(
      ModelRef<Rational>(target), ModelRef<Rational>(draft), program, task.gamma, {});
  const Losslessness<Rational>& found = examined.round;
  out.number("expected_lossless", expected_lossless(rule_config(task.rule, task.parameter), 1) ? 1 : 0);
  out.number("made", examined.rows == ProvedRows::made ? 1 : 0);
  out.number("alike", examined.rows == ProvedRows::alike ? 1 : 0);
  out.texts("made_target", detail::shown(examined.made_target));
  out.texts("made_draft", detail::shown(examined.made_draft));
  out.number("lossless", found.distance == Rational(0) ? 1 : 0);
  out.text("tv", detail::shown(found.distance));
  out.text("acceptance", detail::shown(found.acceptance()));
  if (const auto& best = examined.optimal_transport_bound)
    out.text("optimal_transport_bound", detail::shown(*best));
  out.text("expected_accepted", detail::shown(found.expected_accepted));
  out.text("expected_emitted", detail::shown(found.expected_emitted));
  out.text("rejection", detail::shown(found.rejection));
  out.number("branches", static_cast<double>(found.branches));
  std::vector<double> accepted;
  for (const Rational& probability : found.accepted) accepted.push_back(static_cast<double>(probability));
  out.list("accepted", accepted);
  if (found.distance == Rational(0)) return;
  const std::vector<Token>& worst = *found.counterexample;
  const auto probability = [&](const auto& distribution) {
    const auto at = distribution.find(worst);
    return at == distribution.end() ? Rational(0) : at->second;
  };
  out.text("counterexample", detail::joined(worst));
  out.text("probability", detail::shown(probability(found.distribution)));
  out.text("target_probability", detail::shown(probability(found.target_distribution)));
}

/// One draw of a round.
struct SeenDraw {
  Draw draw;
  double uniform;
  double probability;   ///< for a Bernoulli draw that of success; else that of the token drawn
  std::int32_t result;  ///< for a Bernoulli draw 1 or 0; else the token
  bool categorical;
};

/// Returns a guide that draws by the simulator's uniforms and reports each draw to `see`.
template <class See>
DrawGuide<double> guide_by(const RoundUniforms& uniforms, const See& see) {
  return {.bernoulli =
              [=](Draw draw, double probability) {
                const double uniform = uniforms(draw);
                see(SeenDraw{draw, uniform, probability, uniform < probability ? 1 : 0, false});
                return uniform < probability;
              },
          .categorical =
              [=](Draw draw, const OwnedWeights<double>& weights) {
                const double uniform = uniforms(draw);
                const Token token = inverse_cdf(weights, uniform);
                const double probability = token < 0 ? 0 : weights[token] / total_probability(weights);
                see(SeenDraw{draw, uniform, probability, token, true});
                return token;
              }};
}

/// Writes round number `round` of trial 0, draw by draw: each with its use, slot, uniform, probability and
/// result.
inline void draw_round(const RoundTask& task, std::uint64_t seed, std::uint32_t round, Record& out) {
  const ExactTable<double> target = sampled_table_of(task.target);
  const ExactTable<double> draft = sampled_table_of(task.draft);
  std::vector<SeenDraw> draws;
  const DrawGuide<double> guide =
      guide_by(RoundUniforms{seed, 0, round}, [&draws](const SeenDraw& draw) { draws.push_back(draw); });
  EnumeratedRandomSource<double> random(guide);
  std::vector<Token> context;
  RoundScratch<double> scratch;
  const Round done = rule_named(task.rule, task.parameter, task.gamma)
                         .enumerated->round(ModelRef<double>(target), ModelRef<double>(draft), task.gamma,
                                            context, random, scratch);
  out.list("use", draws, [](const SeenDraw& draw) { return static_cast<int>(draw.draw.use); });
  out.list("slot", draws, [](const SeenDraw& draw) { return draw.draw.slot; });
  out.list("categorical", draws, &SeenDraw::categorical);
  out.list("uniform", draws, &SeenDraw::uniform);
  out.list("probability", draws, &SeenDraw::probability);
  out.list("result", draws, &SeenDraw::result);
  out.list("emitted", context);
  out.number("accepted", done.accepted);
  out.number("examined", done.examined);
  out.number("next", done.next);
}

/// Counts of rounds; the next call adds to them.
struct CountedRounds {
  std::uint32_t rounds = 0;
  std::vector<std::uint64_t> lengths;  ///< lengths[k] rounds accepted k tokens
  std::vector<std::uint64_t> tokens;   ///< tokens[x] rounds emitted x first
  std::uint64_t examined = 0;
  std::uint64_t accepted = 0;
};

/// Runs `count` more rounds of trial 0, each from an empty context.
inline void count_rounds(const RoundTask& task, std::uint64_t seed, std::uint32_t count, CountedRounds& state,
                         Record& out) {
  const ExactTable<double> target = sampled_table_of(task.target);
  const ExactTable<double> draft = sampled_table_of(task.draft);
  state.lengths.resize(static_cast<std::size_t>(task.gamma) + 1);
  state.tokens.resize(task.target.size());
  std::vector<Token> context;
  RoundScratch<double> scratch;
  const EnumerableRule rule = rule_named(task.rule, task.parameter, task.gamma).enumerated;
  for (const std::uint32_t end = state.rounds + count; state.rounds < end; ++state.rounds) {
    context.clear();
    const DrawGuide<double> guide = guide_by(RoundUniforms{seed, 0, state.rounds}, [](const SeenDraw&) {});
    EnumeratedRandomSource<double> random(guide);
    const Round done =
        rule->round(ModelRef<double>(target), ModelRef<double>(draft), task.gamma, context, random, scratch);
    ++state.lengths[static_cast<std::size_t>(done.accepted)];
    ++state.tokens[static_cast<std::size_t>(context.front())];
    state.examined += static_cast<std::uint64_t>(done.examined);
    state.accepted += static_cast<std::uint64_t>(done.accepted);
  }
  out.number("rounds", state.rounds);
  out.list("lengths", state.lengths);
  out.list("tokens", state.tokens);
  std::vector<double> shares;
  for (const std::uint64_t tokens : state.tokens)
    shares.push_back(static_cast<double>(tokens) / state.rounds);
  out.list("shares", shares);
  out.number("examined", static_cast<double>(state.examined));
  out.number("accepted", static_cast<double>(state.accepted));
  out.number("tokens_per_target_step", 1 + static_cast<double>(state.accepted) / state.rounds);
}

}  // namespace speclab::explorer
