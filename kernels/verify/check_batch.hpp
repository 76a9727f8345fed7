// Mistakes in a batch that the host can see before anything is launched.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "kernels/verify/implementation.hpp"

namespace speclab {

/// What is wrong with the sizes, formats and rule of a batch: all that a workspace's size depends on. A
/// sentence with the field, its value and what is allowed; nothing if they will do.
std::optional<std::string> shape_error(Implementation implementation, const VerifyBatch& batch);

/// What keeps a batch from being launched: its shape, strides, null pointers, alignment, memory that overlaps
/// (outputs and workspace with each other or with inputs), a workspace that is too small. Pointers are
/// compared as numbers and never read; what they point to is checked by the kernels (VerifyFlag). A batch
/// without requests needs no pointers.
std::optional<std::string> batch_error(Implementation implementation, const VerifyBatch& batch,
                                       const void* workspace, std::size_t workspace_bytes);

/// The same of what needs no workspace.
std::optional<std::string> batch_error(Implementation implementation, const VerifyBatch& batch);

/// What a workspace has to be aligned to, in bytes.
inline constexpr std::size_t workspace_alignment = 256;

}  // namespace speclab
