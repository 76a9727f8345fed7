#include <fmt/format.h>

#include <filesystem>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/print_result.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/base/support/data_files.hpp"
#include "experiments/results/finding_page.hpp"
#include "experiments/verify/claims/audit.hpp"

namespace speclab {

namespace {

int claims_main(const Values& values) {
  if (values.has("checks")) {
    fmt::print("{}", terminal(checks_table()));
    return exit_ok;
  }
  const std::filesystem::path folder = page_folder(values);
  const ClaimAudit audit = audit_claims(claim_files(values.text("files"), only_option(values)));
  write_finding(folder, {.title = "Which printed numbers follow from their inputs?",
                         .headline = audit_headline(audit),
                         .figures = audit_figures(audit),
                         .text = audit_page(audit),
                         .json = json_text_of(audit),
                         .command = values.command});
  if (!folder.empty()) write_file_atomically(folder / "results.csv", audit_csv(audit));
  print(audit, described<ClaimAudit>(), values.has("json"),
        [](const ClaimAudit& found) { return terminal(audit_text(found)); });
  return exit_ok;
}

}  // namespace

Verb claims_verb() {
  Verb verb{
      .name = "claims",
      .sentence = "say which published numbers follow from their published inputs",
      .line = "speclab claims [--only vllm-20780,...] [--out DIR] [--json]",
      .about =
          R"(Judges the numbers of configs/claims, which has one file for each source (docs/claims.md). Each number
is compared with the formula that its file names, for the printed inputs and for all inputs that round to
them. There are five verdicts: a number follows, follows within the rounding of its inputs, does not follow,
needs an assumption (which is named, and the formula is judged under it), or is not decidable. --out writes
report.html with every number, results.csv and result.json.

A number that does not follow is a finding, not a failure: the exit code is 0. It is 2 if a file cannot be
read.
)",
      .examples = R"(  speclab claims
  speclab claims --only vllm-20780,spec-bench
  speclab claims --out out/claims
  speclab claims --checks
)",
      .run = claims_main};
  verb.add<std::string>("only NAME,...", "names of files, without .json (default: all)");
  verb.add<std::string>("files FOLDER", data_file("configs/claims").string(), "folder of the files");
  verb.add("checks", "print the formulas with their inputs and assumptions, and judge nothing");
  verb.add("json", "print JSON");
  add_page_option(verb);
  return verb;
}

}  // namespace speclab
