#include "serving/advisor/pair_costs.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/cost_options.hpp"
#include "serving/advisor/memory_fit.hpp"
#include "serving/advisor/planning.hpp"

using namespace speclab;

namespace {

PairCosts by_options(const std::vector<std::string>& words) {
  boost::program_options::options_description options;
  add_cost_options(options);
  add_method_option(options);
  boost::program_options::variables_map values;
  boost::program_options::store(boost::program_options::command_line_parser(words).options(options).run(),
                                values);
  return pair_costs(values);
}

Json written(const PairCosts& costs) {
  Json json;
  write(pair_costs_type(), costs, json);
  return json;
}

std::string refusal(const Json& costs) {
  try {
    const Operation at{1, costs.value("context", 1024.0)};
    Json keys = costs;
    keys.erase("context");
    refuse_unservable(planned_pair(read(pair_costs_type(), keys, "/cost"), "/cost", at).costs, "/cost",
                      at.context);
  } catch (const ConfigError& error) {
    return error.sentence();
  }
  return "";
}

}  // namespace

TEST_CASE("options and keys of costs have the same values, ranges and defaults") {
  CHECK(written(by_options({})) == written(PairCosts{}));
  std::mt19937 draws(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 50; ++round) {
    Json keys = Json::object();
    std::vector<std::string> words;
    const CostForm form = uniform(draws) < 0.7 ? CostForm::models : CostForm::times;
    for (const Field& field : pair_costs_type(form).type->object()->fields()) {
      if (!field.required && uniform(draws) < 0.5) continue;
      Json schema = Json::object();
      field.type->schema(schema);
      Json& value = keys[field.name];
      if (schema.contains("enum")) {
        value = schema["enum"][draws() % schema["enum"].size()];
      } else if (schema["type"] == "string") {
        value = "name";
      } else if (schema["type"] == "integer") {
        value = 1 + draws() % 1024;
      } else {
        value = schema["minimum"].get<double>() +
                uniform(draws) * (schema["maximum"].get<double>() - schema["minimum"].get<double>());
      }
      std::string option = field.name;
      std::replace(option.begin(), option.end(), '_', '-');
      words.push_back(
          fmt::format("--{}={}", option, value.is_string() ? value.get<std::string>() : value.dump()));
    }
    CAPTURE(keys.dump());
    CHECK(written(by_options(words)) == written(read(pair_costs_type(form), keys, "")));
  }
  CHECK_THROWS_WITH_AS(by_options({"--c=-1"}), "--c: -1 is not a number >= 0 and <= 1000", UsageError);
  CHECK_THROWS_WITH_AS(by_options({"--target=a", "--device=b", "--devices=some"}),
                       "--devices: \"some\" is not an integer >= 1 and <= 1024", UsageError);
}

TEST_CASE("a roofline's assumptions are those of a machine unless keys say otherwise") {
  const auto machine_of = [](const Json& more) {
    Json keys{{"target", "llama-3.1-8b"}, {"device", "h100-sxm"}};
    keys.update(more);
    const PlannedPair pair = planned_pair(read(pair_costs_type(), keys, ""), "", {1, 1024});
    CHECK(std::get<ConstantCost>(pair.costs.draft).ms == 0);
    return std::get<RooflineCost>(pair.costs.target).machine;
  };
  const Machine usual = machine_of(Json::object());
  CHECK(usual.bandwidth_efficiency == Machine{}.bandwidth_efficiency);
  CHECK(usual.flops_efficiency == Machine{}.flops_efficiency);
  CHECK(usual.run_overhead == doctest::Approx(Machine{}.run_overhead));
  CHECK(usual.layer_overhead == doctest::Approx(Machine{}.layer_overhead));
  CHECK(usual.reduce_latency == doctest::Approx(Machine{}.reduce_latency));
  CHECK(machine_of({{"run_overhead_us", 20}}).run_overhead == doctest::Approx(20e-6));
}

