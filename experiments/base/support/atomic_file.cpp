#include "experiments/base/support/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "core/stop.hpp"

namespace speclab {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view step, int error) {
  throw std::runtime_error(
      fmt::format("cannot write {}: {}: {}", path.string(), step, std::generic_category().message(error)));
}

constexpr const char* partial_ending = ".speclab.tmp";

// The partial file. Its destructor closes it, and removes it unless it was renamed.
class PartialFile {
 public:
  explicit PartialFile(const std::filesystem::path& path) {
    static std::atomic<unsigned> count{0};
    // The name is hidden and numbered, so that writers of the same file in other threads and processes do not
    // collide.
    for (bool ours = false; !ours;) {
      const std::string name =
          fmt::format(".{}.{}.{}{}", path.filename().string(), ::getpid(), count++, partial_ending);
      name_ = path.parent_path() / name;
      descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      // The file may belong to an earlier process with this id.
      if (descriptor_ < 0 && errno == EEXIST) continue;
      if (descriptor_ < 0) fail(path, "open", errno);
      // The lock marks the file as being written, and ends with the process. Between open and flock another
      // process may have removed the file as a leftover.
      struct stat about = {};
      ::flock(descriptor_, LOCK_EX);
      ours = ::fstat(descriptor_, &about) == 0 && about.st_nlink > 0;
      if (!ours) ::close(std::exchange(descriptor_, -1));
    }
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(name_.c_str());
  }

  // Returns 0 or an errno.
  int write(std::string_view contents) {
    while (!contents.empty()) {
      const ::ssize_t written = ::write(descriptor_, contents.data(), contents.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      contents.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
  }

  int flush() { return ::fsync(descriptor_) == 0 ? 0 : errno; }

  int rename_to(const std::filesystem::path& path) {
    if (::close(std::exchange(descriptor_, -1)) != 0) return errno;
    if (::rename(name_.c_str(), path.c_str()) != 0) return errno;
    renamed_ = true;
    return 0;
  }

 private:
  std::filesystem::path name_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

/// Removes leftovers before this process writes its first file into a folder.
void sweep_once(const std::filesystem::path& folder) {
  static std::mutex mutex;
  static std::set<std::filesystem::path> swept;
  const std::scoped_lock lock(mutex);
  if (swept.insert(folder).second) remove_partial_files(folder);
}

}  // namespace

void remove_partial_files(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with('.') || !name.ends_with(partial_ending) || !entry.is_regular_file(error)) continue;
    const int descriptor = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) continue;
    // A writer holds the lock; on a file system without locks flock always fails.
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
    ::close(descriptor);
  }
}

void write_file_atomically(const std::filesystem::path& path, std::string_view contents) {
  write_file_atomically(path, [&](const std::function<void(std::string_view)>& out) { out(contents); });
}

void write_file_atomically(
    const std::filesystem::path& path,
    const std::function<void(const std::function<void(std::string_view piece)>& out)>& write) {
  if (path.has_parent_path()) {
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) fail(path, "create its folder", error.value());
  }
  sweep_once(path.parent_path());
  PartialFile file(path);
  bool first = true;
  write([&](std::string_view piece) {
    if (!std::exchange(first, false)) end_if_stopped();
    if (const int error = file.write(piece)) fail(path, "write", error);
  });
  if (const int error = file.flush()) fail(path, "write", error);
  if (const int error = file.rename_to(path)) fail(path, "rename", error);
}

}  // namespace speclab
