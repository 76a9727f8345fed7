#include "experiments/schedule_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/theory/schedule_theory.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"

namespace speclab {

namespace {

/// One schedule as the config gives it.
struct Given {
  const Json& config;
  const Json& own;
  std::string path;

  std::string path_of(const char* key, const char* common) const {
    return own.contains(key) ? fmt::format("{}/{}", path, key) : common;
  }
  int gamma() const { return (own.contains("gamma") ? own : config).at("gamma").get<int>(); }
  double c() const { return (own.contains("c") ? own : config.at("cost")).at("c").get<double>(); }
  int number(const char* key) const { return own.at(key).get<int>(); }
  double real(const char* key) const { return own.at(key).get<double>(); }
  bool flag(const char* key) const { return own.at(key).get<bool>(); }
};

std::uint64_t count(int value) { return static_cast<std::uint64_t>(value); }

NamedSchedule plain(const Given&) {
  return {"plain", "", Plain{}, [](double) { return 1.0; }, nullptr, ""};
}

NamedSchedule speculative(const Given& given) {
  const int gamma = given.gamma();
  const double c = given.c();
  return {fmt::format("speculative, γ = {}", gamma),
          "",
          Speculative{count(gamma), c},
          [=](double alpha) { return speedup(alpha, gamma, c); },
          nullptr,
          ""};
}

NamedSchedule oracle(const Given& given) {
  const int most = given.number("most");
  const bool charged = given.flag("charged");
  const double c = charged ? given.c() : 0;
  return {charged ? "oracle, charged" : "oracle, uncharged",
          "",
          Oracle{count(most), c},
          [=](double alpha) { return speedup_bound_capped(alpha, most, c); },
          [=](double alpha) { return speedup_bound_drafting_paid(alpha, c); },
          "no limit"};
}

NamedSchedule heads(const Given& given) {
  const int gamma = given.gamma();
  const double c = given.c();
  return {fmt::format("heads, γ = {}", gamma),
          "",
          Heads{count(gamma), c},
          [=](double alpha) { return heads_speedup(alpha, gamma, c); },
          nullptr,
          ""};
}

NamedSchedule hierarchical(const Given& given) {
  Hierarchical schedule;
  std::vector<LevelInputs> inputs;
  const Json& levels = given.own.at("levels");
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Json& level = levels[i];
    const std::string path = fmt::format("{}/levels/{}/alpha", given.path, i);
    if (i == 0 && level.contains("alpha")) {
      throw ConfigError(path, "the first level drafts for the target, at the experiment's own acceptance");
    }
    if (i > 0 && !level.contains("alpha")) {
      throw ConfigError(path, "missing; how often the level above accepts this one's tokens");
    }
    const double alpha = i == 0 ? 0 : level.at("alpha").get<double>();
    const int gamma = level.at("gamma").get<int>();
    const double c = level.at("c").get<double>();
    inputs.push_back({alpha, gamma, c});
    schedule.levels.push_back({count(gamma), c, alpha});
  }
  const auto at = [inputs](double alpha) {
    std::vector<LevelInputs> all = inputs;
    all.front().alpha = alpha;
    return all;
  };
  return {fmt::format("hierarchical, {} levels", levels.size()),
          "",
          std::move(schedule),
          [at](double alpha) { return hierarchical_speedup(at(alpha)); },
          [at](double alpha) { return hierarchical_speedup_usual(at(alpha)); },
          "Theorem 3.8 at the effective c"};
}

NamedSchedule dsi(const Given& given) {
  const int servers = given.number("servers");
  const int lookahead = given.number("lookahead");
  const double c = given.c();
  if (!(c > 0) || c > 1) {
    throw ConfigError(given.path_of("c", "/cost/c"),
                      fmt::format("{} is not a number > 0 and <= 1, as dsi needs: its draft is timed, and no "
                                  "slower than the target",
                                  c));
  }
  const int all = dsi_servers(c, lookahead);
  std::string name = servers == 0 ? fmt::format("DSI, all {} servers", all)
                                  : fmt::format("DSI, {} server{}", servers, servers == 1 ? "" : "s");
  if (lookahead > 1) name += fmt::format(", lookahead {}", lookahead);
  return {std::move(name),
          "",
          Dsi{count(servers), count(lookahead), c},
          [=](double alpha) {
            return servers == 0 ? dsi_speedup(alpha, c, lookahead)
                                : dsi_speedup(alpha, c, lookahead, servers);
          },
          [=](double alpha) { return speedup_bound_drafting_paid(alpha, c); },
          "1/(1−α+cα)"};
}

/// Text that is never rejected has no correction to begin anew from, and so no long run that a trial of some
/// length shows.
SpeedFormula below_one(SpeedFormula formula) {
  return [formula = std::move(formula)](double alpha) { return alpha < 1 ? formula(alpha) : std::nullopt; };
}

NamedSchedule pearl(const Given& given) {
  const int gamma = given.gamma();
  const double c = given.c();
  const bool next_row = given.flag("next_row");
  if (gamma == 0) {
    throw ConfigError(given.path_of("gamma", "/gamma"), "0 is not an integer >= 1, as pearl needs");
  }
  NamedSchedule made{fmt::format("PEARL, γ = {}{}", gamma, next_row ? "" : ", no next row"),
                     "",
                     Pearl{count(gamma), c, next_row},
                     below_one([=](double alpha) { return pearl_speedup(alpha, gamma, c); }),
                     nullptr,
                     ""};
  if (next_row) {
    made.usual = std::exchange(
        made.formula, below_one([=](double alpha) { return pearl_speedup_next_row(alpha, gamma, c); }));
    made.usual_name = "without the next row";
  }
  return made;
}

NamedSchedule two_functions(const Given& given) {
  const double f = given.real("t_f");
  const double g = given.real("t_g");
  const double q = given.real("t_q");
  const bool interrupts = given.flag("interrupts");
  NamedSchedule made{interrupts ? "two functions, interrupting" : "two functions",
                     "",
                     SpeculativeFunctionExecution{f, g, q, interrupts},
                     [=](double beta) { return speculative_function_speedup(beta, f, g, q); },
                     nullptr,
                     ""};
  if (interrupts) {
    made.usual = std::exchange(
        made.formula, [=](double beta) { return speculative_function_speedup_interrupting(beta, f, g, q); });
    made.usual_name = "without interrupts";
  }
  return made;
}

NamedSchedule batched(const Given& given) {
  const int sequences = given.number("sequences");
  const int goal = given.number("goal");
  const int gamma = given.gamma();
  const double c = given.c();
  const bool replaced = given.flag("replaced");
  const SaturatingCost cost{given.real("saturation")};
  const std::uint64_t least = count(sequences) * count(goal);
  const auto length = given.config.at("plan").at("length").get<std::uint64_t>();
  if (least > length) {
    throw ConfigError(given.path + "/goal",
                      fmt::format("{} sequences of {} tokens are {}, more than the {} of \"plan/length\"",
                                  sequences, goal, least, length));
  }
  NamedSchedule made{fmt::format("batch of {}, {}", sequences, replaced ? "refilled" : "emptied"),
                     "",
                     Batched{count(sequences), count(gamma), c, count(goal), replaced, cost},
                     nullptr,
                     [=](double alpha) { return batched_speedup_usual(alpha, gamma, c, sequences, cost); },
                     "sequences without end"};
  made.formula = [=](double alpha) {
    return replaced ? batched_speedup_replaced(alpha, gamma, c, sequences, goal, cost)
                    : batched_speedup_waves(alpha, gamma, c, sequences, goal, cost);
  };
  made.least_tokens = least;
  return made;
}

using Maker = NamedSchedule (*)(const Given&);

Maker maker_of(const std::string& kind) {
  static const std::vector<std::pair<std::string, Maker>> makers{
      {"plain", plain},     {"speculative", speculative},
      {"oracle", oracle},   {"heads", heads},
      {"dsi", dsi},         {"hierarchical", hierarchical},
      {"pearl", pearl},     {"two_functions", two_functions},
      {"batched", batched},
  };
  return std::find_if(makers.begin(), makers.end(), [&](const auto& maker) { return maker.first == kind; })
      ->second;
}

}  // namespace

std::vector<NamedSchedule> schedules_of(const Json& config) {
  const Json compared = section(config, "schedules").at("compare");
  std::vector<NamedSchedule> all;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    const Json& own = compared[i];
    const auto kind = own.at("kind").get<std::string>();
    NamedSchedule made = maker_of(kind)(Given{config, own, fmt::format("/schedules/compare/{}", i)});
    made.kind = kind;
    if (own.contains("label")) made.name = own.at("label").get<std::string>();
    const std::string name = made.name;
    const auto taken = [&](const NamedSchedule& other) { return other.name == made.name; };
    for (int copy = 2; std::any_of(all.begin(), all.end(), taken); ++copy) {
      made.name = fmt::format("{} ({})", name, copy);
    }
    all.push_back(std::move(made));
  }
  return all;
}

}  // namespace speclab
