#include "experiments/recording/array_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/printable.hpp"

namespace speclab {

namespace {

/// Throws UsageError for arrays that would be passed over.
void check_names(const std::string& file, const std::vector<std::string>& names) {
  static const std::vector<std::string> known{"target", "draft", "tokens", "sequence", "logits"};
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  constexpr std::size_t shown = 40;
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw UsageError(
        "{}: unknown array \"{}\"{}; rows are target, draft, tokens and sequence, or logits, tokens and sequence: save them without others",
        file, printable(name, shown), suggestion(name, known));
  }
  if (has("logits") && (has("target") || has("draft")))
    throw UsageError(
        "{}: array \"logits\" beside \"{}\"; a file has logits of one model, or target and draft", file,
        has("target") ? "target" : "draft");
}

bool has_integers(const NpyArray& array) { return array.kind == 'i' || array.kind == 'u'; }

/// Returns the type of the array's numbers; empty for integers and for types that rows cannot have.
std::optional<RowNumber> number_type(const NpyArray& array) {
  if (array.kind == 'b') return RowNumber::bf16;
  if (array.kind != 'f') return std::nullopt;
  if (array.bytes == 2) return RowNumber::f16;
  if (array.bytes == 4) return RowNumber::f32;
  return array.bytes == 8 ? std::optional(RowNumber::f64) : std::nullopt;
}

NpyArray needed(const std::string& file, const char* name, std::size_t dimensions,
                std::optional<NpyArray> array) {
  if (!array) {
    throw UsageError(
        "{}: no array \"{}\"; rows are target [T, V], draft [T, V] and tokens [T], and optionally sequence [T]",
        file, name);
  }
  const bool integers = dimensions == 1;
  if (array->shape.size() != dimensions ||
      !(integers ? has_integers(*array) : number_type(*array).has_value())) {
    throw UsageError("{}: array \"{}\" has {} dimension(s) of {}; expected {} of {}", file, name,
                     array->shape.size(), has_integers(*array) ? "integers" : "other numbers", dimensions,
                     integers ? "integers" : "f16, bf16, f32 or f64");
  }
  return *std::move(array);
}

std::vector<std::int64_t> integers_of(const NpyArray& array) {
  std::vector<std::int64_t> values(array.shape[0]);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = array.integer(i);
  return values;
}

RowSet set_of(const std::string& file, const char* name, const NpyArray& array) {
  RowSet set;
  set.where = fmt::format("{}: {}", file, name);
  set.rows = array.shape[0];
  set.vocab = array.shape[1];
  set.number = number_type(array).value();
  if (set.rows == 0 || set.vocab == 0) throw UsageError(set.where + ": is empty");
  const std::size_t width = set.vocab * bytes_of(set.number);
  set.at = [data = array.data.data(), width, memory = array.memory](std::size_t row, std::vector<float>&) {
    return static_cast<const void*>(data + row * width);
  };
  set.meaning = guess_meaning(array.data.data(), set.number, set.vocab);
  return set;
}

}  // namespace

RowFile rows_of(const std::string& file, std::shared_ptr<const void> memory,
                const std::vector<std::string>& names,
                const std::function<std::optional<NpyArray>(const std::string& name)>& find) {
  check_names(file, names);
  RowFile rows;
  rows.memory = std::move(memory);
  rows.tokens = integers_of(needed(file, "tokens", 1, find("tokens")));
  const auto set = [&](const char* name, std::optional<NpyArray> array) {
    return set_of(file, name, needed(file, name, 2, std::move(array)));
  };
  std::optional<NpyArray> target = find("target");
  std::optional<NpyArray> draft = find("draft");
  if (target && draft) {
    rows.target = set("target", std::move(target));
    rows.draft = set("draft", std::move(draft));
  } else if (target || draft) {
    rows.target = target ? set("target", std::move(target)) : set("draft", std::move(draft));
  } else {
    std::optional<NpyArray> logits = find("logits");
    rows.target = logits ? set("logits", std::move(logits)) : set("target", std::nullopt);
  }
  rows.sequences = one_sequence(rows.tokens.size());
  if (std::optional<NpyArray> sequence = find("sequence")) {
    const std::vector<std::int64_t> numbers = integers_of(needed(file, "sequence", 1, std::move(sequence)));
    if (numbers.size() != rows.tokens.size()) {
      throw UsageError("{}: {} entries of \"sequence\", but {} tokens", file, numbers.size(),
                       rows.tokens.size());
    }
    rows.sequences = numbered_sequences(numbers, file);
  }
  return rows;
}

}  // namespace speclab
