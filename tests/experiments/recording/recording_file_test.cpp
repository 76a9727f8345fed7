// Tests every format of recordings, on documents as their programs write them, and the messages for
// inconsistent files.
#include "experiments/recording/recording_file.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/recording/named_records.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/npy_text.hpp"
#include "tests/sim/temp_file.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

using namespace speclab;

namespace {

Recording recording_of(const std::string& text, const std::string& draft = "") {
  const TempFile file(text);
  if (draft.empty()) return read_recording(file.path().string()).recording;
  const TempFile second(draft);
  return read_recording(file.path().string(), second.path().string()).recording;
}

std::string format_of(const std::string& text) {
  const TempFile file(text);
  return read_recording(file.path().string()).format;
}

/// Returns the message about the file, without its name, or "".
std::string file_refusal(const std::string& text, const std::string& draft = "") {
  const TempFile file(text);
  const TempFile second(draft);
  try {
    read_recording(file.path().string(), draft.empty() ? "" : second.path().string());
  } catch (const UsageError& error) {
    std::string what = error.what();
    for (const auto& path : {file.path().string(), second.path().string()}) {
      while (what.find(path) != std::string::npos) what.replace(what.find(path), path.size(), "FILE");
    }
    return what;
  }
  return "";
}

bool mentions(const std::string& whole, const std::string& part) {
  return whole.find(part) != std::string::npos;
}

const std::string header = "sequence,position,token,logp,logq\n";

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string safetensors(const std::string& head, const std::string& data) {
  const std::uint64_t length = head.size();
  return bytes_of(std::vector<std::uint64_t>{length}) + head + data;
}

/// Returns a zip archive of .npy files without compression, as numpy.savez writes it.
std::string archive_of(const std::vector<std::pair<std::string, std::string>>& arrays) {
  const auto word = [](std::uint32_t number) { return bytes_of(std::vector<std::uint32_t>{number}); };
  const auto half = [](std::uint16_t number) { return bytes_of(std::vector<std::uint16_t>{number}); };
  std::string files;
  std::string directory;
  for (const auto& [name, array] : arrays) {
    const auto size = word(static_cast<std::uint32_t>(array.size()));
    const auto checksum = word(
        static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(array.data()), array.size())));
    const std::string about = half(20) + half(0) + half(0) + word(0) + checksum + size + size +
                              half(static_cast<std::uint16_t>(name.size() + 4)) + half(0);
    directory += "PK\x01\x02" + half(20) + about + half(0) + half(0) + half(0) + word(0) +
                 word(static_cast<std::uint32_t>(files.size())) + name + ".npy";
    files += "PK\x03\x04" + about + name + ".npy" + array;
  }
  const auto count = half(static_cast<std::uint16_t>(arrays.size()));
  return files + directory + "PK\x05\x06" + half(0) + half(0) + count + count +
         word(static_cast<std::uint32_t>(directory.size())) + word(static_cast<std::uint32_t>(files.size())) +
         half(0);
}

/// Two rows of three tokens in f32: logits of the target, probabilities of the draft.
const std::vector<float> logits{0, 1, 2, 2, 1, 0};
const std::vector<float> probabilities{0.2F, 0.3F, 0.5F, 0.25F, 0.5F, 0.25F};
const std::string rows_header =
    R"({"target":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"draft":{"dtype":"F32","shape":[2,3],"data_offsets":[24,48]},"tokens":{"dtype":"I64","shape":[2],"data_offsets":[48,64]}})";

std::string rows_file(const std::vector<float>& target, const std::vector<std::int64_t>& tokens) {
  return safetensors(rows_header, bytes_of(target) + bytes_of(probabilities) + bytes_of(tokens));
}

/// Returns a file of llama-perplexity: one chunk of 4 tokens, V = 3. Its row 0 predicts the last token.
std::string kl_base(float scale, const std::vector<std::int32_t>& tokens) {
  std::string out = "_logits_" + bytes_of(std::vector<std::int32_t>{4, 3, 1}) + bytes_of(tokens);
  out += bytes_of(std::vector<float>{scale, -10}) + bytes_of(std::vector<std::uint16_t>{100, 200, 300, 0});
  return out;
}

}  // namespace

