#include "core/rules/k_seq.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind k_seq_rule() {
  return paths_rule_kind<KSeqRule>(
      "k-seq", "Sequential selection among i.i.d. drafts at the scale rho* (SpecTr). Lossless.",
      ExpectedLossless::always);
}

}  // namespace speclab
