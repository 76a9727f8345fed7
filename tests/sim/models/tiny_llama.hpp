// A small model of the Llama architecture with random weights, computed in double loops to check libllama's
// results from the GGUF file that it writes. Tokens are bytes, some pairs of bytes, and "<|end|>".
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/random/philox.hpp"
#include "core/token.hpp"
#include "tests/sim/random_tokens.hpp"

namespace speclab {

struct TinyLlamaSize {
  std::size_t width = 32;
  std::size_t heads = 4;
  std::size_t key_heads = 2;  ///< each is shared by heads / key_heads heads
  std::size_t hidden = 48;
  std::size_t blocks = 2;
  std::size_t context = 96;
  std::size_t more_tokens = 0;  ///< unused tokens at the vocabulary's end
  double scale = 0.35;          ///< scale of weights; larger ones make sharper rows
};

class TinyLlama {
 public:
  explicit TinyLlama(std::uint64_t seed, const TinyLlamaSize& size = {}) : size_(size), stream_(world(seed)) {
    add_tokens();
    embedding_ = matrix(vocab(), size.width, 1);
    output_ = matrix(vocab(), size.width, 1);
    output_norm_ = norm();
    for (std::size_t i = 0; i < size.blocks; ++i) blocks_.push_back(block());
  }

  std::size_t vocab() const { return tokens_.size(); }
  const TinyLlamaSize& size() const { return size_; }

  /// Returns the logits after these tokens, at least one.
  std::vector<double> logits(std::span<const Token> tokens) const {
    std::vector<Numbers> states;
    for (const Token token : tokens) {
      states.push_back(row(embedding_, static_cast<std::size_t>(token)));
    }
    for (const Block& block : blocks_) step(block, states);
    return times(output_, normed(states.back(), output_norm_));
  }

  std::vector<double> row_after(std::span<const Token> tokens) const {
    std::vector<double> row = logits(tokens);
    double total = 0;
    for (double& logit : row) total += logit = std::exp(logit);
    for (double& probability : row) probability /= total;
    return row;
  }

  /// Returns the file, version 3.
  std::string gguf() const {
    std::string header;
    std::uint64_t keys = 0;
    const auto key = [&](const std::string& name, std::uint32_t type) {
      put_text(header, name);
      put(header, type);
      ++keys;
    };
    const auto text = [&](const std::string& name, const std::string& value) {
      key(name, 8);
      put_text(header, value);
    };
    const auto number = [&](const std::string& name, std::size_t value) {
      key(name, 4);
      put(header, static_cast<std::uint32_t>(value));
    };
    const auto real = [&](const std::string& name, float value) {
      key(name, 6);
      put(header, value);
    };
    const auto texts = [&](const std::string& name, const std::vector<std::string>& values) {
      key(name, 9);
      put(header, std::uint32_t{8});
      put(header, static_cast<std::uint64_t>(values.size()));
      for (const std::string& value : values) put_text(header, value);
    };
    text("general.architecture", "llama");
    text("general.name", "tiny");
    number("llama.block_count", size_.blocks);
    number("llama.context_length", size_.context);
    number("llama.embedding_length", size_.width);
    number("llama.feed_forward_length", size_.hidden);
    number("llama.attention.head_count", size_.heads);
    number("llama.attention.head_count_kv", size_.key_heads);
    number("llama.rope.dimension_count", head());
    real("llama.rope.freq_base", static_cast<float>(rope_base));
    real("llama.attention.layer_norm_rms_epsilon", static_cast<float>(epsilon));
    text("tokenizer.ggml.model", "gpt2");
    text("tokenizer.ggml.pre", "gpt-2");
    texts("tokenizer.ggml.tokens", tokens_);
    texts("tokenizer.ggml.merges", merges_);
    key("tokenizer.ggml.token_type", 9);
    put(header, std::uint32_t{5});
    put(header, static_cast<std::uint64_t>(tokens_.size()));
    for (std::size_t i = 0; i < tokens_.size(); ++i) put(header, std::int32_t{i == end_ ? 3 : 1});
    number("tokenizer.ggml.bos_token_id", end_);
    number("tokenizer.ggml.eos_token_id", end_);
    text("tokenizer.chat_template", "{% for m in messages %}<|im_start|>{% endfor %}");

    std::string data;
    std::string tensors;
    std::uint64_t count = 0;
    const auto tensor = [&](const std::string& name, const Numbers& values, std::size_t rows,
                            std::size_t columns) {
      put_text(tensors, name);
      put(tensors, std::uint32_t{rows == 0 ? 1U : 2U});
      put(tensors, static_cast<std::uint64_t>(columns));
      if (rows != 0) put(tensors, static_cast<std::uint64_t>(rows));
      put(tensors, std::uint32_t{0});  // f32
      put(tensors, static_cast<std::uint64_t>(data.size()));
      for (const double value : values) put(data, static_cast<float>(value));
      pad(data);
      ++count;
    };
    const auto of = [&](const std::string& name, const Matrix& m) {
      tensor(name, m.values, m.rows, m.columns);
    };
    of("token_embd.weight", embedding_);
    tensor("output_norm.weight", output_norm_, 0, size_.width);
    of("output.weight", output_);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const Block& block = blocks_[i];
      const std::string at = "blk." + std::to_string(i) + ".";
      tensor(at + "attn_norm.weight", block.attention_norm, 0, size_.width);
      of(at + "attn_q.weight", block.query);
      of(at + "attn_k.weight", block.key);
      of(at + "attn_v.weight", block.value);
      of(at + "attn_output.weight", block.mixed);
      tensor(at + "ffn_norm.weight", block.hidden_norm, 0, size_.width);
      of(at + "ffn_gate.weight", block.gate);
      of(at + "ffn_up.weight", block.up);
      of(at + "ffn_down.weight", block.down);
    }
    std::string file = "GGUF";
    put(file, std::uint32_t{3});
    put(file, count);
    put(file, keys);
    file += header + tensors;
    pad(file);
    return file + data;
  }

