#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/cached_model.hpp"

namespace speclab {

namespace {

struct CachedParameters : CacheOptions {
  ModelConfig base;
};

}  // namespace

ModelKind cached_model() {
  return kind_entry<ModelKind, CachedParameters>(
      "cached",
      "Another model with a cache and a pointer: (1-u)*base + u*pointer, where u grows with the length m of "
      "the longest earlier match of the context's end.",
      {required(field("base", &CachedParameters::base, kind_of(model_family()), "The model.")),
       field<CachedParameters>("weight", &CachedParameters::weight, number(0, 0.999),
                               "Of u = weight * m / (m + half_match)."),
       with_unit(field<CachedParameters>("half_match", &CachedParameters::half_match, number(0, 64),
                                         "Match length at which u is half of \"weight\"."),
                 "tokens"),
       field<CachedParameters>("unigram_weight", &CachedParameters::unigram_weight, number(0, 0.999),
                               "u without a match: the weight of the frequencies of the context's tokens."),
       field<CachedParameters>("smoothing", &CachedParameters::smoothing, number_above(0, 1e6),
                               "Smoothing of longer matches by shorter ones, in occurrences."),
       with_unit(integer_field<CachedParameters>("max_match", &CachedParameters::max_match, 1, 64,
                                                 "Longest match sought."),
                 "tokens"),
       with_unit(integer_field<CachedParameters>("window", &CachedParameters::window, 2, 1e6,
                                                 "End of the context that is searched for matches."),
                 "tokens")},
      [](const CachedParameters& parameters, const std::string&, const ModelRequest& request) {
        BuiltModel base = request.factory.unadjusted(parameters.base, request);
        return BuiltModel{CachedModel(std::move(base.model), parameters), std::move(base.vocabulary)};
      });
}

}  // namespace speclab
