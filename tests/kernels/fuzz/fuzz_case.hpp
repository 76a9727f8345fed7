// The options of a batch of fuzz_verification, in numbers and in words.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/simt/emulator.hpp"
#include "kernels/verify/fused_layout.hpp"
#include "kernels/verify/verify_batch.hpp"

namespace speclab {

/// The options of a batch.
struct FuzzCase {
  KernelRule method;
  double lenience;
  Residual residual;
  Dtype dtype;
  std::int32_t requests, gamma, vocab;
  std::int32_t padding;  ///< elements after each row
  std::int32_t offset;   ///< elements before the first row
  bool certain, ragged, uniforms, temperatures, cutoffs, target_sums, draft_sums, damaged, tokens;
  double spread, distance, masked;
  BlocksWanted wanted;  ///< makes blocks take one tile or several
  simt::Order order;

  Dtype draft_dtype;
  std::int32_t draft_vocab;
  bool placed;  ///< the draft's ids are mapped
  bool target_probabilities, draft_probabilities, lowest, mask, flattened, slotted, strided, seeds, bonus,
      logs, filters;

  bool probabilities(bool of_target) const { return of_target ? target_probabilities : draft_probabilities; }
  std::int32_t target_positions() const { return gamma + (bonus ? 0 : 1); }
};

inline std::string text_of(const FuzzCase& how) {
  const char* const rules[] = {"token", "lenient", "block"};
  const char* const dtypes[] = {"f32", "bf16", "f16"};
  std::string text = std::string(rules[static_cast<int>(how.method)]) + " " +
                     dtypes[static_cast<int>(how.dtype)] + " B " + std::to_string(how.requests) + " gamma " +
                     std::to_string(how.gamma) + " V " + std::to_string(how.vocab);
  const auto add = [&](bool has, const char* name) {
    if (has) text += std::string(" ") + name;
  };
  add(how.certain, "certain");
  add(how.ragged, "ragged");
  add(how.uniforms, "uniforms");
  add(how.temperatures, "temperatures");
  add(how.cutoffs, "cutoffs");
  add(how.target_sums, "target-sums");
  add(how.draft_sums, "draft-sums");
  add(how.damaged, "damaged");
  add(how.padding > 0 || how.offset > 0, "unaligned");
  if (how.draft_dtype != how.dtype)
    text += std::string(" draft-") + dtypes[static_cast<int>(how.draft_dtype)];
  if (how.draft_vocab != how.vocab) text += " draft-vocab " + std::to_string(how.draft_vocab);
  add(how.placed, "placed");
  add(how.target_probabilities, "target-probabilities");
  add(how.draft_probabilities, "draft-probabilities");
  add(how.lowest, "lowest");
  add(how.mask, "mask");
  add(how.flattened, "flattened");
  add(how.slotted, "slotted");
  add(how.strided, "strided");
  add(how.seeds, "seeds");
  add(how.bonus, "bonus");
  add(how.logs, "logs");
  add(how.filters, "filters");
  return text;
}

}  // namespace speclab
