#include <utility>

#include "analysis/cost/presets.hpp"

namespace speclab {

namespace {

/// Returns a decoder of this shape; `published` is the number of parameters in the checkpoint.
Transformer decoder(Transformer model, double published) {
  model.published = published;
  model.source = "config.json of " + model.repository;
  return model;
}

Transformer tied(Transformer model) {
  model.tied = true;
  return model;
}

Transformer windowed(Transformer model, int layers, int window) {
  model.windowed_layers = layers;
  model.window = window;
  return model;
}

Transformer mixture(Transformer model, int experts, int active) {
  model.experts = experts;
  model.active_experts = active;
  return model;
}

Transformer gpt2(const std::string& name, int layers, int hidden, double published) {
  Transformer model = decoder(
      {name, "openai-community/" + name, layers, hidden, hidden / 64, hidden / 64, 64, 4 * hidden, 50257},
      published);
  model.gated = false;
  return tied(model);
}

/// Returns a T5 v1.1: gated feed-forward blocks and a separate output matrix.
Transformer t5_v11(Transformer shape, double published) {
  Transformer model = decoder(std::move(shape), published);
  model.encoder_layers = model.layers;
  model.source += "; the version used by Leviathan et al. 2023, section 4.1";
  return model;
}

/// Returns a T5 of the first release: feed-forward blocks without gates, and one matrix for both embeddings.
Transformer t5(Transformer shape, double published) {
  Transformer model = decoder(std::move(shape), published);
  model.encoder_layers = model.layers;
  model.gated = false;
  model.source += "; Raffel et al. 2020, section 3.7";
  return tied(model);
}

Transformer lamda_137b() {
  Transformer model = tied(decoder({"lamda-137b", "", 64, 8192, 128, 128, 128, 65536, 32000}, 137e9));
  model.source = "Thoppilan et al. 2022, section 3";
  return model;
}

/// Returns a LaMDA, known only by its size.
Transformer lamda(std::string name, double published) {
  return {.name = std::move(name),
          .published = published,
          .source = "Leviathan et al. 2023, section 4.2: its size alone"};
}

}  // namespace

// The last number of a line is the checkpoint's number of parameters. Every second layer of Gemma 2 is
// windowed.
const std::vector<Transformer>& model_presets() {
  static const std::vector<Transformer> all{
      decoder({"llama-2-7b", "meta-llama/Llama-2-7b-hf", 32, 4096, 32, 32, 128, 11008, 32000}, 6738415616.0),
      decoder({"llama-2-13b", "meta-llama/Llama-2-13b-hf", 40, 5120, 40, 40, 128, 13824, 32000},
              13015864320.0),
      decoder({"llama-2-70b", "meta-llama/Llama-2-70b-hf", 80, 8192, 64, 8, 128, 28672, 32000},
              68976648192.0),
      decoder({"llama-3.1-8b", "meta-llama/Llama-3.1-8B", 32, 4096, 32, 8, 128, 14336, 128256}, 8030261248.0),
      decoder({"llama-3.1-70b", "meta-llama/Llama-3.1-70B", 80, 8192, 64, 8, 128, 28672, 128256},
              70553706496.0),
      decoder({"llama-3.1-405b", "meta-llama/Llama-3.1-405B", 126, 16384, 128, 8, 128, 53248, 128256},
              405853388800.0),
      tied(decoder({"llama-3.2-1b", "meta-llama/Llama-3.2-1B", 16, 2048, 32, 8, 64, 8192, 128256},
                   1235814400.0)),
      tied(decoder({"llama-3.2-3b", "meta-llama/Llama-3.2-3B", 28, 3072, 24, 8, 128, 8192, 128256},
                   3212749824.0)),
      tied(decoder({"qwen2.5-0.5b", "Qwen/Qwen2.5-0.5B", 24, 896, 14, 2, 64, 4864, 151936}, 494032768.0)),
      decoder({"qwen2.5-7b", "Qwen/Qwen2.5-7B", 28, 3584, 28, 4, 128, 18944, 152064}, 7615616512.0),
      decoder({"qwen2.5-72b", "Qwen/Qwen2.5-72B", 80, 8192, 64, 8, 128, 29568, 152064}, 72706203648.0),
      windowed(decoder({"mistral-7b", "mistralai/Mistral-7B-v0.1", 32, 4096, 32, 8, 128, 14336, 32000},
                       7241732096.0),
               32, 4096),
      mixture(decoder({"mixtral-8x7b", "mistralai/Mixtral-8x7B-v0.1", 32, 4096, 32, 8, 128, 14336, 32000},
                      46702792704.0),
              8, 2),
      windowed(
          tied(decoder({"gemma-2-2b", "google/gemma-2-2b", 26, 2304, 8, 4, 256, 9216, 256000}, 2614341888.0)),
          13, 4096),
      windowed(tied(decoder({"gemma-2-9b", "google/gemma-2-9b", 42, 3584, 16, 8, 256, 14336, 256000},
                            9241705984.0)),
               21, 4096),
      windowed(tied(decoder({"gemma-2-27b", "google/gemma-2-27b", 46, 4608, 32, 16, 128, 36864, 256000},
                            27227128320.0)),
               23, 4096),
      gpt2("gpt2", 12, 768, 124439808.0),
      gpt2("gpt2-medium", 24, 1024, 354823168.0),
      gpt2("gpt2-large", 36, 1280, 774030080.0),
      gpt2("gpt2-xl", 48, 1600, 1557611200.0),
      t5({"t5-small", "google-t5/t5-small", 6, 512, 8, 8, 64, 2048, 32128}, 60506624.0),
      t5({"t5-base", "google-t5/t5-base", 12, 768, 12, 12, 64, 3072, 32128}, 222903552.0),
      t5({"t5-large", "google-t5/t5-large", 24, 1024, 16, 16, 64, 4096, 32128}, 737668096.0),
      t5({"t5-3b", "google-t5/t5-3b", 24, 1024, 32, 32, 128, 16384, 32128}, 2851598336.0),
      t5({"t5-11b", "google-t5/t5-11b", 24, 1024, 128, 128, 128, 65536, 32128}, 11307321344.0),
      t5_v11({"t5-v1.1-small", "google/t5-v1_1-small", 8, 512, 6, 6, 64, 1024, 32128}, 76961152.0),
      t5_v11({"t5-v1.1-base", "google/t5-v1_1-base", 12, 768, 12, 12, 64, 2048, 32128}, 247577856.0),
      t5_v11({"t5-v1.1-large", "google/t5-v1_1-large", 24, 1024, 16, 16, 64, 2816, 32128}, 783150080.0),
      t5_v11({"t5-v1.1-xl", "google/t5-v1_1-xl", 24, 2048, 32, 32, 64, 5120, 32128}, 2849757184.0),
      t5_v11({"t5-v1.1-xxl", "google/t5-v1_1-xxl", 24, 4096, 64, 64, 64, 10240, 32128}, 11135332352.0),
      lamda_137b(),
      lamda("lamda-8b", 8e9),
      lamda("lamda-2b", 2e9),
      lamda("lamda-100m", 1e8)};
  return all;
}

}  // namespace speclab
