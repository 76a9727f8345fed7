#include "experiments/support/exact_rows.hpp"

namespace speclab {

void normalise_exactly(ExactRows& rows) {
  for (std::vector<Rational>& row : rows) {
    Rational total(0);
    for (const Rational& weight : row) total += weight;
    for (Rational& weight : row) weight /= total;
  }
}

}  // namespace speclab
