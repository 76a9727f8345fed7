#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "experiments/base/format/config_error.hpp"
#include "experiments/run/model_file.hpp"
#include "sim/models/table_model.hpp"

using namespace speclab;

namespace {

class ModelFolderOf {
 public:
  ModelFolderOf() : path_(std::filesystem::temp_directory_path() / "speclab_model_files_test") {
    std::filesystem::create_directories(path_);
  }
  ModelFolderOf(const ModelFolderOf&) = delete;
  ModelFolderOf& operator=(const ModelFolderOf&) = delete;
  ~ModelFolderOf() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// Returns a model of three tokens with contexts of one token and one probability of 0.
Model markov() { return TableModel(3, 1, {.5, .3, .2, .1, .9, 0, 1. / 3, 1. / 3, 1. / 3}); }

}  // namespace

TEST_CASE("a table goes through every format, and through ARPA, and comes back") {
  const ModelFolderOf folder;
  const ContextRows rows = rows_of(markov());
  REQUIRE(rows.probabilities.size() == 9);
  for (const char* name : {"a.csv", "a.json", "a.npy"}) {
    CAPTURE(name);
    write_model({markov()}, folder / name);
    ModelFactory factory;
    const ContextRows back = rows_of(model_from_file(folder / name, factory).model);
    CHECK(back.vocab == 3);
    CHECK(back.probabilities == rows.probabilities);
  }
  write_model({markov()}, folder / "a.arpa");
  ModelFactory factory;
  const BuiltModel arpa = model_from_file(folder / "a.arpa", factory);
  CHECK(arpa.model.vocab() == 3);
  CHECK(arpa.vocabulary->text(2) == "t2");
  const ContextRows back = rows_of(arpa.model);
  REQUIRE(back.probabilities.size() == 9);
  for (std::size_t i = 0; i < 9; ++i)
    CHECK(back.probabilities[i] == doctest::Approx(rows.probabilities[i]).epsilon(1e-12));
}

TEST_CASE("a table of two tokens of context goes through ARPA") {
  std::vector<double> numbers;
  for (int i = 0; i < 27; ++i) numbers.push_back(1 + (i * 7) % 5);
  const Model model = TableModel(3, 2, numbers);
  const ModelFolderOf folder;
  write_model({model}, folder / "b.arpa");
  ModelFactory factory;
  const ContextRows back = rows_of(model_from_file(folder / "b.arpa", factory).model);
  const ContextRows rows = rows_of(model);
  REQUIRE(back.probabilities.size() == 27);
  for (std::size_t i = 0; i < 27; ++i) CHECK(back.probabilities[i] == doctest::Approx(rows.probabilities[i]));
}

TEST_CASE("what cannot be a table, and files of other names, are refused") {
  const ModelFolderOf folder;
  CHECK_THROWS_WITH_AS(write_model({markov()}, folder / "a.txt"), doctest::Contains(".npy"), UsageError);
  const Model large = TableModel(9000, 0, std::vector<double>(9000, 1));
  CHECK_NOTHROW(rows_of(large));
  std::ofstream(folder / "bad.npy") << "no array";
  ModelFactory factory;
  CHECK_THROWS_WITH_AS(model_from_file(folder / "bad.npy", factory), doctest::Contains("not an .npy file"),
                       ConfigError);
}
