// An n-gram as one 128-bit integer, with the oldest token in the highest bits: sorting keys groups the
// followers of each context, a shift gives the context, a mask gives the suffix.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/token.hpp"

namespace speclab {

inline constexpr int max_ngram_order = 5;

/// Bits per token. Keys of `max_ngram_order` tokens fit into 128 bits, and so do keys one token shorter with
/// a 32-bit position.
inline constexpr int packed_token_bits = 24;
inline constexpr std::int32_t max_ngram_vocab = std::int32_t{1} << packed_token_bits;

// GCC and Clang have the type in every mode, but warn about it under -Wpedantic without __extension__.
__extension__ using PackedNgram = unsigned __int128;

/// Packs n-grams with ceil(log2 vocab) bits per token. The length is not part of the key.
class NgramPacking {
 public:
  explicit NgramPacking(std::int32_t vocab)
      : bits_(static_cast<int>(std::bit_width(static_cast<std::uint32_t>(vocab - 1)))) {}

  /// Returns the width in bits of an n-gram of `length` tokens.
  int bits(int length) const { return bits_ * length; }

  PackedNgram append(PackedNgram ngram, Token token) const {
    return (ngram << bits_) | static_cast<PackedNgram>(static_cast<std::uint32_t>(token));
  }
  PackedNgram pack(std::span<const Token> tokens) const {
    PackedNgram ngram = 0;
    for (const Token token : tokens) ngram = append(ngram, token);
    return ngram;
  }
  /// Returns the n-gram without its last token.
  PackedNgram context(PackedNgram ngram) const { return ngram >> bits_; }
  /// Returns the last `length` tokens, length <= max_ngram_order.
  PackedNgram suffix(PackedNgram ngram, int length) const {
    return ngram & ((PackedNgram{1} << (bits_ * length)) - 1);
  }
  Token last(PackedNgram ngram) const { return static_cast<Token>(suffix(ngram, 1)); }

  /// Returns the `length` tokens of an n-gram, oldest first, in the first places of the array.
  std::array<Token, max_ngram_order> unpack(PackedNgram ngram, int length) const {
    std::array<Token, max_ngram_order> tokens{};
    for (int i = length; i-- > 0; ngram = context(ngram)) tokens[static_cast<std::size_t>(i)] = last(ngram);
    return tokens;
  }

 private:
  int bits_;
};

}  // namespace speclab
