// Presents the audit of printed numbers for a terminal, a page and a spreadsheet.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "experiments/base/format/csv_values.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/verify/claims/audit.hpp"

namespace speclab {

namespace {

constexpr std::size_t striking_numbers = 10;

std::string plural(std::uint64_t count, const char* one, const char* several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

/// Returns the formula's value or bounds as text.
std::string said(const JudgedClaim& claim) {
  if (!claim.least && !claim.most) return "";
  if (!claim.least) return "at most " + number_text(*claim.most);
  if (!claim.most) return "at least " + number_text(*claim.least);
  if (*claim.least == *claim.most) return number_text(*claim.least);
  return fmt::format("{} to {}", number_text(*claim.least), number_text(*claim.most));
}

Cell verdict_cell(const JudgedClaim& claim) {
  std::string text = words(claim.verdict);
  if (claim.under_assumption) {
    text += claim.contradicted() ? ", and is contradicted under it"
                                 : fmt::format("; {} under it", words(*claim.under_assumption));
  }
  Cell cell = text_cell(text);
  cell.css_class = claim.contradicted()                           ? "bad"
                   : claim.verdict == ClaimVerdict::follows       ? "good"
                   : claim.verdict == ClaimVerdict::not_decidable ? ""
                                                                  : "note";
  return cell;
}

Cell off_cell(const JudgedClaim& claim) {
  return claim.contradicted() ? number_cell(claim.off) : text_cell("");
}

Table counts_table(const ClaimCounts& counts) {
  Table table{.id = {}, .caption = "Printed numbers by verdict", .columns = {"verdict", "numbers"}};
  const auto add = [&](std::string verdict, std::uint64_t count) {
    table.rows.push_back({text_cell(std::move(verdict)), count_cell(count)});
  };
  add(words(ClaimVerdict::follows), counts.follows);
  add(words(ClaimVerdict::within_input_rounding), counts.within_input_rounding);
  add(words(ClaimVerdict::does_not_follow), counts.does_not_follow);
  add("needs an assumption, and agrees under it", counts.needs_assumption - counts.assumption_contradicted);
  add("needs an assumption, and does not agree under it", counts.assumption_contradicted);
  add(words(ClaimVerdict::not_decidable), counts.not_decidable);
  add("all", counts.all());
  return table;
}

Table striking_table(const ClaimAudit& audit) {
  Table table{.id = {},
              .caption = "Largest differences in sources that were opened again, at most two per source",
              .columns = {"source", "printed", "formula", "off by", "quantity", "inputs", "assumption"}};
  for (const JudgedClaim* claim : most_striking(audit, striking_numbers)) {
    table.rows.push_back({text_cell(claim->source), text_cell(claim->printed), text_cell(said(*claim)),
                          off_cell(*claim), text_cell(claim->where + ": " + claim->quantity),
                          text_cell(claim->inputs), text_cell(claim->assumption)});
  }
  table.note =
      "Relative to the printed number, and beyond the rounding of it and of its inputs. A number that does "
      "not follow may be right, and come from inputs that are not printed.";
  return table;
}

Table sources_table(const ClaimAudit& audit) {
  Table table{.id = {},
              .caption = "Sources",
              .columns = {"source", "numbers", "follow", "within rounding", "do not follow",
                          "need an assumption", "not so under it", "not decidable", "opened"}};
  for (const AuditedSource& source : audit.sources) {
    const ClaimCounts& counts = source.counts;
    table.rows.push_back({text_cell(source.name), count_cell(counts.all()), count_cell(counts.follows),
                          count_cell(counts.within_input_rounding), count_cell(counts.does_not_follow),
                          count_cell(counts.needs_assumption), count_cell(counts.assumption_contradicted),
                          count_cell(counts.not_decidable),
                          text_cell(source.opened.empty() ? "no" : source.opened)});
  }
  return table;
}

Table addresses_table(const ClaimAudit& audit) {
  Table table{.id = {},
              .caption = "Where they are printed",
              .columns = {"source", "cited as", "address", "date", "licence", "opened"}};
  for (const AuditedSource& source : audit.sources) {
    table.rows.push_back(
        {text_cell(source.name), text_cell(source.source), text_cell(source.address), text_cell(source.date),
         text_cell(source.licence),
         text_cell(source.opened.empty() ? "not opened: " + source.not_opened : source.opened)});
  }
  table.folded = true;
  return table;
}

Table claims_table(const ClaimAudit& audit) {
  Table table{.id = {},
              .caption = "Every number",
              .columns = {"source", "where", "quantity", "printed", "formula", "verdict", "off by", "by",
                          "inputs", "assumption, reason or note", "quote"}};
  for (const JudgedClaim& claim : audit.claims) {
    std::string remark = claim.assumption.empty() ? claim.undecided : claim.assumption;
    if (!claim.note.empty()) remark += (remark.empty() ? "" : ". ") + claim.note;
    table.rows.push_back({text_cell(claim.source), text_cell(claim.where), text_cell(claim.quantity),
                          text_cell(claim.printed), text_cell(said(claim)), verdict_cell(claim),
                          off_cell(claim), text_cell(claim.formula), text_cell(claim.inputs),
                          text_cell(remark), text_cell(claim.quote)});
  }
  table.folded = true;
  return table;
}

Listing audit_tables(const ClaimAudit& audit) {
  Listing out;
  out += counts_table(audit.counts);
  if (Table striking = striking_table(audit); !striking.rows.empty()) out += std::move(striking);
  out += sources_table(audit);
  return out;
}

}  // namespace

std::string audit_headline(const ClaimAudit& audit) {
  const ClaimCounts& counts = audit.counts;
  std::string text =
      fmt::format("{} of {} printed numbers of {} follow from their printed inputs", counts.follows,
                  counts.all(), plural(audit.sources.size(), "source", "sources"));
  if (counts.within_input_rounding > 0) {
    text += fmt::format(", {} within the rounding of the inputs", counts.within_input_rounding);
  }
  if (counts.does_not_follow > 0) {
    text += fmt::format("; {} not", plural(counts.does_not_follow, "does", "do"));
  }
  text += ".";
  if (counts.needs_assumption > 0) {
    text += fmt::format(" {} an assumption; under it, {} not as the formula says.",
                        plural(counts.needs_assumption, "needs", "need"),
                        plural(counts.assumption_contradicted, "is", "are"));
  }
  if (counts.not_decidable > 0) {
    text += fmt::format(" {} not decidable.", plural(counts.not_decidable, "is", "are"));
  }
  return text;
}

Listing audit_text(const ClaimAudit& audit) {
  Listing out;
  out += audit_headline(audit);
  out += audit_tables(audit);
  return out;
}

Table checks_table() {
  Table table{.id = {}, .caption = "Checks", .columns = {"check", "inputs", "formula", "assumption"}};
  for (const KindInfo* kind : claim_check_family().kinds()) {
    const auto& check = static_cast<const ClaimCheck&>(*kind);
    std::vector<std::string> inputs;
    for (const Field& field : check.parameters->object()->fields()) inputs.push_back(field.name);
    table.rows.push_back({text_cell(check.name), text_cell(fmt::format("{}", fmt::join(inputs, ", "))),
                          text_cell(check.formula), text_cell(check.assumption)});
  }
  return table;
}

std::vector<Figure> audit_figures(const ClaimAudit& audit) {
  Figure figure;
  figure.title = "Printed numbers that differ from what follows";
  figure.x_label = "printed number (its size)";
  figure.y_label = "printed minus formula, beyond all rounding, in % of the printed number";
  figure.log_x = true;
  for (const bool assumed : {false, true}) {
    Series series{.name = assumed ? "under the formula's assumption" : "by arithmetic alone",
                  .style = SeriesStyle::points};
    for (const JudgedClaim& claim : audit.claims) {
      const double printed = std::abs(claim.value);
      if (!claim.contradicted() || claim.under_assumption.has_value() != assumed || printed == 0) continue;
      series.add(printed, 100 * claim.off / printed);
      series.names.push_back(fmt::format("{}, {}: printed {}, formula {}", claim.source, claim.quantity,
                                         claim.printed, said(claim)));
      series.labels.push_back(claim.source);
    }
    figure.add(std::move(series));
  }
  if (figure.series.empty()) return {};
  figure.caption = fmt::format(
      "Each point is a printed number that its formula contradicts, of {} that were judged by a formula. "
      "Those that follow, also within the rounding of their inputs, are at 0 and not drawn.",
      audit.counts.all() - audit.counts.not_decidable);
  return {figure};
}

std::string audit_csv(const ClaimAudit& audit) {
  std::vector<std::vector<CsvValue>> rows;
  for (const JudgedClaim& claim : audit.claims) {
    rows.push_back({claim.source, claim.where, claim.quantity, claim.printed, claim.value, claim.check,
                    claim.inputs, words(claim.verdict),
                    claim.under_assumption ? words(*claim.under_assumption) : std::string(),
                    csv_value(claim.least), csv_value(claim.most), csv_value(claim.rounded_least),
                    csv_value(claim.rounded_most), claim.off, claim.assumption, claim.undecided, claim.note,
                    claim.quote});
  }
  return csv(
      {"source", "where", "quantity", "printed", "value", "check", "inputs", "verdict", "under_assumption",
       "least", "most", "rounded_least", "rounded_most", "off", "assumption", "undecided", "note", "quote"},
      rows);
}

Listing audit_page(const ClaimAudit& audit) {
  Listing out = audit_tables(audit);
  out += addresses_table(audit);
  out += claims_table(audit);
  return out;
}

}  // namespace speclab
