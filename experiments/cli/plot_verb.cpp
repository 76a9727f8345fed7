#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/base/command/out_folder.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/cli/python_option.hpp"
#include "experiments/plot/drawn_by_python.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/run_config.hpp"

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

/// Reads a result.json, with the timings beside it.
RunResult read_run(const fs::path& file) {
  return in_file(file.string(), [&] {
    // Memory over the file's size, measured with 10^5 cells of "predict": as JSON values, then as cells.
    constexpr double times_the_file = 5.3;
    require_memory(times_the_file * static_cast<double>(fs::file_size(file)), "/cells",
                   "all of them at once, as they are drawn,");
    RunResult run{read_result(parse_json(read_text(file))), {}};
    const fs::path timings = file.parent_path() / "timings.json";
    if (fs::exists(timings)) {
      const TypePtr& own = run.result.shown().experiment->own_timings;
      run.timings = read(timings_type(own), parse_json(read_text(timings)), "");
    }
    return run;
  });
}

fs::path result_file(const std::string& given) {
  fs::path path = given;
  std::error_code error;
  if (fs::is_directory(path, error)) path /= "result.json";
  if (!fs::exists(path, error)) {
    throw UsageError(
        path == fs::path(given)
            ? fmt::format("{}: no such file", given)
            : fmt::format("{}: holds no result.json; run a config with --out {} first", given, given));
  }
  if (path.extension() == ".json") return path;
  throw UsageError("{}: expected result.json or its folder; other tables are for pandas and matplotlib",
                   given);
}

FigureChoice choice_of(const Values& values) {
  FigureChoice choice{.x = values.given("x").value_or(""),
                      .y = values.given("y").value_or(""),
                      .series = values.given("series").value_or(""),
                      .where = values.texts("where"),
                      .heat = values.has("heat")};
  for (const std::string& axis : values.texts("log")) {
    bool* const flag = axis == "x"       ? &choice.log_x
                       : axis == "y"     ? &choice.log_y
                       : axis == "color" ? &choice.log_z
                                         : nullptr;
    if (flag == nullptr) throw UsageError("--log {}: expected x, y, color", axis);
    *flag = true;
  }
  return choice;
}

/// Returns the figures that `choice` names; if it names none, those of the experiment.
std::vector<Figure> figures_to_draw(const RunResult& run, const FigureChoice& choice,
                                    const std::string& file) {
  if (choice.chooses()) {
    try {
      return chosen_figures(run.result, choice);
    } catch (const UsageError& error) {
      throw UsageError("{}: {}", file, error.what());
    }
  }
  std::vector<Figure> figures = figures_of(run.result, run.timings);
  if (figures.empty()) throw UsageError("{}: its page has no figure to draw", file);
  for (Figure& figure : figures) {
    figure.log_x = figure.log_x || (choice.log_x && figure.categories.empty());
    figure.log_y = figure.log_y || choice.log_y;
  }
  return figures;
}

int plot_main(const Values& values) {
  const std::string format = format_of(values);
  PictureOptions options{.format = format, .size = values.given("size"), .python = python_option(values)};
  const FigureChoice choice = choice_of(values);
  const std::string& given = values.text("result");
  const fs::path file = result_file(given);
  fs::path stem = values.given("out").value_or((file.parent_path() / "plot").string());
  if (stem.extension() == "." + format) stem.replace_extension();
  const RunResult run = read_run(file);
  options.intervals = confidence_percent(run.result.interval_confidence) + " intervals";
  options.partial = run.result.partial;
  const std::vector<Figure> figures = figures_to_draw(run, choice, given);
  refuse_unwritable(stem.parent_path().empty() ? "." : stem.parent_path());
  // All figures are drawn before the first file is written.
  const Pictures pictures = draw_pictures(figures, options);
  if (options.partial) print_error(fmt::format("note: {}: partial results", printable_line(given)));
  for (const std::string& note : pictures.notes) print_error("note: " + printable_line(note));
  for (std::size_t i = 0; i < pictures.files.size(); ++i) {
    const fs::path picture =
        stem.string() + (pictures.files.size() > 1 ? fmt::format("-{}", i + 1) : "") + "." + format;
    write_file_atomically(picture, pictures.files[i]);
    fmt::print("{}\n", printable_line(picture.string()));
  }
  return exit_ok;
}

}  // namespace

Verb plot_verb() {
  Verb verb{
      .name = "plot",
      .sentence = "draw figures for papers from results, without simulating",
      .line = "speclab plot RESULT [options]",
      .about =
          R"(Draws a result.json, or that of a run's folder, without simulating. By default it draws the figures of
the result's experiment. To choose another figure, name a metric with --y and swept keys with --x and --series:
in full ("/models/draft/alpha"), by the last part ("alpha"), or as "label", the label of a case. Lines are
formulas; points are simulated values with their intervals. Each value of any other swept key gets its own
figure; --where keeps one value of a key. --heat draws cells over --x and --series. A figure is as wide as a
column of a paper (85 mm), with letters of 8 points. Exit code: 0, or 2 if it cannot be drawn; then nothing is
written.
)",
      .examples = R"(  speclab plot out/figure3 --format pdf
  speclab plot out/iid_grid --x gamma --y speedup --series alpha --where c=0.05 --out speedup.pdf
  speclab plot out/iid_grid --heat --x alpha --series gamma --where c=0.05
)",
      .positional = "result",
      .run = plot_main};
  verb.add<std::string>("x KEY", "key of the horizontal axis");
  verb.add<std::string>("y METRIC", "metric of the vertical axis, or of the colours of a heat map");
  verb.add<std::string>("series KEY", "key whose values become curves, or the vertical axis of a heat map");
  verb.add<Words>("where KEY=VALUE", "draw only these cells");
  verb.add("heat", "draw a heat map of the metric");
  verb.add<Words>("log AXIS", "make an axis logarithmic: x, y or color");
  verb.add<std::string>("size WIDTHxHEIGHT", "size in mm, such as 85x60");
  verb.add<std::string>("format svg|pdf|png", "format of the file (default: that of --out, else svg)");
  verb.add<std::string>(
      "out FILE", "file to write; several figures become NAME-1, NAME-2, ... (default: beside the result)");
  add_python_option(verb, "path of the Python that draws; it needs matplotlib");
  return verb;
}

}  // namespace speclab
