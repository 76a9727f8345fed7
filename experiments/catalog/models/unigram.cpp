#include "experiments/catalog/models/trained_ngram.hpp"

namespace speclab {

ModelKind unigram_model() { return ngram_of_order("unigram", "The n-gram of order 1.", 1); }

}  // namespace speclab
