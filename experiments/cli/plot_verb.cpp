#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "experiments/cli/out_folder.hpp"
#include "experiments/cli/verb.hpp"
#include "experiments/plot/plot_figures.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/csv_reader.hpp"
#include "experiments/support/printable.hpp"

namespace speclab {

namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;

Usage plot_usage() {
  Usage usage{
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
      .several_positional = true};
  usage.options.add_options()("x", po::value<std::string>(), "column of the horizontal axis")(
      "y", po::value<std::string>(), "column of the values; of a heat map, of the vertical axis")(
      "color", po::value<std::string>(), "columns that make series; of a heat map, its values")(
      "facet", po::value<std::string>(), "columns that make panels")(
      "where", po::value<std::vector<std::string>>()->composing(), "NAME=VALUE: only these rows")(
      "kind", po::value<std::string>(), "line, heat, box or ecdf (default line)")(
      "log", po::value<std::string>()->default_value(""), "logarithmic axes: x, y, color, or several: x,y")(
      "size", po::value<std::string>(), "WIDTHxHEIGHT in mm, such as 85x60")(
      "format", po::value<std::string>(), "svg, pdf or png (default: that of --out, else svg)")(
      "title", po::value<std::string>()->default_value(""), "a title above the figure; none unless given")(
      "theme", po::value<std::string>()->default_value("paper"), "paper or screen")(
      "out", po::value<std::string>(),
      "file; of several figures NAME-1, NAME-2, ... (default: beside the result)");
  return usage;
}

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

std::vector<std::string> list_of(const po::variables_map& values, const char* option) {
  if (values.count(option) == 0) return {};
  std::vector<std::string> words = split(values[option].as<std::string>(), ',');
  for (const std::string& word : words) {
    if (word.empty())
      throw UsageError(fmt::format("--{} {}: a name is empty", option, values[option].as<std::string>()));
  }
  return words;
}

PlotRequest request_of(const po::variables_map& values) {
  PlotRequest request;
  if (values.count("x") > 0) request.x = values["x"].as<std::string>();
  if (values.count("y") > 0) request.y = values["y"].as<std::string>();
  request.color = list_of(values, "color");
  request.facet = list_of(values, "facet");
  if (values.count("where") > 0) {
    for (const std::string& condition : values["where"].as<std::vector<std::string>>()) {
      const auto equals = condition.find('=');
      if (equals == 0 || equals == std::string::npos)
        throw UsageError(fmt::format("--where {}: expected NAME=VALUE, such as c=0.05", condition));
      request.where.emplace_back(condition.substr(0, equals), condition.substr(equals + 1));
    }
  }
  if (values.count("kind") > 0) {
    request.kind = word_of<PlotKind>("kind", values["kind"].as<std::string>(),
                                     {{"line", PlotKind::line},
                                      {"heat", PlotKind::heat},
                                      {"box", PlotKind::box},
                                      {"ecdf", PlotKind::ecdf}});
  }
  for (const std::string& axis : split(values["log"].as<std::string>(), ',')) {
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

std::string format_name(const po::variables_map& values) {
  const std::string ending =
      values.count("out") > 0 ? fs::path(values["out"].as<std::string>()).extension().string() : "";
  if (values.count("format") > 0) {
    const auto format = values["format"].as<std::string>();
    word_of("format", format, formats());
    const bool named = std::any_of(formats().begin(), formats().end(),
                                   [&](const auto& one) { return ending == "." + one.first; });
    if (named && ending != "." + format)
      throw UsageError(fmt::format("--out {} is no {} file", values["out"].as<std::string>(), format));
    return format;
  }
  if (ending.empty()) return "svg";
  const std::string format = ending.substr(1);
  word_of(fmt::format("out {}: the file's ending", values["out"].as<std::string>()).c_str(), format,
          formats());
  return format;
}

/// Where pictures go, without number and ending.
fs::path stem_of(const po::variables_map& values, const std::vector<PlotSource>& sources) {
  if (values.count("out") > 0) return fs::path(values["out"].as<std::string>()).replace_extension();
  if (sources.size() > 1) return "plot";
  const PlotSource& source = sources.front();
  return fs::path(source.folder) / (source.result ? std::string("plot") : source.name);
}

int plot_main(const std::vector<std::string>& arguments) {
  Usage usage = plot_usage();
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  const PlotRequest request = request_of(*values);
  Picture picture;
  const std::string format = format_name(*values);
  picture.format = word_of("format", format, formats());
  picture.theme = word_of<PictureTheme>("theme", (*values)["theme"].as<std::string>(),
                                        {{"paper", PictureTheme::paper}, {"screen", PictureTheme::screen}});
  picture.title = (*values)["title"].as<std::string>();
  if (values->count("size") > 0) picture.size = size_of((*values)["size"].as<std::string>());
  std::vector<PlotSource> sources;
  for (const std::string& file : (*values)["results"].as<std::vector<std::string>>())
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
                                 (*values)["results"].as<std::vector<std::string>>().front()));
  }
  if (pictures.empty()) {
    const auto files = (*values)["results"].as<std::vector<std::string>>();
    try {
      pictures.push_back(plot_panels(joined_table(sources), request));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", fmt::join(files, ", "), error.what()));
    }
  }

  const fs::path stem = stem_of(*values, sources);
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
  return {"plot", "draw figures for papers from results or CSV files, without simulating", plot_main};
}

}  // namespace speclab
