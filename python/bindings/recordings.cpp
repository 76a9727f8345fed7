// Binds recorded texts.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "experiments/base/support/machine.hpp"
#include "experiments/recording/recording_file.hpp"
#include "experiments/run/record_pair.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/configs.hpp"
#include "python/bindings/watch.hpp"

namespace speclab::python {

namespace {

nb::object array_of(const std::vector<double>& values) {
  auto* copy = new std::vector<double>(values);
  const nb::capsule owner(copy, [](void* held) noexcept { delete static_cast<std::vector<double>*>(held); });
  return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(copy->data(), {copy->size()}, owner));
}

nb::dict read(const std::string& file, const std::string& draft, const std::string& column) {
  Watch watch;
  const ReadRecording read = watch.run(0, [&] { return read_recording(file, draft, nullptr, column); });
  const Recording& recording = read.recording;
  nb::dict out;
  out["format"] = read.format;
  out["target"] = array_of(recording.target);
  nb::list depths;
  for (const std::vector<double>& depth : recording.draft) depths.append(array_of(depth));
  out["draft"] = depths;
  nb::list sequences;
  for (const RecordedSequence& sequence : recording.sequences)
    sequences.append(nb::make_tuple(sequence.name, sequence.task, sequence.first, sequence.count));
  out["sequences"] = sequences;
  out["overlap"] = recording.rows.empty() ? nb::none() : array_of(recording.rows.overlap);
  out["entropy"] = recording.entropy.empty() ? nb::none() : array_of(recording.entropy);
  out["drawn"] = recording.drawn;
  return out;
}

void record(const ConfigText& text, const std::string& file, std::optional<std::uint32_t> sequences,
            std::optional<std::size_t> tokens, bool entropy, int threads, nb::object progress) {
  const Config config = read_config(text);
  Watch watch(std::move(progress));
  const bool done = watch.run(threads, [&] {
    const ThreadLimit limit(threads);
    return about(text, [&] {
      return !record_config(config, {file, sequences, tokens, entropy}, [&](std::uint64_t steps) {
                return watch.control(steps);
              }).partial;
    });
  });
  if (!done) throw std::runtime_error("the recording was stopped early");
}

}  // namespace

void bind_recordings(nb::module_& module) {
  module.def("read_recording", &read, nb::arg("file"), nb::arg("draft"), nb::arg("column"));
  module.def("record", &record, nb::arg("config"), nb::arg("file"), nb::arg("sequences").none(),
             nb::arg("tokens").none(), nb::arg("entropy"), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace speclab::python
