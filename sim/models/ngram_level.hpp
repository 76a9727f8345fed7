// Stores an n-gram model's contexts of one length and their followers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/models/packed_ngram.hpp"

namespace speclab {

/// A key aligned to 8 bytes rather than 16, which makes an NgramContext 32 bytes long.
class StoredNgram {
 public:
  StoredNgram(PackedNgram key)  // NOLINT(google-explicit-constructor): another form of the same value
      : high_(static_cast<std::uint64_t>(key >> 64U)), low_(static_cast<std::uint64_t>(key)) {}
  operator PackedNgram() const {
    return (PackedNgram{high_} << 64U) | low_;
  }  // NOLINT(google-explicit-constructor)

 private:
  std::uint64_t high_;
  std::uint64_t low_;
};

struct NgramContext {
  StoredNgram key;
  double backoff;
  /// Position of its first follower in NgramLevel::tokens.
  std::uint32_t first;
  std::uint32_t count;
};
static_assert(sizeof(NgramContext) == 32);

/// Contexts of one length, strictly ascending by key, with their followers, fewer than 2^32 of each.
struct NgramLevel {
  std::vector<NgramContext> contexts;
  std::vector<Token> tokens;  // ascending within a context
  std::vector<double> probabilities;
  /// 1 / (sum of the row) for each context. Empty if rows are taken as listed.
  std::vector<double> scales;
  /// An open-addressing table of 1 + position in `contexts`; 0 is empty.
  std::vector<std::uint32_t> slots;

  /// Builds `slots`, 2 to 4 for each context.
  void index();
  /// Returns null for contexts that are not there. Needs `slots`.
  const NgramContext* find(PackedNgram key) const;
  /// Returns the listed probability, or null.
  const double* follower(const NgramContext& context, Token token) const;
  double scale(const NgramContext& context) const {
    return scales.empty() ? 1 : scales[static_cast<std::size_t>(&context - contexts.data())];
  }
  /// Returns the bytes that the vectors hold.
  std::size_t bytes() const;
};

}  // namespace speclab
