#include "analysis/cost/roofline.hpp"

#include <algorithm>
#include <cmath>

namespace speclab {

namespace {

double heads_by_size(const Transformer& model) { return double(model.heads) * model.head_size; }

/// Returns the width of attention's input per token; an EAGLE-3 head also reads the token's embedding.
double attention_input(const Transformer& model) {
  return (model.head == HeadKind::eagle3 ? 2.0 : 1.0) * model.hidden;
}

double query_and_output(const Transformer& model) {
  return (attention_input(model) + model.hidden) * heads_by_size(model);
}

double key_and_value(const Transformer& model) {
  return 2.0 * attention_input(model) * model.kv_heads * model.head_size;
}

bool has_latent(const Transformer& model) { return model.latent.rank > 0; }

/// Returns the attention parameters of one layer. Latent attention has matrices down and up for queries, down
/// for keys and values with the rotary key, up for both, and the output.
double attention_parameters(const Transformer& model) {
  if (!has_latent(model)) return query_and_output(model) + key_and_value(model);
  const LatentAttention& latent = model.latent;
  const double hidden = model.hidden;
  const double heads = model.heads;
  const double queries = heads * (latent.plain + latent.rotary);
  const double query = latent.query_rank > 0 ? latent.query_rank * (hidden + queries) : hidden * queries;
  return query + hidden * (latent.rank + latent.rotary) +
         latent.rank * heads * (latent.plain + latent.value) + heads * latent.value * hidden;
}

/// Returns the number of values that a layer's cache stores per token.
double kept_numbers(const Transformer& model) {
  return has_latent(model) ? model.latent.rank + model.latent.rotary : 2.0 * model.kv_heads * model.head_size;
}

/// Returns the FLOPs of a layer for a token and one token that it attends to.
double attention_flops(const Transformer& model) {
  if (has_latent(model)) return 2.0 * model.heads * (2.0 * model.latent.rank + model.latent.rotary);
  return 4 * heads_by_size(model);
}

double feed_forward_block(const Transformer& model, int size) {
  return (model.gated ? 3.0 : 2.0) * model.hidden * size;
}

double router(const Transformer& model) {
  return model.experts > 1 ? double(model.hidden) * model.experts : 0;
}

double embedding(const Transformer& model) { return double(model.vocab) * model.hidden; }

/// Returns the parameters of the decoder's layers: `experts` experts in each layer with experts, and all
/// shared parameters.
double layer_parameters(const Transformer& model, double experts) {
  // The keys and values of an encoder's source are computed with the prompt.
  const double attention =
      attention_parameters(model) + (model.encoder_layers > 0 ? query_and_output(model) : 0);
  const double layer = attention + experts * feed_forward_block(model, model.feed_forward) +
                       feed_forward_block(model, model.shared_feed_forward) + router(model);
  const double dense = attention + feed_forward_block(model, model.dense_feed_forward);
  return (model.layers - model.dense_layers) * layer + model.dense_layers * dense;
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
double decoder_parameters(const Transformer& model, double experts) {
  if (model.head == HeadKind::medusa) return medusa_head(model);
  if (model.layers == 0) return model.published;
  return layer_parameters(model, experts) + fusing_matrix(model) + output_matrix(model);
}

/// Returns the tokens attended to, summed over the decoder's layers.
double attended(const Transformer& model, double context) {
  if (model.head == HeadKind::medusa) return 0;
  const double windowed = model.windowed_layers * std::min<double>(context, model.window);
  const double own = (model.layers - model.windowed_layers) * context + windowed;
  return model.encoder_layers > 0 ? own + model.layers * context : own;
}

/// Returns the bytes that a run reads from the cache of one sequence; the function below returns those that
/// it writes per position.
double read_cache(const Transformer& model, double context, const Precision& precision) {
  return kept_numbers(model) * precision.cache_bytes * attended(model, context);
}

double written_cache(const Transformer& model, const Precision& precision) {
  return kept_numbers(model) * precision.cache_bytes * (model.layers - model.layers_without_cache);
}

/// Returns the positions of each sequence that a run's layers compute.
double positions_of(const Transformer& model, const Run& run) {
  return model.head == HeadKind::dflash ? run.tokens + 1 : run.tokens;
}

RunWork medusa_work(const Transformer& model, const Run& run, const Precision& precision) {
  const double weights = run.tokens * medusa_head(model);
  return {.flops = run.batch * 2 * weights, .bytes = weights * precision.weight_bytes};
}

/// Returns the parameters with which DFlash reads a context: `fc`, and the keys and values of each layer.
double context_matrices(const Transformer& model) {
  return fusing_matrix(model) + model.layers * key_and_value(model);
}

RunWork dflash_work(const Transformer& model, const Run& run, const Precision& precision) {
  const double positions = positions_of(model, run);
  const double layers = layer_parameters(model, 1);
  const double attention = attention_flops(model) * attended(model, run.context);
  return {.flops = run.batch * (positions * (2 * (layers + context_matrices(model)) + attention) +
                                run.tokens * 2 * output_matrix(model)),
          // Counts writing the block's keys and values, although the next round overwrites them.
          .bytes = decoder_parameters(model, 1) * precision.weight_bytes +
                   run.batch * (read_cache(model, run.context, precision) +
                                2 * positions * written_cache(model, precision))};
}

/// Returns the number of copies of a cache on all devices: one on each if it cannot be split.
double cache_copies(const Machine& machine, const Transformer& model) {
  return has_latent(model) ? machine.devices : 1;
}

/// Returns the number of layers that run in sequence.
double layers_in_turn(const Transformer& model, const Run& run) {
  return model.head == HeadKind::medusa ? run.tokens * model.layers : model.layers;
}

RunTime time_of(const Machine& machine, const RunWork& done) {
  RunTime time;
  time.memory = done.bytes / (machine.devices * machine.device.bandwidth * machine.bandwidth_efficiency);
  time.arithmetic = done.flops / (peak_flops(machine) * machine.flops_efficiency);
  return time;
}

}  // namespace

Transformer mtp_drafter(const Transformer& target) {
  Transformer module = target;
  module.head = HeadKind::mtp;
  module.layers = 1;
  module.dense_layers = 0;
  module.windowed_layers = 0;
  module.layers_without_cache = 0;
  module.windowed_without_cache = 0;
  module.fused = 2 * target.hidden;
  module.draft_vocab = target.vocab;
  module.published = 0;
  return module;
}

double parameters(const Transformer& model) {
  const double layers = layer_parameters(model, model.experts);
  switch (model.head) {
    case HeadKind::medusa:
      return model.max_drafted * medusa_head(model);
    case HeadKind::mtp:
      return model.mtp_modules * (layers + fusing_matrix(model));
    case HeadKind::dflash:
      return layers + fusing_matrix(model);
    case HeadKind::eagle3:
      return layers + fusing_matrix(model) + output_matrix(model);
    case HeadKind::none:
      break;
  }
  if (model.layers == 0) return model.published;
  // These are the decoder's keys and values of a source, which `layer_parameters` leaves out, and the
  // encoder.
  const double encoder =
      model.encoder_layers * (attention_parameters(model) + feed_forward_block(model, model.feed_forward));
  const double source = model.encoder_layers > 0 ? model.layers * key_and_value(model) : 0;
  return layers + source + encoder + output_matrix(model) + (model.tied ? 0 : embedding(model));
}

double active_parameters(const Transformer& model) { return decoder_parameters(model, model.active_experts); }

double independent_experts(const Transformer& model, double tokens) {
  const double passed_by = 1 - double(model.active_experts) / model.experts;
  return model.experts * (1 - std::pow(passed_by, tokens));
}

double expected_experts(const Transformer& model, double tokens, double batch) {
  return independent_experts(model, batch * std::pow(tokens, model.routing_exponent));
}

double cache_bytes(const Transformer& model, double context, const Precision& precision) {
  const double modules = model.head == HeadKind::mtp ? model.mtp_modules : 1;
  const double windowed = model.windowed_without_cache * std::min<double>(context, model.window);
  const double elsewhere = (model.layers_without_cache - model.windowed_without_cache) * context + windowed;
  return modules *
         (read_cache(model, context, precision) - kept_numbers(model) * precision.cache_bytes * elsewhere);
}

RunWork work(const Transformer& model, const Run& run, const Precision& precision) {
  if (model.head == HeadKind::medusa) return medusa_work(model, run, precision);
  if (model.head == HeadKind::dflash) return dflash_work(model, run, precision);
  const double tokens = run.tokens * run.batch;
  const double experts = expected_experts(model, run.tokens, run.batch);
  const double weights = decoder_parameters(model, experts) * precision.weight_bytes;
  const double cache = read_cache(model, run.context, precision) * run.batch;
  return {.flops =
              tokens * (2 * active_parameters(model) + attention_flops(model) * attended(model, run.context)),
          .bytes = weights + cache + tokens * written_cache(model, precision)};
}

double peak_flops(const Machine& machine) {
  return machine.devices *
         (machine.precision.eight_bit_arithmetic ? machine.device.flops_8bit : machine.device.flops_16bit);
}

double cache_bytes(const Machine& machine, const Transformer& model, double context) {
  return cache_copies(machine, model) * cache_bytes(model, context, machine.precision);
}

RunWork work(const Machine& machine, const Transformer& model, const Run& run) {
  RunWork done = work(model, run, machine.precision);
  const double token = read_cache(model, run.context, machine.precision) +
                       run.tokens * written_cache(model, machine.precision);
  done.bytes += (cache_copies(machine, model) - 1) * run.batch * token;
  return done;
}

RunTime run_time(const Machine& machine, const Transformer& model, const Run& run) {
  RunTime time = time_of(machine, work(machine, model, run));
  time.overhead = machine.run_overhead + layers_in_turn(model, run) * machine.layer_overhead;
  if (machine.devices > 1 && model.head != HeadKind::medusa) {
    const double moved = 2.0 * (machine.devices - 1) / machine.devices;
    const double bytes = positions_of(model, run) * run.batch * model.hidden * 2;
    const double reduces = model.layers * (model.encoder_layers > 0 ? 3.0 : 2.0);
    time.communication = reduces * (machine.reduce_latency + moved * bytes / machine.device.link);
  }
  return time;
}

RunTime reading_time(const Machine& machine, const Transformer& model, const Run& run) {
  if (model.head == HeadKind::medusa) return {};
  if (model.head != HeadKind::dflash) return run_time(machine, model, run);
  const double matrices = context_matrices(model);
  const double tokens = run.tokens * run.batch;
  RunTime time = time_of(machine, {.flops = tokens * 2 * matrices,
                                   .bytes = matrices * machine.precision.weight_bytes +
                                            tokens * written_cache(model, machine.precision)});
  time.overhead = machine.run_overhead + model.layers * machine.layer_overhead;
  return time;
}

double energy(const Machine& machine, const RunWork& done) {
  constexpr double joules_per_byte = 32e-12;
  const double joules_per_flop = machine.devices * machine.device.power / peak_flops(machine);
  return joules_per_byte * done.bytes + joules_per_flop * done.flops;
}

}  // namespace speclab
