// A plan in the words of the servers that carry it out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "serving/advisor/plan_result.hpp"

namespace speclab {

/// What drafts: a model of its own; n-grams copied from the text; an EAGLE head of either kind; the target's
/// own modules for multi-token prediction; Medusa heads; a DFlash block.
enum class DraftMethod { draft, ngram, eagle, eagle3, mtp, medusa, dflash };

/// Whether its drafts of a round are made in one run.
DraftRuns draft_runs(DraftMethod method);

/// As --method gives it.
std::string word_of(DraftMethod method);

/// A target, what drafts for it, and what both cost.
struct PlannedPair {
  std::string target{};  ///< as servers know it; may be empty
  std::string draft{};   ///< the same
  DraftMethod method = DraftMethod::draft;
  CostPair costs{};
  std::string cost_from{};               ///< "given", "measured times", "roofline"
  std::optional<int> most_drafted = {};  ///< tokens a round, where the draft has a limit
};

struct ServedPlan {
  std::string target = "TARGET_MODEL";
  std::string draft = "DRAFT_MODEL";
  DraftMethod method = DraftMethod::draft;
  int gamma = 1;                    ///< 1 or more
  std::vector<BatchRange> batches;  ///< the best gamma by batch; empty when unknown
  /// P(the first i + 1 drafted tokens are all accepted), as many as the longest draft of any batch; empty
  /// when unknown.
  std::vector<double> accepted{};
};

/// With the names that are not empty.
ServedPlan served_plan(const PlannedPair& pair, int gamma);
/// The longest draft of any batch.
int longest_planned_draft(const ServedPlan& plan);

/// Of vLLM, SGLang, TensorRT-LLM, llama.cpp and Hugging Face Transformers, those that have the method.
std::vector<ServerSetting> server_settings(const ServedPlan& plan);

/// The same for a tree of `nodes` drafted tokens in plan.gamma levels, at batches up to `max_batch`: of
/// SGLang and TensorRT-LLM, where they draft trees with the method.
std::vector<ServerSetting> tree_settings(const ServedPlan& plan, int nodes, int top_k, int max_batch);

/// An option that some setting names, and where it was read.
struct ServerOption {
  std::string server;
  std::string option;
  std::string version;  ///< for which it was read
  std::string source;   ///< URL of documentation or source
};

/// Every option that `server_settings` prints, in present and older forms.
const std::vector<ServerOption>& server_options();

}  // namespace speclab
