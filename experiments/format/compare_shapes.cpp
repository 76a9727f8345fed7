// The part of the config format that the experiment "compare" reads: drafters, gamma policies, tasks.
#include "experiments/format/fields.hpp"

namespace speclab {

namespace {

constexpr double most_tokens = 64;  ///< drafted in a round

Field cap(double fallback) {
  return integer("most", "Most tokens drafted in a round.", 1, most_tokens, fallback);
}

/// What every drafter has besides its own keys.
Shape drafter_shape(std::string kind, std::string doc, std::vector<Field> fields) {
  std::vector<Field> all{
      text("name", "Its name in tables; the kind when empty.", ""),
      number("c",
             "Time of one of its runs, in target runs: a run drafts one token, or all for kinds that say so.",
             0, 1000, 0.0)};
  all.insert(all.end(), fields.begin(), fields.end());
  return {std::move(kind), std::move(doc), std::move(all)};
}

}  // namespace

const Family& drafter_family() {
  static Family family{"drafter", {}};
  if (!family.kinds.empty()) return family;
  const Field verifier = kind_of("verifier", "How its tokens are verified; without it the config's verifier.",
                                 verifier_family());
  const Field length = integer("length", "Most tokens drafted in a round.", 1, most_tokens, 10);
  family.kinds = {
      drafter_shape(
          "model", "A model, run once for each token.",
          {required(kind_of("model", "The model; \"base\": \"target\" in a mixture is the task's target.",
                            model_family())),
           verifier}),
      drafter_shape(
          "lookup",
          "Prompt lookup: what followed the longest earlier match of the context's end. One run a round.",
          {integer("min_match", "Shortest match.", 1, 64, 1),
           integer("max_match", "Longest match.", 1, 64, 3), length,
           choice("occurrence", "Of matches of one length.", {"last", "first"}, "last"), verifier}),
      drafter_shape(
          "suffix",
          "Suffix automaton of prompt and generated text: the most frequent continuation of the longest "
          "match. "
          "One run a round.",
          {integer("min_match", "Shortest match.", 1, 64, 1),
           integer("max_match", "Longer matches are cut.", 1, 4096, 24), length,
           number("factor", "Most drafted tokens for each matched one.", 0, 64, 2.0),
           number("min_probability", "Least estimated probability of all drafted tokens together.", 0, 1,
                  0.1),
           boolean("spread", "Draw tokens from the estimated law instead of taking the likeliest.", false),
           verifier}),
      drafter_shape(
          "lookahead",
          "Jacobi iteration of the target over a window of guesses; its n-grams are drafts. One run a "
          "round.",
          {integer("window", "Columns of guesses.", 1, 64, 8),
           integer("ngram", "Tokens of an n-gram.", 2, 16, 4),
           integer("candidates", "N-grams kept for each first token.", 1, 1024, 15), verifier}),
      drafter_shape(
          "heads",
          "Non-autoregressive heads, fitted on the training text: each draws its token without knowing "
          "the others. One run a round.",
          {integer("heads", "Tokens drafted in a round, at most.", 1, 16, 4),
           integer("first_order", "Order of the first head's n-gram.", 1, 5, 2),
           number("temperature", "Of every head; 0 is blockwise parallel decoding's argmax.", 0, 100, 1.0),
           verifier}),
      drafter_shape(
          "aligned-copy",
          "The prompt itself, from where the output is aligned with it (aggressive decoding). One run a "
          "round.",
          {integer("match", "Output tokens that align again.", 1, 64, 2), length,
           choice("realign", "Which place in the prompt.", {"unique", "nearest"}, "nearest"), verifier}),
      drafter_shape(
          "hierarchical",
          "A middle model that is itself decoded speculatively. A run is one of the middle model's.",
          {required(kind_of("middle", "The middle model.", model_family())),
           required(kind_of("inner", "What drafts for it.", family)),
           integer("gamma", "Tokens that the inner drafter drafts at a time.", 1, most_tokens, 3),
           verifier})};
  return family;
}

const Family& policy_family() {
  static const Field name = text("name", "Its name in tables; the kind when empty.", "");
  static const Family family{
      "gamma policy",
      {{"fixed",
        "The same number of drafted tokens every round.",
        {name, required(integer("gamma", "Tokens.", 0, most_tokens))}},
       {"heuristic",
        "Two more after a round that kept everything, else one fewer (Hugging Face).",
        {name, integer("start", "Tokens in the first round.", 1, most_tokens, 5), cap(20)}},
       {"confidence",
        "Goes on while the draft is sure of itself.",
        {name, number("threshold", "Least mass.", 0, 1, 0.4),
         choice("of", "Whose: the row's largest, or the drawn token's (Hugging Face).", {"top", "drawn"},
                "top"),
         cap(20)}},
       {"entropy",
        "AdaEDL: goes on while 1 - sqrt(kappa H(draft)) stays above a bound.",
        {name, number("kappa", "Factor of the entropy, in 1/nat.", 0, 100, 0.2),
         number("least", "The bound.", 0, 1, 0.3), cap(20)}},
       {"product",
        "SpecDec++: goes on while the predicted chance of a rejection so far stays below a risk.",
        {name, number("risk", "Largest chance.", 0, 1, 0.7), cap(20)}},
       {"goodput",
        "The gamma of most expected tokens per time, by acceptance rates by position so far.",
        {name, cap(20)}},
       {"bandit",
        "Every gamma an arm, tokens per time the reward: upper confidence bounds.",
        {name, number("width", "Of the bounds, in largest rewards; UCB1 has 1.414.", 0, 100, 0.2), cap(10)}},
       {"oracle",
        "The bound on all of them: drafts exactly what will be kept. No program can.",
        {name, cap(32)}}}};
  return family;
}

const Shape& compare_shape(const Shape& corpus) {
  static const Shape task{
      "task",
      "Text to decode, and the target that decodes it.",
      {required(text("name", "Its name in tables.")),
       required(object("corpus",
                       "The text; without \"hold_out\" models are judged on what they were trained on.",
                       corpus)),
       kind_of(
           "target",
           "The target. Without one the text itself is the target: the model that would write it greedily.",
           model_family()),
       integer("sequences", "Held-out documents to decode, from the first one on.", 1, 100000, 64),
       integer("tokens", "Tokens to decode in each, at most.", 1, 1000000, 200),
       integer("prompt_tokens", "Tokens of each document that are its prompt.", 0, 1000000, 100),
       text("prompt_until",
            "Instead: all tokens up to and with this one, such as the line between a text and its summary.",
            "")}};
  static const Field a_task{.name = "", .type = FieldType::object, .doc = "A task.", .shape = &task};
  static const Field a_drafter = kind_of("", "A drafter.", drafter_family());
  static const Field a_policy = kind_of("", "A policy.", policy_family());
  static const Field gamma = integer("", "A gamma.", 1, most_tokens);
  static const Shape shape{
      "compare",
      "For compare: every drafter on every task, by every gamma and policy.",
      {required(list("tasks", "What is decoded.", a_task, 1, 64)),
       required(list("drafters", "What drafts.", a_drafter, 1, 64)),
       list("gammas", "The fixed gammas, of which the fastest is \"best\".", gamma, 1, 64,
            Json::array({1, 2, 3, 4, 5, 6, 8, 10})),
       list("policies", "Adaptive policies, held against the best fixed gamma.", a_policy, 0, 64,
            Json::array()),
       number("verify",
              "Time of a target run for each token that it verifies, beyond 1 for the run: 0 is Theorem "
              "3.8, where verifying is free.",
              0, 1000, 0.0),
       integer("batches", "Stretches of sequences for batch-means intervals.", 2, 4096, 32)}};
  return shape;
}

}  // namespace speclab
