// Caches computed logits.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/token.hpp"

namespace speclab {

/// A thread-safe cache of logits by context, which keeps the most recently used ones that fit into a number
/// of bytes.
class LogitsOfTexts {
 public:
  using Values = std::shared_ptr<const std::vector<float>>;

  LogitsOfTexts(std::size_t bytes, std::size_t vocab) : max_(bytes / (sizeof(float) * vocab)) {}

  bool on() const { return max_ > 0; }

  Values find(std::span<const Token> tokens) {
    const std::scoped_lock lock(mutex_);
    const auto found = by_text_.find(text_of(tokens));
    if (found == by_text_.end()) return nullptr;
    last_used_.splice(last_used_.begin(), last_used_, found->second);
    return found->second->values;
  }

  void add(std::span<const Token> tokens, const std::vector<float>& values) {
    auto made = std::make_shared<const std::vector<float>>(values);
    const std::scoped_lock lock(mutex_);
    if (by_text_.contains(text_of(tokens))) return;
    last_used_.push_front({{tokens.begin(), tokens.end()}, std::move(made)});
    by_text_.emplace(text_of(last_used_.front().tokens), last_used_.begin());
    if (last_used_.size() <= max_) return;
    by_text_.erase(text_of(last_used_.back().tokens));
    last_used_.pop_back();
  }

 private:
  struct Entry {
    std::vector<Token> tokens;
    Values values;
  };

  /// Returns the bytes of the tokens; the entry owns them.
  static std::string_view text_of(std::span<const Token> tokens) {
    return {reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes()};
  }

  std::size_t max_;
  std::mutex mutex_;
  std::list<Entry> last_used_;
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_text_;
};

}  // namespace speclab
