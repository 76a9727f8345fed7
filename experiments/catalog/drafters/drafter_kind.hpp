// The drafters that the experiment "compare" can name: one file a drafter, one line in all_drafters.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/catalog/models/model_kind.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/config/family.hpp"
#include "sim/drafters/any_drafter.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

struct DrafterKind;
struct CorpusText;

/// What a drafter may be made from.
struct DrafterRequest {
  ModelFactory& factory;
  const CorpusConfig& corpus_config;  ///< of the task
  const Adjustment& sampling;         ///< of the config, for models that state none
  const CorpusText& text;             ///< the task's text, with what was held out
  const Model* target;  ///< null when the text itself is the target, which cannot be asked about other tokens
  std::uint64_t seed;
  std::vector<double>& costs;  ///< of the drafter's runs, then of the levels below it: makers append theirs
  std::vector<std::shared_ptr<const Model>>& models;  ///< that the drafter views, and that must outlive it
};

/// A drafter, or the reason why the task has not what it needs, as the end of a sentence.
struct MadeDrafter {
  std::optional<AnyDrafter> drafter;
  std::string unsupported_reason = {};
};

struct DrafterKind : KindInfo {
  /// Keys that every drafter has.
  struct Common {
    std::string label;  ///< key "name"; the kind when empty
    double c = 0;       ///< time of one run, in target runs
    std::optional<RuleConfig> rule;
  };
  std::function<MadeDrafter(const SelectedKind& selected, const DrafterRequest& request)> make;
};

using DrafterConfig = Selected<DrafterKind>;

Family<DrafterKind>& drafter_family();

template <class P, class Make>
DrafterKind drafter_kind(std::string name, std::string sentence, std::vector<Field> fields, Make make) {
  DrafterKind kind;
  kind.parameters = object<P>(name, sentence, std::move(fields)).type;
  kind.name = std::move(name);
  kind.sentence = std::move(sentence);
  kind.make = [make](const SelectedKind& selected, const DrafterRequest& request) {
    return make(*static_cast<const P*>(selected.parameters.get()), selected.path, request);
  };
  return kind;
}

}  // namespace speclab
