// Tests the files of configs/claims: each is read and judged, and errors in a file are reported.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "experiments/base/format/json_io.hpp"
#include "experiments/base/page/page.hpp"
#include "experiments/base/support/csv_reader.hpp"
#include "experiments/verify/claims/audit.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

const std::filesystem::path shipped = std::filesystem::path(SPECLAB_SOURCE_DIR) / "configs/claims";

const std::vector<ClaimSource>& sources() {
  static const std::vector<ClaimSource> all = [] {
    std::vector<ClaimSource> read;
    for (const auto& file : claim_files(shipped)) read.push_back(read_claim_file(file));
    return read;
  }();
  return all;
}

Json source_json() {
  return Json{{"source", "someone"},
              {"address", "https://example.org/page"},
              {"date", "2026-01-02"},
              {"licence", "CC0"},
              {"opened", "2026-02-03"},
              {"claims",
               {{{"where", "Table 1"},
                 {"quantity", "speedup"},
                 {"printed", "1.52"},
                 {"check", {{"kind", "ratio"}, {"of", "201.69"}, {"to", "133"}}}}}}};
}

std::string error_of(const Json& json) {
  const TempFile file(json.dump(1));
  const std::string sentence = config_error_of([&] { read_claim_file(file.path()); });
  const std::string name = file.path().string() + ": ";
  if (sentence.empty()) return "";
  REQUIRE(sentence.starts_with(name));
  return sentence.substr(name.size());
}

const JudgedClaim& claim_of(const ClaimAudit& audit, const std::string& source, const std::string& where,
                            const std::string& printed) {
  const auto found = std::find_if(audit.claims.begin(), audit.claims.end(), [&](const JudgedClaim& claim) {
    return claim.source == source && claim.where.find(where) != std::string::npos && claim.printed == printed;
  });
  REQUIRE(found != audit.claims.end());
  return *found;
}

}  // namespace

TEST_CASE("claim files: the shipped ones are read and judged, and no number is lost") {
  const ClaimAudit audit = audit_claims(sources());
  std::size_t claims = 0, opened = 0;
  std::set<std::string> kinds;
  for (const ClaimSource& source : sources()) {
    CAPTURE(source.name);
    claims += source.claims.size();
    opened += source.opened.empty() ? 0 : 1;
    for (const Claim& claim : source.claims) {
      if (claim.check) kinds.insert(claim.check->name());
    }
  }
  CHECK(audit.counts.all() == claims);
  CHECK(audit.claims.size() == claims);
  CHECK(audit.sources.size() == sources().size());
  CHECK(claims >= 250);
  CHECK(opened >= 40);
  CHECK(kinds.size() == claim_check_family().size());
}

TEST_CASE("claim files: verdicts that were derived by hand") {
  const ClaimAudit audit = audit_claims(sources());
  // 7.07 / 4.71 = 1.50106, from 7.065 / 4.715 = 1.4984 to 7.075 / 4.705 = 1.5037.
  const JudgedClaim& tpot = claim_of(audit, "vllm-20780", "TPOT", "1.61047836");
  CHECK(tpot.verdict == ClaimVerdict::does_not_follow);
  CHECK(tpot.off == doctest::Approx(1.61047836 - 7.075 / 4.705));
  // 1 + 0.728 + 0.728^2 + 0.728^3 = 2.6438.
  CHECK(*claim_of(audit, "rmlx-496", "block 3", "2.26").least == doctest::Approx(2.643812).epsilon(1e-6));
  CHECK(claim_of(audit, "vllm-52362", "concurrency 256", "69.69").verdict == ClaimVerdict::follows);
  CHECK(claim_of(audit, "vllm-16937", "EAGLE 1, K = 2", "1.51").verdict ==
        ClaimVerdict::within_input_rounding);
  const JudgedClaim& toy = claim_of(audit, "sglang-36516", "unit tests", "11/9");
  CHECK(toy.verdict == ClaimVerdict::follows);
  CHECK(toy.value == doctest::Approx(11.0 / 9));
  const JudgedClaim& falling = claim_of(audit, "inferencex-golden", "dsv4-pro-0813-dspark.yaml", "3.47");
  CHECK(falling.verdict == ClaimVerdict::needs_assumption);
  CHECK(falling.under_assumption == ClaimVerdict::does_not_follow);
  // The number is 0.26 below 3.73, and the rounding of both accounts for 0.01.
  CHECK(falling.off == doctest::Approx(-0.25));
  CHECK(claim_of(audit, "vllm-46295", "K = 1", "1.3").verdict == ClaimVerdict::not_decidable);
}

