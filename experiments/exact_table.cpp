// The words and tables of `speclab exact`, from its result alone.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "experiments/exact_analysis.hpp"
#include "experiments/presentation.hpp"

namespace speclab {

namespace {

struct Row {
  const char* name;
  const char* label;
};

constexpr Row rows[] = {{"alpha", "α, target's law"},
                        {"alpha_overlap", "α, visited contexts"},
                        {"alpha_examined", "α, accepted / examined"},
                        {"tokens_per_round", "tokens per target run"},
                        {"tokens_per_round_of_plan", "the same over the plan's rounds"},
                        {"tokens_variance", "variance of tokens per run"},
                        {"speed", "speed-up"},
                        {"operations", "operations ×"},
                        {"optimal_gamma", "optimal γ"},
                        {"best_speed", "speed-up at optimal γ"},
                        {"speed_at_iid_optimum", "speed-up at the i.i.d. optimal γ"},
                        {"first_accepted", "P(first accepted)"},
                        {"second_accepted", "P(second | first accepted)"},
                        {"correlation", "lag-1 correlation ρ"},
                        {"rejections", "rejected / examined"},
                        {"rejection_bound", "least of a lossless rule"},
                        {"regret", "regret"}};

/// Six digits: exact values and formulas may differ in the fourth. Rounding of a zero is a zero.
Cell exact_cell(const Json& value) {
  if (!value.is_number()) return {"", {}, ""};
  const auto number = value.get<double>();
  return {std::abs(number) < 1e-12 ? "0" : fmt::format("{:.6g}", number), number, ""};
}

Cell error_cell(const Json& percent) {
  if (!percent.is_number()) return {"", {}, ""};
  const auto number = percent.get<double>();
  const bool none = std::abs(number) < 5e-4;
  return {none ? "0" : fmt::format("{:+.3f}", number), number, ""};
}

Json member(const Json& object, const char* part, const char* name) {
  return object.contains(part) ? object.at(part).value(name, Json()) : Json();
}

Table class_table(const Json& one, const std::string& caption) {
  Table table{
      "exact", caption, {"", "i.i.d. formula", "exact", "simulated ± interval", "i.i.d. error, %"}, {}, ""};
  for (const Row& row : rows) {
    const Json exact = member(one, "exact", row.name);
    if (exact.is_null()) continue;
    // One simulation estimates both: the chain's mean, and its mean over just these rounds.
    const bool of_plan = row.name == std::string("tokens_per_round_of_plan");
    table.rows.push_back({{row.label, {}, ""},
                          exact_cell(member(one, "iid", row.name)),
                          exact_cell(exact),
                          interval_cell(member(one, "simulated", of_plan ? "tokens_per_round" : row.name)),
                          error_cell(member(one, "iid_error_percent", row.name))});
    if (row.name == std::string("tokens_per_round") && one.contains("lag1")) {
      table.rows.push_back({{"the same by the lag-1 formula", {}, ""},
                            exact_cell(one.at("lag1").at("tokens_per_round")),
                            exact_cell(exact),
                            {"", {}, ""},
                            error_cell(one.at("lag1").at("error_percent"))});
    }
  }
  const Json distribution = member(one, "exact", "law");
  const Json iid = member(one, "iid", "law");
  const Json simulated = member(one, "simulated", "law");
  for (std::size_t n = 0; n < distribution.size(); ++n) {
    const Json formula = iid.is_array() ? iid[n] : Json();
    const bool error = formula.is_number() && distribution[n].get<double>() > 0;
    table.rows.push_back(
        {{fmt::format("P(N = {})", n + 1), {}, ""},
         exact_cell(formula),
         exact_cell(distribution[n]),
         interval_cell(simulated.is_array() ? simulated[n] : Json()),
         error_cell(error ? Json(100 * (formula.get<double>() / distribution[n].get<double>() - 1))
                          : Json())});
  }
  return table;
}

std::string iterations_text(const Json& solution) {
  return fmt::format("{} iterations{}, residual {:.1e}", solution.at("iterations").get<int>(),
                     solution.at("damped").get<bool>() ? " (damped)" : "",
                     solution.at("residual").get<double>());
}

}  // namespace

std::string exact_text(const Json& result) {
  const Json& chain = result.at("chain");
  const Json& config = result.at("config");
  const Json& classes = result.at("classes");
  const auto closed = chain.at("closed_classes").get<std::size_t>();
  std::string out;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const Json& one = classes[i];
    std::string caption =
        fmt::format("{}, γ = {}", result.at("title").get<std::string>(), config.at("gamma").get<int>());
    if (closed > 1) {
      caption += fmt::format("\nclosed class {} of {}, {} contexts, starting from {}", i + 1, closed,
                             one.at("contexts").get<std::size_t>(), one.at("start").dump());
    }
    out += terminal(class_table(one, caption));
    for (const Json& remark : one.at("remarks")) out += remark.get<std::string>() + "\n";
    const Json& solution = one.at("solution");
    if (!solution.at("plain").is_null()) {
      out += fmt::format("plain decoding: {}\n", iterations_text(solution.at("plain")));
    }
    out += fmt::format("rounds: {}; {} more for the other γ\n\n", iterations_text(solution.at("rounds")),
                       solution.at("search_iterations").get<int>());
  }
  out += fmt::format("{} contexts of up to {} tokens, {} of them transient; {} transitions, stored {}\n",
                     chain.at("contexts").get<std::size_t>(), chain.at("memory").get<int>(),
                     chain.at("transient_contexts").get<std::size_t>(),
                     chain.at("transitions").get<std::size_t>(),
                     chain.at("dense").get<bool>() ? "densely" : "sparsely");
  if (closed > 1) {
    out += fmt::format(
        "Plain decoding never leaves any of {} closed classes of contexts; each is analysed by itself{}. "
        "Which one "
        "a text ends in depends on its start, and on chance.\n",
        closed, closed > classes.size() ? fmt::format(" (the first {})", classes.size()) : "");
  }
  if (classes[0].contains("simulated")) {
    out += fmt::format(
        "The simulation starts from the prompts without burn-in: {} trials of {} rounds. \"The same over the "
        "plan's rounds\" is the exact mean for just these; intervals hold with confidence {:.6g}.\n",
        config.at("plan").at("trials").get<std::uint64_t>(),
        config.at("plan").at("length").get<std::uint64_t>(), result.at("interval_confidence").get<double>());
  }
  return out;
}

}  // namespace speclab
