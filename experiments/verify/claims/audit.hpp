// Judges printed numbers by their formulas.
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
/// Returns the verdict in words, such as "within the rounding of its inputs".
const char* words(ClaimVerdict verdict);

/// A printed number and its verdict.
struct JudgedClaim : ClaimWords {
  std::string source;  ///< name of the source's file
  std::string printed;
  double value = 0;     ///< value of the printed text
  std::string check;    ///< name of the formula; empty if there is none
  std::string formula;  ///< as text
  std::string inputs;   ///< "from 2.1, to 2.36"
  ClaimVerdict verdict = ClaimVerdict::not_decidable;
  std::string assumption;  ///< assumption of the formula
  /// Set if the verdict is `needs_assumption`: the verdict if the assumption holds.
  std::optional<ClaimVerdict> under_assumption;
  /// The bounds that the formula gives for the inputs as printed, and for all inputs that round to them. Both
  /// bounds of a value are equal; a bound that is not finite does not limit.
  std::optional<double> least, most, rounded_least, rounded_most;
  /// The printed number minus the nearest number that rounding of the inputs allows, beyond the number's own
  /// rounding; 0 for numbers that follow.
  double off = 0;

  /// Returns true if the formula contradicts the number, by itself or under its assumption.
  bool contradicted() const;
};

/// The number of claims with each verdict.
struct ClaimCounts {
  std::uint64_t follows = 0, within_input_rounding = 0, does_not_follow = 0;
  std::uint64_t needs_assumption = 0;         ///< all that need an assumption
  std::uint64_t assumption_contradicted = 0;  ///< those that contradict the formula under the assumption
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

/// Judges one number of the source of this name.
JudgedClaim judge(const Claim& claim, const std::string& source);

ClaimAudit audit_claims(const std::vector<ClaimSource>& sources);
/// Audits the claims of these files (claim_file.hpp). Ends early after Ctrl-C (core/stop.hpp).
ClaimAudit audit_claims(const std::vector<std::filesystem::path>& files);

/// Returns the contradicted numbers of opened sources that are furthest off relative to the printed number:
/// at most `most` in all and two per source. Equally distant ones keep their order.
std::vector<const JudgedClaim*> most_striking(const ClaimAudit& audit, std::size_t most);

/// Returns a headline such as "312 of 417 printed numbers follow ...".
std::string audit_headline(const ClaimAudit& audit);
Listing audit_text(const ClaimAudit& audit);
/// Returns the tables of a page, with every source and every number; the page shows the headline above them.
Listing audit_page(const ClaimAudit& audit);
/// Returns a table of every formula with its inputs and its assumption.
Table checks_table();
std::vector<Figure> audit_figures(const ClaimAudit& audit);
/// Returns results.csv, with a row for each number.
std::string audit_csv(const ClaimAudit& audit);

}  // namespace speclab
