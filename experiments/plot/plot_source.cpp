#include "experiments/plot/plot_source.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/results/presentation.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

RunResult read_run(const fs::path& file) {
  return in_file(file.string(), [&] {
    // Measured with 10^5 cells of "predict", first as JSON values and then as cells.
    constexpr double times_the_file = 5.3;
    require_memory(times_the_file * static_cast<double>(fs::file_size(file)), "/cells",
                   "all of them at once, as they are drawn,");
    const Json json = parse_json(read_text(file));
    if (json.is_object() && json.contains("suite"))
      throw UsageError("{} is a result of speclab bench; its page and figures are written by bench --out",
                       file.string());
    RunResult run{read_result(json), {}};
    const fs::path timings = file.parent_path() / "timings.json";
    if (fs::exists(timings))
      run.timings =
          read(timings_type(run.result.shown().experiment->own_timings), parse_json(read_text(timings)), "");
    return run;
  });
}

}  // namespace

PlotSource read_plot_source(const std::string& file) {
  fs::path path = file;
  std::error_code error;
  if (fs::is_directory(path, error)) path /= "result.json";
  if (!fs::exists(path, error)) {
    throw UsageError(
        path == fs::path(file)
            ? fmt::format("{}: no such file", file)
            : fmt::format("{}: holds no result.json; run a config with --out {} first", file, file));
  }
  PlotSource source{.name = path.stem().string(),
                    .file = file,
                    .folder = path.parent_path().string(),
                    .result = {},
                    .csv = {}};
  if (path.extension() == ".json") {
    source.name = fs::absolute(path).parent_path().filename().string();
    source.result = read_run(path);
  } else {
    source.csv = in_file(file, [&] { return read_text(path); });
  }
  return source;
}

}  // namespace speclab
