#include "experiments/plot/drawn_by_python.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/page/colours.hpp"
#include "experiments/base/support/child_process.hpp"
#include "experiments/base/support/data_files.hpp"

namespace speclab {

namespace {

/// The names have the order of SeriesStyle.
constexpr std::array style_names{"line", "points", "steps", "levels"};

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json range_json(const std::optional<AxisRange>& range) {
  return range ? Json{range->low, range->high} : Json();
}

/// Returns the fields of python/speclab/_plots/figure.py; a value that is not a number becomes null.
Json figure_json(const Figure& figure) {
  Json series = Json::array();
  for (const Series& one : figure.series) {
    series.push_back({{"name", one.name},
                      {"style", style_names.at(static_cast<std::size_t>(one.style))},
                      {"x", one.x},
                      {"y", one.y},
                      {"low", one.low},
                      {"high", one.high},
                      {"colour_of", or_null(one.colour_of)}});
  }
  Json trace = Json::array();
  for (const TraceRow& row : figure.trace) {
    Json blocks = Json::array();
    for (const TraceBlock& block : row.blocks) blocks.push_back({block.start, block.end, block.kind});
    trace.push_back({{"label", row.label}, {"blocks", std::move(blocks)}});
  }
  Json heat;
  if (const auto& cells = figure.heat) {
    heat = {{"x", cells->x},
            {"y", cells->y},
            {"z", cells->z},
            {"z_label", cells->z_label},
            {"log_z", cells->log_z}};
  }
  return {{"title", figure.title},
          {"x_label", figure.x_label},
          {"y_label", figure.y_label},
          {"log_x", figure.log_x},
          {"log_y", figure.log_y},
          {"categories", figure.categories},
          {"x_range", range_json(figure.x_range)},
          {"y_range", range_json(figure.y_range)},
          {"series", std::move(series)},
          {"heat", std::move(heat)},
          {"trace", std::move(trace)}};
}

Json asked_json(const std::vector<Figure>& figures) {
  Json all = Json::array();
  for (const Figure& figure : figures) all.push_back(figure_json(figure));
  return {{"figures", std::move(all)}, {"words", {{"palette", light_palette}, {"colours", own_colours()}}}};
}

}  // namespace

std::string figures_json(const std::vector<Figure>& figures) { return asked_json(figures).dump(); }

Pictures draw_pictures(const std::vector<Figure>& figures, const PictureOptions& options) {
  Json asked = asked_json(figures);
  asked["format"] = options.format;
  asked["size"] = or_null(options.size);
  asked["intervals"] = options.intervals;
  asked["partial"] = options.partial;
  const std::string folder = program_file("python/speclab").string();
  // -I keeps Python from importing files of the working folder, -B from writing into its source folder.
  const auto drawn = run_child_process(
      {options.python.string(), "-I", "-B", "-c",
       "import sys; sys.path.append(sys.argv[1]); from _plots.__main__ import main; main()", folder},
      asked.dump(-1, ' ', false, Json::error_handler_t::replace), {"OPENBLAS_NUM_THREADS=1"},
      ChildProcess::ends_with_us);
  if (!drawn)
    throw UsageError("cannot draw: {} is not there (--python names another)", options.python.string());
  const std::size_t line = drawn->out.find('\n');
  if (drawn->status != 0 || line == std::string::npos)
    throw std::runtime_error(fmt::format("cannot draw: {} failed:\n{}", options.python.string(), drawn->err));
  const Json answer = parse_json(drawn->out.substr(0, line));
  if (answer.contains("error")) throw UsageError(answer["error"].get<std::string>());
  Pictures pictures{.files = {}, .notes = answer["notes"]};
  std::size_t at = line + 1;
  for (const std::size_t length : answer["pictures"]) {
    pictures.files.push_back(drawn->out.substr(at, length));
    at += length;
  }
  if (at != drawn->out.size()) throw std::runtime_error("cannot draw: Python's pictures came incomplete");
  return pictures;
}

}  // namespace speclab
