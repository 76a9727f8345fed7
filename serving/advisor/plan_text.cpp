#include "serving/advisor/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/base/page/cells.hpp"
#include "serving/advisor/memory_fit.hpp"
#include "serving/advisor/plan_words.hpp"

namespace speclab {

std::string speedup_lines(const Interval& speedup, const std::optional<SpeedupRange>& at_other_costs,
                          const std::string& why) {
  std::string out = plan_line("expected speedup", ranged(speedup, why) + " × plain decoding");
  if (speedup.bounded() && speedup.low != speedup.high)
    out += plan_line("", "the interval covers acceptance only; costs are taken as exact");
  if (at_other_costs) {
    out += plan_line("at other costs", "{}: efficiencies a fifth lower or higher, overheads half or double",
                     range_words(short_number(at_other_costs->low), short_number(at_other_costs->high)));
  }
  return out;
}

Table metrics_table(const AcceptanceMetrics& metrics, const std::string& of_what) {
  Table table{.id = "metrics",
              .caption = "Acceptance " + of_what + ", by every definition in use",
              .columns = {"metric", "value", "who prints it"}};
  const auto add = [&](const char* metric, std::optional<double> value, const char* names) {
    table.rows.push_back({text_cell(metric), short_cell(value), text_cell(names)});
  };
  // The names come from docs/acceptance-metrics.md.
  add("accepted / drafted", metrics.accepted_of_drafted,
      "vLLM draft acceptance rate, llama.cpp draft acceptance, TensorRT-LLM numAcceptedTokens / numDraftTokens");
  add("accepted / examined", metrics.accepted_of_examined, "α here, if acceptances are i.i.d.");
  add("accepted / emitted", metrics.accepted_of_emitted, "share of the text that was drafted");
  add("emitted / verified", metrics.emitted_of_verified,
      "DSpark acceptance rate, with the bonus; vLLM V0 system efficiency");
  add("accepted a round", metrics.accepted_a_round, "TGI skipped tokens: length without the bonus");
  add("emitted a round", metrics.emitted_a_round,
      "vLLM and llama.cpp mean acceptance length, SGLang accept len, TensorRT-LLM acceptanceLength, τ");
  if (metrics.mean_of_rates) {
    add("mean of rounds' rates", metrics.mean_of_rates, "accepted / drafted of each round, averaged");
  }
  if (!metrics.by_position.empty()) {
    table.note =
        "By position vLLM and llama.cpp print \"all up to here\"; \"a, given those before\" is the conditional rate, EAGLE's n-α at position n + 1.";
  }
  return table;
}

namespace {

constexpr const char* alike_stretches = ": neighbouring pieces of the log are correlated";

std::string ranged(const Interval& interval) { return speclab::ranged(interval, alike_stretches); }

std::string head(const DrafterPlan& plan) {
  std::string out;
  if (!plan.drafter.empty()) out += plan_line("drafter", plan.drafter);
  out += plan_line("α", "{}, {}{}", ranged(plan.alpha.value), plan.alpha.from,
                   plan.alpha.estimated() ? ", confidence " + confidence_text(plan.alpha.confidence) : "");
  if (plan.alpha.note) out += plan_line("", *plan.alpha.note);
  out += plan_line("c", cost_words(plan.costs.c, plan.costs.drafted_in_one_run, plan.costs.from));
  out += plan_line("best γ", "{}", plan.best.gamma);
  out += speedup_lines(plan.best.speedup, plan.best.speedup_at_other_costs, alike_stretches);
  out += plan_line("tokens per target step", short_number(plan.best.tokens_per_target_step));
  out += plan_line("within 1% of the best", range_words(plan.best.within_1_percent));
  if (plan.bounds.guaranteed_speedup) {
    out += plan_line("guaranteed speedup", "{} at some γ (Cor. 3.9)",
                     short_number(plan.bounds.guaranteed_speedup));
  }
  std::string paid = short_number(plan.bounds.upper_bound_drafting_paid);
  if (plan.bounds.longest_draft) {
    paid += fmt::format(", for drafts of at most {} {}; longer ones may be above it",
                        *plan.bounds.longest_draft, *plan.bounds.longest_draft == 1 ? "token" : "tokens");
  }
  out += plan_line("bound, drafting paid", paid);
  out += plan_line("bound, drafting free", short_number(plan.bounds.upper_bound_drafting_free));
  return out + plan.best.reason + "\n";
}

Table gamma_table(const DrafterPlan& plan) {
  Table table{"gammas", "Speedup by γ", {"γ", "tokens per target step", "verify cost", "speedup"}};
  if (plan.alpha.estimated()) table.columns.insert(table.columns.end(), {"low", "high"});
  for (const GammaRow& row : plan.gammas) {
    std::vector<Cell> cells{gamma_cell(row.gamma, plan.best.gamma), short_cell(row.tokens_per_target_step),
                            short_cell(row.verify_cost), short_cell(row.speedup.estimate)};
    if (plan.alpha.estimated()) {
      cells.insert(cells.end(), {short_cell(row.speedup.low), short_cell(row.speedup.high)});
    }
    table.rows.push_back(cells);
  }
  return table;
}

std::string test_text(const std::optional<LogTest>& test) {
  if (!test) return "totals do not tell";
  if (test->degrees == 0) return "too few rounds to tell";
  return fmt::format("χ² = {:.4g}, {} {}, p = {:.3g}", test->statistic, test->degrees,
                     test->degrees == 1 ? "degree of freedom" : "degrees of freedom", test->p);
}

Listing log_text(const LogFindings& log) {
  Table table{"positions",
              fmt::format("{} rounds, {} tokens examined, {} accepted ({})", log.rounds, log.examined,
                          log.accepted, log.format),
              {"position", "examined", "accepted", "a, given those before", "low", "high", "all up to here"}};
  for (const LogPosition& row : log.positions) {
    table.rows.push_back({plain_count(row.position), plain_count(row.examined), plain_count(row.accepted),
                          short_cell(row.conditional.estimate), short_cell(row.conditional.low),
                          short_cell(row.conditional.high), short_cell(row.unconditional)});
  }
  Listing out;
  out += std::move(table);
  out += plan_line("positions alike?", test_text(log.positions_alike));
  out += plan_line("rounds independent?", test_text(log.rounds_independent));
  out += plan_line("i.i.d.", log.iid_rejected ? "REJECTED at level 0.001" : "not rejected at level 0.001");
  if (log.alpha_by_stretches) out += plan_line("α by 20 pieces", ranged(*log.alpha_by_stretches));
  const OtherChoice& other = log.other_choice;
  out += plan_line(other.by == AcceptanceModel::positions ? "by positions" : "by the i.i.d. formula",
                   "γ = {}, speedup {}", other.gamma, ranged(other.speedup));
  out += R"(Intervals: α and a by Clopper and Pearson; the speedup's follows from α's by the formula,
or from the positions. The speedup's by positions also contains the one from ten pieces of
the log, if it has rounds. Apart from pieces, rounds are taken as independent.
)";
  return out;
}

std::string means_text(const LogMeans& means) {
  std::string out = "\n" + plan_line("log", "{:.4g} of {:.4g} drafted tokens per round accepted ({})",
                                     means.accepted, means.drafted, means.format);
  out += plan_line("rounds",
                   means.rounds > 0
                       ? fmt::format("{}", means.rounds)
                       : fmt::format("not counted; {} lines of means, taken as independent", means.lines));
  return out +
         "The log has neither single rounds nor positions: alpha assumes i.i.d. acceptance, which cannot be tested.\n";
}

Listing batch_text(const DrafterPlan& plan) {
  Table table{"batches", "Best γ by batch", {"batch", "to", "γ", "speedup, at least"}};
  for (const BatchRange& row : *plan.batches) {
    table.rows.push_back(
        {short_cell(row.first), short_cell(row.last), short_cell(row.gamma), short_cell(row.min_speedup)});
  }
  Listing out;
  out += std::move(table);
  out += batch_sentences(plan);
  return out;
}

std::string device_text(const DeviceFindings& device, const PlannedCosts& costs) {
  const DeviceMemory& memory = device.memory;
  std::string out = "\n";
  out += plan_line("device", "{} × {} ({})", device.devices, device.name, device.source);
  out += plan_line("plain target run", "{:.4g} ms, {}-bound: {:.3g} FLOP a byte, ridge point {:.3g}",
                   device.plain_ms, device.compute_bound ? "compute" : "memory", device.intensity,
                   device.balance);
  out += plan_line("a round", "{:.4g} ms to verify, {:.4g} ms {}", device.verify_ms, device.draft_ms,
                   costs.drafted_in_one_run ? "to draft, in one run" : "a drafted token");
  out += plan_line("tokens per second", "{:.4g} plain, {:.4g} speculative, batch {:.4g}, context {:.4g}",
                   device.plain_tokens_per_second, device.speculative_tokens_per_second, costs.batch,
                   costs.context.value_or(0));
  const double weights = memory.target_weights + memory.draft_weights.value_or(0);
  out += plan_line("memory", "{:.4g} GB of weights, {:.4g} GB of cache a sequence, {:.4g} GB usable",
                   weights / giga, memory.cache_per_sequence / giga, memory.usable / giga);
  if (memory.state_per_sequence) {
    out += plan_line("recurrent states", "{:.4g} GB a sequence of that, at the best γ (--recurrent-states)",
                     *memory.state_per_sequence / giga);
  }
  if (memory.largest_batch) {
    const double fits = *memory.largest_batch;
    out += plan_line("largest batch",
                     fits < 0 ? "NONE: the weights do not fit, the rest is hypothetical"
                     : fits < costs.batch
                         ? fmt::format("{:.0f}: LESS THAN ASKED, the rest is hypothetical", fits)
                         : fmt::format("{:.0f}", fits));
  }
  return out;
}

std::string speedup_words(const Interval& speedup) {
  const std::string estimate = fmt::format("{:.3g}", speedup.estimate);
  const std::string range =
      range_words(fmt::format("{:.3g}", speedup.low), fmt::format("{:.3g}", speedup.high));
  return range == estimate ? estimate : fmt::format("{} ({} by acceptance alone)", estimate, range);
}

Figure gamma_figure(const DrafterPlan& plan) {
  Figure figure{"", "Expected speedup by γ", "γ", "speedup over plain decoding"};
  Series& line = figure.series.emplace_back(Series{.name = "expected"});
  for (const GammaRow& row : plan.gammas) {
    plan.alpha.estimated() ? line.add(row.gamma, row.speedup) : line.add(row.gamma, row.speedup.estimate);
  }
  Series best{.name = "best", .style = SeriesStyle::points};
  best.add(plan.best.gamma, plan.best.speedup.estimate);
  figure.series.push_back(std::move(best));
  if (plan.alpha.estimated())
    figure.caption = fmt::format("Band: the {} interval that follows from α's.",
                                 confidence_percent(plan.alpha.confidence));
  return figure;
}

Figure batch_figure(const std::vector<BatchRange>& batches) {
  Figure figure{"", "Best γ by batch", "sequences decoded together", "γ; 0: do not speculate"};
  figure.log_x = true;
  Series line{.name = "best γ", .style = SeriesStyle::steps};
  for (const BatchRange& range : batches) {
    line.add(range.first, range.gamma);
    line.add(range.last, range.gamma);
  }
  figure.series.push_back(std::move(line));
  figure.caption = "The γ of the largest speedup at each batch.";
  return figure;
}

Figure log_figure(const LogFindings& log) {
  Figure figure{"", "Acceptance by position, as logged", "position in the drafted tokens",
                "P[accepted | those before]"};
  figure.y_range = AxisRange{0, 1.03};
  Series points{.name = "logged", .style = SeriesStyle::points};
  for (const LogPosition& position : log.positions)
    points.add(static_cast<double>(position.position), position.conditional);
  figure.series.push_back(std::move(points));
  figure.caption =
      log.iid_rejected
          ? "Acceptance differs between positions, or depends on earlier acceptances (level 0.001)."
          : "The log does not contradict equal and independent acceptances (level 0.001).";
  return figure;
}

}  // namespace

