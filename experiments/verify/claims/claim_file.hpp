// Reads the files of configs/claims: a source, and numbers that it prints with the formula and inputs they
// are said to come from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/verify/claims/claim_check.hpp"

namespace speclab {

/// The file's description of a printed number, whether or not a formula judges it.
struct ClaimWords {
  std::string where;      ///< table, section or comment of the source
  std::string quantity;   ///< quantity and unit
  std::string quote;      ///< at most a line of the source
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
  std::string not_opened;  ///< reason why they were not, and where they come from instead
};

struct ClaimSource : SourceWords {
  std::string file;
  std::vector<Claim> claims;
};

/// Reads a file. Throws ConfigError, with the file's name, if something is missing, unknown or contradictory.
ClaimSource read_claim_file(const std::filesystem::path& file);

/// Returns the JSON files of a folder, by name: all of them, or only those that `only` names (without
/// ".json"), in its order. Throws UsageError if there are none, or if a name is unknown.
std::vector<std::filesystem::path> claim_files(const std::filesystem::path& folder,
                                               const std::vector<std::string>& only = {});

}  // namespace speclab
