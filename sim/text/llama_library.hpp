// Loading by libllama, for the files that use it: include only where SPECLAB_HAS_LLAMA is defined.
#pragma once

#include <llama.h>

#include <filesystem>
#include <memory>

namespace speclab {

/// Throws ModelError, naming the file, with what the library says.
std::shared_ptr<llama_model> load_llama_model(const std::filesystem::path& file, bool vocabulary_only);

}  // namespace speclab
