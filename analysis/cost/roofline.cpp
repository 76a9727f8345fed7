#include "analysis/cost/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace speclab {

namespace {

double heads_by_size(const Transformer& model) { return double(model.heads) * model.head_size; }

/// What attention reads of a token: of an EAGLE-3 head its embedding, too.
double attention_input(const Transformer& model) { return (model.is_head() ? 2.0 : 1.0) * model.hidden; }

double query_and_output(const Transformer& model) {
  return (attention_input(model) + model.hidden) * heads_by_size(model);
}

double key_and_value(const Transformer& model) {
  return 2.0 * attention_input(model) * model.kv_heads * model.head_size;
}

double expert(const Transformer& model) {
  return (model.gated ? 3.0 : 2.0) * model.hidden * model.feed_forward;
}

double router(const Transformer& model) {
  return model.experts > 1 ? double(model.hidden) * model.experts : 0;
}

double embedding(const Transformer& model) { return double(model.vocab) * model.hidden; }

/// And what fuses the target's hidden states, of an EAGLE-3 head.
double output_matrix(const Transformer& model) {
  return model.is_head() ? (double(model.draft_vocab) + model.fused) * model.hidden : embedding(model);
}

/// Decoder weights that a run multiplies, with this many experts a layer. The keys and values of the source
/// were made once, with the prompt.
double decoder_parameters(const Transformer& model, double experts) {
  if (model.layers == 0) return model.published;
  const double cross = model.encoder_layers > 0 ? query_and_output(model) : 0;
  const double layer =
      query_and_output(model) + key_and_value(model) + cross + experts * expert(model) + router(model);
  return model.layers * layer + output_matrix(model);
}

/// Tokens attended to, summed over the decoder's layers.
double attended(const Transformer& model, double context) {
  const double windowed = model.windowed_layers * std::min<double>(context, model.window);
  const double own = (model.layers - model.windowed_layers) * context + windowed;
  return model.encoder_layers > 0 ? own + model.layers * context : own;
}

}  // namespace

double parameters(const Transformer& model) {
  if (model.layers == 0) return model.published;
  const double attention = query_and_output(model) + key_and_value(model);
  const double decoder_layer =
      attention * (model.encoder_layers > 0 ? 2 : 1) + model.experts * expert(model) + router(model);
  return model.layers * decoder_layer + model.encoder_layers * (attention + expert(model)) +
         output_matrix(model) + (model.tied || model.is_head() ? 0 : embedding(model));
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
  return 2.0 * model.kv_heads * model.head_size * precision.cache_bytes * attended(model, context);
}

RunWork work(const Transformer& model, const Run& run, const Precision& precision) {
  const double tokens = run.tokens * run.batch;
  const double experts = expected_experts(model, run.tokens, run.batch);
  const double weights = decoder_parameters(model, experts) * precision.weight_bytes;
  const double cache = cache_bytes(model, run.context, precision) * run.batch;
  const double written = 2.0 * model.kv_heads * model.head_size * precision.cache_bytes * model.layers;
  return {.flops = tokens *
                   (2 * active_parameters(model) + 4 * heads_by_size(model) * attended(model, run.context)),
          .bytes = weights + cache + tokens * written};
}

double peak_flops(const Machine& machine) {
  return machine.devices *
         (machine.precision.eight_bit_arithmetic ? machine.device.flops_8bit : machine.device.flops_16bit);
}

RunTime run_time(const Machine& machine, const Transformer& model, const Run& run) {
  const RunWork done = work(model, run, machine.precision);
  RunTime time;
  time.memory = done.bytes / (machine.devices * machine.device.bandwidth * machine.bandwidth_efficiency);
  time.arithmetic = done.flops / (peak_flops(machine) * machine.flops_efficiency);
  time.overhead = machine.run_overhead + model.layers * machine.layer_overhead;
  if (machine.devices > 1) {
    const double moved = 2.0 * (machine.devices - 1) / machine.devices;
    const double bytes = run.tokens * run.batch * model.hidden * 2;
    const double reduces = model.layers * (model.encoder_layers > 0 ? 3.0 : 2.0);
    time.communication = reduces * (machine.reduce_latency + moved * bytes / machine.device.link);
  }
  return time;
}

double energy(const Machine& machine, const RunWork& done) {
  constexpr double joules_per_byte = 32e-12;
  const double joules_per_flop = machine.devices * machine.device.power / peak_flops(machine);
  return joules_per_byte * done.bytes + joules_per_flop * done.flops;
}

double largest_batch(const Machine& machine, const Transformer& target, const Transformer* draft,
                     double context, double share) {
  double weights = parameters(target) * machine.precision.weight_bytes;
  double sequence = cache_bytes(target, context, machine.precision);
  if (draft != nullptr) {
    weights += parameters(*draft) * machine.precision.weight_bytes;
    sequence += cache_bytes(*draft, context, machine.precision);
  }
  const double free = share * machine.devices * machine.device.memory - weights;
  if (free < 0) return -1;
  if (sequence == 0) return std::numeric_limits<double>::infinity();
  return std::floor(free / sequence);
}

}  // namespace speclab