TEST_CASE("costs that contradict themselves are refused at their key") {
  const Json models{{"target", "llama-3.1-8b"}, {"device", "h100-sxm"}};
  const auto with = [&](const Json& more) {
    Json all = models;
    all.update(more);
    return refusal(all);
  };
  CHECK(with(Json::object()).empty());
  CHECK(with({{"draft", "llama-3.2-1b"}, {"c", 0.1}}) == "/cost: give one of c, draft and draft_times");
  CHECK(with({{"target", "llama-9"}}).starts_with("/cost/target: unknown model \"llama-9\""));
  CHECK(with({{"dtype", "fp9"}}).starts_with("/cost/dtype: unknown \"fp9\""));
  CHECK(with({{"routing_exponent", 0.79}}) == "/cost/routing_exponent: llama-3.1-8b has no experts");
  CHECK(with({{"method", "mtp"}}).starts_with("/cost/method: mtp: the target llama-3.1-8b has no modules"));
  for (const std::string method : {"ngram", "eagle", "eagle3", "medusa", "dflash"})
    CHECK(
        with({{"draft", "llama-3.2-1b"}, {"method", method}}).starts_with("/cost/method: " + method + ": "));
  CHECK(with({{"draft", "llama-3.2-1b"}, {"method", "draft"}}).empty());
  const Json states{{"recurrent_states", 1}};
  CHECK(with(states).starts_with("/cost/recurrent_states: llama-3.1-8b has no linear attention"));
  CHECK(refusal({{"target", "qwen3-next-80b-a3b"}, {"device", "h100-sxm"}, {"recurrent_states", 1}}).empty());
}

TEST_CASE("weights have the numbers that their checkpoint has, and a contradiction is refused") {
  const auto folder = std::filesystem::temp_directory_path() / "speclab_stored_numbers_test";
  std::filesystem::create_directories(folder);
  const auto config = [&](const char* method) {
    std::ofstream(folder / "config.json")
        << R"({"model_type": "llama", "num_hidden_layers": 8, "hidden_size": 64,
      "num_attention_heads": 8, "intermediate_size": 128, "vocab_size": 1000,
      "quantization_config": {"quant_method": ")"
        << method << R"("}})";
  };
  const auto pair_with = [&](const Json& more) {
    Json keys{{"target", folder.string()}, {"draft", "llama-3.2-1b"}, {"device", "h100-sxm"}};
    if (!more.is_null()) keys.update(more);
    return planned_pair(read(pair_costs_type(), keys, ""), "", {1, 1024});
  };
  config("fp8");
  const PlannedPair pair = pair_with({});
  const auto& target = std::get<RooflineCost>(pair.costs.target);
  CHECK(target.machine.precision.arithmetic == MatrixFormat::fp8);
  CHECK(weight_bytes(target.model, target.machine.precision) == parameters(target.model) + 2 * 1000 * 64);
  // The draft's own config says nothing, so that its weights have 16 bits.
  CHECK(std::get<RooflineCost>(pair.costs.draft).machine.precision.weight_bytes == 2);
  CHECK_NOTHROW(pair_with({{"dtype", "fp8"}}));
  CHECK_THROWS_AS(pair_with({{"dtype", "bf16"}}), ConfigError);
  config("mxfp4");
  CHECK_THROWS_AS(pair_with({{"dtype", "int4"}}), ConfigError);
  CHECK(std::get<RooflineCost>(pair_with({}).costs.target).model.stored->mixers == 0.53125);
  const auto cache = [&](const Json& more) {
    return std::get<RooflineCost>(pair_with(more).costs.target).machine.precision.cache_bytes;
  };
  CHECK(cache({}) == 2);
  CHECK(cache({{"cache_dtype", "fp8"}}) == 1);
  // A draft's own config decides before the target's numbers do; where it states 16 bits, the user decides.
  const auto draft = [&](const Json& more) {
    Json keys{{"target", "llama-3.1-8b"}, {"draft", folder.string()}, {"device", "h100-sxm"}};
    keys.update(more);
    return std::get<RooflineCost>(planned_pair(read(pair_costs_type(), keys, ""), "", {1, 1024}).costs.draft);
  };
  CHECK(draft({{"dtype", "fp8"}}).model.stored_as == "mxfp4");
  CHECK_THROWS_AS(draft({{"draft_dtype", "fp8"}}), ConfigError);
  std::ofstream(folder / "config.json")
      << R"({"model_type": "llama", "num_hidden_layers": 8, "hidden_size": 64,
      "num_attention_heads": 8, "intermediate_size": 128, "vocab_size": 1000, "torch_dtype": "bfloat16"})";
  CHECK_THROWS_AS(draft({{"dtype", "fp8"}}), ConfigError);
  CHECK_FALSE(draft({{"dtype", "bf16"}}).model.stored);
  CHECK_FALSE(draft({{"dtype", "fp8"}, {"draft_dtype", "bf16"}}).model.stored);
  CHECK(draft({{"dtype", "fp8"}, {"draft_dtype", "int8"}}).model.stored_as == "int8");
  std::filesystem::remove_all(folder);
}

