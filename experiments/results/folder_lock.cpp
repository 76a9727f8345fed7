#include "experiments/results/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

FolderLock::FolderLock(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::path missing = folder; !missing.empty() && !std::filesystem::exists(missing, error);
       missing = missing.parent_path()) {
    made_.push_back(missing);
  }
  std::filesystem::create_directories(folder, error);
  if (error) throw UsageError("--out {}: cannot write: {}", folder.string(), error.message());
  descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) return;
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const bool held = errno == EWOULDBLOCK;
    ::close(descriptor_);
    descriptor_ = -1;
    if (!held) return;
    throw UsageError("another run is writing into {}; wait for its end, or choose another --out",
                     folder.string());
  }
  for (const char* name : {"journal.jsonl", "result.json", "summary.csv", "report.html"}) {
    if (std::filesystem::exists(folder / name) && !std::filesystem::is_regular_file(folder / name))
      throw UsageError("{}/{}: is not a regular file; remove it", folder.string(), name);
  }
}

FolderLock::~FolderLock() {
  for (const std::filesystem::path& folder : made_)
    ::rmdir(folder.c_str());  // rmdir fails for a folder with files, which stays
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace speclab
