#include "sim/models/mapped_model.hpp"

#include <string>
#include <unordered_map>
#include <utility>

namespace speclab {

MappedModel::MappedModel(GgufModel model, std::shared_ptr<const GgufTokenizer> own,
                         std::shared_ptr<const GgufTokenizer> seen)
    : model_(std::move(model)), own_(std::move(own)), seen_(std::move(seen)) {
  const auto text_of = [](const GgufTokenizer& tokenizer, Token id) { return tokenizer.join({&id, 1}); };
  std::unordered_map<std::string, Token> ids;
  for (Token id = 0; id < own_->size(); ++id) ids.try_emplace(text_of(*own_, id), id);
  ids.erase("");  // the text of tokens without text
  partner_.assign(static_cast<std::size_t>(seen_->size()), invalid_token);
  for (Token id = 0; id < seen_->size(); ++id) {
    const auto found = ids.find(text_of(*seen_, id));
    if (found == ids.end()) continue;
    partner_[static_cast<std::size_t>(id)] = found->second;
    ++partners_;
    ids.erase(found);  // each text maps to one token
  }
}

Row MappedModel::next(std::span<const Token> context, std::vector<double>& scratch) const {
  std::vector<double> own_scratch;
  const Row own = model_.next(own_->tokens(seen_->join(context)), own_scratch);
  scratch.resize(partner_.size());
  double total = 0;
  for (std::size_t id = 0; id < partner_.size(); ++id) {
    scratch[id] = partner_[id] < 0 ? 0 : own[partner_[id]];
    total += scratch[id];
  }
  const auto size = static_cast<double>(scratch.size());
  for (double& probability : scratch) probability = total == 0 ? 1 / size : probability / total;
  return {scratch.data(), static_cast<std::int32_t>(scratch.size())};
}

}  // namespace speclab