TEST_CASE("CSV: of several drafters one is read, by its name") {
  const std::string text =
      "sequence,position,token,logp,logq.small,entropy,logq.large\n0,0,12,-1.5,-2,0.5,-1\n0,1,3,-0.5,-inf,0."
      "5,-3\n";
  const auto read = [&](const std::string& written, const std::string& column) -> std::string {
    const TempFile file(written);
    try {
      const Recording recording = read_recording(file.path().string(), "", nullptr, column).recording;
      CHECK_FALSE(recording.by_depth());
      return fmt::format("{} {}", recording.draft[0][0], recording.draft[0][1]);
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  CHECK(read(text, "small") == "-2 -inf");
  CHECK(read(text, "large") == "-1 -3");
  const auto drafters = [](const std::string& written) {
    return drafters_in(TempFile(written).path().string());
  };
  CHECK(drafters(text) == std::vector<std::string>{"small", "large"});
  CHECK(drafters("\n" + text) == std::vector<std::string>{"small", "large"});
  CHECK(drafters(header + "0,0,12,-1.5,-2\n").empty());
  CHECK_THROWS_WITH_AS(drafters("what is this"), doctest::Contains("in no known format"), UsageError);
  // The drafter must be named and must exist; the message names the existing ones.
  for (const char* column : {"", "smal", "logq"}) {
    const std::string refusal = read(text, column);
    CAPTURE(refusal);
    CHECK(mentions(refusal, "small, large"));
  }
  CHECK(mentions(read(text, "smal"), "did you mean \"small\""));
  // Files with one draft have no such name.
  const std::string one = header + "0,0,12,-1.5,-2\n";
  CHECK(mentions(read(one, "small"), "leave the column out"));
  CHECK(mentions(read(R"({"sequence": 0, "position": 0, "token": 1, "logp": -1, "logq": -2})", "small"),
                 "leave the column out"));
  CHECK(mentions(read("sequence,position,token,logp,logq,logq.small\n0,0,1,-1,-2,-3\n", "small"),
                 "each has a name"));
  CHECK(mentions(read("sequence,position,token,logp,logq.\n0,0,1,-1,-2\n", ""), "is not known"));
  CHECK(mentions(read("sequence,position,token,logp,logq.a,logq.a\n0,0,1,-1,-2,-3\n", "a"), "twice"));
}

TEST_CASE("CSV: columns in any order, quoted tokens, several sequences, infinite logq, Windows line ends") {
  const Recording one = recording_of(header + "0,0,12,-1.5,-2\n0,1,\"a,\"\"b\",-0.5,-inf\n1,7,x,-1,-3e0\n");
  CHECK(one.target == std::vector<double>{-1.5, -0.5, -1});
  CHECK(one.draft == std::vector<std::vector<double>>{{-2, -INFINITY, -3}});
  REQUIRE(one.sequences.size() == 2);
  CHECK(one.sequences[1].name == "1");
  CHECK(one.sequences[1].first == 2);
  const Recording other =
      recording_of("task,logq_depth2,logq,entropy,logp,token,position,sequence\r\nt,-4,-2,0.7,-1,5,0,a\r\n");
  CHECK(other.draft == std::vector<std::vector<double>>{{-2}, {-4}});
  CHECK(other.entropy == std::vector<double>{0.7});
  CHECK(other.sequences[0].task == "t");
  CHECK(recording_of(header + "0,0,1,0.00001,-2\n").target[0] == 0);  // above 0 by rounding
}

TEST_CASE("CSV: errors name the line, the value and the remedy") {
  CHECK(mentions(file_refusal("sequence,position,token,logp\n0,0,1,-1\n"), "FILE:1: no column \"logq\""));
  CHECK(mentions(file_refusal("sequence,position,token,logp,logq,logr\n"), "column \"logr\" is not known"));
  CHECK(mentions(file_refusal("sequence,position,token,logp,logq,logq_depth3\n"), "without gaps"));
  CHECK(mentions(file_refusal(header + "0,0,1,-1\n"), "FILE:2: 4 fields; the header has 5"));
  CHECK(mentions(file_refusal(header + "0,0,1,-1,-2\n0,2,1,-1,-2\n"), "FILE:3: position 2 after 0"));
  CHECK(mentions(file_refusal(header + "0,0,1,-1,-2\n1,0,1,-1,-2\n0,1,1,-1,-2\n"),
                 "FILE:4: sequence 0 comes again"));
  CHECK(
      mentions(file_refusal(header + "0,0,1,0.5,-2\n"), "FILE:2: logp is 0.5; expected a natural logarithm"));
  CHECK(mentions(file_refusal(header + "0,0,1,-1,nan\n"), "FILE:2: logq is \"nan\""));
  CHECK(mentions(file_refusal(header + "0,0,1,-1,abc\n"), "FILE:2: logq is \"abc\"; expected a number"));
  CHECK(mentions(file_refusal(header + "0,0,1,-9999.0,-2\n"), "which servers write where they have none"));
  CHECK(mentions(file_refusal(header + "0,0,1,-inf,-2\n"), "the target did not generate it"));
  CHECK(mentions(file_refusal(header), "holds no tokens"));
  CHECK(mentions(file_refusal(" \n"), "is empty"));
}

TEST_CASE("a file in no known format is told why, for each") {
  const std::string why = file_refusal("hello\n");
  for (const char* format :
       {"csv", "json-lines", "openai-completions", "openai-chat", "openai-responses", "vllm", "llama-server",
        "ollama", "tgi", "sglang", "npz", "safetensors", "kl-base"}) {
    CHECK(mentions(why, std::string("\n  ") + format));
  }
  CHECK(mentions(file_refusal("{\"a\": 1}"), "has no prompt_logprobs"));
  CHECK(mentions(file_refusal("{\"a\": 1"), "is no JSON") == false);
}

TEST_CASE("JSON lines of the native fields") {
  const std::string text =
      R"({"sequence": 0, "position": 3, "token": 1, "logp": -1, "logq": -2, "entropy": 1.5}
{"sequence": 0, "position": 4, "token": "x", "logp": -0.5, "logq": "-inf", "entropy": 1}
)";
  CHECK(format_of(text) == "json-lines");
  const Recording one = recording_of(text);
  CHECK(one.target == std::vector<double>{-1, -0.5});
  CHECK(std::isinf(one.draft[0][1]));
  CHECK(one.entropy.size() == 2);
  CHECK(mentions(file_refusal(text + R"({"sequence": 0, "position": 5, "logp": -1})"),
                 "FILE:3: /logq: missing"));
  CHECK(mentions(file_refusal(text + "nonsense"), "FILE:3: this line is no JSON object"));
  // Values that the first line lacks would be ignored.
  const std::string deeper =
      R"({"sequence": 0, "position": 5, "logp": -1, "logq": -1, "entropy": 1, "logq_depth2": -3})";
  CHECK(mentions(file_refusal(text + deeper), "FILE:3: /logq_depth2: the first line has no such value"));
  const std::string plain = R"({"sequence": 0, "position": 0, "logp": -1, "logq": -1})";
  CHECK(mentions(
      file_refusal(plain + "\n" + R"({"sequence": 0, "position": 1, "logp": -1, "logq": -1, "entropy": 1})"),
      "FILE:2: /entropy: the first line has no such value"));
  // Keys that a later format might add are refused, as in CSV.
  const std::string later = R"({"sequence": 0, "position": 0, "logp": -1, "logq": -1, "base": 10})";
  CHECK(mentions(file_refusal(later), "FILE:1: the key \"base\" is not known; expected sequence"));
  CHECK(mentions(file_refusal(text + later), "FILE:3: the key \"base\" is not known"));
  const std::string rows =
      R"({"sequence": 0, "position": 0, "logp": -1, "logq": -1, "target": {}, "draft": {}})";
  CHECK(recording_of(rows + "\n").target.size() == 1);
}

TEST_CASE("OpenAI completions, with vLLM's scores of the same tokens for the draft") {
  const std::string target = R"({"choices": [{"text": " a b", "logprobs": {"tokens": [" a", " b"],
    "token_logprobs": [-0.5, -1.25], "top_logprobs": null, "text_offset": [0, 2]}}]})";
  // The draft also scored the prompt, whose first token has no log-probability.
  const std::string draft =
      R"([{"prompt_logprobs": [null, {"9": {"logprob": -7, "rank": 4, "decoded_token": "x"}},
    {"5": {"logprob": -0.25, "rank": 1, "decoded_token": " a"}}, {"6": {"logprob": -2, "rank": 1, "decoded_token": " b"}}]}])";
  const Recording one = recording_of(target, draft);
  CHECK(one.target == std::vector<double>{-0.5, -1.25});
  CHECK(one.draft[0] == std::vector<double>{-0.25, -2});
  CHECK(mentions(file_refusal(target),
                 "holds one model; give the draft's of the same tokens as --draft-recording"));
  // Different tokens mean a different tokenizer.
  std::string other = draft;
  other.replace(other.find("\" b\""), 4, "\" c\"");
  CHECK(mentions(file_refusal(target, other), "the texts or the tokenizers differ"));
  CHECK(mentions(file_refusal(target, header + "0,0,1,-1,-2\n"), "leave out --draft-recording"));
}

