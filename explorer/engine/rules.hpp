// The rules that the page offers: by the names and parameters that `speclab prove --rule` takes.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/rules/all_rules.hpp"

namespace speclab::explorer {

/// A rule has one parameter at most; an empty name says none.
struct OfferedRule {
  std::string_view name;
  std::string_view parameter = {};  ///< "lenience", "epsilon", "slack", "drafts" or "nodes"
  double value = 0;                 ///< the parameter's default
  double least = 0;
  double most = 0;
  std::string_view kind = {};   ///< of the catalogue, where the page has another name for it
  std::string_view fixed = {};  ///< its other parameters, "name=value" with commas between
};

/// Candidates at a node of a grown tree.
inline constexpr std::int32_t grown_branching = 2;

inline constexpr std::array<OfferedRule, 24> offered_rules = {{
    {"token"},
    {"block"},
    {"lenient", "lenience", 0.5, 0.05, 1},
    {"typical", "epsilon", 0.3, 0, 1},
    {"cascade", "slack", 0.1, 0, 1},
    {"sigmoid"},
    {"greedy"},
    {"match"},
    {"gumbel"},
    {"rejection"},
    {"recursive", "drafts", 2, 1, 3},
    {"without-replacement", "drafts", 2, 1, 3},
    {"k-seq", "drafts", 2, 1, 3},
    {"importance", "drafts", 2, 1, 3},
    {"tree", "drafts", 2, 1, 3},
    {"traversal", "drafts", 2, 1, 3},
    {"grown-tree", "nodes", 3, 1, 8, "tree", "growth=dynamic,drafts=2"},
    {"fault-accept-all"},
    {"fault-resample-target"},
    {"fault-swapped-residual"},
    {"fault-shared-noise"},
    {"fault-draft-bonus"},
    {"fault-ensemble-bonus"},
    {"fault-block-prefix"},
}};

/// use(rule) with the rule of that name. `value` is its parameter. Throws std::invalid_argument for other
/// names.
template <class Use>
auto with_rule(std::string_view name, double value, std::int32_t gamma, const Use& use) {
  const auto drafts = static_cast<std::int32_t>(value);
  const auto branching = [&](bool at_each) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(gamma), at_each ? drafts : 1);
    if (gamma > 0) all.front() = drafts;
    return branching_tree(all);
  };
  if (name == "token") return use(TokenRule{});
  if (name == "block") return use(BlockRule{});
  if (name == "lenient") return use(LenienceRule(value));
  if (name == "typical") return use(TypicalRule(value, TypicalRule{}.delta));
  if (name == "cascade") return use(CascadeRule(value));
  if (name == "sigmoid") return use(SigmoidRule{});
  if (name == "greedy") return use(GreedyRule{});
  if (name == "match") return use(MatchRule{});
  if (name == "gumbel") return use(GumbelRule{});
  if (name == "rejection") return use(RejectionRule{});
  if (name == "recursive") return use(RecursiveRule(drafts));
  if (name == "without-replacement") return use(TreeRule(branching(false)));
  if (name == "k-seq") return use(KSeqRule(drafts));
  if (name == "importance") return use(ImportanceRule(drafts));
  if (name == "tree") return use(TreeRule(branching(true)));
  if (name == "traversal") return use(TraversalRule(branching(true)));
  if (name == "grown-tree") return use(GrownTreeRule(grown_branching, drafts));
  if (name == "fault-accept-all") return use(AcceptAllFault{});
  if (name == "fault-resample-target") return use(ResampleTargetFault{});
  if (name == "fault-swapped-residual") return use(SwappedResidualFault{});
  if (name == "fault-shared-noise") return use(SharedNoiseFault{});
  if (name == "fault-draft-bonus") return use(DraftBonusFault{});
  if (name == "fault-ensemble-bonus") return use(EnsembleBonusFault{});
  if (name == "fault-block-prefix") return use(BlockPrefixFault{});
  throw std::invalid_argument("no rule \"" + std::string(name) + "\"");
}

}  // namespace speclab::explorer
