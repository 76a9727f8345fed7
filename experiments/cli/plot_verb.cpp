#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "experiments/cli/out_folder.hpp"
#include "experiments/cli/verb.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/plot/plot_figures.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/csv_reader.hpp"
#include "experiments/support/printable.hpp"

namespace speclab {

namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;

/// One of the words that an option may be.
template <class T>
T word_of(const char* option, const std::string& word, const std::vector<std::pair<std::string, T>>& known) {
  std::vector<std::string> names;
  for (const auto& [name, value] : known) {
    if (name == word) return value;
    names.push_back(name);
  }
  throw UsageError(fmt::format("--{} {}: expected {}", option, word, fmt::join(names, ", ")));
}

std::vector<std::string> list_of(const Values& values, const char* option) {
  if (!values.has(option)) return {};
  std::vector<std::string> words = split(values.text(option), ',');
  for (const std::string& word : words) {
    if (word.empty()) throw UsageError(fmt::format("--{} {}: a name is empty", option, values.text(option)));
  }
  return words;
}

PlotRequest request_of(const Values& values) {
  PlotRequest request;
  if (values.has("x")) request.x = values.text("x");
  if (values.has("y")) request.y = values.text("y");
  request.color = list_of(values, "color");
  request.facet = list_of(values, "facet");
  if (values.has("where")) {
    for (const std::string& condition : values["where"].as<std::vector<std::string>>()) {
      const auto equals = condition.find('=');
      if (equals == 0 || equals == std::string::npos)
        throw UsageError(fmt::format("--where {}: expected NAME=VALUE, such as c=0.05", condition));
      request.where.emplace_back(condition.substr(0, equals), condition.substr(equals + 1));
    }
  }
  if (values.has("kind")) {
    request.kind = word_of<PlotKind>("kind", values.text("kind"),
                                     {{"line", PlotKind::line},
                                      {"heat", PlotKind::heat},
                                      {"box", PlotKind::box},
                                      {"ecdf", PlotKind::ecdf}});
  }
  for (const std::string& axis : split(values.text("log"), ',')) {
    if (axis.empty()) continue;
    if (axis == "x" || axis == "xy") request.log_x = true;
    if (axis == "y" || axis == "xy") request.log_y = true;
    if (axis == "color") request.log_color = true;
    word_of<int>("log", axis, {{"x", 0}, {"y", 0}, {"xy", 0}, {"color", 0}});
  }
  return request;
}

PictureSize size_of(const std::string& text) {
  constexpr double least = 20;
  constexpr double most = 1000;
  const std::vector<std::string> sides = split(text, 'x');
  if (sides.size() == 2) {
    const auto width = number_in(sides[0]);
    const auto height = number_in(sides[1]);
    if (width && height && std::min(*width, *height) >= least && std::max(*width, *height) <= most)
      return {*width, *height};
  }
  throw UsageError(
      fmt::format("--size {}: expected WIDTHxHEIGHT in mm, {} to {}, such as 85x60", text, least, most));
}

const std::vector<std::pair<std::string, PictureFormat>>& formats() {
  static const std::vector<std::pair<std::string, PictureFormat>> all{
      {"svg", PictureFormat::svg}, {"pdf", PictureFormat::pdf}, {"png", PictureFormat::png}};
  return all;
}

std::string format_name(const Values& values) {
  const std::string ending = values.has("out") ? fs::path(values.text("out")).extension().string() : "";
  if (values.has("format")) {
    const auto format = values.text("format");
    word_of("format", format, formats());
    const bool named = std::any_of(formats().begin(), formats().end(),
                                   [&](const auto& one) { return ending == "." + one.first; });
    if (named && ending != "." + format)
      throw UsageError(fmt::format("--out {} is no {} file", values.text("out"), format));
    return format;
  }
  if (ending.empty()) return "svg";
  const std::string format = ending.substr(1);
  word_of(fmt::format("out {}: the file's ending", values.text("out")).c_str(), format, formats());
  return format;
}

/// Where pictures go, without number and ending.
fs::path stem_of(const Values& values, const std::vector<PlotSource>& sources) {
  if (values.has("out")) return fs::path(values.text("out")).replace_extension();
  if (sources.size() > 1) return "plot";
  const PlotSource& source = sources.front();
  return fs::path(source.folder) / (source.result ? std::string("plot") : source.name);
}

int plot_main(const Values& values) {
  const PlotRequest request = request_of(values);
  Picture picture;
  const std::string format = format_name(values);
  picture.format = word_of("format", format, formats());
  picture.theme = word_of<PictureTheme>("theme", values.text("theme"),
                                        {{"paper", PictureTheme::paper}, {"screen", PictureTheme::screen}});
  picture.title = values.text("title");
  if (values.has("size")) picture.size = size_of(values.text("size"));
  std::vector<PlotSource> sources;
  for (const std::string& file : values["results"].as<std::vector<std::string>>())
    sources.push_back(read_plot_source(file));

  // Each is a picture of its own, unless columns were chosen.
  std::vector<std::vector<Panel>> pictures;
  if (!request.chooses() && sources.size() == 1) {
    for (Panel& panel : own_figures(sources.front())) {
      panel.figure.log_x = panel.figure.log_x || (request.log_x && panel.figure.categories.empty());
      panel.figure.log_y = panel.figure.log_y || request.log_y;
      pictures.push_back({std::move(panel)});
    }
  }
  const bool undrawn =
      pictures.empty() && !request.chooses() && sources.size() == 1 && sources.front().result;
  if (undrawn && sources.front().table.rows.size() < 2) {
    throw UsageError(fmt::format("{}: its page has no figure to draw; a choice of columns needs several rows",
                                 values["results"].as<std::vector<std::string>>().front()));
  }
  if (pictures.empty()) {
    const auto files = values["results"].as<std::vector<std::string>>();
    try {
      pictures.push_back(plot_panels(joined_table(sources), request));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", fmt::join(files, ", "), error.what()));
    }
  }

  const fs::path stem = stem_of(values, sources);
  refuse_unwritable(stem.parent_path().empty() ? "." : stem.parent_path());
  // All are drawn before the first is written.
  std::vector<std::string> drawn;
  for (const std::vector<Panel>& panels : pictures) drawn.push_back(draw_picture(panels, picture));
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const fs::path file = stem.string() + (drawn.size() > 1 ? fmt::format("-{}", i + 1) : "") + "." + format;
    write_file_atomically(file, drawn[i]);
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
  auto add = verb.options.add_options();
  add("x", po::value<std::string>(), "column of the horizontal axis");
  add("y", po::value<std::string>(), "column of the values; of a heat map, of the vertical axis");
  add("color", po::value<std::string>(), "columns that make series; of a heat map, its values");
  add("facet", po::value<std::string>(), "columns that make panels");
  add("where", po::value<std::vector<std::string>>()->composing(), "NAME=VALUE: only these rows");
  add("kind", po::value<std::string>(), "line, heat, box or ecdf (default line)");
  add("log", po::value<std::string>()->default_value(""), "logarithmic axes: x, y, color, or several: x,y");
  add("size", po::value<std::string>(), "WIDTHxHEIGHT in mm, such as 85x60");
  add("format", po::value<std::string>(), "svg, pdf or png (default: that of --out, else svg)");
  add("title", po::value<std::string>()->default_value(""), "a title above the figure; none unless given");
  add("theme", po::value<std::string>()->default_value("paper"), "paper or screen");
  add("out", po::value<std::string>(),
      "file; of several figures NAME-1, NAME-2, ... (default: beside the result)");
  return verb;
}

}  // namespace speclab