TEST_CASE("given numbers are those of a checkpoint in them: embeddings and outputs have 16 bits") {
  const auto pair_with = [&](const Json& more) {
    Json keys{{"target", "llama-3.1-8b"}, {"draft", "llama-3.2-1b"}, {"device", "h100-sxm"}};
    if (!more.is_null()) keys.update(more);
    return planned_pair(read(pair_costs_type(), keys, ""), "", {1, 1024});
  };
  const auto bytes = [&](const Json& more) {
    const auto cost = std::get<RooflineCost>(pair_with(more).costs.target);
    return weight_bytes(cost.model, cost.machine.precision);
  };
  const double embeddings = 2 * 128256.0 * 4096;
  const double all = parameters(std::get<RooflineCost>(pair_with({}).costs.target).model);
  CHECK(bytes({{"dtype", "fp8"}}) == all + embeddings);
  CHECK(bytes({{"dtype", "fp16"}}) == 2 * all);
  // hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4 has 5.73 GB.
  CHECK(bytes({{"dtype", "int4"}}) == doctest::Approx(5.73e9).epsilon(0.01));

  // The settings of servers say what they do not set.
  const auto numbers = [&](const Json& more) { return pair_with(more).numbers; };
  using Texts = std::vector<std::string>;
  CHECK(numbers({}).empty());
  CHECK(numbers({{"dtype", "bf16"}, {"cache_dtype", "bf16"}}).empty());
  CHECK(numbers({{"dtype", "int4"}, {"cache_dtype", "fp8"}}) == Texts{"weights in int4", "caches in fp8"});
  CHECK(numbers({{"dtype", "fp8"}, {"draft_dtype", "bf16"}}) == Texts{"weights in fp8 (draft: bf16)"});
  const PlannedPair wide = pair_with({{"devices", 4}, {"draft_devices", 1}, {"cache_dtype", "fp8"}});
  CHECK(served_plan(wide, 3).unset ==
        Texts{"The plan runs the draft on 1 of the 4 devices; these settings do not.",
              "The plan is for caches in fp8, which these settings do not set."});
  CHECK(
      planned_load("γ = 3", 0.75, served_plan(wide, 3), {1, 1024}) ==
      "γ = 3: computed for α = 0.75, batch 1, a context of 1024 tokens, 4 × h100-sxm, the draft on 1, caches in fp8");
  // Engines take those of a checkpoint from its config.json.
  CHECK(pair_with({{"target", "deepseek-v3"}, {"draft", ""}, {"method", "mtp"}}).numbers.empty());
}

