// Binds the commands that take configs: run, exact, check, and their results.
#include "python/bindings/configs.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "experiments/base/command/out_folder.hpp"
#include "experiments/base/command/print_result.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/data_files.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/plot/drawn_by_python.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_files.hpp"
#include "experiments/results/result_rows.hpp"
#include "experiments/results/result_section.hpp"
#include "experiments/run/run_config.hpp"
#include "experiments/verify/check/diagnosis.hpp"
#include "experiments/verify/exact/exact_result.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/watch.hpp"

namespace speclab::python {

Config read_config(const ConfigText& text) {
  return about(text, [&] {
    const Json document = parse_json(text.text);
    if (!document.is_object()) throw ConfigError("/", "a config is an object, { ... }");
    return speclab::read_config(document);
  });
}

namespace {

/// Reads a config file here instead of in Python, so that errors are the program's.
ConfigText of_file(const std::string& file) {
  Watch watch;
  return watch.run([&] {
    return in_file(file, [&] { return ConfigText{read_text(data_file(file)), file}; });
  });
}

RunResult run(const ConfigText& text, int threads, nb::object progress) {
  const auto config = with_sections(read_config(text));
  Watch watch(std::move(progress));
  const auto start = std::chrono::steady_clock::now();
  RunResult result = watch.run(threads, [&] {
    const ThreadLimit limit(threads);
    return about(text, [&] {
      RunResult done = run_config(*config, [&](std::uint64_t total) { return watch.control(total); });
      done.timings.threads = thread_count();
      hold_cells(done);
      return done;
    });
  });
  result.timings.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.timings.machine = machine_description();
  return result;
}

/// Reads a result of this file; `timings` is the text of timings.json, or empty.
RunResult read_back(const std::string& text, const std::string& timings, const std::string& file) {
  RunResult run{.result = in_file(file, [&] { return read_result(parse_json(text)); }), .timings = {}};
  if (!timings.empty())
    run.timings = read(timings_type(run.result.shown().experiment->own_timings), parse_json(timings), "");
  return run;
}

nb::bytes timings_bytes(const RunResult& run) {
  Json timings;
  write(timings_type(run.result.shown().experiment->own_timings), run.timings, timings);
  const std::string text = timings.dump();
  return nb::bytes(text.data(), text.size());
}

nb::bytes json_bytes(const RunResult& run) {
  std::string text;
  write_text(run.result, HeldCells(run.result), [&](const std::string& piece) { text += piece; });
  return nb::bytes(text.data(), text.size());
}

std::string report(const RunResult& run) {
  Watch watch;
  return watch.run([&] {
    RunResult shown = run;
    shown.timings.command = "speclab.run(...)  # " + run.result.title;
    return html(result_page(shown, result_section(shown, "result")));
  });
}

/// JSON of the figures, for python/speclab/_plots.
std::string chosen(const RunResult& run, const std::string& x, const std::string& y,
                   const std::string& series, const std::vector<std::string>& where) {
  return figures_json(chosen_figures(run.result, {.x = x, .y = y, .series = series, .where = where}));
}

std::string text(const RunResult& run) {
  std::string out;
  for (const Table& table : tables_of(run.result, run.timings, "result")) out += terminal(table) + "\n";
  return out;
}

void save(const RunResult& run, const std::string& folder, bool force) {
  Watch watch;
  watch.run([&] {
    refuse_unwritable(folder);
    if (force) remove_foreign_result(folder, *run.result.config);
    refuse_foreign_result(folder, *run.result.config, "choose another folder, or force=True to overwrite");
    std::filesystem::create_directories(folder);
    write_data(folder, run);
  });
}

/// Analyses a config exactly. Returns JSON and text.
nb::tuple exact(const ConfigText& text, bool simulation, int threads) {
  const Config config = read_config(text);
  Watch watch;
  const auto [json, words] = watch.run(threads, [&] {
    const ThreadLimit limit(threads);
    const ExactResult result = about(text, [&] { return analyse_exactly(config, simulation); });
    return std::pair(json_text_of(result), terminal(exact_text(result)));
  });
  return nb::make_tuple(json, words);
}

nb::tuple check(const ConfigText& text, int threads, nb::object progress) {
  const Config config = read_config(text);
  Watch watch(std::move(progress));
  std::optional<EqualityResult> result = watch.run(threads, [&] {
    const ThreadLimit limit(threads);
    return about(text, [&] {
      refuse_many_cells(config, "check tests");
      const auto& settings = config.section<CheckSection>();
      require_power(settings);
      const Setup setup = build_setup(config);
      return test_rule(setup, config.gamma, settings, watch.control(equality_workload(setup, settings)));
    });
  });
  if (!result) throw std::runtime_error("the test was stopped early");
  return nb::make_tuple(json_text_of(*result), terminal(equality_text(*result)));
}

}  // namespace

void bind_configs(nb::module_& module) {
  nb::class_<ConfigText>(module, "ConfigText")
      .def_static(
          "of_text",
          [](const std::string& text) {
            return ConfigText{text, ""};
          },
          nb::arg("text"))
      .def_static("of_file", &of_file, nb::arg("file"));
  nb::class_<RunResult>(module, "RunResult")
      .def("json", &json_bytes)
      .def("timings", &timings_bytes)
      .def("csv", [](const RunResult& run) { return csv_of(run.result, run.timings); })
      .def("report", &report)
      .def("text", &text)
      .def("figures", &chosen, nb::arg("x"), nb::arg("y"), nb::arg("series"), nb::arg("where"))
      .def("save", &save, nb::arg("folder"), nb::arg("force"))
      .def_prop_ro("title", [](const RunResult& run) { return run.result.title; })
      .def_prop_ro("partial", [](const RunResult& run) { return run.result.partial; })
      .def_prop_ro("experiment", [](const RunResult& run) { return run.result.shown().experiment->name; })
      .def_prop_ro("seconds", [](const RunResult& run) { return run.timings.seconds; });
  module.def("column_name", &column_name, nb::arg("path"));
  module.def("measured_column", &measured_column, nb::arg("name"));
  module.def("run", &run, nb::arg("config"), nb::arg("threads"), nb::arg("progress").none());
  module.def("read_result", &read_back, nb::arg("text"), nb::arg("timings"), nb::arg("file") = "");
  module.def("exact", &exact, nb::arg("config"), nb::arg("simulation"), nb::arg("threads"));
  module.def("check_config", &check, nb::arg("config"), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace speclab::python
