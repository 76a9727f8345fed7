"""docs/python.md: python/guide.md, then every public function and class from its docstring.

usage: python_reference.py [--check] [SOURCE_DIR]     with the package importable. --check: exit code 1 when the page is stale.
"""

import dataclasses
import inspect
import pathlib
import sys

import speclab

GROUPS = {
    "Configs": ["run", "sweep", "compare", "exact", "Result", "Findings", "ConfigError"],
    "Rules": ["prove", "Proof", "Counterexample", "compare_rules", "RuleComparison", "rule", "drafter", "rule_names"],
    "Decoding": ["simulate", "Simulation", "sample", "verify", "Verdicts", "models"],
    "Tests of samples and samplers": ["check", "check_sampler", "CheckResult", "Deviation", "law"],
    "Hugging Face": ["hf"],
    "Theory": ["alpha", "alpha_from_logprobs", "alpha_from_drafted", "optimal_gamma", "OptimalGamma", "expected_tokens", "speedup", "predict", "plan", "record", "read_recording", "Recording", "RecordedSequence", "Interval"],
}


def signature(name, function):
    """The call as one types it, without types."""
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        bare = parameter.replace(annotation=inspect.Parameter.empty)
        if bare.name != "self":
            parameters.append(bare)
    return f"{name}{inspect.Signature(parameters)}"


def body(docstring):
    """A docstring as Markdown: sections as bold words, indented lists as lists, examples as code."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    out, code, section = [], False, False
    for line in lines:
        example = line.startswith((">>>", "..."))
        if example and not code:
            out.append("```python")
            code = True
        elif code and not example and not line.strip():
            out.append("```")
            code = False
        if not code and line.endswith(":") and line[:1].isupper() and " " not in line:
            out += [f"*{line[:-1]}*", ""]
            section = True
            continue
        if section and not line.strip():
            section = False
        if section and not code:
            indent = len(line) - len(line.lstrip())
            name, colon, rest = line.strip().partition(": ")
            if indent == 4 and colon and all(word.isidentifier() for word in name.split(", ")):
                out.append(f"- `{name}`: {rest}")
            else:
                out.append(f"  {line.strip()}" if indent > 4 else line.strip())
            continue
        out.append(line)
    if code:
        out.append("```")
    return "\n".join(out)


def of_class(name, value):
    out = [body(value.__doc__)]
    if dataclasses.is_dataclass(value):
        # Comments "#: ..." beside the fields say what they are.
        comments = {}
        for line in inspect.getsource(value).splitlines():
            field, _, comment = line.partition("#:")
            if comment and ":" in field:
                comments[field.split(":")[0].strip()] = comment.strip()
        fields = [(field.name, comments.get(field.name, "")) for field in dataclasses.fields(value)]
        out.append("\n".join(f"- `{field}`{': ' + comment if comment else ''}" for field, comment in fields))
    for member, function in vars(value).items():
        if member.startswith("_"):
            continue
        function = getattr(function, "func", getattr(function, "fget", getattr(function, "__func__", function)))
        if not inspect.isfunction(function) or not function.__doc__:
            continue
        is_property = not inspect.isfunction(vars(value)[member]) and not isinstance(vars(value)[member], classmethod)
        call = member if is_property else signature(member, function).replace("(cls, ", "(")
        out.append(f"**`.{call}`** {body(function.__doc__)}")
    return "\n\n".join(part for part in out if part)


def of(name, value):
    if inspect.ismodule(value):
        parts = [f"### speclab.{name}", body(value.__doc__)]
        for member in value.__all__:
            entry = getattr(value, member)
            if inspect.isfunction(entry):
                parts += [f"#### `speclab.{name}.{signature(member, entry)}`", body(entry.__doc__)]
            elif inspect.isclass(entry):
                parts += [f"#### `speclab.{name}.{member}`", of_class(member, entry)]
        return "\n\n".join(parts)
    if inspect.isclass(value):
        return f"### `{name}`\n\n{of_class(name, value)}"
    return f"### `{signature(name, value)}`\n\n{body(value.__doc__)}"


def page(source):
    listed = [name for names in GROUPS.values() for name in names]
    left_out = set(speclab.__all__) - set(listed) - {"Rule", "Drafter"}
    assert not left_out and len(set(listed)) == len(listed), f"in no group of python_reference.py: {left_out}"
    out = [(source / "python/guide.md").read_text(encoding="utf-8").rstrip()]
    for title, names in GROUPS.items():
        out.append(f"## {title}")
        out += [of(name, getattr(speclab, name)) for name in names]
    return "\n\n".join(out) + "\n"


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
