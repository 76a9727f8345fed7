#!/usr/bin/env python3
"""Runs the commands of README.md, CONTRIBUTING.md and docs/*.md and compares what they print with what the pages say.

usage: check_docs.py --speclab PROGRAM [--source FOLDER] [--write] [--timings] [--long] [--one-folder] [PAGE...]
       check_docs.py --self-test

--write puts the real output into the pages, so that one command refreshes them after a change of wording. Blocks of
measured times are rewritten only if more than numbers changed, or with --timings. blocks.py defines the blocks of a page.
--long and --write also run the commands of blocks that are marked as long.
--one-folder runs the pages one after another in one folder, as a reader does; otherwise each has its own folder.
Exit code: 0 if all agree, 1 if not, 77 (skipped) without data/austen.txt.
"""

import argparse
import contextlib
import functools
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from blocks import blocks_of, difference, refreshed, with_wrong_digit

VISIBLE = ("configs", "data", "results", "scripts")  # folders of the repository that commands see
SECONDS = 120  # limit for a command of a console block
README_LINES = 160
REASON = re.compile(r"#.*\b(seconds?|minutes?|hours?|GPU|installs|internet)\b")
ECHO_CODE = "echo $?"


class Shell:
    """Runs commands one by one in a scratch folder, which links to the repository's configs and data."""

    def __init__(self, program, source, folder):
        self.folder = folder
        for name in VISIBLE:
            if (source / name).exists() and not (folder / name).exists():
                (folder / name).symlink_to(source / name)
        path = f"{program.parent}:/usr/local/bin:/usr/bin:/bin" if program else "/usr/local/bin:/usr/bin:/bin"
        self.environment = {"PATH": path, "LC_ALL": "C.UTF-8", "HOME": str(folder)}
        self.code = 0

    def run(self, command):
        """The lines that the command prints, on standard output and standard error, in order."""
        script = f"(exit {self.code})\n{command}\n"
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
        self.code = done.returncode
        lines = done.stdout.decode("utf-8").split("\n")
        return lines[:-1] if lines[-1] == "" else lines


def check_console(block, shell, name):
    """Complaints about one block, and its lines as the commands print them now (None if they cannot be placed)."""
    complaints, lines = [], []
    for i, command in enumerate(block.commands):
        where = f"{name}:{command.line}: $ {command.text}"
        try:
            actual = shell.run(command.text)
        except subprocess.TimeoutExpired:
            return [f"{where}\n  takes more than {SECONDS} s"], None
        asks_for_code = i + 1 < len(block.commands) and block.commands[i + 1].text == ECHO_CODE
        if shell.code and not asks_for_code:
            complaints.append(f"{where}\n  ends with exit code {shell.code}: {' / '.join(actual[-3:])}")
        found = difference(command.expected, actual, block.timing)
        if found:
            complaints.append(f"{where}\n  {found}")
        elif not block.timing:
            wrong = with_wrong_digit(command.expected)
            if wrong and not difference(wrong, actual):
                complaints.append(f"{where}\n  a wrong digit on the page would not be noticed")
        written = refreshed(command.expected, actual)
        if written is None:
            complaints.append(f"{where}\n  the new output has no place for all printed lines; write it by hand")
            lines = None
        if lines is not None:
            lines += [f"$ {command.text}"] + written
    if lines is not None:
        lines = "\n".join(lines).split("\n")
    return complaints, lines


def words_of(command):
    return shlex.split(command.replace("\\\n", " "), comments=True)


@functools.cache
def help_of(program, *words):
    """The exit code and the text of --help."""
    helped = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False)
    return helped.returncode, helped.stdout


