// The drafters that the experiment "compare" can name: one file per drafter, one line in all_drafters.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/base/format/family.hpp"
#include "experiments/catalog/max_tokens_drafted.hpp"
#include "experiments/catalog/models/model_kind.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "sim/drafters/any_drafter.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

struct DrafterKind;
struct CorpusText;

/// What a drafter may be made from: a task of the experiment "compare".
struct DrafterRequest {
  ModelFactory& factory;
  const CorpusConfig& corpus;  ///< of the task
  std::string corpus_path;     ///< JSON pointer of it, for errors
  const Adjustment& sampling;  ///< of the config, for models that state none
  const CorpusText& text;      ///< the task's text, with what was held out
  const Model* target;  ///< null when the text itself is the target, which cannot be asked about other tokens
  std::uint64_t seed;
  std::size_t level = 0;  ///< 0: drafts for the target; 1: for a drafter that does; and so on
};

/// A drafter, or the reason why the task has not what it needs.
struct MadeDrafter {
  std::optional<AnyDrafter> drafter;
  std::string unsupported_reason = {};  ///< as the end of a sentence: "needs ..."
  /// Time of one run of the drafter, of what drafts for it, and so on; in target runs.
  std::vector<double> costs = {};
};

struct DrafterKind : KindInfo {
  /// Keys that every drafter has.
  struct Common {
    std::string label;               ///< key "name"; the kind when empty
    double c = 0;                    ///< time of one run, in target runs
    std::optional<RuleConfig> rule;  ///< without it the config's
  };
  /// `costs` of what it gives holds those of the levels below, if any.
  std::function<MadeDrafter(const SelectedKind& selected, const DrafterRequest& request)> make;
};

using DrafterConfig = Selected<DrafterKind>;

/// Every drafter; tests and other programs may add some.
Family<DrafterKind>& drafter_family();

/// The name of a drafter in tables.
const std::string& label_of(const DrafterConfig& drafter);

/// Throws ConfigError at or below drafter.path.
MadeDrafter make_drafter(const DrafterConfig& drafter, const DrafterRequest& request);

/// A model that drafts for a task, or the reason why there is none.
struct DraftModel {
  std::optional<Model> model;
  std::string unsupported_reason = {};
};

/// Throws ConfigError, also for a vocabulary that is not the task's.
DraftModel make_draft_model(const ModelConfig& model, const DrafterRequest& request);

/// Throws ConfigError below `path` for a shortest match above the longest.
void check_matches(std::int32_t min_match, std::int32_t max_match, const std::string& path);

}  // namespace speclab
