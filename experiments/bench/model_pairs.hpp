// Makes the pairs of models on which the simulator is measured, and measures the cost of making them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "sim/fast/fast_pair.hpp"
#include "sim/models/model.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

/// The shape of a pair. With orders of 0 both models are stored order-1 tables: target rows from
/// Dirichlet(0.3), each draft row 0.7 of the target's row and 0.3 of another row from Dirichlet(0.3).
/// Otherwise both are n-grams of these orders, trained on the two halves of generated text.
struct PairShape {
  std::string name;
  std::int32_t vocab;
  int target_order;
  int draft_order;

  bool stored() const { return target_order == 0; }
};

struct PairModels {
  Model target;
  Model draft;
};

/// A pair with its tables, which point to the models; it must not move.
struct BenchPair : PairModels {
  /// Fast engine's tables for token verification.
  std::unique_ptr<const FastPair> tables = nullptr;
  std::shared_ptr<SharedRows> rows = make_shared_rows();  ///< fast engine's rows for the other rules
  std::map<std::string, std::unique_ptr<const FastPair>> by_rule = {};
};

class BenchPairs {
 public:
  explicit BenchPairs(std::size_t text_bytes) : text_bytes_(text_bytes) {}

  /// Returns the pair with its tables for token verification. Each pair is made once, by one thread, so that
  /// build times are comparable.
  BenchPair& prepared(const PairShape& shape);

 private:
  const Corpus& numbered(std::int32_t vocab);
  PairModels trained(const PairShape& shape);

  std::size_t text_bytes_;
  std::string text_;
  std::map<std::int32_t, Corpus> corpora_;
  std::map<std::string, std::unique_ptr<BenchPair>> pairs_;
};

}  // namespace speclab
