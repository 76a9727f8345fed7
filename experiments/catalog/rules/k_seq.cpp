#include "core/rules/k_seq.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

const RuleKind& k_seq_rule() {
  static const RuleKind kind = paths_rule_kind<KSeqRule>(
      "k-seq", "Sequential selection among i.i.d. drafts at the scale rho* (SpecTr). Lossless.",
      ExpectedLossless::always);
  return kind;
}

}  // namespace speclab