TEST_CASE("claim files: a number that is changed by two units of its last digit no longer follows") {
  // These formulas give a value from exact counts, so that their inputs allow no other.
  int changed = 0;
  for (const ClaimSource& source : sources()) {
    for (Claim claim : source.claims) {
      if (!claim.check || judge(claim, "").verdict != ClaimVerdict::follows) continue;
      const AllowedRange range = claim.check->entry().range(*claim.check);
      if (range.rounded.most - range.rounded.least > claim.printed.half_unit ||
          claim.printed.half_unit == 0 || claim.printed.half_unit < 1e-9) {
        continue;
      }
      claim.printed.value += 4 * claim.printed.half_unit;
      CHECK(judge(claim, "").verdict == ClaimVerdict::does_not_follow);
      ++changed;
    }
  }
  CHECK(changed > 60);
}

TEST_CASE("claim files: what is wrong is named with file, path and remedy") {
  CHECK(error_of(source_json()).empty());
  const auto with = [](const std::string& pointer, const Json& value) {
    Json json = source_json();
    json[Json::json_pointer(pointer)] = value;
    return error_of(json);
  };
  const auto without = [](const std::string& key) {
    Json json = source_json();
    json.erase(key);
    return error_of(json);
  };
  CHECK(without("address").find("address") != std::string::npos);
  CHECK(without("claims").find("claims") != std::string::npos);
  CHECK(without("opened").starts_with("expected either \"opened\""));
  CHECK(with("/not_opened", "a reason").starts_with("expected either"));
  CHECK(with("/opened", "yesterday").starts_with("/opened: \"yesterday\" is not a date"));
  CHECK(with("/date", "2026-13-01").starts_with("/date"));
  CHECK(with("/address", "http://example.org").starts_with("/address"));
  CHECK(with("/licenses", "CC0").find("did you mean \"licence\"") != std::string::npos);
  CHECK(with("/claims", Json::array()).starts_with("/claims"));
  CHECK(with("/claims/0/printed", "fast").starts_with("/claims/0/printed"));
  CHECK(with("/claims/0/printed", true).starts_with("/claims/0/printed"));
  CHECK(with("/claims/0/check/kind", "ration").starts_with("/claims/0/check/kind"));
  CHECK(with("/claims/0/check/of", Json()).starts_with("/claims/0/check/of"));
  CHECK(with("/claims/0/check/to", 0).starts_with("/claims/0/check: the formula divides by 0"));
  CHECK(with("/claims/0/undecided", "why").starts_with("/claims/0: expected either \"check\""));
  CHECK(with("/claims/0/quote", std::string(200, 'x')).starts_with("/claims/0/quote"));
  CHECK(with("/claims/0/quote", "two\nlines").starts_with("/claims/0/quote"));
}

TEST_CASE("claim files: the page, the table for spreadsheets and the striking numbers") {
  const ClaimAudit audit = audit_claims(sources());
  const std::vector<TextLine> lines = lines_of(audit_csv(audit), "results.csv");
  CHECK(lines.size() == audit.claims.size() + 1);
  Section section{.id = "result", .title = "Claims", .listing = audit_page(audit)};
  int tables = 0;
  for (auto& part : section.listing.parts) {
    if (auto* const table = std::get_if<Table>(&part)) table->id = fmt::format("table-{}", ++tables);
  }
  for (Figure figure : audit_figures(audit)) {
    figure.id = "figure-1";
    section.figures.push_back(draw(figure));
  }
  CHECK(section.figures.size() == 1);
  const std::string page = html({"Claims", "", {}, {section}});
  for (const ClaimSource& source : sources()) CHECK(page.find(source.address) != std::string::npos);

  const auto striking = most_striking(audit, 10);
  REQUIRE(striking.size() == 10);
  double last = INFINITY;
  std::map<std::string, int> of_source;
  for (const JudgedClaim* claim : striking) {
    CHECK(claim->contradicted());
    CHECK(++of_source[claim->source] <= 2);
    const double share = std::abs(claim->off / claim->value);
    CHECK(share <= last);
    last = share;
    const auto source = std::find_if(audit.sources.begin(), audit.sources.end(),
                                     [&](const AuditedSource& one) { return one.name == claim->source; });
    CHECK_FALSE(source->opened.empty());
  }
}
