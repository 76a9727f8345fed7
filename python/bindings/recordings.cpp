// Recorded texts.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>
#include <vector>

#include "experiments/recording/recording_file.hpp"
#include "python/bindings/bind.hpp"

namespace speclab::python {

namespace {

nb::object array_of(const std::vector<double>& values) {
  auto* copy = new std::vector<double>(values);
  const nb::capsule owner(copy, [](void* held) noexcept { delete static_cast<std::vector<double>*>(held); });
  return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(copy->data(), {copy->size()}, owner));
}

nb::dict read(const std::string& file, const std::string& draft) {
  ReadRecording read;
  {
    const nb::gil_scoped_release released;
    read = read_recording(file, draft);
  }
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

}  // namespace

void bind_recordings(nb::module_& module) {
  module.def("read_recording", &read, nb::arg("file"), nb::arg("draft"));
}

}  // namespace speclab::python