TEST_CASE("pairs and contexts that no engine runs are refused, and units that cannot be meant") {
  const auto with = [](const Json& more) {
    Json keys{{"device", "h100-sxm"}};
    keys.update(more);
    return refusal(keys);
  };
  CHECK(with({{"target", "mistral-7b"}, {"draft", "gpt2"}})
            .starts_with("/cost/draft: gpt2 has 50257 tokens and the target mistral-7b 32000: "));
  CHECK(with({{"target", "qwen3-32b"}, {"draft", "llama-3.2-1b"}}).starts_with("/cost/draft: "));
  CHECK(with({{"target", "lamda-137b"}, {"draft", "lamda-8b"}}).empty());
  // The tables of one tokenizer are padded to several sizes.
  const Json padded{{"target", "qwen2.5-7b"}, {"draft", "qwen2.5-0.5b"}, {"device", "h100-sxm"}};
  CHECK(with(padded).empty());
  std::vector<std::string> notes;
  append_notes(planned_pair(read(pair_costs_type(), padded, ""), "", {1, 1024}).costs, notes);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].starts_with("The draft qwen2.5-0.5b has 151936 tokens and the target qwen2.5-7b 152064: "));

  CHECK(with({{"target", "llama-2-7b"}, {"context", 100000}})
            .starts_with("/cost/target: llama-2-7b reads at most 4096 tokens"));
  CHECK(with({{"target", "llama-2-7b"}, {"context", 4096}}).empty());
  CHECK(with({{"target", "qwen2.5-7b"}, {"draft", "qwen2.5-0.5b"}, {"context", 65536}})
            .starts_with("/cost/draft: qwen2.5-0.5b reads at most 32768 tokens"));
  CHECK(with({{"target", "t5-base"}, {"context", 65536}}).empty());
  CHECK(with({{"target", "own"}, {"parameters", "8B"}, {"kv_bytes_per_token", 128}})
            .starts_with("/cost/kv_bytes_per_token: 128 beside parameters; expected bytes, 500 or more"));

  const auto folder = std::filesystem::temp_directory_path() / "speclab_units_test";
  std::filesystem::create_directories(folder);
  const auto times = [&](const std::string& name, const char* ms) {
    const std::string file = (folder / name).string();
    std::ofstream(file) << "tokens,batch,ms\n1,1," << ms << "\n2,1," << ms << "\n";
    return file;
  };
  const Json measured{{"target_times", times("target.csv", "20")},
                      {"draft_times", times("draft.csv", "0.001")}};
  CHECK(refusal(measured).starts_with("/cost/draft_times: a draft run takes 5e-05 times as long"));
  times("draft.csv", "1000");
  CHECK(refusal(measured).starts_with("/cost/draft_times: a draft run takes 50 times as long"));
  times("draft.csv", "1");
  CHECK(refusal(measured).empty());
  // Looking an n-gram up can take so little time.
  times("draft.csv", "0.001");
  Json ngram = measured;
  ngram["method"] = "ngram";
  CHECK(refusal(ngram).empty());
  std::filesystem::remove_all(folder);
}

TEST_CASE("a target that no config describes has the sizes that are stated") {
  const auto target_of = [](const Json& more) {
    Json keys{{"target", "own"}, {"device", "h100-sxm"}, {"c", 0.1}};
    keys.update(more);
    return std::get<RooflineCost>(
        planned_pair(read(pair_costs_type(), keys, ""), "", {1, 1024}).costs.target);
  };
  const RooflineCost stated = target_of({{"parameters", "30.5B,3.3e9"}, {"kv_bytes_per_token", 98304}});
  CHECK(parameters(stated.model) == 30.5e9);
  CHECK(active_parameters(stated.model) == 3.3e9);
  CHECK(cache_bytes(stated.machine, stated.model, 1000) == 98304e3);
  // Devices in tensor parallel share it.
  const RooflineCost four = target_of({{"parameters", "8e9"}, {"kv_bytes_per_token", 98304}, {"devices", 4}});
  CHECK(cache_bytes(four.machine, four.model, 1000) == 98304e3);
  CHECK(parameters(target_of({{"parameters", "1.6T"}, {"kv_bytes_per_token", 0}}).model) == 1.6e12);
  const auto refused = [&](const Json& more) {
    Json keys{{"target", "own"}, {"device", "h100-sxm"}, {"c", 0.1}};
    keys.update(more);
    return refusal(keys);
  };
  CHECK(
      refused({{"parameters", "many"}, {"kv_bytes_per_token", 1}}).starts_with("/cost/parameters: \"many\""));
  CHECK(refused({{"parameters", "3B,30B"}, {"kv_bytes_per_token", 1}}).starts_with("/cost/parameters"));
  CHECK(refused({{"parameters", "3B"}}).starts_with("/cost/kv_bytes_per_token: missing"));
  CHECK(refused({{"target", "llama-3.1-8b"}, {"kv_bytes_per_token", 1}})
            .starts_with("/cost/kv_bytes_per_token"));
}
