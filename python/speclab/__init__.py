"""speclab: a laboratory for speculative decoding.

- configs: `run`, `sweep`, `exact`, `check`, `prove`, `plan` and `predict` do what the program's commands of the
  same names do; a config is a dict or a file; `grammar` makes `sampling.grammar`;
- your own rule, drafter or gamma policy, as a function: `prove`, `compare_rules`, `simulate`;
- your own arrays: `alpha`, `alpha_from_logprobs`, `verify`, `simulate`, `sample`;
- your own sampler: `check`, `check_sampler`; at temperature 0 `greedy_check`, `flips`; a serving engine: `audit`, `audit_greedy`,
  `audit_pair`;
- a server under load: `serve`;
- models of Hugging Face: `hf.record`, `hf.check_generate`.

The documentation is docs/python.md in the repository; `help(speclab.prove)` and so on show its parts.
"""

from . import _core, models
from ._errors import ConfigError
from ._interval import Interval
from ._results import Findings, Result
from ._configs import exact, run, sweep
from ._plan import plan
from ._serve import LoadPlan, serve
from ._recording import RecordedSequence, Recording, read_recording, record
from ._rules import Drafter, Rule, drafter, rule, rule_names
from ._grammar import grammar
from ._greedy import Flips, GreedyCheck, flips, greedy_check
from ._optimum import Optimum, optimum
from ._proofs import Counterexample, Proof, RuleComparison, compare_rules, prove
from ._simulate import Simulation, sample, simulate
from ._verify import Verdicts, verify
from ._checks import CheckResult, Deviation, check, check_sampler, law
from ._theory import (
    OptimalGamma,
    alpha,
    alpha_from_drafted,
    alpha_from_logprobs,
    expected_tokens,
    optimal_gamma,
    predict,
    speedup,
)
from .engines._audit import audit
from .engines._greedy_audit import GreedyAudit, audit_greedy
from .engines._pairs import PairAudit, audit_pair
from .engines._process import EngineError
from .engines._results import Audit, AuditedSetting
from . import hf

__version__: str = _core.version

__all__ = [
    "Audit", "AuditedSetting", "CheckResult", "ConfigError", "Counterexample", "Deviation", "Drafter", "EngineError",
    "Findings", "Flips", "GreedyAudit", "GreedyCheck", "Interval", "LoadPlan", "OptimalGamma", "Optimum", "PairAudit",
    "Proof", "RecordedSequence", "Recording", "Result", "Rule", "RuleComparison", "Simulation", "Verdicts", "alpha",
    "alpha_from_drafted", "alpha_from_logprobs", "audit", "audit_greedy", "audit_pair", "check", "check_sampler",
    "compare_rules", "drafter", "exact", "expected_tokens", "flips", "grammar", "greedy_check", "hf", "law", "models",
    "optimal_gamma", "optimum", "plan", "predict", "prove", "read_recording", "record", "rule", "rule_names", "run",
    "sample", "serve", "simulate", "speedup", "sweep", "verify",
]
