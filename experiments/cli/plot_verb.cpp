#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/out_folder.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/plot/drawn_by_python.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

/// Returns the format that --format names, else the extension of --out.
std::string format_of(const Values& values) {
  static const std::vector<std::string> formats{"svg", "pdf", "png"};
  const auto known = [](const std::string& word) {
    return std::find(formats.begin(), formats.end(), word) != formats.end();
  };
  const std::string out = values.given("out").value_or("");
  const std::string extension = fs::path(out).extension().string();
  const std::string ending = extension.empty() ? "" : extension.substr(1);
  if (!values.has("format")) {
    if (ending.empty()) return formats.front();
    if (known(ending)) return ending;
    throw UsageError("--out {}: the file's ending: expected {}", out, fmt::join(formats, ", "));
  }
  const std::string& format = values.text("format");
  if (!known(format)) throw UsageError("--format {}: expected {}", format, fmt::join(formats, ", "));
  if (known(ending) && ending != format) throw UsageError("--out {} is no {} file", out, format);
  return format;
}

/// Returns the path of the pictures, without number and extension.
fs::path stem_of(const Values& values, const std::string& format, const std::vector<PlotSource>& sources) {
  fs::path out = values.given("out").value_or("");
  if (!out.empty()) return out.extension() == "." + format ? out.replace_extension() : out;
  if (sources.size() > 1) return "plot";
  const PlotSource& source = sources.front();
  return fs::path(source.folder) / (source.result ? std::string("plot") : source.name);
}

int plot_main(const Values& values) {
  const std::string format = format_of(values);
  PlotOptions options{
      .words = {{"format", format}}, .where = values.texts("where"), .python = python_option(values)};
  for (const char* word : {"x", "y", "color", "facet", "kind", "log", "size", "title", "theme"}) {
    if (values.has(word)) options.words[word] = values.text(word);
  }
  std::vector<PlotSource> sources;
  for (const std::string& file : values.texts("results")) sources.push_back(read_plot_source(file));
  const fs::path stem = stem_of(values, format, sources);
  refuse_unwritable(stem.parent_path().empty() ? "." : stem.parent_path());
  // All figures are drawn before the first file is written.
  const Pictures pictures = draw_pictures(sources, options);
  for (const std::string& note : pictures.notes) fmt::print(stderr, "note: {}\n", printable_line(note));
  for (std::size_t i = 0; i < pictures.files.size(); ++i) {
    const fs::path file =
        stem.string() + (pictures.files.size() > 1 ? fmt::format("-{}", i + 1) : "") + "." + format;
    write_file_atomically(file, pictures.files[i]);
    fmt::print("{}\n", printable_line(file.string()));
  }
  return exit_ok;
}

}  // namespace

Verb plot_verb() {
  Verb verb{
      .name = "plot",
      .sentence = "draw figures for papers from results or CSV files, without simulating",
      .line = "speclab plot RESULT... [options]",
      .about =
          R"(Draws results: result.json, the folder of a run, or any CSV file with named columns. Nothing is simulated.
With a result and no choice of columns it draws the figures of the result's experiment. Else --x and --y
choose columns, --color and --facet (comma-separated) make series and panels of others, and --where keeps
rows. A column is named in full or by its last part; a value also without "simulated_" or "formula_", which
then are drawn together: intervals as bands, formulas as lines. Columns that differ and are not named become
panels. Rows of several results are joined, with their names in the column "source".
Sizes and letters are those of a paper's column (85 mm, 8 points) or, with --theme screen, of slides.
Exit code: 0, or 2 for what cannot be drawn; then nothing is written.
)",
      .examples = R"(  speclab plot out/figure3 --format pdf
  speclab plot out/iid_grid --x gamma --y speedup --color alpha --facet c --out speedup.pdf
  speclab plot out/iid_grid --kind heat --x alpha --y gamma --color speedup --where c=0.05
  speclab plot out/a out/b --y speedup --color source
  speclab plot mine.csv --x batch --y latency_ms --kind box --format png
)",
      .positional = "results",
      .several_positional = true,
      .run = plot_main};
  verb.add<std::string>("x", "column of the horizontal axis");
  verb.add<std::string>("y", "column of the values; of a heat map, of the vertical axis");
  verb.add<std::string>("color", "columns that make series; of a heat map, its values");
  verb.add<std::string>("facet", "columns that make panels");
  verb.add<Words>("where", "NAME=VALUE: only these rows");
  verb.add<std::string>("kind", "line, heat, box or ecdf (default line)");
  verb.add<std::string>("log", "", "logarithmic axes: x, y, color, or several: x,y");
  verb.add<std::string>("size", "WIDTHxHEIGHT in mm, such as 85x60");
  verb.add<std::string>("format", "svg, pdf or png (default: that of --out, else svg)");
  verb.add<std::string>("title", "", "a title above the figure; none unless given");
  verb.add<std::string>("theme", "paper", "paper or screen");
  verb.add<std::string>("out", "file; of several figures NAME-1, NAME-2, ... (default: beside the result)");
  add_python_option(verb, "the Python that draws, with matplotlib: a path, which is run as it is");
  return verb;
}

}  // namespace speclab
