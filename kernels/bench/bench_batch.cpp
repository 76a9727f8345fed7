#include "kernels/bench/make_inputs.hpp"

namespace speclab {

void make_inputs_emulated(const BenchShape& shape, const MadeLogits& how, const BenchBatch& to) {
  make_inputs(simt::EmulatedExecutor(), shape, how, to);
}

}  // namespace speclab
