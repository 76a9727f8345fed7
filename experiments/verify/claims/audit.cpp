#include "experiments/verify/claims/audit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/result_fields.hpp"

namespace speclab {

namespace {

/// Accepts either rounding of a value exactly between two, such as 1.525.
constexpr double edge = 1e-9;

/// Returns the distance from [least, most] to the interval that rounds to the printed number: positive if the
/// printed number is above, negative if below, 0 if they overlap.
double gap(const PrintedNumber& printed, const Allowed& allowed) {
  const double slack = printed.half_unit * (1 + edge) + edge * std::abs(printed.value);
  if (printed.value - slack > allowed.most) return printed.value - printed.half_unit - allowed.most;
  if (printed.value + slack < allowed.least) return printed.value + printed.half_unit - allowed.least;
  return 0;
}

struct VerdictEntry {
  const char* words;
  std::uint64_t ClaimCounts::*count;
};

const VerdictEntry& entry_of(ClaimVerdict verdict) {
  static constexpr VerdictEntry entries[] = {
      // The entries have the order of ClaimVerdict.
      {"follows", &ClaimCounts::follows},
      {"within the rounding of its inputs", &ClaimCounts::within_input_rounding},
      {"does not follow", &ClaimCounts::does_not_follow},
      {"needs an assumption", &ClaimCounts::needs_assumption},
      {"not decidable", &ClaimCounts::not_decidable}};
  return entries[static_cast<std::size_t>(verdict)];
}

std::string words_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("kind")) return value["kind"].get<std::string>();
  if (!value.is_array()) return value.dump();
  std::vector<std::string> words;
  for (const Json& one : value) words.push_back(words_of(one));
  return fmt::format("[{}]", fmt::join(words, ", "));
}

std::string inputs_of(const ClaimCheckConfig& check) {
  Json json = Json::object();
  check.kind->parameters->write(check.parameters.get(), json);
  std::vector<std::string> words;
  for (const auto& [key, value] : json.items()) words.push_back(fmt::format("{} {}", key, words_of(value)));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

template <>
const Typed<ClaimVerdict>& described() {
  static const auto type =
      choice<ClaimVerdict>({{"follows", ClaimVerdict::follows},
                            {"within_input_rounding", ClaimVerdict::within_input_rounding},
                            {"does_not_follow", ClaimVerdict::does_not_follow},
                            {"needs_assumption", ClaimVerdict::needs_assumption},
                            {"not_decidable", ClaimVerdict::not_decidable}});
  return type;
}

const char* words(ClaimVerdict verdict) { return entry_of(verdict).words; }

template <>
const Typed<JudgedClaim>& described() {
  using J = JudgedClaim;
  static const auto type = result_object<J>(
      "judged_claim", {SPECLAB_FIELDS(J, source, where, quantity, printed, value),
                       sparse<J>("quote", &J::quote),
                       sparse("check", &J::check),
                       sparse("formula", &J::formula),
                       sparse("inputs", &J::inputs),
                       {"verdict", &J::verdict},
                       sparse("assumption", &J::assumption),
                       SPECLAB_FIELDS(J, under_assumption, least, most, rounded_least, rounded_most, off),
                       sparse<J>("undecided", &J::undecided),
                       sparse<J>("note", &J::note)});
  return type;
}

SPECLAB_RESULT(ClaimCounts, "claim_counts", follows, within_input_rounding, does_not_follow, needs_assumption,
               assumption_contradicted, not_decidable);
SPECLAB_RESULT(AuditedSource, "audited_source", name, source, address, date, licence, opened, not_opened,
               counts);
SPECLAB_RESULT(ClaimAudit, "claim_audit", counts, sources, claims);

bool JudgedClaim::contradicted() const {
  return verdict == ClaimVerdict::does_not_follow || under_assumption == ClaimVerdict::does_not_follow;
}

std::uint64_t ClaimCounts::all() const {
  return follows + within_input_rounding + does_not_follow + needs_assumption + not_decidable;
}

void ClaimCounts::add(const JudgedClaim& claim) {
  ++(this->*entry_of(claim.verdict).count);
  if (claim.verdict == ClaimVerdict::needs_assumption && claim.contradicted()) ++assumption_contradicted;
}

JudgedClaim judge(const Claim& claim, const std::string& source) {
  JudgedClaim judged;
  static_cast<ClaimWords&>(judged) = claim;
  judged.source = source;
  judged.printed = claim.printed.text;
  judged.value = claim.printed.value;
  if (!claim.check) return judged;
  const ClaimCheck& check = claim.check->entry();
  judged.check = check.name;
  judged.formula = check.formula;
  judged.inputs = inputs_of(*claim.check);
  judged.assumption = check.assumption;
  const AllowedRange range = check.range(*claim.check);
  const auto end = [](double value) {
    return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
  };
  judged.least = end(range.as_printed.least);
  judged.most = end(range.as_printed.most);
  judged.rounded_least = end(range.rounded.least);
  judged.rounded_most = end(range.rounded.most);
  judged.off = gap(claim.printed, range.rounded);
  const ClaimVerdict by_formula = gap(claim.printed, range.as_printed) == 0 ? ClaimVerdict::follows
                                  : judged.off == 0 ? ClaimVerdict::within_input_rounding
                                                    : ClaimVerdict::does_not_follow;
  judged.verdict = check.assumption.empty() ? by_formula : ClaimVerdict::needs_assumption;
  if (!check.assumption.empty()) judged.under_assumption = by_formula;
  return judged;
}

ClaimAudit audit_claims(const std::vector<ClaimSource>& sources) {
  ClaimAudit audit;
  for (const ClaimSource& source : sources) {
    AuditedSource& audited = audit.sources.emplace_back(AuditedSource{source, {}});
    for (const Claim& claim : source.claims) {
      const JudgedClaim& judged =
          audit.claims.emplace_back(in_file(source.file, [&] { return judge(claim, source.name); }));
      audited.counts.add(judged);
      audit.counts.add(judged);
    }
  }
  return audit;
}

ClaimAudit audit_claims(const std::vector<std::filesystem::path>& files) {
  std::vector<ClaimSource> sources;
  for (const std::filesystem::path& file : files) {
    end_if_stopped();
    sources.push_back(read_claim_file(file));
  }
  return audit_claims(sources);
}

std::vector<const JudgedClaim*> most_striking(const ClaimAudit& audit, std::size_t most) {
  std::set<std::string> opened;
  for (const AuditedSource& source : audit.sources) {
    if (!source.opened.empty()) opened.insert(source.name);
  }
  std::vector<const JudgedClaim*> off;
  for (const JudgedClaim& claim : audit.claims) {
    if (claim.contradicted() && opened.contains(claim.source)) off.push_back(&claim);
  }
  const auto share = [](const JudgedClaim* claim) {
    return std::abs(claim->off) / std::max(std::abs(claim->value), edge);
  };
  std::stable_sort(off.begin(), off.end(),
                   [&](const JudgedClaim* a, const JudgedClaim* b) { return share(a) > share(b); });
  constexpr int max_of_a_source = 2;
  std::map<std::string, int> taken;
  std::vector<const JudgedClaim*> striking;
  for (const JudgedClaim* claim : off) {
    if (striking.size() == most) break;
    if (++taken[claim->source] <= max_of_a_source) striking.push_back(claim);
  }
  return striking;
}

}  // namespace speclab
