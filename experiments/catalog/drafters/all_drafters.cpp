// Lists every drafter, one line each, and defines what drafters share.
#include <fmt/format.h>

#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/drafters/made_drafter.hpp"
#include "experiments/catalog/models/built_model.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "sim/error.hpp"

// clang-format off
#define SPECLAB_DRAFTERS(ENTRY) \
  ENTRY(model)                  \
  ENTRY(lookup)                 \
  ENTRY(suffix)                 \
  ENTRY(lookahead)              \
  ENTRY(heads)                  \
  ENTRY(aligned_copy)           \
  ENTRY(hierarchical)
// clang-format on

namespace speclab {

#define SPECLAB_DECLARE_DRAFTER(name) DrafterKind name##_drafter();
SPECLAB_DRAFTERS(SPECLAB_DECLARE_DRAFTER)

Family<DrafterKind>& drafter_family() {
  using Common = DrafterKind::Common;
  static const auto common = object<Common>(
      "drafter", "Keys of every drafter.",
      {field("name", &Common::label, text(), "Name in tables (default: the kind)."),
       with_unit(field("c", &Common::c, number(0, 1000),
                       "Time of one run, which drafts one token, or all tokens for kinds that say so."),
                 "target runs"),
       field("rule", &Common::rule, kind_of(rule_family()),
             "Rule that verifies its tokens (default: the config's rule).")});
  static Family<DrafterKind> family("drafter", "Drafters", common.type, [](Family<DrafterKind>& all) {
#define SPECLAB_ADD_DRAFTER(name) all.add(name##_drafter());
    SPECLAB_DRAFTERS(SPECLAB_ADD_DRAFTER)
  });
  return family;
}

const std::string& label_of(const DrafterConfig& drafter) {
  return drafter.label.empty() ? drafter.name() : drafter.label;
}

MadeDrafter make_drafter(const DrafterConfig& drafter, const DrafterRequest& request) {
  try {
    MadeDrafter made = drafter.entry().make(drafter, request);
    made.costs.insert(made.costs.begin(), drafter.c);
    return made;
  } catch (const ModelError& error) {
    throw ConfigError(drafter.path, error.what());
  }
}

DraftModel make_draft_model(const ModelConfig& model, const DrafterRequest& request) {
  const ModelKind& kind = model.entry();
  if (request.target == nullptr && kind.needs_target && kind.needs_target(model)) {
    return {std::nullopt, "needs a target model; here the text itself is the target"};
  }
  const std::int32_t vocab = request.text.vocabulary.size();
  const ModelRequest from{request.factory, &request.corpus, request.corpus_path, request.target, vocab};
  Model made = request.factory.model(model, from, request.sampling).model;
  if (made.vocab() != vocab) {
    throw ConfigError(model.path, "has a vocabulary of {}; the task's text has {}", made.vocab(), vocab);
  }
  return {std::move(made)};
}

void check_matches(std::int32_t min_match, std::int32_t max_match, const std::string& path) {
  if (min_match <= max_match) return;
  throw ConfigError(path + "/min_match", "{} is above max_match {}", min_match, max_match);
}

}  // namespace speclab