std::string batch_sentences(const DrafterPlan& plan) {
  int last_paying = 0;
  bool pays_again = false;
  bool stopped = false;
  for (const BatchRange& row : *plan.batches) {
    const bool pays = row.gamma > 0;
    pays_again = pays_again || (pays && stopped);
    stopped = stopped || !pays;
    if (pays && !pays_again) last_paying = row.last;
  }
  const int most = plan.batches->back().last;
  std::string out;
  if (!stopped) {
    const bool full = plan.device && plan.device->memory.largest_batch == most;
    out = fmt::format(
        "With the best γ of each batch speculation pays at every batch up to {}, the largest {}.\n", most,
        full                    ? "that fits into memory"
        : plan.batches_measured ? "measured"
                                : "considered");
  } else if (last_paying == 0) {
    out = pays_again ? "Speculation does not pay at small batches, only where the table says so.\n"
                     : "Speculation does not pay at any batch.\n";
  } else {
    out = fmt::format("Switch speculation off beyond batch {}{}.\n", last_paying,
                      pays_again ? "; it pays again where the table says so" : "");
  }
  if (plan.batch_limit && *plan.batch_limit < most) {
    out += fmt::format("With γ = {} at every batch it pays up to batch {} only.\n", plan.best.gamma,
                       *plan.batch_limit);
  }
  return out;
}

