// The files of configs/claims: a source, and numbers that it prints with what they are said to come from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/verify/claims/claim_check.hpp"

namespace speclab {

/// What is said of a printed number, judged or not.
struct ClaimWords {
  std::string where;      ///< table, section or comment
  std::string quantity;   ///< what the number is of, with its unit
  std::string quote;      ///< at most a line of the source
  std::string undecided;  ///< why no formula can judge it
  std::string note;       ///< what a reader should know beside the verdict
};

/// A printed number.
struct Claim : ClaimWords {
  PrintedNumber printed;
  std::optional<ClaimCheckConfig> check;  ///< the formula with its inputs, unless `undecided`
};

struct SourceWords {
  std::string name;     ///< of the file, without ".json"
  std::string source;   ///< as it is cited
  std::string address;  ///< https://...
  std::string date;     ///< of the source, YYYY-MM-DD; empty where it is not known
  std::string licence;
  std::string opened;      ///< when the numbers were last compared with the source, YYYY-MM-DD, or
  std::string not_opened;  ///< why they were not, and where they come from instead
};

struct ClaimSource : SourceWords {
  std::string file;
  std::vector<Claim> claims;
};

/// Reads a file. Throws ConfigError, with the file's name, for what is missing, unknown or contradicts
/// itself.
ClaimSource read_claim_file(const std::filesystem::path& file);

/// The JSON files of a folder, by name: all, or `only` those, named without ".json", as they are given.
/// Throws UsageError when there are none, or an unknown name is given.
std::vector<std::filesystem::path> claim_files(const std::filesystem::path& folder,
                                               const std::vector<std::string>& only = {});

}  // namespace speclab