TEST_CASE("vLLM: the text's token is known by itself or by prompt_token_ids") {
  const std::string two = R"({"prompt_logprobs": [null, {"7": {"logprob": -1}, "8": {"logprob": -0.5}}]})";
  CHECK(mentions(file_refusal(two, two), "ask with prompt_logprobs = 0"));
  const std::string ids =
      R"({"prompt_token_ids": [3, 8], "prompt_logprobs": [null, {"7": {"logprob": -1}, "8": {"logprob": -0.5}}]})";
  CHECK(recording_of(ids, ids).target == std::vector<double>{-0.5});
  const std::string choice = R"({"choices": [{"prompt_logprobs": [{"7": {"logprob": -9999.0}}]}]})";
  CHECK(mentions(file_refusal(choice, choice),
                 "FILE: /choices/0/prompt_logprobs/0: a log-probability is -9999"));
}

TEST_CASE("log-probabilities that are all 0 are refused, for the model whose they are") {
  const auto served = [](const std::string& first, const std::string& second) {
    return R"({"completion_probabilities": [{"id": 4, "token": "Hi", "logprob": )" + first +
           R"(}, {"id": 5, "token": "Yo", "logprob": )" + second + "}]}";
  };
  CHECK(recording_of(served("0.0", "-1.5"), served("-0.5", "0")).target == std::vector<double>{0, -1.5});
  CHECK(mentions(file_refusal(served("0.0", "0.0"), served("0", "0")),
                 "all 2 log-probabilities of the target are 0"));
  CHECK(mentions(file_refusal(served("0.0", "0.0"), served("-1", "-2")), "of the target are 0"));
  CHECK(mentions(file_refusal(served("-1", "-2"), served("0.0", "0.0")), "of the draft are 0"));
  // A target that decodes greedily gives its tokens probability 1, as configs/recorded/austen_greedy.csv has
  // it.
  CHECK(recording_of(header + "0,0,1,0,-1\n0,1,1,0,-2\n").target == std::vector<double>{0, 0});
}