std::string settings_text(const std::vector<ServerSetting>& settings) {
  if (settings.empty()) return "";
  const bool one_server =
      std::ranges::all_of(settings, [&](const auto& one) { return one.server == settings[0].server; });
  std::string out;
  std::string synthetic;
  std::string purpose;
  for (const ServerSetting& setting : settings) {
    if (setting.purpose != purpose) out += fmt::format("\nSettings for {}\n", setting.purpose);
    purpose = setting.purpose;
    out += fmt::format("{}, options of {}:\n", setting.server, setting.checked);
    for (const std::string& one : setting.lines) out += "  " + one + "\n";
    for (const std::string& note : setting.notes) out += "  " + note + "\n";
    if (setting.synthetic) {
      synthetic +=
          fmt::format("  {}, {}:\n    {}\n", setting.server, setting.synthetic->law, setting.synthetic->line);
    }
    if (!one_server) continue;
    for (const ServerSetting::OlderForm& form : setting.older) {
      out += fmt::format("  {}:\n", form.versions);
      for (const std::string& one : form.lines) out += "    " + one + "\n";
    }
    out += fmt::format("  To check: {}\n", setting.check);
  }
  out += fmt::format("Servers rename options{}; speclab plan list options names the source of each.\n",
                     one_server ? "" : ": --server NAME prints one server's with older forms and a check");
  if (synthetic.empty()) return out;
  return out + "\nFor benchmarks with simulated acceptance as planned (the text is then meaningless):\n" +
         synthetic;
}

