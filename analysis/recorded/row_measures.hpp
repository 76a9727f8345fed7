// Measures a pair of recorded rows and their token, in one pass over memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace speclab {

/// Format of the numbers of a row, little-endian.
enum class RowNumber { f16, bf16, f32, f64 };
std::size_t bytes_of(RowNumber number);

enum class RowMeaning { logits, probabilities };  // log-probabilities are logits

struct RowMeasures {
  double log_target = 0;   ///< log p(token)
  double log_draft = 0;    ///< log q(token); -infinity if q is 0
  double overlap = 0;      ///< sum of min(p, q)
  double entropy = 0;      ///< entropy of p, in nats
  double draft_share = 0;  ///< mass of q where p > 0
};

namespace detail {

struct RowMass {
  double sum = 0;
  double weighted = 0;  ///< sum of exp(x - most) (x - most), or of p log p
};

struct SharedMass {
  double overlap = 0;
  double draft_share = 0;
};

float float_of_half(std::uint16_t half);

}  // namespace detail

/// One row in memory, at any address.
struct StoredRow {
  const void* numbers;
  RowNumber number;
  RowMeaning meaning;
};

/// Measures pairs of rows; reuses its working memory from pair to pair.
class RowMeter {
 public:
  /// Measures rows of `vocab` numbers. Each row is normalised: exp of the logits, or the probabilities, over
  /// their sum. Sums use float (double for a row of f64), in parts of some thousand numbers, so that they are
  /// accurate to about 1e-6. A row with NaN, +infinity, a negative probability, or sum 0 gives log_target =
  /// NaN.
  RowMeasures measure(const StoredRow& target, const StoredRow& draft, std::size_t vocab, std::size_t token);
  RowMeter() = default;
  ~RowMeter();
  RowMeter(const RowMeter&) = delete;
  RowMeter& operator=(const RowMeter&) = delete;

 private:
  void reserve(std::size_t bytes);
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Returns `probabilities` if no number is negative and they sum to 1 within 1%; else `logits`.
RowMeaning guess_meaning(const void* row, RowNumber number, std::size_t vocab);

/// Writes the numbers of a row as doubles.
void read_row(const void* row, RowNumber number, std::size_t vocab, double* out);

}  // namespace speclab
