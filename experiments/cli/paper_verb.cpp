#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "experiments/base/command/out_folder.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/data_files.hpp"
#include "experiments/cli/python_option.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

/// Replaces this process by the Python that typesets, so that its output and Ctrl-C are those of this
/// command.
int paper_main(const Values& values) {
  const fs::path python = python_option(values);
  const fs::path results = values.text("results");
  const fs::path pdf = values.given("pdf").value_or((results / "paper.pdf").string());
  if (pdf.extension() != ".pdf") throw UsageError("{}: expected a name that ends in .pdf", pdf.string());
  refuse_unwritable(pdf.parent_path().empty() ? "." : pdf.parent_path());
  const fs::path package = program_file("python/speclab");
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  const char* const start =
      "import sys; sys.path.append(sys.argv.pop(1)); from _paper.__main__ import main; main()";
  // -I keeps Python from importing files of the working folder, -B from writing into its source folder.
  execl(python.c_str(), python.c_str(), "-I", "-B", "-c", start, package.c_str(), program.c_str(),
        results.c_str(), pdf.c_str(), nullptr);
  throw UsageError("cannot typeset: {}: {} (--python names another)", python.string(), std::strerror(errno));
}

}  // namespace

Verb paper_verb() {
  Verb verb{
      .name = "paper",
      .sentence = "typeset the results of two papers, the proofs and the measurements as a PDF",
      .line = "speclab paper [OUT.pdf] [options]",
      .about =
          R"(Typesets a report, by default paper.pdf in the folder of results: methods, the verdicts on two papers, proofs,
tests, engines and kernels. Every number is read from a result, which the report names with its SHA-256 and its
command. Results of reproduce and reproduce --paper wagner are made if they are missing (minutes). Those of another
version, of changed configs or of a part of a paper are refused. The same results give the same bytes. Exit code: 0,
or 2 for bad input.
)",
      .examples = "  speclab paper report.pdf --python typesetting/bin/python\n",
      .positional = "pdf",
      .optional_positional = true,
      .run = paper_main};
  verb.add<std::string>("results FOLDER", "out", "folder of the results");
  add_python_option(verb, "path of the Python that typesets; it needs typst");
  return verb;
}

}  // namespace speclab
