// Finds the mistakes in a batch that the host can see before anything is launched.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "kernels/verify/implementation.hpp"

namespace speclab {

/// Returns the mistake in the sizes, formats and rule of a batch, on which alone the workspace's size
/// depends: a sentence with the field, its value and what is allowed. Returns nothing if they are valid.
std::optional<std::string> shape_error(Implementation implementation, const VerifyBatch& batch);

/// Returns the mistake that keeps a batch from being launched: in its shape, strides, null pointers,
/// alignment, memory that overlaps (outputs and workspace with each other or with inputs), or a workspace
/// that is too small. Compares pointers as numbers and never reads them; the kernels check what they point to
/// (VerifyFlag). A batch without requests needs no pointers.
std::optional<std::string> batch_error(Implementation implementation, const VerifyBatch& batch,
                                       const void* workspace, std::size_t workspace_bytes);

/// Returns the mistake, as above, for an implementation that needs no workspace.
std::optional<std::string> batch_error(Implementation implementation, const VerifyBatch& batch);

/// Alignment of a workspace, in bytes.
inline constexpr std::size_t workspace_alignment = 256;

}  // namespace speclab
