// Reads texts that consist of several files, or of fields of records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "sim/text/documents.hpp"

namespace speclab {

/// Returns every text of a folder (text_files), with form feeds between them, at which make_documents splits.
/// Form feeds within a text become line breaks, so that each file is one document. Throws ModelError for a
/// folder without files, and for a file that cannot be read or is not UTF-8 although it must be.
std::string text_of_folder(const std::filesystem::path& folder, Encoding encoding);

/// Reads records of JSON lines, or of a list, as prompt, separator and output; leaves out records with an
/// empty side. Dots in a field's name lead into objects and lists. Throws ModelError, with file and line, for
/// a record without the field, or in which the field is not text.
ParallelDocuments prompt_output_documents(const std::filesystem::path& file, const std::string& prompt_field,
                                          const std::string& output_field, std::int32_t vocabulary_cap);

}  // namespace speclab
