// Reads logs from files, which may be compressed, and from the standard input.
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/gzip.hpp"
#include "experiments/base/support/text_files.hpp"
#include "serving/advisor/acceptance_file.hpp"

namespace speclab {

std::string read_log_text(const std::string& file) {
  std::string text = read_in_memory(file, [&] {
    std::string read = in_file(file, [&] { return read_text(file == "-" ? "/dev/stdin" : file); });
    if (!is_gzip(read)) return read;
    try {
      return gunzip(read);
    } catch (const std::runtime_error& error) {
      throw UsageError("{}: {}", file, error.what());
    }
  });
  if (const std::string problem = byte_order_mark_problem(text); !problem.empty())
    throw UsageError("{}: {}", file, problem);
  return text;
}

AcceptanceFile read_acceptance(const std::string& file, const LogOptions& options) {
  const std::string text = read_log_text(file);
  const std::string name = file == "-" ? "standard input" : file;
  return read_in_memory(name, [&] { return acceptance_in(text, name, options); });
}

}  // namespace speclab
