// Texts and the table of `speclab plan tree`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "serving/advisor/memory_fit.hpp"
#include "serving/advisor/plan_text.hpp"
#include "serving/advisor/plan_words.hpp"
#include "serving/advisor/tree_plan.hpp"

namespace speclab {

namespace {

std::string tree_words(const TreeRow& row) {
  return row.nodes == 0
             ? "plain decoding"
             : fmt::format("{} drafted tokens in {} levels, top-k {}", row.nodes, row.levels, row.top_k);
}

std::string chain_words(const TreeRow& row) {
  return row.chain_gamma == 0
             ? "none is faster than decoding token by token"
             : fmt::format("γ = {}: {:.4g} × plain decoding", row.chain_gamma, row.chain_speedup);
}

std::string batches_of(const TreeRow& row) {
  return row.first == row.last ? std::to_string(row.first) : fmt::format("{} to {}", row.first, row.last);
}

}  // namespace

std::string tree_headline(const TreePlan& plan) {
  if (plan.best.nodes == 0) return "No tree is faster than decoding token by token here.";
  return fmt::format("{}: {:.4g} × plain decoding.", tree_words(plan.best), plan.best.speedup);
}

Listing tree_text(const TreePlan& plan) {
  Listing out;
  if (plan.fits_reason) out += hypothetical_text(*plan.fits_reason);
  out += plan_line("best tree", tree_words(plan.best));
  out += plan_line("expected speedup", "{:.4g} × plain decoding", plan.best.speedup);
  out += plan_line("tokens per target step", "{:.4g}", plan.best.tokens);
  out += plan_line("best chain", chain_words(plan.best));
  out += plan_line("accepted by rank", "{:.4g}", fmt::join(plan.rank_shares, ", "));
  out += plan_line("costs", "{}; at batch {:g}{}", plan.cost_from, plan.batch,
                   plan.context ? fmt::format(" and a context of {:g}", *plan.context) : "");
  if (!plan.batches.empty()) {
    Table table{
        "batches",
        "The best tree by batch",
        {"batch", "drafted tokens", "levels", "top-k", "tokens", "speedup", "best chain", "its speedup"},
        {},
        "Choices are within 1% of the best at each batch; speedups are the smallest over their batches."};
    for (const TreeRow& row : plan.batches) {
      table.rows.push_back({text_cell(batches_of(row)), plain_count(row.nodes), plain_count(row.levels),
                            plain_count(row.top_k), short_cell(row.tokens), short_cell(row.speedup),
                            plain_count(row.chain_gamma), short_cell(row.chain_speedup)});
    }
    out += std::move(table);
  }
  out += settings_text(plan.settings);
  return out;
}

}  // namespace speclab