def check_shell(command, shell, source, program, with_reason=True):
    """The mistake in a command that is not run, or None. The command must parse, and its files and options must exist. Without a shell a config
    that it changes is not validated."""
    parsed = subprocess.run(["bash", "-n", "-c", command.text], capture_output=True, text=True, check=False)
    if parsed.returncode:
        return parsed.stderr.strip()
    words = words_of(command.text)
    if words[0] == "export":
        return None
    if with_reason and not REASON.search(command.text.split("\n")[-1]):
        return "a command that no test runs needs a comment with its time (seconds, minutes) or need (GPU, installs)"
    for word in words:
        if re.match(r"(configs|scripts|kernels|tests)/[\w./-]+$", word) and not (source / word).exists():
            return f"there is no {word}"
    if words[0] != "speclab" or not program:
        return None
    code, helped = help_of(program, words[1])
    if code:
        return f"speclab has no verb {words[1]}"
    if words[2:] and words[2][0] != "-" and f"\n  {words[2]} " in helped:  # a subcommand
        code, helped = help_of(program, *words[1:3])
    for word in words[2:]:
        if word.startswith("--") and word.split("=")[0] not in helped:
            return f"speclab {words[1]} has no option {word}"
    configs = [word for word in words[2:] if word.startswith("configs/") and word.endswith(".json")]
    changes = [word for i, word in enumerate(words) if word == "--set" or words[i - 1] == "--set"]
    # tests/experiments/cli/shipped_configs.sh validates configs as they are.
    if configs and changes and shell:
        try:
            lines = shell.run(shlex.join(["speclab", "validate", configs[0]] + changes))
        except subprocess.TimeoutExpired:
            return f"speclab validate {configs[0]} takes more than {SECONDS} s"
        # Texts and libllama may be missing: setup.sh makes them on request only.
        if shell.code and not any("data/" in line or "need libllama" in line for line in lines):
            return " / ".join(lines)
    return None


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def anchors_of(text):
    """The anchors of a page's headings: lower case, without punctuation, hyphens for spaces."""
    headings = re.findall(r"^#+ (.*)$", without_code(text), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@functools.cache
def printed_reference(program):
    """The reference of the config format, which the site shows as docs/reference.md."""
    return program and subprocess.run([program, "list", "--markdown"], capture_output=True, text=True, check=True).stdout


def check_links(text, page, reference):
    """Complaints about broken relative links and pictures. `reference`: what stands for docs/reference.md, if it is known."""
    for link in re.findall(r"\]\(([^)\n]+)\)", without_code(text)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        if not target.exists():
            yield f"{page.name}: the link {link} leads nowhere"
        elif anchor and target.name == "reference.md" and reference is None:
            continue
        elif anchor and anchor not in anchors_of(reference if target.name == "reference.md" else target.read_text(encoding="utf-8")):
            yield f"{page.name}: the page of the link {link} has no such heading"


def inline_commands(text):
    """Complete commands in running text and tables, without those with a placeholder (CONFIG, VERB, ...)."""
    found = re.findall(r"`(speclab [^`]+)`", without_code(text))
    return [command for command in found if "..." not in command and not re.search(r"\b[A-Z]{2,}\b", command)]


def check_code(text, page, source):
    """Complaints about blocks of C or C++ that differ from the file that their first line names."""
    for path, code in re.findall(r"^```(?:c|cpp)\n// (\S+)\n(.*?)^```", text, flags=re.S | re.M):
        file = source / path
        if not file.exists():
            yield f"{page.name}: there is no {path}"
        elif code not in file.read_text(encoding="utf-8"):
            yield f"{page.name}: the code of {path} is not in that file: {code.splitlines()[0]} ..."


def check_page(page, program, source, write, timings, folder=None, long=True):
    """`folder`: where the commands run; None for a new one. `long`: whether those of long blocks run."""
    text = page.read_text(encoding="utf-8")
    lines = text.split("\n")
    complaints = [*check_links(text, page, printed_reference(program)), *check_code(text, page, source)]
    if page.name == "README.md" and page.parent == source and len(lines) - 1 > README_LINES:
        complaints.append(f"README.md has {len(lines) - 1} lines; at most {README_LINES} are wanted")
    name = str(page.relative_to(source))
    not_run, ran, changed, seen = [], 0, [], []
    with contextlib.ExitStack() as stack:
        folder = folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="speclab_docs_"))
        shell = Shell(program, source, pathlib.Path(folder))
        for block in blocks_of(text):
            seen += [command.text for command in block.commands]
            left_out = "long" in block.marks and not long
            if block.language == "sh" or left_out:
                for command in block.commands:
                    if not command.text.startswith("export "):
                        not_run.append(f"{name}:{command.line}: {command.text}")
                    shell.code = 0
                    found = check_shell(command, None if left_out else shell, source, program, block.language == "sh")
                    if found:
                        complaints.append(f"{name}:{command.line}: {command.text}\n  {found}")
                shell.code = 0
                continue
            ran += len(block.commands)
            found, actual = check_console(block, shell, name)
            complaints += found
            shell.code = 0
            if actual is not None and (not block.timing or timings or found):
                changed.append((block.first, block.end, actual))
    if write:
        for first, end, actual in reversed(changed):
            lines[first:end] = actual
        page.write_text("\n".join(lines), encoding="utf-8")
    return complaints, not_run, ran, seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speclab", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--timings", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--one-folder", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if options.self_test:
        from self_test import self_test
        return self_test()
    if not options.speclab:
        parser.error("--speclab is missing")
    source = options.source.resolve()
    program = options.speclab.absolute()
    if not (source / "data" / "austen.txt").exists():
        print("skipped: the pages' commands need data/austen.txt, which scripts/setup.sh makes")
        return 77
    pages = [page.resolve() for page in options.pages] or [
        source / "README.md", source / "CONTRIBUTING.md", *sorted((source / "docs").glob("*.md")), *sorted((source / "results").rglob("*.md"))]
    failures, listed, total, seen = [], [], 0, []
    together = tempfile.TemporaryDirectory(prefix="speclab_docs_") if options.one_folder else None
    for page in pages:
        complaints, not_run, ran, commands = check_page(
            page, program, source, options.write, options.timings, together and together.name, options.long or options.write)
        failures += complaints
        listed += not_run
        total += ran
        seen += commands
    if not options.pages:
        for page in pages:
            for command in inline_commands(page.read_text(encoding="utf-8")):
                if not any(shown.startswith(command) for shown in seen):
                    failures.append(f"{page.name}: no block of any page has the command {command}")
    for line in listed:
        print(f"not run: {line}")
    for complaint in failures:
        print(f"{'was' if options.write else 'WRONG'}: {complaint}")
    print(f"{len(pages)} pages, {total} commands run, {len(listed)} not run, {len(failures)} complaints")
    return 1 if failures and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
