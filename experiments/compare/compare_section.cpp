#include "experiments/compare/compare_section.hpp"

namespace speclab {

const Typed<TaskConfig>& task_type() {
  static const auto type = object<TaskConfig>(
      "task", "Text to decode, and the target that decodes it.",
      {required(field<&TaskConfig::name>("name", text(), "Its name in tables.")),
       required(field<&TaskConfig::corpus>(
           "corpus", corpus_type(),
           "The text; some of its documents must be held out, which is what is decoded.")),
       field<&TaskConfig::target>("target", kind_of(model_family()),
                                  "The target. Without one the text itself is the target: the model that "
                                  "would write it greedily."),
       integer_field<&TaskConfig::sequences>("sequences", 1, 100000,
                                             "Held-out documents to decode, from the first one on."),
       integer_field<&TaskConfig::tokens>("tokens", 1, 1000000, "Tokens to decode in each, at most."),
       integer_field<&TaskConfig::prompt_tokens>("prompt_tokens", 0, 1000000,
                                                 "Tokens of each document that are its prompt."),
       field<&TaskConfig::prompt_until>(
           "prompt_until", text(),
           "Instead: all tokens up to and with this one, such as the line between a text and its "
           "summary.")});
  return type;
}

const SectionKind& compare_section() {
  static const SectionKind kind{
      "compare",
      object<CompareSection>(
          "compare", "The experiment compare: every drafter on every task, with every gamma and policy.",
          {required(field<&CompareSection::tasks>("tasks", list(task_type(), 1, 64), "What is decoded.")),
           required(field<&CompareSection::drafters>("drafters", list(kind_of(drafter_family()), 1, 64),
                                                     "What drafts.")),
           field<&CompareSection::gammas>("gammas",
                                          list(integer<std::int32_t>(1, most_tokens_drafted), 1, 64),
                                          "The fixed gammas, of which the fastest is \"best\"."),
           field<&CompareSection::policies>("policies", list(kind_of(policy_family()), 0, 64),
                                            "Adaptive policies, compared with the best fixed gamma."),
           with_unit(field<&CompareSection::verify>(
                         "verify", number(0, 1000),
                         "Time of a target run for each token that it verifies, beyond 1 for the run: 0 is "
                         "Theorem 3.8, where verifying is free."),
                     "target runs"),
           integer_field<&CompareSection::batches>("batches", 2, 4096,
                                                   "Stretches of sequences for batch-means intervals.")})
          .type};
  return kind;
}

}  // namespace speclab
