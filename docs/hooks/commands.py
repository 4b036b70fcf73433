"""Reference of the command line, generated from `--help` when the site is built."""

import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.cli import app as typer_itself
from typer.testing import CliRunner

PAGE = "reference/commands.md"


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the page."""
    files.append(File.generated(config, PAGE, content=command_page()))
    return files


def command_page() -> str:
    """Return the page as Markdown."""
    made = CliRunner().invoke(typer_itself, ["semascope.cli.main", "utils", "docs", "--name", "semascope"])
    if made.exit_code != 0:
        msg = f"typer cannot describe the command line: {made.output}"
        raise RuntimeError(msg)
    page = made.output.replace("# `semascope`\n", "# Command line\n", 1)
    page = re.sub(r"\*\*Commands\*\*:\n\n(\* .*\n)*", "", page)  # the table of contents lists them already
    return page.replace("```console\n$ ", "```text\n")
