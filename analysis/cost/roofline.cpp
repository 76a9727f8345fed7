#include "analysis/cost/roofline.hpp"

#include <algorithm>
#include <cmath>

namespace speclab {

namespace {

/// Returns the width of attention's input per token; an EAGLE-3 head also reads the token's embedding.
double attention_input(const Transformer& model) {
  return (model.head == HeadKind::eagle3 ? 2.0 : 1.0) * model.hidden;
}

double key_and_value(const Transformer& model) {
  return 2.0 * attention_input(model) * model.kv_heads * model.head_size;
}

double query_and_output(const Transformer& model) {
  return (attention_input(model) + model.hidden) * (double(model.heads) * model.head_size);
}

double feed_forward_block(const Transformer& model, int size) {
  return (model.gated ? 3.0 : 2.0) * model.hidden * size;
}

/// Returns one expert's parameters.
double expert(const Transformer& model) {
  const int width = model.expert_hidden > 0 ? model.expert_hidden : model.hidden;
  return (model.gated ? 3.0 : 2.0) * width * model.feed_forward;
}

/// Returns the router's parameters in a layer with experts, and those of the projections around the experts.
double router(const Transformer& model) {
  return model.experts > 1 ? double(model.hidden) * (model.experts + 2.0 * model.expert_hidden) : 0;
}

double embedding(const Transformer& model) { return double(model.vocab) * model.hidden; }

/// Parameters by the parts of StoredBytes; `rest` are embeddings, routers and what heads have.
struct Weights {
  double experts = 0;
  double feed_forward = 0;
  double mixers = 0;
  double output = 0;
  double rest = 0;