TEST_CASE("candidates of older llama-servers, and streams of TGI") {
  const std::string old =
      R"({"completion_probabilities": [{"content": " a", "probs": [{"tok_str": " b", "prob": 0.5}, {"tok_str": " a", "prob": 0.25}]},
          {"content": " b", "probs": [{"tok_str": " b", "prob": 0.125}]}]})";
  const std::string stream =
      "data: {\"index\": 1, \"token\": {\"text\": \" a\", \"logprob\": -1}, \"generated_text\": null}\n\n"
      "data: {\"index\": 2, \"token\": {\"text\": \" b\", \"logprob\": -2}, \"generated_text\": \" a b\"}\n\n";
  const Recording one = recording_of(old, stream);
  CHECK(one.target == std::vector<double>{std::log(0.25), std::log(0.125)});
  CHECK(one.draft[0] == std::vector<double>{-1, -2});
  const Recording twice = recording_of(stream + stream, stream + stream);
  CHECK(twice.sequences.size() == 2);
  std::string absent = old;
  absent.replace(absent.find("\" a\", \"prob\": 0.25"), 4, "\" c\"");
  CHECK(mentions(file_refusal(absent, stream), "/probs: "));
}

TEST_CASE("OpenAI chat and llama-server, one response a line") {
  const std::string chat =
      R"({"choices": [{"logprobs": {"content": [{"token": "Hi", "logprob": -0.1, "bytes": [72, 105], "top_logprobs": []}]}}]}
{"choices": [{"logprobs": {"content": [{"token": "Yo", "logprob": -0.2, "bytes": null, "top_logprobs": []}]}}]}
)";
  const std::string llama =
      R"({"completion_probabilities": [{"id": 4, "token": "Hi", "bytes": [], "logprob": -0.3, "top_logprobs": []}]}
{"completion_probabilities": [{"id": 5, "token": "Yo", "prob": 0.5, "top_probs": []}]}
)";
  const Recording one = recording_of(chat, llama);
  CHECK(one.sequences.size() == 2);
  CHECK(one.target == std::vector<double>{-0.1, -0.2});
  CHECK(one.draft[0] == std::vector<double>{-0.3, std::log(0.5)});
  CHECK(mentions(file_refusal(chat, llama.substr(0, llama.find('\n') + 1)),
                 "FILE: 1 sequences, but FILE has 2"));
}

