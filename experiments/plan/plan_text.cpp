// The words and tables of `speclab plan`, from its JSON alone.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "experiments/plan/planning.hpp"
#include "experiments/presentation.hpp"
#include "experiments/report/page.hpp"
#include "experiments/report/text_width.hpp"

namespace speclab {

namespace {

constexpr std::size_t label_width = 24;
constexpr double giga = 1e9;

std::string line(const std::string& label, const std::string& text) {
  return label + std::string(label_width - std::min(label_width, text_width(label)), ' ') + text + "\n";
}

std::string short_number(const Json& value) {
  return value.is_null() ? "–" : fmt::format("{:.4g}", value.get<double>());
}

Cell number(const Json& value) {
  if (value.is_null()) return {"–", {}, ""};
  return {short_number(value), value.get<double>(), ""};
}

Cell count(const Json& value) {
  const auto integer = value.get<std::uint64_t>();
  return {std::to_string(integer), static_cast<double>(integer), ""};
}

/// "0.75", or "0.752 (0.741 to 0.763)" when it is not known exactly.
std::string ranged(double estimate, double low, double high) {
  if (low == high) return fmt::format("{:.4g}", estimate);
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", estimate, low, high);
}

std::string ranged(const Json& interval) {
  return ranged(interval[0].get<double>(), interval[1].get<double>(), interval[2].get<double>());
}

std::string head(const Json& plan) {
  const Json& alpha = plan.at("alpha");
  const Json& costs = plan.at("costs");
  const Json& best = plan.at("best");
  std::string out;
  if (!plan.at("drafter").get<std::string>().empty())
    out += line("drafter", plan.at("drafter").get<std::string>());
  const bool estimated = alpha.at("low") != alpha.at("high");
  out += line(
      "α",
      fmt::format("{}, {}{}",
                  ranged(alpha.at("estimate").get<double>(), alpha.at("low").get<double>(),
                         alpha.at("high").get<double>()),
                  alpha.at("from").get<std::string>(),
                  estimated ? fmt::format(", confidence {:.4g}", alpha.at("confidence").get<double>()) : ""));
  out +=
      line("c", fmt::format("{:.4g}, {}", costs.at("c").get<double>(), costs.at("from").get<std::string>()));
  out += line("best γ", fmt::format("{}", best.at("gamma").get<int>()));
  out += line("expected speed", ranged(best.at("speed")) + " × plain decoding");
  out += line("tokens per target run", short_number(best.at("tokens_per_round")));
  out += line("within 1% of the best", fmt::format("γ = {} to {}", best.at("within_1_percent")[0].get<int>(),
                                                   best.at("within_1_percent")[1].get<int>()));
  const Json& bounds = plan.at("bounds");
  if (!bounds.at("guaranteed").is_null())
    out += line("some γ is sure of", short_number(bounds.at("guaranteed")) + " (Cor. 3.9)");
  out += line("oracle, charged", short_number(bounds.at("oracle_charged")));
  out += line("oracle, uncharged", short_number(bounds.at("oracle_uncharged")));
  return out + best.at("reason").get<std::string>() + "\n";
}

std::string gamma_table(const Json& plan) {
  const bool estimated = plan.at("alpha").at("low") != plan.at("alpha").at("high");
  Table table{"gammas", "", {"γ", "tokens per target run", "verify cost", "speed"}, {}, ""};
  if (estimated) table.columns.insert(table.columns.end(), {"low", "high"});
  for (const Json& row : plan.at("gammas")) {
    const bool best = row.at("gamma") == plan.at("best").at("gamma");
    std::vector<Cell> cells{{fmt::format("{}{}", best ? "→ " : "", row.at("gamma").get<int>()),
                             row.at("gamma").get<double>(), ""},
                            number(row.at("tokens")),
                            number(row.at("verify_cost")),
                            number(row.at("speed"))};
    if (estimated) cells.insert(cells.end(), {number(row.at("low")), number(row.at("high"))});
    table.rows.push_back(cells);
  }
  if (table.rows.empty()) return "";
  table.caption = "Speed by γ";
  return fmt::format("\n{}", terminal(table));
}

std::string test_text(const Json& test) {
  if (test.is_null()) return "totals do not tell";
  if (test.at("degrees").get<int>() == 0) return "too few rounds to tell";
  return fmt::format("χ² = {:.4g}, {} degrees, p = {:.3g}", test.at("chi_squared").get<double>(),
                     test.at("degrees").get<int>(), test.at("p").get<double>());
}

std::string log_text(const Json& log) {
  Table table{
      "positions",
      fmt::format("\n{} rounds, {} tokens examined, {} accepted", log.at("rounds").get<std::uint64_t>(),
                  log.at("examined").get<std::uint64_t>(), log.at("accepted").get<std::uint64_t>()),
      {"position", "examined", "accepted", "a, given those before", "low", "high", "all up to here"},
      {},
      ""};
  for (const Json& row : log.at("positions")) {
    table.rows.push_back({count(row.at("position")), count(row.at("examined")), count(row.at("accepted")),
                          number(row.at("conditional")[0]), number(row.at("conditional")[1]),
                          number(row.at("conditional")[2]), number(row.at("unconditional"))});
  }
  std::string out = terminal(table);
  out += line("positions alike?", test_text(log.at("positions_alike")));
  out += line("rounds independent?", test_text(log.at("rounds_independent")));
  out += line("i.i.d.",
              log.at("iid_rejected").get<bool>() ? "REJECTED at level 0.001" : "not rejected at level 0.001");
  if (!log.at("alpha_by_stretches").is_null())
    out += line("α by 20 stretches", ranged(log.at("alpha_by_stretches")));
  const Json& other = log.at("other_choice");
  out += line(other.at("by") == "positions" ? "by positions" : "by the i.i.d. formula",
              fmt::format("γ = {}, speed {}", other.at("gamma").get<int>(), ranged(other.at("speed"))));
  return out +
         "Intervals: alpha by likelihood ratio (a simulation's by batches), a by Clopper and Pearson, speed "
         "through alpha by the formula,\nor by the delta method from positions. All but those of stretches "
         "and "
         "batches take rounds as independent.\n";
}

std::string batch_text(const Json& plan) {
  Table table{"batches", "\nBest γ by batch", {"batch", "to", "γ", "speed, at least"}, {}, ""};
  int last_paying = 0;
  bool pays_again = false;
  bool stopped = false;
  for (const Json& row : plan.at("batches")) {
    table.rows.push_back({number(row.at("first")), number(row.at("last")), number(row.at("gamma")),
                          number(row.at("least_speed"))});
    const bool pays = row.at("gamma").get<int>() > 0;
    pays_again = pays_again || (pays && stopped);
    stopped = stopped || !pays;
    if (pays && !pays_again) last_paying = row.at("last").get<int>();
  }
  const int most = plan.at("batches").back().at("last").get<int>();
  std::string out = terminal(table);
  if (!stopped) {
    const bool full =
        !plan.at("device").is_null() && plan.at("device").at("memory").at("largest_batch") == most;
    out += fmt::format("Speculation pays at every batch up to {}, the largest {}.\n", most,
                       full ? "that fits into memory" : "considered");
  } else if (last_paying == 0) {
    out += pays_again ? "Speculation does not pay at small batches, only where the table says so.\n"
                      : "Speculation does not pay at any batch.\n";
  } else {
    out += fmt::format("Switch speculation off beyond batch {}{}.\n", last_paying,
                       pays_again ? "; it pays again where the table says so" : "");
  }
  if (!plan.at("batch_limit").is_null() && plan.at("batch_limit").get<int>() < most) {
    out += fmt::format("With γ = {} at every batch it pays up to batch {} only.\n",
                       plan.at("best").at("gamma").get<int>(), plan.at("batch_limit").get<int>());
  }
  return out;
}

std::string asked_text(const Json& asked) {
  std::string out = line(fmt::format("at γ = {}", asked.at("gamma").get<int>()),
                         fmt::format("{} × plain decoding, {:.1f}% below the best", ranged(asked.at("speed")),
                                     asked.at("loss_percent").get<double>()));
  if (!asked.at("batch_limit").is_null())
    out += line("", fmt::format("pays up to batch {}", asked.at("batch_limit").get<int>()));
  return out;
}

std::string device_text(const Json& device, const Json& costs) {
  const Json& memory = device.at("memory");
  std::string out = "\n";
  out += line("device",
              fmt::format("{} × {} ({})", device.at("devices").get<int>(),
                          device.at("name").get<std::string>(), device.at("source").get<std::string>()));
  out += line("plain target run",
              fmt::format("{:.4g} ms, {}-bound: {:.3g} FLOP a byte, balanced at {:.3g}",
                          device.at("plain_ms").get<double>(),
                          device.at("compute_bound").get<bool>() ? "compute" : "memory",
                          device.at("intensity").get<double>(), device.at("balance").get<double>()));
  out +=
      line("a round", fmt::format("{:.4g} ms to verify, {:.4g} ms a drafted token",
                                  device.at("verify_ms").get<double>(), device.at("draft_ms").get<double>()));
  out += line("tokens per second",
              fmt::format("{:.4g} plain, {:.4g} speculative, batch {:.4g}, context {:.4g}",
                          device.at("plain_tokens_per_second").get<double>(),
                          device.at("speculative_tokens_per_second").get<double>(),
                          costs.at("batch").get<double>(), costs.at("context").get<double>()));
  const double usable = memory.at("usable").get<double>();
  const double weights =
      memory.at("target_weights").get<double>() +
      (memory.at("draft_weights").is_null() ? 0 : memory.at("draft_weights").get<double>());
  out += line("memory", fmt::format("{:.4g} GB of weights, {:.4g} GB of cache a sequence, {:.4g} GB usable",
                                    weights / giga, memory.at("cache_per_sequence").get<double>() / giga,
                                    usable / giga));
  if (!memory.at("largest_batch").is_null()) {
    const double fits = memory.at("largest_batch").get<double>();
    out += line("largest batch", fits < 0 ? "NONE: the weights do not fit, the rest is hypothetical"
                                 : fits < costs.at("batch").get<double>()
                                     ? fmt::format("{:.0f}: LESS THAN ASKED, the rest is hypothetical", fits)
                                     : fmt::format("{:.0f}", fits));
  }
  const Json& bytes = device.at("bytes_per_token");
  if (!bytes.is_null()) {
    out += line("memory traffic", fmt::format("{:.4g} GB a token plain, {:.4g} speculative",
                                              bytes[0].get<double>() / giga, bytes[1].get<double>() / giga));
    const Json& joules = device.at("joules_per_token");
    out +=
        line("energy, roughly", fmt::format("{:.3g} J a token plain, {:.3g} speculative (without idle power)",
                                            joules[0].get<double>(), joules[1].get<double>()));
  }
  return out + "Roofline: efficiencies and overheads are assumptions; see speclab plan --help.\n";
}

std::string settings_text(const Json& settings) {
  std::string out;
  for (const Json& setting : settings) {
    out += fmt::format("\n{} (options as of {}):\n", setting.at("server").get<std::string>(),
                       setting.at("checked").get<std::string>());
    for (const Json& one : setting.at("lines")) out += "  " + one.get<std::string>() + "\n";
  }
  return out;
}

}  // namespace

std::string plan_text(const Json& plan) {
  std::string out = head(plan);
  if (!plan.at("asked").is_null()) out += asked_text(plan.at("asked"));
  out += gamma_table(plan);
  if (!plan.at("log").is_null()) out += log_text(plan.at("log"));
  if (!plan.at("device").is_null()) out += device_text(plan.at("device"), plan.at("costs"));
  if (!plan.at("batches").is_null()) {
    out += batch_text(plan);
  } else {
    out +=
        "\nThe batch at which speculation stops paying needs --device, --target and --draft, or measured "
        "times.\n";
  }
  out += "\n";
  for (const Json& sentence : plan.at("advice")) out += sentence.get<std::string>() + "\n";
  return out + settings_text(plan.at("settings"));
}

std::string ranking_text(const Json& ranking) {
  Table table{"ranking", "", {"drafter", "α", "c", "best γ", "speed"}, {}, ""};
  for (const Json& plan : ranking.at("ranking")) {
    const Json& best = plan.at("best");
    table.rows.push_back({{plan.at("drafter").get<std::string>(), {}, ""},
                          number(plan.at("alpha").at("estimate")),
                          number(plan.at("costs").at("c")),
                          number(best.at("gamma")),
                          number(best.at("speed")[0])});
  }
  return terminal(table) + "\n" + plan_text(ranking.at("ranking")[0]);
}

}  // namespace speclab