  double sum() const { return mixers + experts + feed_forward + output + rest; }
};

/// Returns the parameters of the decoder's layers: `experts` experts in each layer with experts, and all
/// shared parameters.
Weights layer_weights(const Transformer& model, double experts) {
  Weights all;
  for (const Mixer& mixer : mixers_of(model)) all.mixers += mixer.layers * mixer.parameters;
  // The keys and values of an encoder's source are computed with the prompt.
  if (model.encoder_layers > 0) all.mixers += model.layers * query_and_output(model);
  const double wide = model.layers - model.dense_layers - model.layers_without_feed_forward;
  all.experts = wide * experts * expert(model);
  all.feed_forward = wide * feed_forward_block(model, model.shared_feed_forward) +
                     model.dense_layers * feed_forward_block(model, model.dense_feed_forward);
  all.rest = wide * router(model);
  return all;
}

/// Returns the parameters of the matrix with which a head reads the target's states.
double fusing_matrix(const Transformer& model) { return double(model.fused) * model.hidden; }

double output_matrix(const Transformer& model) {
  return model.is_head() ? double(model.draft_vocab) * model.hidden : embedding(model);
}

double medusa_head(const Transformer& model) {
  return double(model.layers) * model.hidden * model.hidden + output_matrix(model);
}

/// Returns the decoder weights that a run multiplies, with `experts` per layer.
Weights decoder_weights(const Transformer& model, double experts) {
  if (model.head == HeadKind::medusa) return {.output = medusa_head(model)};
  Weights all = layer_weights(model, experts);
  all.rest += fusing_matrix(model);
  all.output = output_matrix(model);
  return all;
}

/// Returns the weights that a run over `tokens` tokens of each of `batch` sequences reads. If only the
/// numbers of all parameters and of a token's are known, each parameter is taken for one that a token uses
/// with the same probability, independently of other tokens.
Weights read_weights(const Transformer& model, double tokens, double batch) {
  if (model.layers > 0) return decoder_weights(model, expected_experts(model, tokens, batch));
  const double active = active_parameters(model) / model.published;
  const double independent = batch * std::pow(tokens, model.routing_exponent);
  return {.rest = active < 1 ? model.published * (1 - std::pow(1 - active, independent)) : model.published};
}

double bytes_of(const Weights& weights, const Transformer& model, const Precision& precision) {
  if (!model.stored) return weights.sum() * precision.weight_bytes;
  constexpr double other_bytes = 2;
  const StoredBytes& bytes = *model.stored;
  return weights.experts * bytes.experts + weights.feed_forward * bytes.feed_forward +
         weights.mixers * bytes.mixers + weights.output * bytes.output + weights.rest * other_bytes;
}

/// Returns the numbers of a sequence's cache that are read or stored for `entries` entries, and those by
/// which sparse attention selects among all entries.
double cached_numbers(const Mixer& mixer, double context, double entries) {
  return mixer.kept * entries + mixer.index_kept * mixer.entries(context);
}

/// Returns how often all devices together store a cache or state.
double copies(const Mixer& mixer, int devices) { return std::max(1.0, double(devices) / mixer.parts); }

/// Returns the sum of `of(mixer)` over a model's kinds of mixers.
template <class Of>
double sum_of_mixers(const Transformer& model, const Of& of) {
  double sum = 0;
  for (const Mixer& mixer : mixers_of(model)) sum += of(mixer);
  return sum;
}

/// Returns the bytes that a run of `tokens` tokens reads from the cache of one sequence on all devices; the
/// function below returns those that it writes per position.
double read_cache(const Transformer& model, double context, double tokens, const Precision& precision,
                  int devices) {
  const double sources = model.encoder_layers > 0 ? 2 : 1;
  return sources * precision.cache_bytes * sum_of_mixers(model, [&](const Mixer& mixer) {
           return copies(mixer, devices) * mixer.layers *
                  cached_numbers(mixer, context, mixer.read_entries(context, tokens));
         });
}

double written_cache(const Transformer& model, const Precision& precision, int devices) {
  return precision.cache_bytes * sum_of_mixers(model, [&](const Mixer& mixer) {
           return copies(mixer, devices) * (mixer.layers - mixer.layers_without_cache) *
                  (mixer.kept + mixer.index_kept) / mixer.ratio;
         });
}

/// Returns the bytes of one recurrent state of a sequence, in all layers, on all devices.
double one_state(const Transformer& model, double drafts, int devices) {
  return sum_of_mixers(model, [&](const Mixer& mixer) {
    return copies(mixer, devices) * mixer.layers * mixer.state_size(drafts);
  });
}

/// Returns the FLOPs of mixing a token in all layers, besides the matrices.
double mixing_flops(const Transformer& model, double context) {
  const double sources = model.encoder_layers > 0 ? 2 : 1;
  return sum_of_mixers(model, [&](const Mixer& mixer) {
    return mixer.layers * (sources * mixer.flops * mixer.read_entries(context, 1) +
                           mixer.index_flops * mixer.entries(context) + mixer.state_flops);
  });
}

/// Returns the positions of each sequence that a run's layers compute.
double positions_of(const Transformer& model, const Run& run) {
  return model.drafts_block() ? run.tokens + 1 : run.tokens;
}

RunWork medusa_work(const Transformer& model, const Run& run, const Precision& precision) {
  const double weights = run.tokens * medusa_head(model);
  return {.flops = run.batch * 2 * weights, .bytes = bytes_of({.output = weights}, model, precision)};
}

/// Returns the parameters with which DFlash reads a context: `fc`, and the keys and values of each layer.
double context_matrices(const Transformer& model) {
  return fusing_matrix(model) + model.layers * key_and_value(model);
}

RunWork dflash_work(const Transformer& model, const Run& run, const Precision& precision, int devices) {
  const double positions = positions_of(model, run);
  Weights weights = layer_weights(model, 1);
  const double layers = weights.sum();
  // Each token is corrected by the one before, so that the correction runs once for each.
  weights.rest += fusing_matrix(model) + run.tokens * model.correction;
  weights.output = output_matrix(model);
  return {.flops = run.batch *
                   (positions * (2 * (layers + context_matrices(model)) + mixing_flops(model, run.context)) +
                    run.tokens * 2 * (output_matrix(model) + model.correction)),
          // Counts writing the block's keys and values, although the next round overwrites them.
          .bytes = bytes_of(weights, model, precision) +
                   run.batch * (read_cache(model, run.context, positions, precision, devices) +
                                2 * positions * written_cache(model, precision, devices))};
}

RunTime time_of(const Machine& machine, const RunWork& done) {
  return {.memory = done.bytes / (machine.devices * machine.device.bandwidth * machine.bandwidth_efficiency),
          .arithmetic = done.flops / (peak_flops(machine) * machine.flops_efficiency)};
}

Weights stored_weights(const Transformer& model) {
  Weights all = layer_weights(model, model.experts);
  all.rest += fusing_matrix(model);
  switch (model.head) {
    case HeadKind::medusa:
      return {.output = model.max_drafted * medusa_head(model)};
    case HeadKind::mtp:
      for (double* part : {&all.experts, &all.feed_forward, &all.mixers, &all.rest})
        *part *= model.mtp_modules;
      return all;
    case HeadKind::eagle:
      return all;
    case HeadKind::dflash:
    case HeadKind::dspark:
    case HeadKind::domino:
      all.rest += model.stored_correction;
      return all;
    case HeadKind::eagle3:
      all.output = output_matrix(model);
      return all;
    case HeadKind::none:
      break;
  }
  if (model.layers == 0) return {.rest = model.published};
  // These are the decoder's keys and values of a source, which `layer_weights` leaves out, and the encoder.
  if (model.encoder_layers > 0) {
    all.mixers += model.layers * key_and_value(model) +
                  model.encoder_layers * (query_and_output(model) + key_and_value(model));
    all.experts += model.encoder_layers * expert(model);
  }
  all.output = output_matrix(model);
  all.rest += model.tied ? 0 : embedding(model);
  return all;
}

double stored_cache(const Transformer& model, double context, const Precision& precision, int devices) {
  const double modules = model.head == HeadKind::mtp ? model.mtp_modules : 1;
  const double sources = model.encoder_layers > 0 ? 2 : 1;
  return modules * sources * precision.cache_bytes * sum_of_mixers(model, [&](const Mixer& mixer) {
           return copies(mixer, devices) * (mixer.layers - mixer.layers_without_cache) *
                  cached_numbers(mixer, context, mixer.entries(context));
         });
}

RunWork work(const Transformer& model, const Run& run, const Precision& precision, int devices) {
  if (model.head == HeadKind::medusa) return medusa_work(model, run, precision);
  if (model.drafts_block()) return dflash_work(model, run, precision, devices);
  const double tokens = run.tokens * run.batch;
  const double weights = bytes_of(read_weights(model, run.tokens, run.batch), model, precision);
  const double cache = read_cache(model, run.context, run.tokens, precision, devices) * run.batch;
  const double states = one_state(model, 0, devices) * run.batch * (1 + run.states);
  return {.flops = tokens * (2 * active_parameters(model) + mixing_flops(model, run.context)),
          .bytes = weights + cache + tokens * written_cache(model, precision, devices) + states};
}

}  // namespace

std::vector<Mixer> mixers_of(const Transformer& model) {
  if (!model.mixers.empty() || model.heads == 0) return model.mixers;
  Mixer mixer = grouped_attention(
      model.hidden, {model.heads, model.kv_heads, model.head_size, model.head_size}, attention_input(model));
  mixer.layers = model.layers;
  return {mixer};
}

Transformer mtp_drafter(const Transformer& target) {
  Transformer module = target;
  module.head = HeadKind::mtp;
  module.layers = 1;
  module.dense_layers = 0;
  module.layers_without_feed_forward = 0;
  module.mixers = {mixers_of(target).back()};
  module.mixers[0].layers = 1;
  module.mixers[0].layers_without_cache = 0;
  module.fused = 2 * target.hidden;
  module.draft_vocab = target.vocab;
  module.published = 0;
  module.index_bytes = 0;
  module.notes.clear();
  if (module.stored) {
    StoredBytes& bytes = *module.stored;
    bytes = {bytes.modules, bytes.modules, bytes.modules, bytes.output, bytes.modules};
  }
  return module;
}

double parameters(const Transformer& model) { return stored_weights(model).sum(); }

double weight_bytes(const Transformer& model, const Precision& precision) {
  return bytes_of(stored_weights(model), model, precision);
}

double active_parameters(const Transformer& model) {
  if (model.layers == 0) return model.published_active > 0 ? model.published_active : model.published;
  return decoder_weights(model, model.active_experts).sum();
}

double independent_experts(const Transformer& model, double tokens) {
  const double passed_by = 1 - double(model.active_experts) / model.experts;
  return model.experts * (1 - std::pow(passed_by, tokens));
}

double expected_experts(const Transformer& model, double tokens, double batch) {
  return independent_experts(model, batch * std::pow(tokens, model.routing_exponent));
}

double cache_bytes(const Transformer& model, double context, const Precision& precision) {
  return stored_cache(model, context, precision, 1);
}

RunWork work(const Transformer& model, const Run& run, const Precision& precision) {
  return work(model, run, precision, 1);
}

double peak_flops(const Machine& machine) {
  const Device& device = machine.device;
  const double rates[]{device.flops_16bit, device.flops_8bit, device.flops_fp8, device.flops_4bit};
  const double rate = rates[static_cast<std::size_t>(machine.precision.arithmetic)];
  return machine.devices * (rate > 0 ? rate : device.flops_16bit);
}

double cache_bytes(const Machine& machine, const Transformer& model, double context) {
  return stored_cache(model, context, machine.precision, machine.devices);
}

double state_bytes(const Machine& machine, const Transformer& model, double gamma) {
  const double states = machine.states > 0 ? machine.states : 1 + gamma;
  return states * one_state(model, gamma, machine.devices);
}

RunWork work(const Machine& machine, const Transformer& model, const Run& run) {
  Run kept = run;
  if (machine.states > 0) kept.states = std::min<double>(run.states, machine.states);
  return work(model, kept, machine.precision, machine.devices);
}

RunTime run_time(const Machine& machine, const Transformer& model, const Run& run) {
  RunTime time = time_of(machine, work(machine, model, run));
  const double layers_in_turn = model.head == HeadKind::medusa ? run.tokens * model.layers : model.layers;
  time.overhead = machine.run_overhead + layers_in_turn * machine.layer_overhead;
  if (machine.devices > 1 && model.head != HeadKind::medusa) {
    const double moved = 2.0 * (machine.devices - 1) / machine.devices;
    const double bytes = positions_of(model, run) * run.batch * model.hidden * 2;
    const double blocks = model.encoder_layers > 0 ? 3.0 : 2.0;
    const double mixing = sum_of_mixers(model, [](const Mixer& mixer) { return mixer.layers; });
    // Layers that have a mixer or a feed-forward block, but not both.
    const double single_blocks = model.layers_without_feed_forward + std::max(0.0, model.layers - mixing);
    const double reduces = blocks * model.layers - single_blocks;
    time.communication = reduces * (machine.reduce_latency + moved * bytes / machine.device.link);
  }
  return time;
}

RunTime reading_time(const Machine& machine, const Transformer& model, const Run& run) {
  if (model.head == HeadKind::medusa) return {};
  if (!model.drafts_block()) return run_time(machine, model, run);
  const double matrices = context_matrices(model);
  const double tokens = run.tokens * run.batch;
  RunTime time =
      time_of(machine, {.flops = tokens * 2 * matrices,
                        .bytes = matrices * machine.precision.weight_bytes +
                                 tokens * written_cache(model, machine.precision, machine.devices)});
  time.overhead = machine.run_overhead + model.layers * machine.layer_overhead;
  return time;
}

}  // namespace speclab