TEST_CASE("one text in the responses of six servers gives the same columns") {
  // Tokens 11 and 12 are texts "t11" and "t12"; a request that scores the text generates one token more.
  const std::vector<std::string> targets{
      R"({"meta_info": {"id": "r", "output_token_logprobs": [[-0.5, 11, null], [-1, 12, "t12"]]}})",
      R"({"meta_info": {"input_token_logprobs": [[null, 9, null], [-7, 10, null], [-0.5, 11, null], [-1, 12, null]],
          "output_token_logprobs": [[-3, 13, null]]}})",
      R"({"generated_text": "ab", "details": {"prefill": [], "tokens": [{"id": 11, "text": "t11", "logprob": -0.5, "special": false},
          {"id": 12, "text": "t12", "logprob": -1, "special": false}]}})",
      R"([{"generated_text": "c", "details": {"prefill": [{"id": 10, "text": "t10", "logprob": null},
          {"id": 11, "text": "t11", "logprob": -0.5}, {"id": 12, "text": "t12", "logprob": -1}],
          "tokens": [{"id": 13, "text": "t13", "logprob": -3, "special": false}]}}])",
      R"({"model": "m", "response": "ab", "done": true, "logprobs": [{"token": "t11", "logprob": -0.5, "bytes": [97]},
          {"token": "t12", "logprob": -1, "bytes": [98]}]})",
      R"({"model": "m", "response": "a", "done": false, "logprobs": [{"token": "t11", "logprob": -0.5}]}
{"model": "m", "response": "b", "done": false, "logprobs": [{"token": "t12", "logprob": -1}]}
{"model": "m", "response": "", "done": true}
)",
      R"({"object": "response", "output": [{"type": "reasoning", "summary": []}, {"type": "message", "content": [
          {"type": "output_text", "text": "ab", "logprobs": [{"token": "t11", "logprob": -0.5, "bytes": [97], "top_logprobs": []},
          {"token": "t12", "logprob": -1, "bytes": [98], "top_logprobs": []}]}]}]})"};
  const std::string draft =
      R"({"completion_probabilities": [{"id": 11, "token": "t11", "logprob": -0.75}, {"id": 12, "token": "t12", "logprob": -0.25}]})";
  const std::vector<std::string> formats{"sglang", "sglang",          "tgi", "tgi", "ollama",
                                         "ollama", "openai-responses"};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    CAPTURE(targets[i]);
    const bool scored = i == 1 || i == 3;  // The draft's list is then that of the prompt.
    const Recording one = scored ? recording_of(draft, targets[i]) : recording_of(targets[i], draft);
    CHECK((scored ? one.draft[0] : one.target) == std::vector<double>{-0.5, -1});
    CHECK((scored ? one.target : one.draft[0]) == std::vector<double>{-0.75, -0.25});
    CHECK(one.sequences.size() == 1);
    CHECK(mentions(file_refusal(targets[i]), fmt::format("{} holds one model", formats[i])));
  }
  CHECK(mentions(file_refusal(targets[0] + "\n{\"meta_info\": {}}\n"),
                 "has no log-probabilities, but the first document has"));
  // A document of another format among them is refused, wherever it stands.
  const std::string scored_by_vllm =
      R"({"prompt_logprobs": [null, {"11": {"logprob": -1}}, {"12": {"logprob": -1}}]})";
  std::vector<std::string> lines{scored_by_vllm, draft};
  for (const std::size_t i : {0u, 2u, 4u, 6u}) {
    lines.push_back(targets[i]);
    std::erase(lines.back(), '\n');
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t j = 0; j < lines.size(); ++j) {
      const std::string reason = file_refusal(lines[i] + "\n" + lines[j] + "\n", draft);
      CAPTURE(reason);
      CHECK(mentions(reason, "but the first document has") == (i != j));
    }
  }
  CHECK(
      mentions(file_refusal(R"({"meta_info": {"output_token_logprobs": [[-1, 3, null], [null, 4, null]]}})"),
               "output_token_logprobs/1: [null,4,null]; expected a log-probability"));
  CHECK(mentions(file_refusal(R"({"logprobs": [{"token": "a", "logprob": 0.5}]})"), "natural logarithm"));
}

