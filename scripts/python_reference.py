"""Writes docs/python.md: python/guide.md, then the call of every public function and class, the first paragraph of its docstring,
and an example if the guide has none.

usage: python_reference.py [--check] [SOURCE_DIR]     with the package importable. --check: exit code 1 when the page is stale.
"""

import dataclasses
import inspect
import pathlib
import re
import sys

import speclab

GROUPS = {
    "Configs": ["run", "sweep", "exact", "Result", "Findings", "ConfigError"],
    "Rules": ["prove", "Proof", "Counterexample", "optimum", "Optimum", "compare_rules", "RuleComparison", "rule", "drafter", "rule_names"],
    "Decoding": ["simulate", "Simulation", "sample", "verify", "Verdicts", "models"],
    "Tests of samples and samplers": ["check", "check_sampler", "CheckResult", "Deviation", "law", "greedy_check", "GreedyCheck", "flips", "Flips"],
    "Serving engines": ["audit", "Audit", "AuditedSetting", "audit_greedy", "GreedyAudit", "audit_pair", "PairAudit", "EngineError"],
    "Hugging Face": ["hf"],
    "Theory": ["alpha", "alpha_from_logprobs", "alpha_from_drafted", "optimal_gamma", "OptimalGamma", "expected_tokens", "speedup", "predict", "plan", "serve", "LoadPlan", "record", "read_recording", "Recording", "RecordedSequence", "Interval"],
}


LONGEST = 10  # a call with at most this many parameters is shown completely
SHOWN = 5  # parameters shown of a longer call
FIELDS = 20  # a class with more fields has only their names
SAY_THEMSELVES = ("cells", "data", "load", "records", "report", "save", "to_csv", "to_json", "to_markdown", "to_pandas")


def signature(name, function):
    """The call as a user types it, without types. If it has many parameters, the first ones are shown, and "..."."""
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        bare = parameter.replace(annotation=inspect.Parameter.empty)
        if bare.name != "self":
            parameters.append(bare)
    if len(parameters) <= LONGEST:
        return f"{name}{inspect.Signature(parameters)}"
    return f"{name}{str(inspect.Signature(parameters[:SHOWN]))[:-1]}, ...)"


def summary(docstring):
    """The first paragraph, and the example as code; help() has the rest."""
    first, *others = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join([first] + [f"```python\n{part}\n```" for part in others if part.startswith(">>>")])


def of_class(value):
    """The first paragraph, attributes, the fields of a dataclass with the comments "#: ..." beside them, and members (some by
    name only)."""
    _, _, attributes = inspect.cleandoc(value.__doc__).partition("\nAttributes:\n")
    members = ["- `{}`: {}".format(*line.strip().split(": ", 1)) for line in attributes.split("\n\n")[0].splitlines()]
    if dataclasses.is_dataclass(value):
        comments = {}
        for line in inspect.getsource(value).splitlines():
            field, _, comment = line.partition("#:")
            if comment and ":" in field:
                comments[field.split(":")[0].strip()] = comment.strip()
        names = [field.name for field in dataclasses.fields(value)]
        if len(names) > FIELDS:
            comments = {}
        members += [f"- `{name}`: {comments[name]}" for name in names if comments.get(name)]
        plain = [f"`{name}`" for name in names if not comments.get(name)]
        if plain:
            members.append("- " + ", ".join(plain))
    plain = []
    for member, function in vars(value).items():
        if member.startswith("_"):
            continue
        function = getattr(function, "func", getattr(function, "fget", getattr(function, "__func__", function)))
        if not inspect.isfunction(function) or not function.__doc__:
            continue
        is_property = not inspect.isfunction(vars(value)[member]) and not isinstance(vars(value)[member], classmethod)
        call = member if is_property else signature(member, function).replace("(cls, ", "(")
        if member in SAY_THEMSELVES:
            plain.append(f"`.{call}`")
            continue
        about = " ".join(inspect.cleandoc(function.__doc__).split("\n\n")[0].split())
        members.append(f"- `.{call}`: {about}")
    if plain:
        members.append("- " + ", ".join(plain))
    return "\n\n".join(part for part in (summary(value.__doc__), "\n".join(members)) if part)


def of(name, value, shown, level="###"):
    """The entry of a function or class. `shown`: the guide, whose examples are not repeated."""
    if inspect.ismodule(value):
        members = [of(f"speclab.{name}.{member}", getattr(value, member), shown, level + "#") for member in value.__all__
                   if inspect.isfunction(getattr(value, member)) or inspect.isclass(getattr(value, member))]
        return "\n\n".join([f"{level} speclab.{name}", inspect.cleandoc(value.__doc__), *members])
    if inspect.isclass(value):
        return f"{level} `{name}`\n\n{of_class(value)}"
    about = summary(value.__doc__)
    if f"speclab.{name}(" in shown:
        about = about.partition("\n\n")[0]
    return f"{level} `{signature(name, value)}`\n\n{about}"


def with_links(text):
    """Turns paths of the repository's pages in docstrings into links."""
    return re.sub(r"docs/([\w-]+)\.md", lambda match: f"[{match[1].replace('-', ' ')}]({match[1]}.md)", text)


def page(source):
    listed = [name for names in GROUPS.values() for name in names]
    left_out = set(speclab.__all__) - set(listed) - {"Rule", "Drafter"}
    assert not left_out and len(set(listed)) == len(listed), f"in no group of python_reference.py: {left_out}"
    guide = (source / "python/guide.md").read_text(encoding="utf-8").rstrip()
    out = []
    for title, names in GROUPS.items():
        out.append(f"## {title}")
        out += [of(name, getattr(speclab, name), guide) for name in names]
    return guide + "\n\n" + with_links("\n\n".join(out)) + "\n"


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    source = pathlib.Path(words[0] if words else pathlib.Path(__file__).parents[1])
    path = source / "docs/python.md"
    made = page(source)
    if "--check" not in sys.argv:
        path.write_text(made, encoding="utf-8")
        return 0
    if path.read_text(encoding="utf-8") == made:
        return 0
    print("docs/python.md is stale: python3 scripts/python_reference.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
