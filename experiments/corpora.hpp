// The texts that a config names: loaded once, shared between cells.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/format/shape.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

/// A corpus, and what was held out of it. `tokens` is what models are trained on: of a corpus with
/// translations the translations, each after a separator.
struct CorpusText : Corpus {
  std::vector<std::vector<Token>> documents;  ///< those trained on, where there are documents
  std::vector<std::vector<Token>> held_out;
  std::optional<Token> separator;  ///< between a source and its translation
};

class Corpora {
 public:
  /// The text of a corpus section as resolved. Throws ConfigError below `path` for files that cannot be read
  /// and for documents too few to hold any out.
  std::shared_ptr<const CorpusText> text(const Json& corpus, const std::string& path);

 private:
  std::map<std::string, std::shared_ptr<const CorpusText>> texts_;
};

}  // namespace speclab
