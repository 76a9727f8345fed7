#include "experiments/base/support/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace speclab {

namespace {

/// Closes the file at the end of the scope; the mapping stays.
struct OpenFile {
  int descriptor;
  ~OpenFile() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& file) {
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const OpenFile open{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat about {};
  if (open.descriptor < 0 || ::fstat(open.descriptor, &about) != 0)
    throw std::runtime_error(fmt::format("cannot be read: {}", std::strerror(errno)));
  if (!S_ISREG(about.st_mode)) throw std::runtime_error("is not a regular file");
  size_ = static_cast<std::size_t>(about.st_size);
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, open.descriptor, 0);
  if (mapped == MAP_FAILED) throw std::runtime_error(fmt::format("cannot be read: {}", std::strerror(errno)));
  ::madvise(mapped, size_, MADV_SEQUENTIAL);
  begin_ = static_cast<const char*>(mapped);
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(const_cast<char*>(begin_), size_);  // NOLINT: munmap takes no const
}

}  // namespace speclab
