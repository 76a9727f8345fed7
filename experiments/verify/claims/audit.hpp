// Judges printed numbers by formulas.
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
/// Returns the verdict in words: "within the rounding of its inputs".
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
  /// For `needs_assumption`: the verdict if the assumption holds.
  std::optional<ClaimVerdict> under_assumption;
  /// The formula's bounds for the inputs as printed, and for all inputs that round to them. They are equal if
  /// the formula gives a value; infinite bounds do not limit.
  std::optional<double> least, most, rounded_least, rounded_most;
  /// The printed number minus the nearest number that the rounding of the inputs allows, beyond its own
  /// rounding; 0 if it follows.
  double off = 0;

  /// Returns true if the formula contradicts the number, by itself or under its assumption.
  bool contradicted() const;
};

/// Numbers of claims by verdict.
struct ClaimCounts {
  std::uint64_t follows = 0, within_input_rounding = 0, does_not_follow = 0;
  std::uint64_t needs_assumption = 0;         ///< all that need an assumption
  std::uint64_t assumption_contradicted = 0;  ///< of these, contradicted under the assumption
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

/// Judges one number of the source `source`.
JudgedClaim judge(const Claim& claim, const std::string& source);

ClaimAudit audit_claims(const std::vector<ClaimSource>& sources);
/// Audits the claims in files (claim_file.hpp). Ends early after Ctrl-C (core/stop.hpp).
ClaimAudit audit_claims(const std::vector<std::filesystem::path>& files);

/// Returns the contradicted numbers of opened sources that are furthest off relative to the printed number:
/// at most `most`, and two per source. Ties keep their order.
std::vector<const JudgedClaim*> most_striking(const ClaimAudit& audit, std::size_t most);

/// Returns "312 of 417 printed numbers follow ...".
std::string audit_headline(const ClaimAudit& audit);
Listing audit_text(const ClaimAudit& audit);
/// Returns a page's tables, with every source and number; the page shows the headline above them.
Listing audit_page(const ClaimAudit& audit);
/// Returns a table of all formulas with their inputs and assumptions.
Table checks_table();
std::vector<Figure> audit_figures(const ClaimAudit& audit);
/// Returns results.csv, one row per number.
std::string audit_csv(const ClaimAudit& audit);

}  // namespace speclab
