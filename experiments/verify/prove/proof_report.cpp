// Writes proofs as JSON and as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/page/page_text.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/verify/prove/proof.hpp"

namespace speclab {

namespace {

class ProofNumberType final : public Type {
 public:
  void read(const Json& json, const std::string& path, void* value) const override {
    auto& number = *static_cast<ProofNumber*>(value);
    if (json.is_string()) {
      number = json.get<std::string>();
    } else if (json.is_number()) {
      number = json.get<double>();
    } else {
      reject(path, json, words());
    }
  }
  void write(const void* value, Json& json) const override {
    std::visit([&](const auto& held) { json = held; }, *static_cast<const ProofNumber*>(value));
  }
  std::string words() const override { return "a number, or a fraction as text"; }
  void schema(Json& out) const override { out["type"] = {"number", "string"}; }
};

/// Returns a number as text; a fraction longer than half a line as a decimal.
std::string shown_number(const ProofNumber& value) {
  constexpr std::size_t longest = 40;
  const std::string text = short_text(value, 12, longest);
  const auto* fraction = std::get_if<std::string>(&value);
  if (fraction == nullptr || fraction->size() <= longest) return text;
  return fmt::format("{} (a fraction of {} digits, see --json)", text, fraction->size() - 1);
}

Cell shown_cell(const ProofNumber& value) { return {shown_number(value), as_double(value)}; }

/// Returns a table of both distributions if both are short.
std::optional<Table> distributions(const Proof& proof) {
  constexpr std::size_t longest = 27;
  if (!proof.distribution || !proof.target_distribution) return std::nullopt;
  const ProofNumber zero = proof.arithmetic == Arithmetic::rational ? ProofNumber("0") : ProofNumber(0.0);
  std::map<std::string, std::pair<ProofNumber, ProofNumber>> all;
  for (const auto& [tokens, probability] : *proof.target_distribution) all[tokens] = {zero, probability};
  for (const auto& [tokens, probability] : *proof.distribution)
    all.try_emplace(tokens, zero, zero).first->second.first = probability;
  if (all.size() > longest) return std::nullopt;
  Table table{"distributions", "The joint distribution of the tokens", {"tokens", "probability", "target's"}};
  for (const auto& [tokens, both] : all)
    table.rows.push_back({text_cell(tokens), shown_cell(both.first), shown_cell(both.second)});
  return table;
}

/// Returns rows as --target and --draft take them, cut to a line or two.
std::string shown_rows(const std::optional<std::vector<std::vector<ProofNumber>>>& rows) {
  constexpr std::size_t longest = 160;
  if (!rows) return "rows of more than 10,000 numbers";
  std::string out;
  for (const auto& row : *rows) {
    if (!out.empty()) out += "; ";
    for (std::size_t id = 0; id < row.size(); ++id) {
      if (out.size() > longest)
        return out + fmt::format("... ({} rows of {} tokens, see --json)", rows->size(), row.size());
      const auto* fraction = std::get_if<std::string>(&row[id]);
      out += (id > 0 ? ", " : "") +
             (fraction != nullptr ? *fraction : fmt::format("{}", std::get<double>(row[id])));
    }
  }
  return out;
}

std::string optimum_words(const ProofOptimum& optimum) {
  const std::string given = optimum.nodes ? fmt::format("with a tree of {} nodes ", *optimum.nodes)
                            : optimum.paths.value_or(1) > 1 ? fmt::format("with {} paths ", *optimum.paths)
                                                            : "";
  const std::string scheme = fmt::format("no lossless scheme {}emits more", given);
  if (optimum.proved) return fmt::format("{}: {} (proved)", shown_number(optimum.expected_emitted), scheme);
  return fmt::format("{}, to about 1e-9; proved: {} than {:.17g}", shown_number(optimum.expected_emitted),
                     scheme, as_double(optimum.upper_bound));
}

/// Returns the difference as a fraction if both numbers are fractions.
ProofNumber below_optimum(const Proof& proof) {
  const auto* best = std::get_if<std::string>(&proof.optimum->expected_emitted);
  const auto* emitted = std::get_if<std::string>(&proof.expected_emitted);
  if (best != nullptr && emitted != nullptr) return (Rational(*best) - Rational(*emitted)).str();
  return as_double(proof.optimum->expected_emitted) - as_double(proof.expected_emitted);
}

}  // namespace

SPECLAB_DESCRIBED(ProofNumber, Typed<ProofNumber>{std::make_shared<const ProofNumberType>()});

SPECLAB_CHOICE(Arithmetic, {"double", Arithmetic::floating_point}, {"rational", Arithmetic::rational});

SPECLAB_CHOICE(ProvedRows, {"given", ProvedRows::given}, {"also made by context", ProvedRows::also_made},
               {"made by context", ProvedRows::made}, {"alike in all contexts", ProvedRows::alike});

SPECLAB_RESULT(Counterexample, "counterexample", tokens, probability, target_probability);

SPECLAB_RESULT(ProofOptimum, "optimum", paths, nodes, expected_emitted, proved, upper_bound, outcomes,
               variables);

SPECLAB_OBJECT(Proof, "proof", {"rule", &Proof::rule, kind_of(rule_family())},
               SPECLAB_FIELDS(Proof, gamma, target, draft, context, contexts, all_contexts, rows, tokens,
                              sampling, fault, forced, lossless, tv, tv_in_doubles, acceptance,
                              optimal_transport_bound, expected_accepted, expected_emitted, rejection,
                              optimum, counterexample, distribution, target_distribution, branches,
                              arithmetic));

std::string rows_words(ProvedRows rows) {
  static constexpr const char* words[] = {
      // The entries have the order of ProvedRows.
      "", "also on rows made from those below that differ by the last token",
      "lossless on the given rows, but not on the rows below, which prove made from them and which differ by the last token",
      "the given rows and those that prove makes from them are the same in every context that occurs, so they cannot reveal a rule that reads the row of another position"};
  return words[static_cast<std::size_t>(rows)];
}

std::string contexts_words(const ExaminedContexts& contexts, std::span<const Token> given, bool lossless) {
  if (contexts.refuting) {
    return fmt::format("a round after {} shows this, and a round after {} does not",
                       context_words(*contexts.refuting), context_words(given));
  }
  if (!lossless || (contexts.all && contexts.count == 1)) return "";
  return fmt::format("{}{} in which a round can start{}; the numbers are of a round after {}",
                     contexts.all ? "all " : "", contexts.count,
                     contexts.all ? "" : ", and others may show a difference", context_words(given));
}

std::string proof_line(const char* label, const std::string& value) {
  constexpr std::size_t label_width = 18;
  return labelled_line(label, label_width, value);
}

Listing proof_text(const Proof& proof) {
  const bool exact = proof.arithmetic == Arithmetic::rational;
  const std::uint64_t length = proof.tokens.value_or(static_cast<std::uint64_t>(proof.gamma) + 1);
  Listing out;
  const auto line = [&](const char* label, const std::string& value) { out += proof_line(label, value); };
  line("rule", proof.rule.name());
  line("lossless", proof.lossless
                       ? fmt::format("yes: the joint distribution of {} tokens is the target's, {}", length,
                                     exact ? "exactly" : "to rounding (--exact proves it)")
                       : fmt::format("NO: the joint distribution of {} tokens is not the target's", length));
  if (proof.lossless && !expected_lossless(proof.rule, 0))
    line("", fmt::format(
                 "{} and this γ show no difference, but speclab lists the rule as lossy: others show one.",
                 proof.all_contexts.value_or(true) ? "These rows" : "These contexts"));
  if (!proof.contexts_words.empty()) line("contexts", proof.contexts_words);
  if (const std::string words = rows_words(proof.rows); !words.empty()) line("by context", words);
  line("target", shown_rows(proof.target));
  if (make_rule(proof.rule, proof.gamma).sampled->takes_argmax())
    line("", "(the rule is compared with this target at temperature 0: its argmax)");
  line("draft", shown_rows(proof.draft));
  if (proof.sampling && !proof.sampling->empty()) line("sampling", *proof.sampling);
  if (proof.sampling && proof.sampling->find("repetition_penalty") != std::string::npos)
    line("", "(the repetition penalty depends on logit_offset, a constant that rows do not determine)");
  if (proof.fault) line("planted fault", *proof.fault);
  const std::string first = proof.tokens ? fmt::format(" over the first {} tokens", length) : "";
  if (proof.forced)
    line("forced tokens", shown_number(*proof.forced) + first + "; the grammar allows no other");
  if (!proof.context.empty()) line("context", fmt::format("{}", fmt::join(proof.context, ",")));
  line("total variation", shown_number(proof.tv));
  line("acceptance", shown_number(proof.acceptance));
  line("transport bound", proof.optimal_transport_bound ? shown_number(*proof.optimal_transport_bound) : "–");
  line("E[accepted]", shown_number(proof.expected_accepted) + first);
  line("E[emitted]", shown_number(proof.expected_emitted) + first);
  if (proof.optimum) {
    line("optimum", optimum_words(*proof.optimum));
    if (proof.lossless) line("below it by", shown_number(below_optimum(proof)));
  }
  line("P(rejection)", shown_number(proof.rejection));
  if (proof.tv_in_doubles)
    line(
        "ties",
        fmt::format(
            "in doubles the total variation is {:.4g}: rounding decides a tie of these rows, so all numbers are fractions",
            *proof.tv_in_doubles));
  line("branches", fmt::format("{} ({})", proof.branches, exact ? "rational" : "double"));
  if (const auto& counter = proof.counterexample) {
    line("counterexample",
         fmt::format("{}: {} instead of {}", fmt::join(counter->tokens, ","),
                     shown_number(counter->probability), shown_number(counter->target_probability)));
  }
  if (auto table = distributions(proof)) out += *std::move(table);
  return out;
}

}  // namespace speclab
