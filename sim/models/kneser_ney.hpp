// Trains interpolated Kneser-Ney n-grams, in back-off form.
#pragma once

#include <cstdint>
#include <span>

#include "sim/models/ngram_model.hpp"

namespace speclab {

/// Trains on one stream of tokens, 0 <= token < vocab (Kneser and Ney 1995, interpolated as in Chen and
/// Goodman 1999, with one discount per order). With h' = h without its oldest token, and f(h) = the number of
/// distinct followers of h:
///
///     P_n(w | h) = (c(h w) - D_n) / c(h) + D_n f(h) / c(h) * P_{n-1}(w | h')
///     D_n = n1 / (n1 + 2 n2)
///
/// n1 and n2 are the numbers of n-grams with a count of 1 and 2; D_n is 1/2 if either is 0. The highest order
/// counts occurrences, also if it is order 1. Lower orders count the distinct tokens seen before the n-gram;
/// the start of the stream is one such token, so that every n-gram of the stream has a count at every order.
/// Order 1 is interpolated with the uniform distribution: every token has positive probability everywhere.
///
/// `order` is 1..max_ngram_order and `vocab` 1..max_ngram_vocab. Throws ModelError for other values, for
/// tokens that are not ids, and if there are fewer than `order` tokens. Time: a radix sort of the tokens, and
/// one of the distinct n-grams for each lower order. Peak memory: the model and 24 bytes for each distinct
/// n-gram of the longest order; or, if that is more, 24 bytes for each distinct n-gram of any order and 16
/// for each token (32 if `order` tokens, or one fewer and a position, need more than 64 bits).
NgramModel train_kneser_ney(std::span<const Token> tokens, std::int32_t vocab, int order);

}  // namespace speclab
