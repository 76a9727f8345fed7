// Texts that lie in several files, or as fields of records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "sim/text/documents.hpp"

namespace speclab {

/// Every text of a folder (text_files), with form feeds between them, at which make_documents splits. Form
/// feeds within a text are line breaks: one file is one document. Throws ModelError for a folder without
/// files, and for a file that cannot be read or is not UTF-8 and has to be.
std::string text_of_folder(const std::filesystem::path& folder, Encoding encoding);

/// Records of JSON lines, or of a list, as prompt, separator, output; records with an empty side are left
/// out. A field's name leads by dots into objects and lists. Throws ModelError, with file and line, for a
/// record without the field or with something else than text in it.
ParallelDocuments prompt_output_documents(const std::filesystem::path& file, const std::string& prompt_field,
                                          const std::string& output_field, std::int32_t vocabulary_cap);

}  // namespace speclab
