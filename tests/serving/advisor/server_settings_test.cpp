#include "serving/advisor/server_settings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/child_process.hpp"
#include "experiments/base/support/shell_word.hpp"
#include "serving/advisor/pair_costs.hpp"

using namespace speclab;

TEST_CASE("settings name gamma in the words of each server") {
  ServedPlan plan;
  plan.target = "org/big";
  plan.draft = "org/small";
  plan.gamma = 5;
  plan.batches = {{1, 8, 6, 1.2}, {9, 40, 3, 1.1}, {41, 64, 0, 1}};
  const auto settings = server_settings(plan);
  REQUIRE(settings.size() == 5);
  const auto text = [&](std::size_t i) {
    std::string all;
    for (const std::string& line : settings[i].lines) all += line + "\n";
    return all;
  };
  // The text between the quotes, which vLLM receives, is JSON with the plan's values.
  const std::string vllm = text(0);
  const auto open = vllm.find('\'');
  const Json config = parse_json(vllm.substr(open + 1, vllm.rfind('\'') - open - 1));
  CHECK(config.at("model") == "org/small");
  CHECK(config.at("num_speculative_tokens") == 6);
  CHECK(config.at("num_speculative_tokens_per_batch_size") == parse_json("[[1,8,6],[9,40,3],[41,64,0]]"));
  CHECK(
      text(1).find("--speculative-num-steps 5 --speculative-eagle-topk 1 --speculative-num-draft-tokens 6") !=
      std::string::npos);
  CHECK(text(2).find("max_draft_len=6") != std::string::npos);
  CHECK(text(2).find("draft_len_schedule={8: 6, 40: 3}") != std::string::npos);
  CHECK(text(3).find("-m big.gguf -md small.gguf --spec-type draft-simple --spec-draft-n-max 5") !=
        std::string::npos);
  CHECK(text(4).find("num_assistant_tokens = 5") != std::string::npos);
  plan.method = DraftMethod::ngram;
  for (const ServerSetting& setting : server_settings(plan)) {
    CAPTURE(setting.server);
    CHECK(setting.lines.back().find("org/small") == std::string::npos);
  }
}

TEST_CASE("settings carry devices and sequences, and without speculation start the target alone") {
  ServedPlan plan;
  plan.target = "org/big";
  plan.draft = "org/small";
  plan.gamma = 3;
  plan.devices = 4;
  plan.max_sequences = 48;
  const auto lines = [&] {
    std::vector<std::string> all;
    for (const ServerSetting& one : server_settings(plan)) all.push_back(one.lines.at(0));
    return all;
  };
  // Transformers is no server with continuous batching.
  const std::vector<std::string> with = lines();
  REQUIRE(with.size() == 4);
  CHECK(with[0].starts_with(
      "vllm serve org/big --tensor-parallel-size 4 --max-num-seqs 48 --speculative-config '{"));
  CHECK(with[1].find("--model-path org/big --tp-size 4 --max-running-requests 48 --speculative-algorithm") !=
        std::string::npos);
  CHECK(with[2].starts_with(
      R"(LLM("org/big", tensor_parallel_size=4, max_batch_size=48, speculative_config=DraftTarget)"));
  CHECK(with[3].starts_with("llama-server -m big.gguf --split-mode tensor -np 48 -md small.gguf "));
  plan.gamma = 0;
  CHECK(lines() ==
        std::vector<std::string>{
            "vllm serve org/big --tensor-parallel-size 4 --max-num-seqs 48",
            "python -m sglang.launch_server --model-path org/big --tp-size 4 --max-running-requests 48",
            R"(LLM("org/big", tensor_parallel_size=4, max_batch_size=48))",
            "llama-server -m big.gguf --split-mode tensor -np 48"});
  // With a table by batch, servers that have none decode plainly if no fixed gamma pays.
  plan.batches = {{1, 8, 2, 1.2}, {9, 48, 0, 1}};
  plan.devices = 1;
  const std::vector<std::string> table = lines();
  CHECK(table[0].find("[[1, 8, 2], [9, 48, 0]]") != std::string::npos);
  CHECK(table[1] == "python -m sglang.launch_server --model-path org/big --max-running-requests 48");
  CHECK(!server_settings(plan)[1].notes.empty());
}

