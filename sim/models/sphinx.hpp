// n-gram models in the binary format of CMU Sphinx ("Trie Language Model", sphinxbase 5prealpha), such as the
// English trigram of the Debian package pocketsphinx-en-us.
#pragma once

#include <filesystem>

#include "sim/models/ngram_model.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

struct SphinxModel {
  NgramModel model;  ///< rows renormalised
  Vocabulary vocabulary;
  double row_error;  ///< NgramModel::max_row_error of the rows as in the file, over 64 contexts a length
};

/// Keeps n-grams of up to `order` tokens, 1..max_ngram_order; what they back off to is as in the file. Token
/// ids are the file's. "<s>" has probability 0, as in `read_arpa`. Logarithms are to the base 1.0001, the
/// default of sphinxbase, which the format does not state. Throws ModelError for other formats, naming the
/// program that converts them, and for invalid files.
SphinxModel read_sphinx(const std::filesystem::path& file, int order = max_ngram_order);

}  // namespace speclab
