#include "experiments/catalog/models/trained_ngram.hpp"

namespace speclab {

ModelKind bigram_model() { return ngram_of_order("bigram", "The n-gram of order 2.", 2); }

}  // namespace speclab
