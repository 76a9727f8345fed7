// Reads the files of configs/claims: a source, and numbers that it prints, each with the formula and inputs
// that it is said to come from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/verify/claims/claim_check.hpp"

namespace speclab {

/// A printed number's description, with or without a formula.
struct ClaimWords {
  std::string where;      ///< table, section or comment of the source
  std::string quantity;   ///< quantity and unit
  std::string quote;      ///< at most one line of the source
  std::string undecided;  ///< reason why no formula can judge it
  std::string note;       ///< further remark for readers
};

/// A printed number.
struct Claim : ClaimWords {
  PrintedNumber printed;
  std::optional<ClaimCheckConfig> check;  ///< the formula with its inputs, unless `undecided`
};

struct SourceWords {
  std::string name;     ///< name of the file, without ".json"
  std::string source;   ///< citation
  std::string address;  ///< https://...
  std::string date;     ///< date of the source, YYYY-MM-DD; empty if unknown
  std::string licence;
  std::string opened;      ///< date when the numbers were last compared with the source, YYYY-MM-DD, or
  std::string not_opened;  ///< why they were not, and where they come from instead
};

struct ClaimSource : SourceWords {
  std::string file;
  std::vector<Claim> claims;
};

/// Reads a file. Throws ConfigError, naming the file, for missing, unknown or contradictory content.
ClaimSource read_claim_file(const std::filesystem::path& file);

/// Returns a folder's JSON files by name, or only those that `only` names (without ".json"), in its order.
/// Throws UsageError if there are none, or for an unknown name.
std::vector<std::filesystem::path> claim_files(const std::filesystem::path& folder,
                                               const std::vector<std::string>& only = {});

}  // namespace speclab
