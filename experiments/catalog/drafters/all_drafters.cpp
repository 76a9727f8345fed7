// Describes every drafter, lists them in the order of `speclab list`, and defines what drafters share.
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/drafters/made_drafter.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"
#include "sim/drafters/aligned_copy.hpp"
#include "sim/drafters/heads.hpp"
#include "sim/drafters/hierarchical.hpp"
#include "sim/drafters/lookahead.hpp"
#include "sim/drafters/lookup.hpp"
#include "sim/drafters/model_drafter.hpp"
#include "sim/drafters/suffix_drafter.hpp"

namespace speclab {

namespace {

/// A model that drafts for a task, or the reason why there is none.
struct DraftModel {
  std::optional<Model> model;
  std::string unsupported_reason = {};
  RequestLaw remembered = {};  ///< its sampling options if they remember; others are part of the model
};

/// Builds a model that drafts for a task. Throws ConfigError, also for a vocabulary other than the task's.
DraftModel make_draft_model(const ModelConfig& model, const DrafterRequest& request) {
  const ModelKind& kind = model.entry();
  if (request.target == nullptr && kind.needs_target && kind.needs_target(model)) {
    return {std::nullopt, "needs a target model; here the text itself is the target"};
  }
  const std::int32_t vocab = request.text.vocabulary.size();
  const ModelRequest from{request.factory, &request.corpus, request.corpus_path, request.target, vocab};
  BuiltModel made = request.factory.prompted(model, from, request.sampling);
  if (made.model.vocab() != vocab) {
    throw ConfigError(model.path, "has a vocabulary of {}; the task's text has {}", made.model.vocab(),
                      vocab);
  }
  return {std::move(made.model), {}, std::move(made.remembered)};
}

/// Makes the drafter of a model, or of the tokens that a grammar forces and a model.
MadeDrafter drafting(const ModelConfig& model, const DrafterRequest& request, const Grammar& grammar) {
  DraftModel built = make_draft_model(model, request);
  if (!built.model) return {std::nullopt, built.unsupported_reason};
  return {ModelDrafter(*std::move(built.model), std::move(built.remembered), grammar)};
}

DrafterKind model_drafter() {
  struct P {
    ModelConfig model;
  };
  return kind_entry<DrafterKind, P>(
      "model", "A model, run once for each token.",
      {required(field("model", &P::model, kind_of(model_family()),
                      "The model; \"base\": \"target\" in a mixture is the task's target."))},
      [](const P& own, const std::string&, const DrafterRequest& request) -> MadeDrafter {
        return drafting(own.model, request, {});
      });
}

DrafterKind grammar_drafter() {
  struct P {
    std::optional<ModelConfig> model;
  };
  return kind_entry<DrafterKind, P>(
      "grammar",
      "The tokens that the grammar of \"sampling\" forces, without a run; elsewhere a model's, if there is one.",
      {field("model", &P::model, kind_of(model_family()),
             "Model that drafts where the grammar leaves a choice (default: nothing is drafted there).")},
      [](const P& own, const std::string&, const DrafterRequest& request) -> MadeDrafter {
        if (request.grammar.empty()) return {std::nullopt, "needs a target whose sampling has a grammar"};
        if (!own.model) return {ModelDrafter(request.text.vocabulary.size(), request.grammar)};
        return drafting(*own.model, request, request.grammar);
      });
}

template <class Drafter, class Options>
MadeDrafter made_matching(const Options& own, const std::string& path, const DrafterRequest& request) {
  if (own.min_match > own.max_match)
    throw ConfigError(path + "/min_match", "{} is above max_match {}", own.min_match, own.max_match);
  return MadeDrafter{Drafter(request.text.vocabulary.size(), own)};
}

DrafterKind lookup_drafter() {
  using P = LookupOptions;
  return kind_entry<DrafterKind, P>(
      "lookup",
      "Prompt lookup: copies the tokens after the longest earlier match of the context's end. One run per round.",
      {integer_field("min_match", &P::min_match, 1, 64, "Shortest match."),
       integer_field("max_match", &P::max_match, 1, 64, "Longest match."),
       integer_field("length", &P::length, 1, max_tokens_drafted, "Most tokens drafted in a round."),
       field("occurrence", &P::occurrence,
             choice<Occurrence>({{"last", Occurrence::last}, {"first", Occurrence::first}}),
             "Match to continue if several have the same length.")},
      made_matching<LookupDrafter, P>);
}

DrafterKind suffix_drafter() {
  using P = SuffixOptions;
  return kind_entry<DrafterKind, P>(
      "suffix",
      "Suffix automaton of prompt and generated text: the most frequent continuation of the longest match. One run per round.",
      {integer_field("min_match", &P::min_match, 1, 64, "Shortest match."),
       integer_field("max_match", &P::max_match, 1, 4096, "Longer matches are cut."),
       integer_field("length", &P::length, 1, max_tokens_drafted, "Most tokens drafted in a round."),
       field("factor", &P::factor, number(0, 64), "Most drafted tokens per matched token."),
       field("min_probability", &P::min_probability, number(0, 1),
             "Smallest estimated joint probability of the drafted tokens.")},
      made_matching<SuffixDrafter, P>);
}

DrafterKind lookahead_drafter() {
  using P = LookaheadOptions;
  return kind_entry<DrafterKind, P>(
      "lookahead",
      "Jacobi iteration of the target over a window of guesses; its n-grams are drafts. One run per round.",
      {integer_field("window", &P::window, 1, 64, "Columns of guesses."),
       integer_field("ngram", &P::ngram, 2, 16, "Tokens of an n-gram."),
       integer_field("candidates", &P::candidates, 1, 1024, "N-grams kept for each first token.")},
      [](const P& own, const std::string&, const DrafterRequest& request) -> MadeDrafter {
        if (request.target == nullptr)
          return {std::nullopt, "needs a target that can be asked about guesses"};
        P options = own;
        options.seed = request.seed;
        return {LookaheadDrafter<Model>(*request.target, options)};
      });
}

DrafterKind heads_drafter() {
  struct P {
    std::int32_t heads = 4;
    double temperature = 1;
  };
  return kind_entry<DrafterKind, P>(
      "heads",
      "Non-autoregressive heads, fitted on the training text: each draws its token without knowing the others. One run per round.",
      {integer_field("heads", &P::heads, 1, 16, "Most tokens drafted in a round."),
       field("temperature", &P::temperature, number(0, 100),
             "Temperature of every head; 0 is the argmax of blockwise parallel decoding.")},
      [](const P& own, const std::string&, const DrafterRequest& request) {
        return MadeDrafter{fit_heads(request.text.tokens, request.text.vocabulary.size(), own.heads,
                                     {.temperature = own.temperature})};
      });
}

DrafterKind aligned_copy_drafter() {
  using P = AlignedCopyOptions;
  return kind_entry<DrafterKind, P>(
      "aligned-copy",
      "Copies the prompt from where the output is aligned with it (aggressive decoding). One run per round.",
      {integer_field("match", &P::match, 1, 64,
                     "Tokens at the end of the output that must match the prompt to align again."),
       integer_field("length", &P::length, 1, max_tokens_drafted, "Most tokens drafted in a round."),
       field("realign", &P::realign,
             choice<Realign>({{"unique", Realign::unique}, {"nearest", Realign::nearest}}),
             "Match in the prompt to continue.")},
      [](const P& own, const std::string&, const DrafterRequest& request) {
        return MadeDrafter{AlignedCopy(request.text.vocabulary.size(), own)};
      });
}

DrafterKind hierarchical_drafter() {
  struct P {
    ModelConfig middle;
    DrafterConfig inner;
    std::int32_t gamma = 3;
  };
  return kind_entry<DrafterKind, P>(
      "hierarchical",
      "A middle model that is itself decoded speculatively. A run is a run of the middle model; all its tokens are drafted, even beyond γ.",
      {required(field("middle", &P::middle, kind_of(model_family()), "The middle model.")),
       required(field("inner", &P::inner, kind_of(drafter_family()), "Drafter for the middle model.")),
       integer_field("gamma", &P::gamma, 1, max_tokens_drafted,
                     "Tokens that the inner drafter drafts at a time.")},
      [](const P& own, const std::string& path, const DrafterRequest& request) -> MadeDrafter {
        if (request.level >= max_inner_levels) {
          throw ConfigError(path, "has a drafter below it at level {}; at most {} levels are counted",
                            request.level + 2, max_inner_levels + 1);
        }
        if (own.inner.rule) {
          throw ConfigError(
              path + "/inner/rule",
              "a middle model verifies by token verification; only the target's rule can be chosen");
        }
        DraftModel middle = make_draft_model(own.middle, request);
        if (!middle.model) return {std::nullopt, middle.unsupported_reason};
        if (middle.remembered.remembers()) {
          throw ConfigError(
              sampling_path(own.middle),
              "penalties, \"min_tokens\" and \"grammar\" do not go with a middle model; give it \"sampling\": {}, or draft by \"model\" or \"grammar\"");
        }
        DrafterRequest below = request;
        ++below.level;
        MadeDrafter inner = make_drafter(own.inner, below);
        if (!inner.drafter) return inner;
        using Drafter = HierarchicalDrafter<Model, AnyDrafter>;
        return {Drafter(*std::move(middle.model), *std::move(inner.drafter), own.gamma),
                {},
                std::move(inner.costs)};
      });
}

}  // namespace

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
  static Family<DrafterKind> family("drafter", "Drafters", common.type, [] {
    return std::vector{model_drafter(), lookup_drafter(),       suffix_drafter(),  lookahead_drafter(),
                       heads_drafter(), aligned_copy_drafter(), grammar_drafter(), hierarchical_drafter()};
  });
  return family;
}

const std::string& label_of(const DrafterConfig& drafter) {
  return drafter.label.empty() ? drafter.name() : drafter.label;
}

MadeDrafter make_drafter(const DrafterConfig& drafter, const DrafterRequest& request) {
  MadeDrafter made = at_path(drafter.path, [&] { return drafter.entry().make(drafter, request); });
  made.costs.insert(made.costs.begin(), drafter.c);
  return made;
}

}  // namespace speclab
