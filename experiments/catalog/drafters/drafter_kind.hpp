// The drafters that the experiment "compare" can name. all_drafters.cpp has their entries.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "experiments/base/format/family.hpp"
#include "experiments/catalog/models/model_kind.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

struct DrafterKind;
struct CorpusText;
struct MadeDrafter;

/// The task for which a drafter is made (experiment "compare").
struct DrafterRequest {
  ModelFactory& factory;
  const CorpusConfig& corpus;  ///< corpus of the task
  std::string corpus_path;     ///< its JSON pointer, for errors
  const RequestLaw& sampling;  ///< sampling options of the config, for models without their own
  const CorpusText& text;      ///< the task's text, including the held-out part
  const Model* target;         ///< null if the text itself is the target; other tokens then have no scores
  std::uint64_t seed;
  Grammar grammar = {};   ///< the grammar of the target's sampling options, if they have one
  std::size_t level = 0;  ///< 0: drafts for the target; 1: for a drafter of level 0; ...
};

struct DrafterKind : KindInfo {
  /// Keys that all drafters share.
  struct Common {
    std::string label;               ///< key "name"; if empty, the kind
    double c = 0;                    ///< time of one run, in target runs
    std::optional<RuleConfig> rule;  ///< default: the config's rule
  };
  /// Makes the drafter. `costs` of the result starts with the next level below; make_drafter adds this
  /// drafter's own.
  std::function<MadeDrafter(const SelectedKind& selected, const DrafterRequest& request)> make;
};

using DrafterConfig = Selected<DrafterKind>;

/// Returns the family of all drafters; tests and other programs may add some.
Family<DrafterKind>& drafter_family();

/// Returns the name of a drafter in tables.
const std::string& label_of(const DrafterConfig& drafter);

}  // namespace speclab
