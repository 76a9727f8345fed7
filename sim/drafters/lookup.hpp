// Prompt lookup decoding: drafts the tokens that followed an earlier occurrence of the context's last tokens
// (Saxena 2023; the prompt_lookup_num_tokens of Hugging Face's generate, the n-gram proposer of vLLM).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/drafters/point_rows.hpp"

namespace speclab {

/// Which of several occurrences of the same length is copied.
enum class Occurrence { last, first };

struct LookupOptions {
  std::int32_t min_match = 1;
  std::int32_t max_match = 3;
  std::int32_t length = 10;  ///< maximum of tokens drafted in a round
  Occurrence occurrence = Occurrence::last;
};

/// Positions of n-grams of one length in a text that is stored elsewhere: an open-addressing table of 2 to 8
/// slots of 8 bytes for each distinct n-gram. Hashes only find candidates; comparing tokens decides.
class NgramPlaces {
 public:
  /// Returns the end position stored for `ngram`; 0 if there is none.
  std::size_t find(std::uint32_t hash, std::span<const Token> ngram, std::span<const Token> text) const;

  /// Stores text[end - length .. end), which has this hash; `which` decides if the n-gram is already stored.
  void store(std::uint32_t hash, std::size_t length, std::size_t end, Occurrence which,
             std::span<const Token> text);

 private:
  struct Slot {
    std::uint32_t hash;
    std::uint32_t end;  // 0: empty
  };

  std::size_t slot(std::uint32_t hash, std::span<const Token> ngram, std::span<const Token> text) const;
  void grow();

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

/// At the start of a round the drafter finds the longest suffix of the context c[0 .. n), of min_match to
/// max_match tokens, that is also c[e - m .. e) for some e < n. Of several e it takes the largest (or
/// smallest). It drafts c[e], c[e + 1], ... as point masses, up to `length` tokens and never beyond n.
/// Occurrences may overlap the suffix. It does not search again within the round.
///
/// Time of read: one table access for each new token and match length. Time of propose: as many at position
/// 0.
class LookupDrafter {
 public:
  struct Memory {
    std::vector<NgramPlaces> places;  ///< by match length, from min_match
    std::size_t read = 0;             ///< number of context tokens already read
    std::size_t from = 0;             ///< the position from which this round copies; 0: nothing found
  };

  /// Requires vocab >= 1, 1 <= min_match <= max_match, length >= 0.
  explicit LookupDrafter(std::int32_t vocab, const LookupOptions& options = {});

  /// Reads the context, which has fewer than 2^32 tokens.
  void read(Memory& memory, std::span<const Token> context) const;
  Row propose(Memory& memory, std::span<const Token> context, std::int32_t position,
              std::vector<double>& storage) const;
  /// Returns 1 if anything was drafted: one look-up per round.
  std::int32_t runs(std::int32_t drafted) const { return drafted > 0 ? 1 : 0; }

 private:
  std::size_t longest_match(const Memory& memory, std::span<const Token> settled) const;

  LookupOptions options_;
  PointRows points_;
};

}  // namespace speclab
