// A temporary file that is deleted after the test.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace speclab {

class TempFile {
 public:
  explicit TempFile(std::string_view content) : path_(unique_path()) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  static std::filesystem::path unique_path() {
    static std::atomic<int> made{0};
    const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
    return std::filesystem::temp_directory_path() /
           ("speclab_test_" + std::to_string(ticks) + "_" + std::to_string(made++));
  }

  std::filesystem::path path_;
};

}  // namespace speclab
