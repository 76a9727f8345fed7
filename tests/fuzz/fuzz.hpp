// A fuzz target reads bytes as one kind of input. It may reject them with an error that is meant for people;
// anything else that leaves it (another exception, a signal, a sanitizer's report) is a finding.
#pragma once

#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "experiments/base/format/config_error.hpp"
#include "sim/error.hpp"

namespace speclab {

/// Aborts for exceptions that are not meant for people.
template <class Read>
int refused_or_read(const Read& read) {
  try {
    read();
  } catch (const ConfigError&) {
  } catch (const UsageError&) {
  } catch (const ModelError&) {
  } catch (const std::exception& error) {
    std::cerr << "not an error for people: " << error.what() << std::endl;
    std::abort();
  }
  return 0;
}

/// Returns a file in memory with these bytes.
inline std::filesystem::path file_with(const std::uint8_t* data, std::size_t size, const std::string& name) {
  static const std::filesystem::path folder =
      std::filesystem::path("/dev/shm") / ("speclab_fuzz_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / name;
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  return file;
}

}  // namespace speclab

/// The entry of each target; libFuzzer, or standalone.cpp, calls it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
