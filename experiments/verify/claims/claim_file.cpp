#include "experiments/verify/claims/claim_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <system_error>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/format/named_files.hpp"

namespace speclab {

namespace {

const Typed<Claim>& claim_type() {
  using F = Claim;
  static const auto type = object<Claim>(
      "claim", "A printed number.",
      {required(field<F>("where", &F::where, text(), "Table, section or comment.")),
       required(field<F>("quantity", &F::quantity, text(), "Name of the number, with its unit.")),
       required(field<F>("printed", &F::printed, printed_number(), "The number as printed.")),
       field<F>("quote", &F::quote, text(), "At most a line of the source."),
       field<F>("check", &F::check, kind_of(claim_check_family()), "The formula with its inputs."),
       field<F>("undecided", &F::undecided, text(),
                "Instead of a check: the reason why no formula can judge it."),
       field<F>("note", &F::note, text(), "A remark for the reader.")});
  return type;
}

const Typed<ClaimSource>& source_type() {
  using F = ClaimSource;
  constexpr double max_claims = 10000;
  static const auto type = object<ClaimSource>(
      "claims", "A source and its numbers.",
      {required(field<F>("source", &F::source, text(), "Citation of the source.")),
       required(field<F>("address", &F::address, text(), "Where it is.")),
       field<F>("date", &F::date, text(), "Date of the source, YYYY-MM-DD, if known."),
       required(field<F>("licence", &F::licence, text(), "Of the source.")),
       field<F>("opened", &F::opened, text(), "Date on which the numbers were compared with the source."),
       field<F>("not_opened", &F::not_opened, text(), "Instead: the reason why they were not compared."),
       required(field<F>("claims", &F::claims, list(claim_type(), 1, max_claims), "Its numbers."))});
  return type;
}

void check_date(const std::string& date, const std::string& path) {
  static const std::regex form(R"(\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))");
  if (!std::regex_match(date, form)) {
    throw ConfigError(path, "\"{}\" is not a date; expected YYYY-MM-DD", date);
  }
}

void check_claim(const Claim& claim, const std::string& path) {
  constexpr std::size_t longest_quote = 160;
  if (claim.check.has_value() == !claim.undecided.empty()) {
    throw ConfigError(path, "expected either \"check\" or \"undecided\" (why no formula can judge it)");
  }
  if (claim.quote.size() > longest_quote || claim.quote.find('\n') != std::string::npos) {
    throw ConfigError(path + "/quote", "longer than a line: at most {} bytes", longest_quote);
  }
  // Evaluates the formula once, so that a fault in its inputs is reported before the work.
  if (claim.check) claim.check->entry().range(*claim.check);
}

}  // namespace

ClaimSource read_claim_file(const std::filesystem::path& file) {
  return in_file(file.string(), [&] {
    ClaimSource source = read(source_type(), parse_json(read_text(file)), "");
    source.name = file.stem().string();
    source.file = file.string();
    if (!source.address.starts_with("https://")) {
      throw ConfigError("/address", "\"{}\" does not begin with https://", source.address);
    }
    if (!source.date.empty()) check_date(source.date, "/date");
    if (source.opened.empty() == source.not_opened.empty()) {
      throw ConfigError("/", "expected either \"opened\" (a date) or \"not_opened\" (why not)");
    }
    if (!source.opened.empty()) check_date(source.opened, "/opened");
    for (std::size_t i = 0; i < source.claims.size(); ++i) {
      check_claim(source.claims[i], fmt::format("/claims/{}", i));
    }
    return source;
  });
}

std::vector<std::filesystem::path> claim_files(const std::filesystem::path& folder,
                                               const std::vector<std::string>& only) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (error || files.empty()) {
    throw UsageError(
        "--files {}: no files of claims there; run from the project's folder, or "
        "name the folder that holds them",
        folder.string());
  }
  std::sort(files.begin(), files.end());
  return files_named(files, only);
}

}  // namespace speclab
