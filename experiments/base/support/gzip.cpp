#include "experiments/base/support/gzip.hpp"

#include <zlib.h>

#include <memory>
#include <stdexcept>

#include "core/stop.hpp"

namespace speclab {

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

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

}  // namespace speclab
