// n-gram models as ARPA files, the format of SRILM (ngram-format(5)) and KenLM.
#pragma once

#include <filesystem>
#include <iosfwd>

#include "sim/models/ngram_model.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

struct ArpaModel {
  NgramModel model;
  Vocabulary vocabulary;
};

/// Writes base-10 logarithms with 17 digits, -99 for zero. Tokens appear as `vocabulary.text`, in the order
/// of their ids, so that reading gives the same ids. The sizes must agree. Check the stream afterwards.
void write_arpa(const NgramModel& model, const Vocabulary& vocabulary, std::ostream& out);

/// Token ids count the unigrams from 0. The vocabulary is a word list, or the bytes when the unigrams are
/// those of `Vocabulary::bytes`. A logarithm of -99 or less is probability 0, and "<s>" always has
/// probability 0, whatever the file says: it opens contexts and is never emitted. Up to order
/// max_ngram_order. Throws ModelError "file:line: what is wrong; what was expected".
ArpaModel read_arpa(const std::filesystem::path& file, RowSums sums = RowSums::renormalised);

}  // namespace speclab
