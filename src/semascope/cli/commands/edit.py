"""semascope edit MODEL OUT"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semascope.cli.app import ModelPath, Overwrite, command, pluralize, print_line, topic_table
from semascope.cli.render.terminal import console, print_next_step


@command
def edit(
    model: ModelPath,
    out: Annotated[
        Path | None,
        typer.Argument(metavar="OUT", help="Model directory to write; renaming alone may also update MODEL in place."),
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option(metavar="TOPIC=NAME", help="Rename a topic; an empty NAME removes its name.")
    ] = None,
    merge: Annotated[
        list[str] | None, typer.Option(metavar="TOPIC,TOPIC[=NAME]", help="Merge topics into one, optionally with a name.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option(metavar="TOPIC,TOPIC", help="Remove topics; their weight goes to the others.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Rename, merge and remove topics of MODEL, by the numbers or names they have in MODEL.

    Options may be repeated: semascope edit model better --rename 3=space --rename 5=faith --merge 2,7=cars --remove 9
    """
    renamed = dict(_parse_rename(one) for one in rename or ())
    if len(renamed) < len(rename or ()):
        message = "--rename names a topic twice."
        raise typer.BadParameter(message)
    merges = [_parse_merge(one) for one in merge or ()]
    removed = [topic for listed in remove or () for topic in _topics(listed)]
    if not (renamed or merges or removed):
        message = "nothing to change; use --rename, --merge or --remove."
        raise typer.BadParameter(message)
    from semascope import workflow
    from semascope.models.editing import Merge

    target = out or model
    changed = workflow.edit(model, target, renamed, [Merge(*one) for one in merges], removed, overwrite=overwrite)
    console().print(topic_table(changed, n_words=8))
    print_line(target, f"{pluralize(len(changed.components_), 'topic')}.")
    print_next_step(["semascope", "topics", target], ["semascope", "infer", target, "SOURCE"])


def _parse_rename(option: str) -> tuple[int | str, str | None]:
    topic, equals, name = option.partition("=")
    if not equals:
        message = f"--rename takes TOPIC=NAME, e.g. 3=space, not {option!r}."
        raise typer.BadParameter(message)
    return _topic(topic), name.strip() or None


def _parse_merge(option: str) -> tuple[list[int | str], str | None]:
    topics, _, name = option.partition("=")
    return _topics(topics), name.strip() or None


def _topics(listed: str) -> list[int | str]:
    return [_topic(one) for one in listed.split(",")]


def _topic(text: str) -> int | str:
    text = text.strip()
    return int(text) if text.isdecimal() and len(text) < 10 else text
