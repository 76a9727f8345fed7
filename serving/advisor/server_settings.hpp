// Writes a plan as settings of servers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serving/advisor/plan_result.hpp"

namespace speclab {

/// The kind of draft: a separate model; n-grams copied from the text; an EAGLE head of either kind; the
/// target's own multi-token-prediction modules; Medusa heads; a block of DFlash, DSpark or Domino.
enum class DraftMethod { draft, ngram, eagle, eagle3, mtp, medusa, dflash, dspark, domino };
/// Their names, in the same order.
inline constexpr std::pair<std::string_view, DraftMethod> draft_methods[]{
    {"draft", DraftMethod::draft},   {"ngram", DraftMethod::ngram},   {"eagle", DraftMethod::eagle},
    {"eagle3", DraftMethod::eagle3}, {"mtp", DraftMethod::mtp},       {"medusa", DraftMethod::medusa},
    {"dflash", DraftMethod::dflash}, {"dspark", DraftMethod::dspark}, {"domino", DraftMethod::domino}};

/// Returns whether one run drafts all tokens of a round.
DraftRuns draft_runs(DraftMethod method);

/// Returns the method's name for --method.
std::string word_of(DraftMethod method);

/// A target, its draft, and the costs of both.
struct PlannedPair {
  std::string target{};  ///< name for servers; may be empty
  std::string draft{};   ///< name for servers; may be empty
  DraftMethod method = DraftMethod::draft;
  CostPair costs{};
  std::string cost_from{};                ///< "given", "measured times", "roofline"
  std::optional<int> max_drafted = {};    ///< most tokens per round, if the draft has a limit
  std::vector<std::string> numbers = {};  ///< those that are not bf16, such as "weights in fp8"
};

struct ServedPlan {
  std::string target = "TARGET_MODEL";
  std::string draft = "DRAFT_MODEL";
  DraftMethod method = DraftMethod::draft;
  std::string purpose{};  ///< the planned choice and the load it was computed for, in words
  int devices = 1;        ///< devices of a server, in tensor parallel
  std::string machine{};  ///< its device, devices of the draft, formats of numbers; empty: not known
  std::vector<std::string> unset{};  ///< sentences: what the plan assumes and these settings do not set
  std::optional<std::uint32_t> max_sequences{};  ///< requests that a server runs at the same time
  /// For servers that cannot change gamma with the batch; 0: these do not speculate.
  int gamma = 1;
  std::vector<BatchRange> batches;  ///< best gamma by batch; empty if unknown
  /// P(first i + 1 drafted tokens are accepted), up to the longest draft of any batch; empty if unknown.
  std::vector<double> accepted{};
};

/// Returns the plan to serve, with the pair's names where given, its devices and numbers.
ServedPlan served_plan(const PlannedPair& pair, int gamma);
/// Returns the purpose of settings: "γ = 3: computed for α = 0.75, batch 1, a context of 1024 tokens".
std::string planned_load(const std::string& choice, std::optional<double> alpha, const ServedPlan& plan,
                         const Operation& at);
/// Returns the longest draft of any batch.
int longest_planned_draft(const ServedPlan& plan);

/// Returns settings for the servers, among vLLM, SGLang, TensorRT-LLM, llama.cpp and Hugging Face
/// Transformers, that have the method. With max_sequences they are those of servers with continuous batching
/// (Transformers decodes one sequence with a draft).
std::vector<ServerSetting> server_settings(const ServedPlan& plan);

/// An option of a server, and where it is documented.
struct ServerOption {
  std::string server;
  std::string option;
  std::string version;  ///< version whose documentation was read
  std::string source;   ///< URL of that documentation or source
};

/// Returns all options that `server_settings` prints, in present and older forms.
const std::vector<ServerOption>& server_options();

}  // namespace speclab