 private:
  using Numbers = std::vector<double>;
  struct Matrix {
    std::size_t rows;
    std::size_t columns;
    Numbers values;
  };
  struct Block {
    Numbers attention_norm, hidden_norm;
    Matrix query, key, value, mixed, gate, up, down;
  };

  static constexpr double epsilon = 1e-5;
  static constexpr double rope_base = 10000;

  std::size_t head() const { return size_.width / size_.heads; }

  /// Returns GPT-2's printable replacement of each byte, in UTF-8.
  static std::vector<std::string> byte_names() {
    std::vector<std::string> names;
    std::uint32_t others = 256;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const bool stands = (33 <= byte && byte <= 126) || (161 <= byte && byte <= 172) || byte >= 174;
      const std::uint32_t point = stands ? byte : others++;
      std::string name;
      if (point < 128) {
        name += static_cast<char>(point);
      } else {
        name += static_cast<char>(0xc0U | (point >> 6U));
        name += static_cast<char>(0x80U | (point & 0x3fU));
      }
      names.push_back(name);
    }
    return names;
  }

  void add_tokens() {
    tokens_ = byte_names();
    const std::string space = tokens_[' '];
    for (const auto& [left, right] : std::vector<std::pair<std::string, std::string>>{
             {"t", "h"}, {"th", "e"}, {space, "the"}, {"i", "n"}, {"e", "r"}, {space, "a"}, {"o", "n"}}) {
      merges_.push_back(left + " " + right);
      tokens_.push_back(left + right);
    }
    end_ = tokens_.size();
    tokens_.emplace_back("<|end|>");
    for (std::size_t i = 0; i < size_.more_tokens; ++i) tokens_.push_back("<|" + std::to_string(i) + "|>");
  }

  /// Returns a normal random number that f32 can represent.
  double random_number() {
    const double radius = std::sqrt(-2 * std::log(open_unit(stream_())));
    return static_cast<float>(radius * std::cos(2 * std::numbers::pi * open_unit(stream_())));
  }
  Matrix matrix(std::size_t rows, std::size_t columns, double scale) {
    Matrix made{rows, columns, Numbers(rows * columns)};
    for (double& value : made.values) value = static_cast<float>(scale * random_number());
    return made;
  }
  Numbers norm() {
    Numbers made(size_.width);
    for (double& value : made) value = static_cast<float>(1 + 0.1 * random_number());
    return made;
  }
  Block block() {
    const std::size_t keys = size_.key_heads * head();
    const double scale = size_.scale;
    Block made;
    made.attention_norm = norm();
    made.hidden_norm = norm();
    made.query = matrix(size_.width, size_.width, scale);
    made.key = matrix(keys, size_.width, scale);
    made.value = matrix(keys, size_.width, scale);
    made.mixed = matrix(size_.width, size_.width, scale);
    made.gate = matrix(size_.hidden, size_.width, scale);
    made.up = matrix(size_.hidden, size_.width, scale);
    made.down = matrix(size_.width, size_.hidden, scale);
    return made;
  }

  static Numbers row(const Matrix& m, std::size_t index) {
    const auto start = m.values.begin() + static_cast<std::ptrdiff_t>(index * m.columns);
    return {start, start + static_cast<std::ptrdiff_t>(m.columns)};
  }
  static Numbers times(const Matrix& m, const Numbers& x) {
    Numbers out(m.rows);
    for (std::size_t i = 0; i < m.rows; ++i) {
      for (std::size_t j = 0; j < m.columns; ++j) out[i] += m.values[i * m.columns + j] * x[j];
    }
    return out;
  }
  static Numbers normed(const Numbers& x, const Numbers& weight) {
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + epsilon);
    Numbers out(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = x[i] * scale * weight[i];
    return out;
  }
  /// Rotates neighbouring numbers of a head together (Su et al. 2021).
  void turn(Numbers& x, std::size_t position) const {
    for (std::size_t at = 0; at < x.size(); at += 2) {
      const double exponent = static_cast<double>(at % head()) / static_cast<double>(head());
      const double angle = static_cast<double>(position) * std::pow(rope_base, -exponent);
      const double a = x[at];
      const double b = x[at + 1];
      x[at] = a * std::cos(angle) - b * std::sin(angle);
      x[at + 1] = a * std::sin(angle) + b * std::cos(angle);
    }
  }
  void step(const Block& block, std::vector<Numbers>& states) const {
    std::vector<Numbers> keys;
    std::vector<Numbers> values;
    for (std::size_t position = 0; position < states.size(); ++position) {
      Numbers& state = states[position];
      const Numbers in = normed(state, block.attention_norm);
      Numbers query = times(block.query, in);
      turn(query, position);
      keys.push_back(times(block.key, in));
      turn(keys.back(), position);
      values.push_back(times(block.value, in));
      add(state, times(block.mixed, attended(query, keys, values)));
      const Numbers between = normed(state, block.hidden_norm);
      Numbers gate = times(block.gate, between);
      const Numbers up = times(block.up, between);
      for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
      add(state, times(block.down, gate));
    }
  }
  Numbers attended(const Numbers& query, const std::vector<Numbers>& keys,
                   const std::vector<Numbers>& values) const {
    Numbers out(query.size());
    for (std::size_t h = 0; h < size_.heads; ++h) {
      const std::size_t shared = h / (size_.heads / size_.key_heads);
      Numbers weights(keys.size());
      double total = 0;
      for (std::size_t t = 0; t < keys.size(); ++t) {
        double score = 0;
        for (std::size_t i = 0; i < head(); ++i)
          score += query[h * head() + i] * keys[t][shared * head() + i];
        total += weights[t] = std::exp(score / std::sqrt(static_cast<double>(head())));
      }
      for (std::size_t t = 0; t < keys.size(); ++t) {
        for (std::size_t i = 0; i < head(); ++i) {
          out[h * head() + i] += weights[t] / total * values[t][shared * head() + i];
        }
      }
    }
    return out;
  }
  static void add(Numbers& to, const Numbers& more) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += more[i];
  }

  template <class T>
  static void put(std::string& out, T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out.append(bytes, sizeof(T));
  }
  static void put_text(std::string& out, const std::string& text) {
    put(out, static_cast<std::uint64_t>(text.size()));
    out += text;
  }
  static void pad(std::string& out) { out.resize((out.size() + 31) / 32 * 32); }

  TinyLlamaSize size_;
  Philox stream_;
  std::vector<std::string> tokens_;
  std::vector<std::string> merges_;
  std::size_t end_ = 0;
  Matrix embedding_{};
  Matrix output_{};
  Numbers output_norm_;
  std::vector<Block> blocks_;
};

}  // namespace speclab
