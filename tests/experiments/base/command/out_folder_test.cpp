#include "experiments/base/command/out_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

namespace fs = std::filesystem;
using namespace speclab;

struct ReportFolder {
  fs::path path = fs::temp_directory_path() / "speclab_out_folder_test";
  ReportFolder() {
    fs::remove_all(path);
    fs::create_directories(path / "out");
    std::ofstream(path / "built.html") << "the explorer";
  }
  ~ReportFolder() { fs::remove_all(path); }

  std::string text(const fs::path& file) const {
    std::ifstream in(path / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

bool links(const std::string& report) { return report.find("href=\"explorer.html\"") != std::string::npos; }

const Page page{"A report", "", {}, {{"only", "Only"}}};

}  // namespace

TEST_CASE("a report links to the explorer, which then lies beside it") {
  const ReportFolder folder;
  write_report(folder.path / "out", page, folder.path / "built.html");
  CHECK(links(folder.text("out/report.html")));
  CHECK(folder.text("out/explorer.html") == "the explorer");

  // A newer explorer replaces the existing copy.
  std::ofstream(folder.path / "built.html") << "another explorer";
  write_report(folder.path / "out", page, folder.path / "built.html");
  CHECK(folder.text("out/explorer.html") == "another explorer");
}

TEST_CASE("no link leads nowhere: without an explorer a report has none") {
  const ReportFolder folder;
  write_report(folder.path / "out", page, "");
  CHECK_FALSE(links(folder.text("out/report.html")));
  write_report(folder.path / "out", page, folder.path / "missing.html");
  CHECK_FALSE(links(folder.text("out/report.html")));
  CHECK_FALSE(fs::exists(folder.path / "out/explorer.html"));
}
