#include "experiments/verify/prove/row_proofs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/result_fields.hpp"

namespace speclab {

SPECLAB_OBJECT(RowProofs, "row_proofs", {"rule", &RowProofs::rule, kind_of(rule_family())},
               SPECLAB_FIELDS(RowProofs, contexts, lossless, candidates, largest_tv, mean_tv, mean_acceptance,
                              min_acceptance, max_acceptance, mean_bound, branches, counterexample,
                              arithmetic));

namespace {

/// Returns the candidates of a context: the ids of both rows, in the order in which they first occur.
std::vector<std::int64_t> candidates_of(const TopRows& rows) {
  std::vector<std::int64_t> ids;
  std::set<std::int64_t> seen;
  for (const TopRow* row : {&rows.target, &rows.draft}) {
    for (const std::int64_t id : row->ids)
      if (seen.insert(id).second) ids.push_back(id);
  }
  return ids;
}

}  // namespace

ProofTask row_task(const TopRows& rows, const RuleConfig& rule) {
  std::map<std::int64_t, std::size_t> places;
  for (const std::int64_t id : candidates_of(rows)) places.emplace(id, places.size());
  const auto exact = [&](const TopRow& row) {
    ExactRows made(1, std::vector<Rational>(places.size(), Rational(0)));
    for (std::size_t i = 0; i < row.ids.size(); ++i)
      made.front()[places.at(row.ids[i])] = Rational(std::exp(row.logp[i]));
    normalise_exactly(made);
    return made;
  };
  return {.target = exact(rows.target), .draft = exact(rows.draft), .rule = rule};
}

RowProofs prove_rows(const std::vector<TopRows>& rows, const RuleConfig& rule, Arithmetic arithmetic,
                     std::optional<double> limit) {
  RowProofs all;
  all.rule = rule;
  all.arithmetic = arithmetic;
  all.min_acceptance = 1;
  double bounds = 0;
  bool bounded = true;
  for (const TopRows& context : rows) {
    const ProofTask task = row_task(context, rule);
    const BranchCost cost = branch_cost(task, arithmetic);
    const double most = limit.value_or(branch_limit(arithmetic, cost.digits));
    if (cost.branches > most) {
      throw UsageError(
          "{}: {}; the limit is {:.3g}: record rows with a smaller --top-k ({} candidates here), or allow it with --max-branches",
          context.where, cost_words(cost), most, task.target.front().size());
    }
    const Proof proof = prove(task, arithmetic);
    const double acceptance = as_double(proof.acceptance);
    ++all.contexts;
    all.lossless += proof.lossless ? 1 : 0;
    all.candidates = std::max<std::uint64_t>(all.candidates, task.target.front().size());
    all.largest_tv = std::max(all.largest_tv, as_double(proof.tv));
    all.mean_tv += as_double(proof.tv) / static_cast<double>(rows.size());
    all.mean_acceptance += acceptance / static_cast<double>(rows.size());
    all.min_acceptance = std::min(all.min_acceptance, acceptance);
    all.max_acceptance = std::max(all.max_acceptance, acceptance);
    all.branches += proof.branches;
    bounded = bounded && proof.optimal_transport_bound.has_value();
    if (bounded) bounds += as_double(*proof.optimal_transport_bound) / static_cast<double>(rows.size());
    if (!all.counterexample && proof.counterexample) {
      const std::vector<std::int64_t> ids = candidates_of(context);
      std::vector<std::int64_t> tokens;
      for (const Token token : proof.counterexample->tokens)
        tokens.push_back(ids[static_cast<std::size_t>(token)]);
      all.counterexample =
          fmt::format("{}: the tokens {} have probability {:.6g} instead of {:.6g}", context.where,
                      fmt::join(tokens, ","), as_double(proof.counterexample->probability),
                      as_double(proof.counterexample->target_probability));
    }
  }
  if (bounded) all.mean_bound = bounds;
  return all;
}

std::string row_proofs_headline(const RowProofs& proofs) {
  return fmt::format("{} is lossless in {} of {} contexts, {}.", proofs.rule.name(), proofs.lossless,
                     proofs.contexts, proofs.arithmetic == Arithmetic::rational ? "exactly" : "to rounding");
}

Listing row_proofs_text(const RowProofs& proofs) {
  const bool exact = proofs.arithmetic == Arithmetic::rational;
  Listing out;
  const auto line = [&](const char* label, const std::string& value) { out += proof_line(label, value); };
  line("rule", proofs.rule.name());
  line("contexts", fmt::format("{}, with up to {} candidates", proofs.contexts, proofs.candidates));
  line("lossless", fmt::format("{} in {} of them{}", proofs.lossless == proofs.contexts ? "yes," : "NO, only",
                               proofs.lossless, exact ? ", exactly" : ", to rounding (--exact proves it)"));
  line("total variation",
       fmt::format("{:.4f} on average, at most {:.6g}", proofs.mean_tv, proofs.largest_tv));
  line("acceptance", fmt::format("{:.4f} on average, {:.4f} to {:.4f}", proofs.mean_acceptance,
                                 proofs.min_acceptance, proofs.max_acceptance));
  line("transport bound",
       proofs.mean_bound ? fmt::format("{:.4f} on average", *proofs.mean_bound) : std::string("–"));
  line("branches", fmt::format("{} ({})", proofs.branches, exact ? "rational" : "double"));
  if (proofs.counterexample) line("counterexample", *proofs.counterexample);
  return out;
}

}  // namespace speclab
