// Reads texts from several files, or from fields of records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "sim/text/documents.hpp"

namespace speclab {

/// Returns every text of a folder (text_files), one document per file: form feeds separate files
/// (make_documents splits there), and form feeds within a text become line breaks. Throws ModelError for a
/// folder without files, and for a file that cannot be read or must be UTF-8 and is not.
std::string text_of_folder(const std::filesystem::path& folder, Encoding encoding);

/// Reads each record (of JSON lines or a JSON list) as prompt, separator and output; skips records with an
/// empty side. Dots in a field's name lead into objects and lists. Throws ModelError, with file and line, if
/// a field is missing or not text.
ParallelDocuments prompt_output_documents(const std::filesystem::path& file, const std::string& prompt_field,
                                          const std::string& output_field, std::int32_t vocabulary_cap);

}  // namespace speclab
