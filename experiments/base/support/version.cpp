#include "experiments/base/support/version.hpp"

#include <fmt/format.h>
#include <tbb/version.h>

#include <boost/version.hpp>
#include <nlohmann/json.hpp>

namespace speclab {

std::string version_string() { return SPECLAB_VERSION; }

std::string version_and_commit() {
  const std::string commit = SPECLAB_COMMIT;
  return commit.empty() ? version_string() : fmt::format("{} (commit {})", version_string(), commit);
}

std::string build_description() {
#if defined(SPECLAB_HAS_SENTENCEPIECE)
  const char* pieces = "yes";
#else
  const char* pieces = "no (libsentencepiece-dev was absent)";
#endif
  return fmt::format(
      "speclab {}\n"
      "sources        {:.12}\n"
      "compiler       g++ {}, {}\n"
      "CUDA           {}\n"
      "Boost          {}.{}.{}\n"
      "nlohmann/json  {}.{}.{}\n"
      "fmt            {}.{}.{}\n"
      "oneTBB         {}.{}\n"
      "SentencePiece  {}\n",
      version_and_commit(), program_sources(), __VERSION__, SPECLAB_BUILD_TYPE, SPECLAB_CUDA_VERSION,
      BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100, NLOHMANN_JSON_VERSION_MAJOR,
      NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH, FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
      FMT_VERSION % 100, TBB_VERSION_MAJOR, TBB_VERSION_MINOR, pieces);
}

}  // namespace speclab
