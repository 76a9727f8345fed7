"""Hugging Face transformers, assisted generation."""
import torch
import transformers

import adapter


def decode(settings):
    torch.set_num_threads(1)
    models = [transformers.AutoModelForCausalLM.from_pretrained(settings.folder / side, dtype=torch.float64).eval()
              for side in ("target", "draft")]
    assisted = {}
    if settings.gamma:
        models[1].generation_config.num_assistant_tokens = settings.gamma
        models[1].generation_config.num_assistant_tokens_schedule = "constant"
        models[1].generation_config.assistant_confidence_threshold = 0
        assisted = {"assistant_model": models[1]}
    sampled = settings.temperature > 0
    options = {"do_sample": sampled, "min_new_tokens": settings.tokens, "max_new_tokens": settings.tokens, "pad_token_id": 0}
    if sampled:
        options |= {"temperature": settings.temperature, "top_k": settings.top_k, "top_p": settings.top_p}
    prompt = torch.tensor([settings.prompt])
    for sequence in range(settings.sequences):
        torch.manual_seed(settings.seed_of(sequence))
        with torch.inference_mode():
            text = models[0].generate(prompt, attention_mask=torch.ones_like(prompt), **options, **assisted)
        yield text[0, len(settings.prompt):].tolist(), None, None


adapter.run("transformers", f"{transformers.__version__}, torch {torch.__version__}", ["assisted"], decode)
