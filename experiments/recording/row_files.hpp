// Reads files of rows: at each position of a text, the target's distribution, the draft's, or both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/recorded/recording.hpp"
#include "analysis/recorded/row_measures.hpp"

namespace speclab {

class AnyRule;

/// The rows of one model, [positions, vocab].
struct RowSet {
  std::size_t rows = 0;
  std::size_t vocab = 0;
  RowNumber number = RowNumber::f32;
  RowMeaning meaning = RowMeaning::logits;
  /// Returns a row, in the file or in `scratch`.
  std::function<const void*(std::size_t row, std::vector<float>& scratch)> at;
  std::string where;  ///< for errors
};

struct RowFile {
  RowSet target;                ///< in a file of one model, its rows
  std::optional<RowSet> draft;  ///< empty: the draft's rows are in another file
  std::vector<std::int64_t> tokens;
  std::vector<RecordedSequence> sequences;
  bool drawn = true;  ///< see Recording::drawn
  std::shared_ptr<const void> memory;
};

/// Reads every row once, in parallel. With a rule, `overlap` is its acceptance rate in each context. Throws
/// UsageError for a row that is not a distribution, a token outside the vocabulary, a token of the text to
/// which the target gives probability 0, and row sets that do not fit each other.
Recording measure_rows(const RowFile& file, const AnyRule* rate = nullptr);

/// Joins the rows of a target's file and a draft's. Throws UsageError if their tokens differ.
RowFile join(const RowFile& target, const RowFile& draft);

/// Returns a single sequence of so many tokens.
std::vector<RecordedSequence> one_sequence(std::size_t tokens);

/// Returns a sequence for each run of equal numbers. Throws UsageError at `where` if a number appears again
/// later.
std::vector<RecordedSequence> numbered_sequences(const std::vector<std::int64_t>& numbers,
                                                 const std::string& where);

}  // namespace speclab
