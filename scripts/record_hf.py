#!/usr/bin/env python3
"""Records a pair of Hugging Face models: the target generates by sampling, and each token is written with its natural
log-probabilities under target and draft. speclab plan recording reads the file (docs/recordings.md). In Python, speclab.hf.record
does the same for loaded models.

usage: record_hf.py --target MODEL --draft MODEL --out FILE.csv [options]

Needs torch and transformers. Both models need one vocabulary. Sampling is by temperature only, and both columns are
log-probabilities at that temperature. top-k and top-p are not offered, because a recording of a truncated target can be checked
less sharply.
"""

import argparse
import math

from of_package.hugging_face import generated, vocabulary
from of_package.recording_csv import RecordingCsv
from of_package.whole_file import one_line, positive, prompts_in, whole_file


def prompts_of(options, config, vocab):
    """Lists of token ids, at least one each."""
    if options.prompt_ids is not None:
        words = options.prompt_ids.split(",")
        if wrong := [word for word in words if not word.isdecimal() or int(word) >= vocab]:
            raise ValueError(f"--prompt-ids: {wrong[0]!r} is no id from 0 to {vocab - 1}; expected ids with commas, such as 1,5,7")
        return [[int(word) for word in words]]
    if options.prompts is None:
        if config.bos_token_id is None:
            raise ValueError("the target has no beginning-of-text token; give --prompts or --prompt-ids")
        return [[config.bos_token_id]]
    from transformers import AutoTokenizer
    target = AutoTokenizer.from_pretrained(options.target)
    draft = AutoTokenizer.from_pretrained(options.draft)
    if target.get_vocab() != draft.get_vocab():
        raise ValueError("the tokenizers of target and draft differ; two columns need the same tokens")
    return [target(prompt)["input_ids"] for prompt in prompts_in(options.prompts)]


@one_line()
def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target", required=True, help="folder or name of the model that generates")
    parser.add_argument("--draft", required=True, help="folder or name of the model that drafts")
    parser.add_argument("--out", required=True, help="CSV file to write")
    parser.add_argument("--prompts", help="text file with a prompt per line; default: a beginning-of-text token")
    parser.add_argument("--prompt-ids", help="token ids of one prompt, such as 1,5,7: needs no tokenizer")
    parser.add_argument("--sequences", type=positive, default=64, help="number of sequences; prompts are used in turn")
    parser.add_argument("--tokens", type=positive, default=256, help="tokens per sequence")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu", help="device of torch, such as cuda")
    options = parser.parse_args()
    if not 0 < options.temperature < math.inf:
        parser.error(f"--temperature {options.temperature:g}: must be above 0: at 0 the target has only one text")
    from transformers import AutoModelForCausalLM

    target, draft = (AutoModelForCausalLM.from_pretrained(name, dtype="auto").to(options.device).eval()
                     for name in (options.target, options.draft))
    prompts = prompts_of(options, target.config, vocabulary(target, draft))
    with whole_file(options.out, keep=True) as out:
        recording = RecordingCsv(out, entropy=True)
        for sequence in generated(target, draft, prompts, sequences=options.sequences, tokens=options.tokens,
                                  temperature=options.temperature, seed=options.seed):
            recording.add(*sequence)
    print(f"{options.out}: {recording.tokens} tokens, {recording.sequences} sequences")


if __name__ == "__main__":
    main()
