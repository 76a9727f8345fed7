// The pairs of models that the simulator is measured on, and what it takes to make them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "experiments/bench/sim_result.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/models/model.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

/// A stored pair needs `orders` of 0; else n-grams of these orders, trained on the two halves of made text.
struct PairShape {
  std::string name;
  std::int32_t vocab;
  int target_order;
  int draft_order;

  bool stored() const { return target_order == 0; }
  bool operator==(const PairShape&) const = default;
};

/// Does not move: the tables point to the models.
struct BenchPair {
  Model target;
  Model draft;
  PreparationRow costs;
  std::unique_ptr<const FastPair> tables;                 ///< of the fast engine, for token verification
  std::shared_ptr<SharedRows> rows = make_shared_rows();  ///< of the other rules
  std::map<std::string, std::unique_ptr<const FastPair>> by_rule = {};
};

class PairMaker {
 public:
  explicit PairMaker(std::size_t text_bytes) : text_bytes_(text_bytes) {}

  /// Without the tables of the fast engine. Stored pairs: target Dirichlet(0.3) rows, draft 0.7 of the target
  /// and 0.3 of other such rows.
  std::unique_ptr<BenchPair> make(const PairShape& shape);

 private:
  struct NumberedText {
    Corpus corpus;
    double seconds;
  };
  const NumberedText& numbered(std::int32_t vocab);

  std::size_t text_bytes_;
  std::string text_;
  std::map<std::int32_t, NumberedText> corpora_;
};

/// Processor time of this thread in seconds, from an arbitrary start.
double thread_seconds();

}  // namespace speclab
