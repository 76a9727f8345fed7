#include "experiments/verifiers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "analysis/theory/optimal_tree.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/proof_survey.hpp"

namespace speclab {

namespace {

constexpr std::int64_t most_nodes = 4096;

/// Throws when the tree would have too many nodes; trees grow as drafts^gamma.
DraftTree tree_of(const std::vector<std::int32_t>& branching) {
  std::int64_t layer = 1;
  std::int64_t nodes = 0;
  for (const std::int32_t children : branching) {
    layer *= children;
    nodes += layer;
    if (nodes > most_nodes) {
      throw ConfigError("/verifier",
                        fmt::format("a tree with branching {} has more than {} nodes; lower \"drafts\" "
                                    "or gamma, or give \"branching\" for each depth",
                                    Json(branching).dump(), most_nodes));
    }
  }
  return branching_tree(branching);
}

std::vector<std::int32_t> branching_of(const Json& spec, std::int32_t gamma) {
  if (!spec.contains("branching")) {
    return std::vector<std::int32_t>(static_cast<std::size_t>(gamma), spec.at("drafts").get<std::int32_t>());
  }
  auto branching = spec.at("branching").get<std::vector<std::int32_t>>();
  if (branching.size() != static_cast<std::size_t>(gamma)) {
    throw ConfigError("/verifier/branching",
                      fmt::format("has {} depths, and gamma is {}; give one number for each drafted position",
                                  branching.size(), gamma));
  }
  return branching;
}

DraftTree optimal_tree_of(const Json& spec, std::int32_t gamma) {
  if (!spec.contains("rank_acceptance")) {
    throw ConfigError(
        "/verifier/rank_acceptance",
        "missing; an optimal tree needs the acceptance of each sibling, and there is nothing here to "
        "measure it on");
  }
  const auto ranks = spec.at("rank_acceptance").get<std::vector<double>>();
  if (std::accumulate(ranks.begin(), ranks.end(), 0.0) > 1 + 1e-12) {
    throw ConfigError(
        "/verifier/rank_acceptance",
        fmt::format("{} sums to more than 1: only one sibling can be accepted", Json(ranks).dump()));
  }
  return DraftTree(optimal_tree(spec.at("nodes").get<std::int32_t>(), gamma, ranks).parents);
}

/// `drafts` chains that part at the root.
std::vector<std::int32_t> chains(const Json& spec, std::int32_t gamma) {
  std::vector<std::int32_t> branching(static_cast<std::size_t>(gamma), 1);
  if (gamma > 0) branching.front() = spec.at("drafts").get<std::int32_t>();
  return branching;
}

Residual residual_of(const Json& spec) {
  const auto reading = spec.at("residual").get<std::string>();
  if (reading == "literal") return Residual::literal;
  if (reading == "target") return Residual::target;
  return Residual::target_minus_draft;
}

using Maker = std::function<AnyRule(const Json& spec, std::int32_t gamma)>;

template <class Rule>
AnyRule plain(const Json&, std::int32_t) {
  return Rule{};
}

template <class Rule>
AnyRule several(const Json& spec, std::int32_t) {
  return Rule(spec.at("drafts").get<std::int32_t>());
}

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> all{
      {"token", plain<TokenRule>},
      {"match", plain<MatchRule>},
      {"gumbel", plain<GumbelRule>},
      {"rejection", plain<RejectionRule>},
      {"greedy", plain<GreedyRule>},
      {"block", plain<BlockRule>},
      {"lenient",
       [](const Json& spec, std::int32_t) -> AnyRule {
         return LenienceRule(spec.at("lenience").get<double>(), residual_of(spec));
       }},
      {"lenient-greedy",
       [](const Json& spec, std::int32_t) -> AnyRule {
         return GreedyLenienceRule{spec.at("lenience").get<double>()};
       }},
      {"typical",
       [](const Json& spec, std::int32_t) -> AnyRule {
         return TypicalRule(spec.at("epsilon").get<double>(), spec.at("delta").get<double>());
       }},
      {"cascade",
       [](const Json& spec, std::int32_t) -> AnyRule { return CascadeRule(spec.at("slack").get<double>()); }},
      {"sigmoid",
       [](const Json& spec, std::int32_t) -> AnyRule {
         const auto low = spec.at("alpha").get<double>();
         const auto high = spec.at("beta").get<double>();
         if (low >= high) {
           throw ConfigError("/verifier/beta", fmt::format("{} is not above alpha = {}", high, low));
         }
         return SigmoidRule(low, high);
       }},
      {"recursive", several<RecursiveRule>},
      {"without-replacement",
       [](const Json& spec, std::int32_t gamma) -> AnyRule {
         return TreeRule(tree_of(chains(spec, gamma)));
       }},
      {"k-seq", several<KSeqRule>},
      {"importance", several<ImportanceRule>},
      {"tree",
       [](const Json& spec, std::int32_t gamma) -> AnyRule {
         if (spec.at("growth") == "dynamic") {
           return GrownTreeRule(spec.at("drafts").get<std::int32_t>(), spec.at("nodes").get<std::int32_t>());
         }
         if (spec.at("growth") == "optimal") return TreeRule(optimal_tree_of(spec, gamma));
         return TreeRule(tree_of(branching_of(spec, gamma)));
       }},
      {"traversal",
       [](const Json& spec, std::int32_t gamma) -> AnyRule {
         return TraversalRule(tree_of(branching_of(spec, gamma)));
       }},
      {"fault-accept-all", plain<AcceptAllFault>},
      {"fault-resample-target", plain<ResampleTargetFault>},
      {"fault-swapped-residual", plain<SwappedResidualFault>},
      {"fault-shared-noise", plain<SharedNoiseFault>},
      {"fault-unwritten-bonus", plain<UnwrittenBonusFault>},
      {"fault-draft-bonus", plain<DraftBonusFault>},
      {"fault-closed-coin",
       [](const Json& spec, std::int32_t) -> AnyRule {
         return ClosedComparisonFault(spec.at("levels").get<std::int32_t>());
       }},
      {"fault-late-context", plain<LateContextFault>},
      {"fault-block-prefix", plain<BlockPrefixFault>},
      {"fault-stale-siblings", several<StaleSiblingsFault>}};
  return all;
}

}  // namespace

AnyRule make_rule(const Json& spec, std::int32_t gamma) {
  return makers().at(spec.at("kind").get<std::string>())(spec, gamma);
}

bool lossless(const Json& spec, double temperature) {
  const Json& kind = spec.at("kind");
  // At l = 1 two of the residuals make it token verification; the survey has it at l = 0.5.
  if (kind == "lenient") return spec.at("lenience") == 1 && spec.at("residual") != "target";
  for (const SurveyedVerifier& surveyed : surveyed_verifiers()) {
    if (surveyed.spec.at("kind") != kind) continue;
    return surveyed.promise == Promise::lossless ||
           (surveyed.promise == Promise::lossless_at_zero && temperature == 0);
  }
  return false;
}

}  // namespace speclab
