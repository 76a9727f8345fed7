// Runs a fuzz target on every file of a corpus and on inputs made from them by seeded changes: the same
// inputs on every machine, with any compiler. libFuzzer, which follows coverage, is the long mode (preset
// fuzz). usage: TARGET RUNS FILE_OR_FOLDER...
#include <fcntl.h>
#include <algorithm>
#include <charconv>
#include <iterator>
#include <random>
#include <vector>

#include "tests/fuzz/fuzz.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::size_t below(std::mt19937_64& random, std::size_t count) { return count == 0 ? 0 : random() % count; }

void change(Bytes& bytes, const Bytes& other, std::mt19937_64& random) {
  static const std::vector<std::string> words{"-1",    "0",
                                              "1e999", "nan",
                                              "null",  "{}",
                                              "[",     "]",
                                              "\"",    "\\",
                                              ",",     "\n",
                                              "-99",   "18446744073709551616",
                                              "0.1",   "true",
                                              "\xff",  std::string(1, '\0'),
                                              "1e-320"};
  const std::size_t at = below(random, bytes.size() + 1);
  const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  switch (below(random, 6)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<std::uint8_t>(random());
      break;
    case 1:
      if (at < bytes.size()) bytes[at] ^= static_cast<std::uint8_t>(1u << below(random, 8));
      break;
    case 2: {
      const std::size_t length = std::min(bytes.size() - at, 1 + below(random, 16));
      bytes.erase(place, place + static_cast<std::ptrdiff_t>(length));
      break;
    }
    case 3: {
      const std::string& word = words[below(random, words.size())];
      bytes.insert(place, word.begin(), word.end());
      break;
    }
    case 4: {
      const std::size_t from = below(random, other.size());
      const std::size_t length = std::min(other.size() - from, 1 + below(random, 64));
      const Bytes piece(other.begin() + static_cast<std::ptrdiff_t>(from),
                        other.begin() + static_cast<std::ptrdiff_t>(from + length));
      bytes.insert(place, piece.begin(), piece.end());
      break;
    }
    default:
      bytes.resize(at);
  }
}

void run(const Bytes& bytes) { LLVMFuzzerTestOneInput(bytes.data(), bytes.size()); }

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  const std::string runs_text = argc > 2 ? argv[1] : "";
  std::size_t runs = 0;
  if (std::from_chars(runs_text.data(), runs_text.data() + runs_text.size(), runs).ec != std::errc{}) {
    std::cerr << "usage: " << argv[0] << " RUNS FILE_OR_FOLDER...\n";
    return 2;
  }
  std::vector<fs::path> files;
  for (int i = 2; i < argc; ++i) {
    if (!fs::is_directory(argv[i]))
      files.emplace_back(argv[i]);
    else
      std::copy(fs::directory_iterator(argv[i]), fs::directory_iterator(), std::back_inserter(files));
  }
  std::erase_if(files, [](const fs::path& file) { return !fs::is_regular_file(file); });
  std::sort(files.begin(), files.end());
  std::vector<Bytes> corpus;
  for (const fs::path& file : files) corpus.push_back(content(file));
  if (corpus.empty()) return 2;
  for (const Bytes& bytes : corpus) run(bytes);
  // Targets that run at the same time, in one folder, each have a file of their own.
  const std::string last_input = fs::path(argv[0]).filename().string() + "_last_input";
  const int saved = ::open(last_input.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < runs; ++i) {
    Bytes bytes = corpus[below(random, corpus.size())];
    const Bytes& other = corpus[below(random, corpus.size())];
    for (std::size_t changes = 1 + below(random, 4); changes > 0; --changes) change(bytes, other, random);
    // The input is saved before the target reads it: after an abort it is the finding. The file stays open,
    // since opening it takes longer than most targets do.
    if (::pwrite(saved, bytes.data(), bytes.size(), 0) != static_cast<::ssize_t>(bytes.size()) ||
        ::ftruncate(saved, static_cast<::off_t>(bytes.size())) != 0) {
      std::cerr << last_input << " cannot be written in this folder\n";
      return 2;
    }
    run(bytes);
  }
  ::close(saved);
  fs::remove(last_input);
  std::cout << corpus.size() << " files and " << runs << " changed inputs\n";
}
