#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/cached_model.hpp"

namespace speclab {

ModelKind cached_model() {
  struct P : CacheOptions {
    ModelConfig base;
  };
  ModelKind made = kind_entry<ModelKind, P>(
      "cached",
      "Another model with a cache and a pointer: (1-u)*base + u*pointer, where u grows with the length m of the longest earlier match of the context's end.",
      {required(field("base", &P::base, kind_of(model_family()), "The model.")),
       field<P>("weight", &P::weight, number(0, 0.999), "Largest u: u = weight * m / (m + half_match)."),
       with_unit(field<P>("half_match", &P::half_match, number(0, 64),
                          "Match length at which u is half of \"weight\"."),
                 "tokens"),
       field<P>("unigram_weight", &P::unigram_weight, number(0, 0.999),
                "u without a match: the weight of the frequencies of the context's tokens."),
       field<P>("smoothing", &P::smoothing, number_above(0, 1e6),
                "Smoothing of longer matches by shorter ones, in occurrences."),
       with_unit(integer_field<P>("max_match", &P::max_match, 1, 64, "Longest match sought."), "tokens"),
       with_unit(integer_field<P>("window", &P::window, 2, 1e6,
                                  "Number of last tokens of the context that are searched for matches."),
                 "tokens")},
      [](const P& own, const std::string&, const ModelRequest& request) {
        BuiltModel base = request.factory.unadjusted(own.base, request);
        return BuiltModel{CachedModel(std::move(base.model), own), std::move(base.vocabulary)};
      });
  made.facts = [](const SelectedKind& selected, const FactsRequest& request) {
    refuse_sampling(selected.as<P>().base);
    ModelFacts facts = facts_of(selected.as<P>().base, request);
    facts.stored_rows = facts.ngrams = false;
    return facts;
  };
  return made;
}

}  // namespace speclab