TEST_CASE("names with quotes and blanks can be pasted as they are printed") {
  ServedPlan plan;
  plan.draft = R"(my "small" model's)";
  const std::vector<ServerSetting> settings = server_settings(plan);
  // A shell turns the option into JSON that contains the name.
  const std::string& line = settings[0].lines[0];
  const auto echoed =
      run_child_process({"bash", "-c", "printf %s " + line.substr(line.find(" --speculative-config ") + 22)});
  REQUIRE(echoed);
  CHECK(parse_json(echoed->out).at("model") == plan.draft);
  CHECK(settings[1].lines[0].find("--speculative-draft-model-path " + shell_word(plan.draft) + " ") !=
        std::string::npos);
  CHECK(settings[2].lines[0].find(R"(speculative_model="my \"small\" model's")") != std::string::npos);
  CHECK(settings[4].lines[0].find(R"(("my \"small\" model's"))") != std::string::npos);
}

TEST_CASE("present builds of llama.cpp get the options they know, older ones theirs") {
  // Each of these options ends the server (github.com/ggml-org/llama.cpp/pull/22397).
  const std::vector<std::string> removed{"--draft-max", "--draft-min", "--spec-ngram-size-n",
                                         "--spec-ngram-size-m"};
  for (const DraftMethod method : {DraftMethod::draft, DraftMethod::ngram}) {
    ServedPlan plan;
    plan.gamma = 5;
    plan.method = method;
    const ServerSetting setting = server_settings(plan)[3];
    REQUIRE(setting.server == "llama.cpp");
    REQUIRE(setting.lines.size() == 1);
    for (const std::string& option : removed) CHECK(setting.lines[0].find(option) == std::string::npos);
    REQUIRE(setting.older.size() == 1);
    CHECK(setting.older[0].lines[0].find("--draft-max 5") != std::string::npos);
    CHECK(setting.older[0].lines[0].find("--spec-draft-n-max") == std::string::npos);
  }
}

TEST_CASE(
    "ranges by batch come with what a server says of them, and with the form of versions without them") {
  ServedPlan plan;
  plan.gamma = 6;
  const auto all_of = [](const ServerSetting& setting) {
    std::string all;
    for (const std::string& note : setting.notes) all += note;
    return all;
  };
  CHECK(server_settings(plan)[0].notes.empty());
  CHECK(server_settings(plan)[0].older.empty());
  plan.batches = {{1, 8, 6, 1.2}, {9, 40, 3, 1.1}, {41, 64, 0, 1}};
  const std::vector<ServerSetting> settings = server_settings(plan);
  CHECK(all_of(settings[0]).find("eagle3") != std::string::npos);
  CHECK(all_of(settings[0]).find("data parallelism") != std::string::npos);
  CHECK(settings[0].older[0].lines[0].find("per_batch_size") == std::string::npos);
  plan.gamma = 3;  // the longest draft of any batch stays 6
  CHECK(server_settings(plan)[0].lines[0].find("\"num_speculative_tokens\": 6") != std::string::npos);
  CHECK(server_settings(plan)[0].older[0].lines[0].find("\"num_speculative_tokens\": 3") !=
        std::string::npos);
  plan.unset = {"The plan has twelve hands."};
  for (const ServerSetting& setting : server_settings(plan))
    CHECK(all_of(setting).find("twelve hands") != std::string::npos);
  plan.unset.clear();
  plan.gamma = 6;
  CHECK(settings[2].lines[0].find("draft_len_schedule={8: 6, 40: 3}") != std::string::npos);
  CHECK(settings[2].older[0].lines[0].find("draft_len_schedule={1: 6, 9: 3, 41: 0}") != std::string::npos);
  for (const ServerSetting& setting : settings) CHECK_FALSE(setting.check.empty());
  CHECK(all_of(settings[2]).find("cannot switch drafting off") == std::string::npos);
  plan.batches = {{1, 2, 0, 1}, {3, 8, 6, 1.2}, {9, 64, 0, 1}};
  CHECK(all_of(server_settings(plan)[2]).find("cannot switch drafting off at batches 1 to 2,") !=
        std::string::npos);
}

TEST_CASE("every option that is printed has its source") {
  const auto known = [](const std::string& server, const std::string& option) {
    return std::any_of(server_options().begin(), server_options().end(), [&](const ServerOption& one) {
      return one.server == server && one.option == option && one.source.starts_with("https://") &&
             !one.version.empty();
    });
  };
  // Matches options of commands, keys of JSON and of Python's calls, and attributes that are set.
  const std::regex named(
      R"re((?:^| )(-{1,2}[a-z][a-z-]*)(?= |$)|"([a-z_]+)": |([a-z_]+)=|\.([a-z_]+) = |([A-Z]+(?:_[A-Z]+)+)(?==|"\]))re");
  int found = 0;
  for (const DraftMethod method :
       {DraftMethod::draft, DraftMethod::ngram, DraftMethod::eagle, DraftMethod::eagle3, DraftMethod::mtp,
        DraftMethod::medusa, DraftMethod::dflash, DraftMethod::dspark, DraftMethod::domino}) {
    for (const bool ranges : {false, true}) {
      ServedPlan plan;
      plan.gamma = 6;
      plan.method = method;
      plan.accepted = {0.7, 0.5, 0.3, 0.2, 0.1, 0.05};
      if (ranges) plan.batches = {{1, 8, 6, 1.2}, {9, 40, 3, 1.1}, {41, 64, 0, 1}};
      if (ranges) plan.devices = 2;
      if (ranges) plan.max_sequences = 64;
      for (const ServerSetting& setting : server_settings(plan)) {
        std::vector<std::string> lines = setting.lines;
        if (setting.synthetic) lines.push_back(setting.synthetic->line);
        for (const auto& form : setting.older)
          lines.insert(lines.end(), form.lines.begin(), form.lines.end());
        for (const std::string& line : lines) {
          // "python -m" is Python's own way to start a module.
          const std::string text = std::regex_replace(line, std::regex("python -m "), "");
          for (std::sregex_iterator at(text.begin(), text.end(), named), end; at != end; ++at) {
            std::string option;
            for (std::size_t group = 1; group < at->size(); ++group) option += (*at)[group].str();
            CAPTURE(setting.server);
            CAPTURE(option);
            CHECK(known(setting.server, option));
            ++found;
          }
        }
      }
    }
  }
  CHECK(found > 60);
}

