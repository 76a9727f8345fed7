// Printed numbers, judged by their formulas.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/verify/claims/claim_file.hpp"

namespace speclab {

enum class ClaimVerdict { follows, within_input_rounding, does_not_follow, needs_assumption, not_decidable };
/// "within the rounding of its inputs".
const char* words(ClaimVerdict verdict);

/// What became of a printed number.
struct JudgedClaim : ClaimWords {
  std::string source;  ///< name of the file
  std::string printed;
  double value = 0;     ///< of what is printed
  std::string check;    ///< name of the formula; empty without one
  std::string formula;  ///< as text
  std::string inputs;   ///< "from 2.1, to 2.36"
  ClaimVerdict verdict = ClaimVerdict::not_decidable;
  std::string assumption;  ///< that the formula rests on
  /// Of `needs_assumption`: what would be the verdict under it.
  std::optional<ClaimVerdict> under_assumption;
  /// What the formula gives or allows for the inputs as printed, and for all that round to them. Of a value
  /// both ends are alike; an end that is not finite is no bound.
  std::optional<double> least, most, rounded_least, rounded_most;
  /// Printed less the nearest number that rounding of the inputs allows, beyond the number's own rounding; 0
  /// for those that follow.
  double off = 0;

  /// The formula contradicts the number, by itself or under its assumption.
  bool contradicted() const;
};

/// How many numbers of each verdict.
struct ClaimCounts {
  std::uint64_t follows = 0, within_input_rounding = 0, does_not_follow = 0;
  std::uint64_t needs_assumption = 0;         ///< of which
  std::uint64_t assumption_contradicted = 0;  ///< are not as the formula says under the assumption
  std::uint64_t not_decidable = 0;

  std::uint64_t all() const;
  void add(const JudgedClaim& claim);
};

struct AuditedSource : SourceWords {
  ClaimCounts counts;
};

struct ClaimAudit {
  ClaimCounts counts;
  std::vector<AuditedSource> sources;
  std::vector<JudgedClaim> claims;  ///< in the order of sources and files
};
template <>
const Typed<ClaimAudit>& described();

/// The verdict on one number of the source of this name.
JudgedClaim judge(const Claim& claim, const std::string& source);

ClaimAudit audit_claims(const std::vector<ClaimSource>& sources);
/// Of these files (claim_file.hpp). Ends after Ctrl-C (core/stop.hpp).
ClaimAudit audit_claims(const std::vector<std::filesystem::path>& files);

/// The contradicted numbers of opened sources that are furthest off relative to the printed number, at most
/// `most`, and at most two of a source; the first of equals first.
std::vector<const JudgedClaim*> most_striking(const ClaimAudit& audit, std::size_t most);

/// "312 of 417 printed numbers follow ...".
std::string audit_headline(const ClaimAudit& audit);
Listing audit_text(const ClaimAudit& audit);
/// Its tables, with every source and every number: the headline stands above them on a page.
Listing audit_page(const ClaimAudit& audit);
/// Every formula with its inputs and its assumption.
Table checks_table();
std::vector<Figure> audit_figures(const ClaimAudit& audit);
/// results.csv: a row for each number.
std::string audit_csv(const ClaimAudit& audit);

}  // namespace speclab