Listing plan_text(const DrafterPlan& plan) {
  Listing out;
  if (plan.fits_reason) out += hypothetical_text(*plan.fits_reason);
  out += head(plan);
  if (!plan.gammas.empty()) out += gamma_table(plan);
  if (plan.log) out += log_text(*plan.log);
  if (plan.log) out += metrics_table(plan.log->metrics, "of the log");
  if (plan.means) {
    out += means_text(*plan.means);
    out += metrics_table(plan.means->metrics, "of the log");
  }
  if (plan.device) out += device_text(*plan.device, plan.costs);
  if (plan.batches) {
    out += batch_text(plan);
  } else if (!plan.device) {
    out += R"(
The batch at which speculation stops paying needs --device, --target and --draft, or times measured at several batches.
)";
  }
  out += "\n";
  for (const std::string& sentence : plan.advice) out += sentence + "\n";
  out += settings_text(plan.settings);
  return out;
}

std::string plan_headline(const DrafterPlan& plan) {
  if (plan.fits_reason) return "It does not fit: " + *plan.fits_reason;
  if (plan.best.gamma == 0)
    return "Do not speculate: no γ is faster than decoding token by token. " + plan.best.reason;
  std::string text = fmt::format("Draft γ = {} tokens: speedup {} over plain decoding.", plan.best.gamma,
                                 speedup_words(plan.best.speedup));
  if (const auto& other = plan.best.speedup_at_other_costs)
    text += fmt::format(" At other costs than assumed {}.",
                        range_words(fmt::format("{:.3g}", other->low), fmt::format("{:.3g}", other->high)));
  if (plan.batches) {
    std::string sentences = " " + batch_sentences(plan);
    sentences.pop_back();
    std::replace(sentences.begin(), sentences.end(), '\n', ' ');
    text += sentences;
  }
  return text;
}

std::vector<Figure> plan_figures(const DrafterPlan& plan) {
  std::vector<Figure> figures;
  if (plan.fits_reason) return figures;
  if (!plan.gammas.empty()) figures.push_back(gamma_figure(plan));
  if (plan.batches && !plan.batches->empty()) figures.push_back(batch_figure(*plan.batches));
  if (plan.log && !plan.log->positions.empty()) figures.push_back(log_figure(*plan.log));
  return figures;
}

}  // namespace speclab