TEST_CASE("each server is told, in its own form, to accept what the plan accepts") {
  ServedPlan plan;
  plan.gamma = 3;
  plan.batches = {{1, 8, 4, 1.2}, {9, 40, 3, 1.1}};
  plan.accepted = {0.8, 0.6, 0.5, 0.25};  // sums: 1.9 of 3 drafted tokens, 2.15 of 4
  const auto synthetic = [&](std::size_t i) { return server_settings(plan)[i].synthetic.value().line; };
  // vLLM takes rates by position, for up to 4 drafted tokens. The others take the mean for 3, with or without
  // the target's own token.
  const std::string vllm = synthetic(0);
  const auto open = vllm.find('\'');
  const Json config = parse_json(vllm.substr(open + 1, vllm.rfind('\'') - open - 1));
  CHECK(config.at("rejection_sample_method") == "synthetic");
  CHECK(config.at("synthetic_acceptance_rates") == parse_json("[0.8, 0.6, 0.5, 0.25]"));
  CHECK(config.at("num_speculative_tokens") == 4);
  CHECK(synthetic(1).starts_with("SGLANG_SIMULATE_ACC_LEN=2.9 "));
  CHECK(synthetic(3).ends_with(" --spec-synthetic-acceptance-length 2.9"));
  // TensorRT-LLM takes whole numbers of accepted tokens with a draft model, and fractions with heads.
  const auto forced = [&] { return server_settings(plan)[2].synthetic; };
  CHECK(forced()->line.find("ACCEPTED_TOKENS\"] = \"2\"; LLM(") != std::string::npos);
  CHECK(forced()->law.find("1.9 are planned") != std::string::npos);
  plan.method = DraftMethod::mtp;
  CHECK(forced()->line.find("ACCEPTED_TOKENS\"] = \"1.9\"; LLM(") != std::string::npos);
  // The server would ignore a 0.
  plan.method = DraftMethod::draft;
  plan.accepted = {0.2, 0.1, 0.1, 0.05};
  CHECK_FALSE(forced());
  // Acceptance cannot be simulated for n-gram lookup, nor if it is not known.
  const auto any = [&] {
    const auto settings = server_settings(plan);
    return std::any_of(settings.begin(), settings.end(), [](const auto& one) { return one.synthetic; });
  };
  CHECK(any());
  plan.method = DraftMethod::ngram;
  CHECK_FALSE(any());
  plan.method = DraftMethod::draft;
  plan.accepted.clear();
  CHECK_FALSE(any());
}

