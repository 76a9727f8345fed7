// Loads models by libllama, for the files that use it: include only where SPECLAB_HAS_LLAMA is defined.
#pragma once

#include <llama.h>

#include <filesystem>
#include <memory>

namespace speclab {

/// Loads a model. Throws ModelError that names the file and gives the library's message.
std::shared_ptr<llama_model> load_llama_model(const std::filesystem::path& file, bool vocabulary_only);

}  // namespace speclab
