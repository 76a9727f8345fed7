// Reads and writes n-gram models as ARPA files, the format of SRILM (ngram-format(5)) and KenLM.
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

/// Default limit on |sum - 1| of a row in an ARPA file. Rounded digits, pruning and omitted words cause
/// errors of a few percent; a damaged file or another kind of model causes more.
constexpr double usual_arpa_row_error = 0.2;

/// Writes base-10 logarithms with 17 digits, -99 for zero. Tokens appear as `vocabulary.text`, in the order
/// of their ids, so that reading gives the same ids. If the vocabulary lacks <s> and </s>, they follow with
/// probability 0, since KenLM reads no file without them. The sizes must agree. Check the stream afterwards.
void write_arpa(const NgramModel& model, const Vocabulary& vocabulary, std::ostream& out);

/// Reads a model. Token ids count the unigrams from 0. The vocabulary is a word list, or the bytes if the
/// unigrams are those of `Vocabulary::bytes`. A logarithm of -99 or less is probability 0, and "<s>" always
/// has probability 0, even if the file says otherwise: it opens contexts and is never emitted. Files may have
/// orders up to max_ngram_order; n-grams of more than `order` tokens are not read. <s> and </s> get no ids if
/// they end the unigrams, are never emitted and begin no n-gram, as `write_arpa` adds them. Throws ModelError
/// "file:line: what is wrong; what was expected". If rows are renormalised, it also throws for a row whose
/// sum is not within `row_error` of 1.
ArpaModel read_arpa(const std::filesystem::path& file, RowSums sums = RowSums::renormalised,
                    int order = max_ngram_order, double row_error = usual_arpa_row_error);

}  // namespace speclab