TEST_CASE("columns and keys of one's own are read by --fields, and others are passed over") {
  const NamedFields fields{{"logp", "lp.target"}, {"logq", "lp.draft"}, {"sequence", "id"}};
  const TempFile json(R"({"id": "a", "lp": {"target": -1, "draft": -2}, "more": 3}
{"id": "a", "lp": {"target": -0.5, "draft": "-inf"}}
{"id": "b", "lp": {"target": -0.25, "draft": -4}}
)");
  const ReadRecording read = read_recording(json.path().string(), "", nullptr, "", fields);
  CHECK(read.format == "named-fields");
  CHECK(read.recording.target == std::vector<double>{-1, -0.5, -0.25});
  CHECK(read.recording.draft[0] == std::vector<double>{-2, -INFINITY, -4});
  REQUIRE(read.recording.sequences.size() == 2);
  CHECK(read.recording.sequences[1].first == 2);
  const TempFile csv("word,q,p,at,back\nx,-2,-1,5,6\ny,-3,-0.5,6,5\n");
  const auto refusal = [&](const NamedFields& named) {
    try {
      read_recording(csv.path().string(), "", nullptr, "", named);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(
      read_recording(csv.path().string(), "", nullptr, "", {{"logp", "p"}, {"logq", "q"}, {"position", "at"}})
          .recording.target == std::vector<double>{-1, -0.5});
  CHECK(mentions(refusal({{"logp", "p"}}), "name logq, too"));
  CHECK(mentions(refusal({{"logp", "p"}, {"logq", "z"}}), "no column \"z\""));
  CHECK(mentions(refusal({{"logp", "p"}, {"logq", "q"}, {"base", "at"}}), "unknown \"base\""));
  CHECK(mentions(refusal({{"logp", "p"}, {"logq", "p"}}), "\"p\" is both logp and logq"));
  CHECK(mentions(refusal({{"logp", "p"}, {"logq", "word"}}), ":2: word is \"x\"; expected a number"));
  CHECK(mentions(refusal({{"logp", "p"}, {"logq", "q"}, {"position", "back"}}), "position 5 after 6"));
}

TEST_CASE("rows as safetensors: the columns, the overlap, the entropy") {
  const Recording one = recording_of(rows_file(logits, {2, 0}));
  const double z = 1 + std::exp(1) + std::exp(2);
  CHECK(one.target[0] == doctest::Approx(2 - std::log(z)).epsilon(1e-6));
  CHECK(one.draft[0][0] == doctest::Approx(std::log(0.5)).epsilon(1e-6));
  CHECK(one.draft[0][1] == doctest::Approx(std::log(0.25)).epsilon(1e-6));
  CHECK(one.rows.overlap[0] ==
        doctest::Approx(std::min(1 / z, 0.2) + std::min(std::exp(1) / z, 0.3) + 0.5).epsilon(1e-5));
  double entropy = 0;
  for (const double e : {0.0, 1.0, 2.0}) entropy -= std::exp(e) / z * (e - std::log(z));
  CHECK(one.entropy[0] == doctest::Approx(entropy).epsilon(1e-5));
}

TEST_CASE("rows of target and draft in files of their own") {
  const auto one_model = [](const std::vector<float>& rows, std::int64_t token) {
    const std::string head =
        R"({"logits":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"tokens":{"dtype":"I64","shape":[2],"data_offsets":[24,40]}})";
    return safetensors(head, bytes_of(rows) + bytes_of(std::vector<std::int64_t>{2, token}));
  };
  const Recording both = recording_of(rows_file(logits, {2, 0}));
  const Recording apart = recording_of(one_model(logits, 0), one_model(probabilities, 0));
  CHECK(apart.target == both.target);
  CHECK(apart.draft == both.draft);
  CHECK(apart.rows.overlap == both.rows.overlap);
  CHECK(mentions(file_refusal(one_model(logits, 0)), "holds one model"));
  CHECK(mentions(file_refusal(one_model(logits, 0), one_model(probabilities, 1)),
                 "the texts or the tokenizers differ"));
}

TEST_CASE("safetensors: tensors that overlap, and bytes of no tensor, are refused") {
  const std::string data = bytes_of(logits) + bytes_of(probabilities) + bytes_of<std::int64_t>({2, 0});
  CHECK(file_refusal(safetensors(rows_header, data)) == "");
  CHECK(mentions(file_refusal(safetensors(rows_header, data + "x")), "at byte 64 of the data"));
  std::string overlap = rows_header;
  overlap.replace(overlap.find("[24,48]"), 7, "[20,44]");
  CHECK(mentions(file_refusal(safetensors(overlap, data)), "at byte 24 of the data"));
}

TEST_CASE("rows of another base are refused, with its name; logits and natural ones are not") {
  const auto scaled = [](double factor) {
    std::vector<float> rows;
    for (const float p : probabilities) rows.push_back(static_cast<float>(std::log(p) * factor));
    return file_refusal(rows_file(rows, {2, 0}));
  };
  CHECK(scaled(1) == "");
  CHECK(scaled(1.5) == "");
  CHECK(mentions(scaled(1 / std::log(10)), "target: rows are logarithms of base 10"));
  CHECK(mentions(scaled(1 / std::log(2)), "target: rows are logarithms of base 2"));
  CHECK(mentions(scaled(-1), "target: rows are negated logarithms"));
  // Rows of one certain token are the same in each base.
  CHECK(file_refusal(rows_file({0, -INFINITY, -INFINITY, -INFINITY, 0, -INFINITY}, {0, 1})) == "");
}

TEST_CASE("rows in two files are of the same sequences") {
  const auto npz = [](std::vector<std::int64_t> sequence) {
    std::vector<std::pair<std::string, std::string>> arrays{
        {"logits", npy_text(std::vector<double>{-1, -2, -2, -1}, {2, 2})},
        {"tokens", npy_text(std::vector<std::int64_t>{1, 0}, {2})}};
    if (!sequence.empty()) arrays.emplace_back("sequence", npy_text(sequence, {2}));
    return archive_of(arrays);
  };
  CHECK(file_refusal(npz({3, 4}), npz({3, 4})) == "");
  CHECK(file_refusal(npz({3, 4}), npz({})) == "");
  CHECK(mentions(file_refusal(npz({3, 3}), npz({3, 4})), "sequence 4 has 1 tokens from row 1 on"));
}

TEST_CASE("rows in lines of JSON: no unknown keys, and the line's own logarithms") {
  const auto refusal = [](const std::string& logp, const std::string& more) {
    return file_refusal(R"({"sequence": 0, "position": 0, "token": 5, "logp": )" + logp +
                        R"(, "logq": -2, "target": {"ids": [4, 5], "logp": [-0.5, -1], "tail": 0.1)" + more +
                        "}}\n");
  };
  CHECK(refusal("-1.00001", "") == "");
  CHECK(mentions(refusal("-0.5", ""), "FILE:1: /logp: -0.5; expected -1"));
  CHECK(mentions(refusal("-1", ", \"foo\": 1"), "FILE:1: /target: the key \"foo\" is not known"));
  CHECK(mentions(refusal("null", ""), "FILE:1: /logp: null"));
}

TEST_CASE("a stream without its end is refused") {
  const std::string one =
      R"({"response": "a", "done": false, "logprobs": [{"token": "a", "logprob": -0.5}]})";
  CHECK(mentions(file_refusal(one + "\n" + one + "\n"), "FILE:2: the stream ends before its text"));
}

TEST_CASE("rows: what does not hold together") {
  CHECK(mentions(file_refusal(rows_file(logits, {2, 3})), "token 1 is 3, outside of a vocabulary of 3"));
  std::vector<float> broken = logits;
  broken[4] = NAN;
  CHECK(
      mentions(file_refusal(rows_file(broken, {2, 0})), "target: row 1 has nan at token 1; expected logits"));
  const std::string cut = rows_file(logits, {2, 0});
  CHECK(mentions(file_refusal(cut.substr(0, cut.size() - 1)), "is the file cut off?"));
  const auto renamed = [&](const std::string& name, const std::string& other) {
    std::string head = rows_header;
    head.replace(head.find(name), name.size(), other);
    return file_refusal(
        safetensors(head, bytes_of(logits) + bytes_of(probabilities) + std::string(16, '\0')));
  };
  CHECK(mentions(renamed("\"tokens\"", "\"__metadata__\""), "no array \"tokens\""));
  std::vector<float> unclear = logits;
  for (float& number : unclear) number /= 8;
  CHECK(mentions(file_refusal(rows_file(unclear, {2, 0})),
                 "target: all numbers are from 0 to 1, but rows do not sum to 1"));
  std::vector<float> impossible = logits;
  impossible[2] = -INFINITY;
  CHECK(mentions(file_refusal(rows_file(impossible, {2, 0})), "the target did not generate it"));
}

TEST_CASE("arrays that would be passed over are refused by name, in safetensors and npz") {
  const auto with = [](const std::string& name) {
    std::string head = rows_header;
    head.insert(1, fmt::format(R"("{}":{{"dtype":"I64","shape":[2],"data_offsets":[64,80]}},)", name));
    return safetensors(head,
                       bytes_of(logits) + bytes_of(probabilities) + bytes_of<std::int64_t>({2, 0, 7, 7}));
  };
  const std::string misspelt = file_refusal(with("sequences"));
  CHECK(mentions(misspelt, "unknown array \"sequences\""));
  CHECK(mentions(misspelt, "\"sequence\"?"));
  CHECK(mentions(file_refusal(with("logits")), "\"logits\" beside \"target\""));
  CHECK(file_refusal(with("sequence")) == "");
  CHECK(recording_of(safetensors("{\"__metadata__\":{\"by\":\"me\"}," + rows_header.substr(1),
                                 bytes_of(logits) + bytes_of(probabilities) + bytes_of<std::int64_t>({2, 0})))
            .size() == 2);
  const auto npz = [](const std::string& name) {
    return archive_of({{"target", npy_text(std::vector<double>{0.5, 0.5}, {1, 2})},
                       {"draft", npy_text(std::vector<double>{0.25, 0.75}, {1, 2})},
                       {"tokens", npy_text(std::vector<std::int64_t>{1}, {1})},
                       {name, npy_text(std::vector<std::int64_t>{0}, {1})}});
  };
  CHECK(mentions(file_refusal(npz("entropy")), "unknown array \"entropy\""));
  CHECK(file_refusal(npz("sequence")) == "");
  CHECK(mentions(file_refusal(npz("draft")), "two arrays \"draft\""));
  // The archive's checksums are checked.
  std::string damaged = npz("sequence");
  damaged[damaged.find(bytes_of(std::vector<double>{0.25, 0.75})) + 6] ^= 0x10;
  CHECK(mentions(file_refusal(damaged), "array \"draft\": its bytes do not have the archive's CRC-32"));
}

TEST_CASE("rows of another kind than the first are refused, and numbers that overflow") {
  const auto npz = [](double first, double second) {
    return archive_of(
        {{"target",
          npy_text(std::vector<double>{0.5 * first, 0.5 * first, 0.25 * second, 0.75 * second}, {2, 2})},
         {"draft", npy_text(std::vector<double>{0.25, 0.75, 0.5, 0.5}, {2, 2})},
         {"tokens", npy_text(std::vector<std::int64_t>{1, 0}, {2})}});
  };
  CHECK(file_refusal(npz(1, 1)) == "");
  CHECK(mentions(file_refusal(npz(1.02, 1)), "row 1 sums to 1, but the first row holds logits"));
  CHECK(mentions(file_refusal(npz(1, 0.5)), "row 1 sums to 0.5, but the first row holds probabilities"));
  for (const char* row : {"0,0,1,-1,-1e309\n", "0,0,1,-1e309,-1\n", "0,0,1,1e309,-1\n"}) {
    CAPTURE(row);
    CHECK(file_refusal(header + row) != "");
  }
  CHECK(recording_of(header + "0,0,1,-1e-400,-1\n").target[0] == 0);
}

TEST_CASE("llama-perplexity's base: rows of a given text, of two files") {
  const Recording one = recording_of(kl_base(0.01F, {0, 1, 2, 1}), kl_base(0.02F, {0, 1, 2, 1}));
  CHECK_FALSE(one.drawn);
  REQUIRE(one.size() == 1);  // n_ctx - 1 - n_ctx / 2
  const double z = 1 + std::exp(1) + std::exp(2);
  CHECK(one.target[0] == doctest::Approx(1 - std::log(z)).epsilon(1e-5));
  CHECK(mentions(file_refusal(kl_base(0.01F, {0, 1, 2, 1}), kl_base(0.02F, {0, 1, 2, 2})),
                 "the tokenizers differ"));
  for (const float scale : {-0.01F, 0.1F}) {
    CHECK(mentions(file_refusal(kl_base(scale, {0, 1, 2, 1}), kl_base(0.01F, {0, 1, 2, 1})),
                   "FILE: row 0 has scale"));
  }
  CHECK(mentions(file_refusal(kl_base(0.01F, {0, 1, 2, 1}).substr(0, 45)), "is cut off at byte 45"));
}

TEST_CASE(
    "token ids of a recording: sequences in the order of their first token, from CSV and lines of JSON") {
  const auto ids_of = [](const std::string& text) {
    const TempFile file(text);
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> found;
    for (const RecordedIds& one : read_recorded_ids(file.path().string()))
      found.emplace_back(one.name, one.ids);
    return found;
  };
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> expected{{"1", {7, 9}}, {"0", {8}}};
  CHECK(ids_of("sequence,logp,token\n1,-1,7\n0,-2,8\n1,-3,9\n") == expected);
  CHECK(ids_of(R"({"sequence": 1, "token": 7}
{"sequence": 0, "token": 8}
{"sequence": 1, "token": 9})") == expected);
  for (const std::string text : {"sequence,logp\n1,-1\n", "{\"sequence\": 1}", "sequence,token\n1,the\n",
                                 "sequence,token\n1\n", "sequence,token\n"}) {
    CAPTURE(text);
    const std::string problem = usage_error_of([&] { ids_of(text); });
    CHECK(problem != "");
    CHECK_FALSE(mentions(problem, "--fields"));
  }
}
