"""The page of the Python package's functions and classes, by subject. Sphinx fills it from the docstrings."""

import inspect

GROUPS = {
    "Configs": ["run", "sweep", "exact", "grammar", "Result", "Findings", "ConfigError"],
    "Rules": ["prove", "Proof", "Counterexample", "optimum", "Optimum", "compare_rules", "RuleComparison", "rule", "drafter", "rule_names"],
    "Decoding": ["simulate", "Simulation", "sample", "verify", "Verdicts", "models"],
    "Tests of samples and samplers": ["check", "check_sampler", "CheckResult", "Deviation", "law", "greedy_check", "GreedyCheck", "flips", "Flips"],
    "Serving engines": ["audit", "Audit", "AuditedSetting", "audit_greedy", "GreedyAudit", "audit_pair", "PairAudit", "EngineError"],
    "Hugging Face": ["hf"],
    "Theory": ["alpha", "alpha_from_logprobs", "alpha_from_drafted", "optimal_gamma", "OptimalGamma", "expected_tokens", "speedup", "predict", "plan", "serve", "LoadPlan", "record", "read_recording", "Recording", "RecordedSequence", "Interval"],
}
TYPES = {"Rule", "Drafter"}  # of annotations, said where they are used
TITLE = "# Python functions and classes\n"
WITHOUT = TITLE + ("This site was built without the Python package, whose docstrings fill this page. Build the package with `scripts/test.sh`, and the site "
                   "again with `scripts/site.sh`. In Python, `help(speclab.prove)` prints the same. The [guide](python.md) says which function answers which question.\n")


def entry(speclab, name):
    value = getattr(speclab, name)
    if inspect.ismodule(value):
        return f".. automodule:: speclab.{name}\n   :members:\n"
    if inspect.isclass(value):
        return f".. autoclass:: speclab.{name}()\n   :members:\n"
    return f".. autofunction:: speclab.{name}\n"


def page(importable):
    if not importable:
        return WITHOUT
    import speclab

    listed = [name for names in GROUPS.values() for name in names]
    left_out = set(speclab.__all__) - set(listed) - TYPES
    if left_out or len(set(listed)) != len(listed):
        raise SystemExit(f"scripts/site/python_page.py: GROUPS must name each public function once; it lacks {sorted(left_out) or 'none'}")
    text = [TITLE, "The [guide](python.md) says which function answers which question.\n"]
    for title, names in GROUPS.items():
        text.append(f"## {title}\n")
        for name in names:
            text.append(f"### {name}\n\n```{{eval-rst}}\n{entry(speclab, name)}```\n")
    return "\n".join(text)
