// Files of whole rows: for each position of a text the target's distribution, the draft's, or both.
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
#include "sim/any_rule.hpp"

namespace speclab {

/// Rows of one model, [positions, vocab].
struct RowSet {
  std::size_t rows = 0;
  std::size_t vocab = 0;
  RowNumber number = RowNumber::f32;
  RowMeaning meaning = RowMeaning::logits;
  /// A row; it views the file, or `scratch`.
  std::function<const void*(std::size_t row, std::vector<float>& scratch)> at;
  std::string where;  ///< for errors
};

struct RowFile {
  RowSet target;                ///< of a file of one model, that model
  std::optional<RowSet> draft;  ///< none: the draft's rows are in a file of their own
  std::vector<std::int64_t> tokens;
  std::vector<RecordedSequence> sequences;
  bool drawn = true;  ///< as Recording::drawn
  std::shared_ptr<const void> memory;
};

/// Reads every row once, in parallel. Throws UsageError for a row that is no distribution, a token outside
/// the vocabulary, a target that gives a token of its own text no probability, and sets that do not go
/// together.
/// With a rule, `overlap` is its acceptance rate in each context.
Recording measure_rows(const RowFile& file, const AnyRule* rate = nullptr);

/// All rows as probabilities, [rows, vocab]; of rows that measure_rows takes.
std::vector<double> probabilities_of(const RowSet& set);

/// Rows of one target's file and one draft's. Throws UsageError where their tokens differ.
RowFile join(const RowFile& target, const RowFile& draft);

/// One sequence of so many tokens.
std::vector<RecordedSequence> one_sequence(std::size_t tokens);

/// Sequences of equal neighbouring numbers. Throws UsageError at `where` when a number comes again later.
std::vector<RecordedSequence> numbered_sequences(const std::vector<std::int64_t>& numbers,
                                                 const std::string& where);

}  // namespace speclab
