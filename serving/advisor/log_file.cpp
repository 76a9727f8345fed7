// Reads logs from files, which may be compressed, and from the standard input.
#include <fmt/format.h>
#include <zlib.h>

#include <memory>
#include <stdexcept>

#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/text_files.hpp"
#include "serving/advisor/acceptance_file.hpp"

namespace speclab {

namespace {

/// Returns the decompressed contents of all members of a gzip file (RFC 1952). Throws std::runtime_error if
/// it is damaged, cut off, or holds more than 1 GiB.
std::string gunzip(std::string_view bytes) {
  constexpr std::size_t most = std::size_t{1} << 30U;
  constexpr std::size_t block = std::size_t{1} << 16U;
  constexpr int gzip_window = 15 + 16;
  if (bytes.size() > most) throw std::runtime_error("more than 1 GiB");
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window) != Z_OK) throw std::runtime_error("zlib cannot be started");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ends(&stream, inflateEnd);
  // zlib takes a pointer to non-const input but does not change it.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  for (;;) {
    end_if_stopped();
    const std::size_t size = text.size();
    if (size > most) throw std::runtime_error("holds more than 1 GiB");
    text.resize(size + block);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + size);
    stream.avail_out = block;
    const int state = inflate(&stream, Z_NO_FLUSH);
    text.resize(size + block - stream.avail_out);
    if (state == Z_STREAM_END) {
      if (stream.avail_in == 0) return text;
      // Another member may follow.
      if (inflateReset(&stream) != Z_OK)
        throw std::runtime_error("is damaged: not gzip after its first member");
    } else if (state != Z_OK) {
      throw std::runtime_error(state == Z_BUF_ERROR ? "is cut off: gzip data without an end"
                                                    : "is damaged: not gzip data throughout");
    }
  }
}

}  // namespace

std::string read_log_text(const std::string& file) {
  std::string text = read_in_memory(file, [&] {
    std::string read = in_file(file, [&] { return read_text(file == "-" ? "/dev/stdin" : file); });
    if (!read.starts_with("\x1f\x8b")) return read;
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
