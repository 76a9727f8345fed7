// A model as the factory returns it.
#pragma once

#include <memory>

#include "sim/models/model.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

/// A model and the words of its tokens.
struct BuiltModel {
  Model model;
  std::shared_ptr<const Vocabulary> vocabulary = nullptr;  ///< null without text
};

}  // namespace speclab