TEST_CASE("heads and modules get settings from the servers that have them") {
  const auto servers = [](DraftMethod method) {
    ServedPlan plan;
    plan.method = method;
    plan.gamma = 3;
    plan.draft = "org/heads";
    std::string names;
    for (const ServerSetting& setting : server_settings(plan)) {
      names += setting.server + " ";
      // MTP modules belong to the target and have no file; all other heads are named by their file.
      const bool named = setting.lines[0].find("heads") != std::string::npos;
      CHECK(named == (method != DraftMethod::mtp));
      // SGLang counts the token before a DFlash block as part of it.
      const bool block = method == DraftMethod::dflash && setting.server == "SGLang";
      CHECK(setting.lines[0].find(block ? '4' : '3') != std::string::npos);
    }
    return names;
  };
  CHECK(servers(DraftMethod::eagle) == "vLLM SGLang ");
  CHECK(servers(DraftMethod::eagle3) == "vLLM SGLang TensorRT-LLM llama.cpp ");
  CHECK(servers(DraftMethod::mtp) == "vLLM SGLang TensorRT-LLM llama.cpp ");
  CHECK(servers(DraftMethod::medusa) == "vLLM ");
  CHECK(servers(DraftMethod::dflash) == "vLLM SGLang TensorRT-LLM llama.cpp ");
  CHECK(servers(DraftMethod::dspark) == "vLLM SGLang ");
  CHECK(servers(DraftMethod::domino).empty());
  for (const char* word :
       {"draft", "ngram", "eagle", "eagle3", "mtp", "medusa", "dflash", "dspark", "domino"})
    CHECK(word_of(*read(pair_costs_type(), Json{{"method", word}}, "").method) == word);
  CHECK_THROWS_AS(read(pair_costs_type(), Json{{"method", "lookahead"}}, ""), ConfigError);
}

TEST_CASE("a DFlash block is asked of each server by the number that its options count") {
  ServedPlan plan;
  plan.method = DraftMethod::dflash;
  plan.gamma = 15;
  plan.draft = "z-lab/Qwen3-8B-DFlash-b16";
  const std::vector<ServerSetting> settings = server_settings(plan);
  CHECK(settings[0].lines[0].find(R"("method": "dflash")") != std::string::npos);
  CHECK(settings[0].lines[0].find(R"("num_speculative_tokens": 15)") != std::string::npos);
  // SGLang counts the block with the last token before it, and has no option for steps.
  CHECK(settings[1].lines[0].find("--speculative-algorithm DFLASH") != std::string::npos);
  CHECK(settings[1].lines[0].find("--speculative-num-draft-tokens 16") != std::string::npos);
  CHECK(settings[1].lines[0].find("num-steps") == std::string::npos);
  CHECK(settings[2].lines[0].find("DFlashDecodingConfig(max_draft_len=15, ") != std::string::npos);
  CHECK(settings[3].lines[0].find("--spec-type draft-dflash --spec-draft-n-max 15 ") != std::string::npos);
  // vLLM has ranges by batch with this method.
  plan.batches = {{1, 8, 15, 1.2}, {9, 40, 7, 1.1}};
  const ServerSetting ranges = server_settings(plan)[0];
  for (const std::string& note : ranges.notes) CHECK(note.find("may or may not work") == std::string::npos);
}
