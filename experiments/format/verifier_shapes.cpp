// The verifiers a config or command line can name, with their parameters.
#include "experiments/format/fields.hpp"

namespace speclab {

namespace {

Field drafts(std::string doc) { return integer("drafts", std::move(doc), 1, 64, 2); }

Field lenience() { return positive(number("lenience", "l in (0, 1].", 0, 1, 1.0)); }

Field rank_acceptance() {
  static const Field share = number("", "P(this sibling is the one accepted).", 0, 1);
  return list("rank_acceptance", "Of an optimal tree: acceptance by sibling; measured when left out.", share,
              1, 64);
}

Field branching() {
  static const Field children = integer("", "Children of each node at one depth.", 1, 1024);
  return list("branching", "Children of a node at each depth, instead of \"drafts\" at every one.", children,
              1, 64);
}

}  // namespace

const Family& verifier_family() {
  static const Family family{
      "verifier",
      {{"token", "Algorithm 1: keep with min(1, p/q), else sample norm((p-q)+). Lossless.", {}},
       {"match",
        "Draw the target's token whatever was drafted; keep the draft where they agree. Lossless.",
        {}},
       {"gumbel", "Target and draft share Gumbel noise; keep where they agree. Lossless.", {}},
       {"rejection", "A.2: keep with p/(M q), M = max p/q, else sample p afresh. Lossless.", {}},
       {"greedy", "Keep iff the token is the target's argmax. Lossless at temperature 0.", {}},
       {"block",
        "Block verification: the drafted tokens are judged together. Lossless, never below token.",
        {}},
       {"lenient",
        "A.5 at temperature > 0: keep with min(1, p/(l q)). Lossy for l < 1.",
        {lenience(), choice("residual", "Which reading of the residual.",
                            {"target_minus_draft", "literal", "target"}, "target_minus_draft")}},
       {"lenient-greedy",
        "A.5 at temperature 0, over the target's unadjusted row: keep iff p(x) >= l max p. Lossy.",
        {lenience()}},
       {"typical",
        "Typical acceptance: keep iff p(x) > min(epsilon, delta exp(-H(p))). Lossy.",
        {number("epsilon", "Hard threshold.", 0, 1, 0.3),
         number("delta", "Threshold relative to exp(-entropy).", 0, 1000, 0.09)}},
       {"cascade",
        "Speculative cascade: the draft stands where p(x) >= (1-slack) max p. Lossy.",
        {number("slack", "How far below the target's best a token may be.", 0, 1, 0.1)}},
       {"sigmoid",
        "Algorithm 1 on sigmoids of scaled logits instead of probabilities (Wagner et al. 2024). Lossy.",
        {number("alpha", "Smallest scaled logit.", -1e9, 1e9, -1000.0),
         number("beta", "Largest scaled logit.", -1e9, 1e9, 1000.0)}},
       {"recursive",
        "Recursive rejection over i.i.d. drafts (SpecInfer). Lossless.",
        {drafts("Drafted paths of gamma tokens.")}},
       {"without-replacement",
        "Recursive rejection over paths that begin with different tokens. Lossless.",
        {drafts("Drafted paths of gamma tokens.")}},
       {"k-seq",
        "Sequential selection among i.i.d. drafts at the scale rho* (SpecTr). Lossless.",
        {drafts("Drafted paths of gamma tokens.")}},
       {"importance",
        "Choose one of the i.i.d. drafts, then verify it against the law of the choice. Lossless, near the "
        "optimum.",
        {drafts("Drafted paths of gamma tokens.")}},
       {"tree",
        "Recursive rejection on a draft tree of depth gamma, siblings without replacement. Lossless.",
        {drafts(
             "Children of every node (\"static\"), the most siblings (\"optimal\"), nodes continued at each "
             "depth (\"dynamic\")."),
         branching(),
         choice("growth",
                "\"static\": this shape; \"optimal\": the best shape of so many nodes for the acceptance by "
                "rank "
                "(Sequoia); \"dynamic\": grown each round from the draft's likeliest tokens (EAGLE-2).",
                {"static", "optimal", "dynamic"}, "static"),
         integer("nodes", "Nodes of an optimal or dynamic tree.", 1, 4096, 16), rank_acceptance(),
         number("node_cost",
                "Time of one more verified node, in target runs: an optimal tree then has the size up to "
                "\"nodes\" that "
                "is fastest.",
                0, 1000)}},
       {"traversal",
        "Traversal verification of a draft tree, from the leaves to the root. Lossless.",
        {drafts("Children of every node."), branching()}},
       {"fault-accept-all", "Planted fault: keeps everything.", {}},
       {"fault-resample-target", "Planted fault: after a rejection samples p instead of the residual.", {}},
       {"fault-swapped-residual", "Planted fault: residual (q-p)+ instead of (p-q)+.", {}},
       {"fault-shared-noise", "Planted fault: the coin reuses the uniform that drew the token.", {}},
       {"fault-unwritten-bonus", "Planted fault: the bonus is left at token 0.", {}},
       {"fault-draft-bonus", "Planted fault: the bonus comes from the draft's last row.", {}},
       {"fault-closed-coin",
        "Planted fault: accepts at u <= p/q with uniforms that can be 0.",
        {integer("levels", "Uniforms are multiples of 1/levels.", 1, 1 << 24, 1 << 24)}},
       {"fault-late-context", "Planted fault: target rows are read one position late.", {}},
       {"fault-block-prefix", "Planted fault: block verification with h_i = p_i.", {}},
       {"fault-stale-siblings",
        "Planted fault: recursive rejection that never updates p.",
        {drafts("Drafted paths of gamma tokens.")}}}};
  return family;
}

}  // namespace speclab
