"""semascope build SOURCE CORPUS"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semascope.cli.app import (
    IdField,
    KeptFields,
    LabelSeparator,
    LabelsField,
    Overwrite,
    SkipBad,
    SourceArgument,
    SourceEncoding,
    SourceFormat,
    TextFields,
    TextLanguages,
    TextsField,
    command,
    pluralize,
    print_line,
    report_bad,
)
from semascope.cli.options import analyzers_for, parse_list, parse_text_fields
from semascope.cli.render.terminal import print_next_step, print_text, waiting
from semascope.errors import InputError

if TYPE_CHECKING:
    from semascope.corpus.readers.counts import CountedDocuments
    from semascope.corpus.readers.sources import Documents


@command
def build(
    source: SourceArgument,
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="Corpus directory to write.")],
    format: SourceFormat = None,
    encoding: SourceEncoding = None,
    text: TextFields = None,
    languages: TextLanguages = None,
    texts: TextsField = None,
    id: IdField = "id",
    labels: LabelsField = "labels",
    label_separator: LabelSeparator = None,
    keep: KeptFields = "title,date",
    skip_bad: SkipBad = False,
    vocabulary: Annotated[Path | None, typer.Option(help="Vocabulary file of a source of counts, one word per line.")] = None,
    triples: Annotated[
        str | None, typer.Option(metavar="ROW,COLUMN,COUNT", help="Read a table of counts; the names of its three columns.")
    ] = None,
    lowercase: Annotated[bool, typer.Option(help="Convert text to lower case.")] = True,
    min_length: Annotated[int, typer.Option(min=1, help="Minimum number of characters of a word.")] = 2,
    stop_words: Annotated[
        str | None,
        typer.Option(
            help='Stop words to remove: a language ("german" or "de") or a file with one word per line. For several languages, '
            '"en=english,de=FILE", or "auto" for the stop words of each.'
        ),
    ] = None,
    stemmer: Annotated[
        str | None,
        typer.Option(help='Language of the Snowball stemmer. For several languages, "en=english,de=german" or "auto".'),
    ] = None,
    ngrams: Annotated[
        str, typer.Option(metavar="N or N,M", help="Range of n-gram lengths: 1,2 for words and pairs of words.")
    ] = "1",
    min_df: Annotated[
        str, typer.Option(help="Minimum document frequency: a count such as 5, or a fraction such as 0.01.")
    ] = "1",
    max_df: Annotated[
        str, typer.Option(help="Maximum document frequency: a count such as 1000, or a fraction such as 0.5.")
    ] = "1.0",
    max_features: Annotated[
        int | None, typer.Option(min=1, help="Maximum size of the vocabulary; the most frequent words are kept.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Build CORPUS from the documents in SOURCE."""
    codes = parse_list(languages or "")
    settings = {
        "lowercase": lowercase,
        "min_length": min_length,
        "ngrams": _range("--ngrams", ngrams),
        "min_df": _bound("--min-df", min_df),
        "max_df": _bound("--max-df", max_df),
        "max_features": max_features,
    }
    from semascope import workflow
    from semascope.corpus.readers.sources import KEPT_BY_DEFAULT, is_counts, read, read_counts

    analyzer = analyzers_for(codes, stop_words, stemmer, settings)
    how: dict[str, Any] = {"format": format, "encoding": encoding, "skip_bad": skip_bad}
    documents: Documents | CountedDocuments
    if triples is not None or is_counts(source, format):
        if languages is not None or texts is not None:
            message = f"{source}: --languages and --texts do not apply to a source of counts."
            raise InputError(message)
        documents = read_counts(source, vocabulary=vocabulary, **_columns(triples), **how)
    elif vocabulary is not None:
        message = f"{source}: --vocabulary does not apply to a source of texts."
        raise InputError(message)
    else:
        fields: dict[str, Any] = {"id": id, "labels": labels, "label_separator": label_separator}
        documents = read(source, keep=parse_list(keep), **parse_text_fields(text, texts, codes), **fields, **how)
    with waiting("Reading documents") as show:
        built = workflow.build(
            documents, corpus, analyzer, overwrite=overwrite, watch=lambda n: show(f"Reading documents: {n:,}")
        )
    report_bad(documents.bad)
    if unknown := [name for name in parse_list(keep) if name not in (*KEPT_BY_DEFAULT, *built.documents.columns)]:
        print_text(f"--keep: no document has the field {' or '.join(map(repr, unknown))}.")
    sizes = pluralize(built.n_documents, "document"), pluralize(built.n_words, "word"), pluralize(int(built.n_tokens), "token")
    print_line(corpus, f"{', '.join(sizes)}{' in ' + ', '.join(built.languages) if built.lexicon.is_named else ''}.")
    topics = min(32, built.n_documents, built.n_words)
    print_next_step(["semascope", "fit", corpus, "MODEL", "--topics", topics], ["semascope", "info", corpus])


def _columns(triples: str | None) -> dict[str, Any]:
    if triples is None:
        return {}
    names = parse_list(triples)
    if len(names) != 3:
        message = f"--triples takes the names of three columns, e.g. row,column,count, not {triples!r}."
        raise typer.BadParameter(message)
    return dict(zip(("rows", "columns", "counts"), names, strict=True))


def _range(option: str, value: str) -> tuple[int, int]:
    parts = parse_list(value)
    if not 1 <= len(parts) <= 2 or not all(part.isdecimal() for part in parts):
        message = f"{option} takes one or two integers, e.g. 1,2, not {value!r}."
        raise typer.BadParameter(message)
    return int(parts[0]), int(parts[-1])


def _bound(option: str, value: str) -> int | float:
    try:
        return int(value) if value.isdigit() else float(value)
    except ValueError:
        message = f"{option} takes a number of documents or a share such as 0.5, not {value!r}."
        raise typer.BadParameter(message) from None
