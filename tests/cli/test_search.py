"""Search on the command line: making an index, searching it, changing it, and judging what it finds."""

import io
import shutil
from pathlib import Path

import polars as pl
import pytest

from semascope import PLSA, Analyzer, Corpus, Index, read

NEWS = [
    {"id": "a", "text": "gold mines of africa", "labels": ["gold"], "title": "Mines", "date": "1987-03-02"},
    {"id": "b", "text": "gold prices rise, silver too", "labels": ["gold", "silver"], "title": "Prices", "date": "1987-04-11"},
    {"id": "c", "text": "wheat harvest [bold]fails[/bold]", "labels": ["grain"], "title": "Harvest", "date": "1988-01-05"},
    {"id": "d", "text": "wheat prices and wheat exports", "labels": ["grain"], "title": "Exports", "date": "1988-02-01"},
]


SUBJECTS = {"animals": ["cat", "dog", "horse", "bird"], "money": ["tax", "bank", "loan", "coin"]}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """An index of sixty documents on two subjects, with topics; not to be changed."""
    home, names = tmp_path_factory.mktemp("index"), [list(SUBJECTS)[number % 2] for number in range(60)]
    texts = [" ".join(SUBJECTS[name][(number + k * k) // 3 % 4] for k in range(6)) for number, name in enumerate(names)]
    corpus = Corpus.from_texts(texts, ids=[f"doc{number}" for number in range(60)], labels=names)
    Index.build(corpus, PLSA(2, random_state=0).fit(corpus), path=home / "index")
    return home / "index"


@pytest.fixture(scope="module")
def news(tmp_path_factory):
    """An index of four dated documents, without topics; not to be changed."""
    home = tmp_path_factory.mktemp("news")
    corpus = Corpus.build(read(pl.DataFrame(NEWS)), Analyzer(stop_words="english"), path=home / "corpus")
    Index.build(corpus, path=home / "index")
    return home / "index"


@pytest.fixture
def changing(news, tmp_path):
    """The same, to be changed."""
    return Path(shutil.copytree(news, tmp_path / "changing"))


@pytest.fixture
def queries(as_lines, tmp_path):
    """Queries on both subjects, two of which have judgments and one of these no text."""
    path = tmp_path / "queries.jsonl"
    texts = {"1": "a cat and a dog", "2": "tax and loan", "3": "", "4": "coin"}
    path.write_text(as_lines(*({"id": id, "text": text} for id, text in texts.items())))
    return path


@pytest.fixture
def qrels(tmp_path):
    lines = [f"1 0 doc{number} 1" for number in range(0, 60, 4)] + ["2 0 doc1 1", "2 0 doc2 0", "3 0 doc5 1", "9 0 doc7 1"]
    (tmp_path / "qrels.txt").write_text("\n".join(lines))
    return tmp_path / "qrels.txt"


def ids_of(ran):
    return [line["id"] for line in ran.json]


def usage_of(ran):
    """What is said of options that cannot be used, without the frame around it."""
    assert ran.code == 2
    assert ran.out == ""
    return " ".join(ran.err.replace("│", " ").split())


# --- index -----------------------------------------------------------------------------------------------------------------


def test_index_says_what_it_made_and_what_to_do_next(run, model, tmp_path):
    ran = run("index", model, tmp_path / "index")
    assert f"{tmp_path / 'index'}: 60 documents, 10 words, 10 dimensions, 2 topics, 1 segment, " in ran.out
    assert "kB on disk, in " in ran.out
    assert ran.next_commands == [f"semascope search {tmp_path / 'index'} '…'", f"semascope info {tmp_path / 'index'}"]
    assert ran.err == ""


def test_index_finds_what_python_finds(run, corpus, tmp_path):
    assert run("index", corpus, tmp_path / "index").code == 0
    made = Index.build(Corpus.open(corpus)).search("bank loan")
    assert run("search", tmp_path / "index", "bank loan", "--json").json == [hit.to_dict() for hit in made]


def test_a_corpus_is_indexed_without_topics(run, corpus, tmp_path):
    (facts,) = run("index", corpus, tmp_path / "index", "--dimensions", 3, "--json").json
    assert (facts["documents"], facts["words"], facts["dimensions"], facts["topics"]) == (60, 10, 3, None)
    assert facts["seconds"] >= 0


def test_lsa_brings_its_own_dimensions(run, corpus, tmp_path):
    run("fit", corpus, tmp_path / "lsa", "--model", "lsa", "--topics", 2)
    (facts,) = run("index", tmp_path / "lsa", tmp_path / "index", "--json").json
    assert (facts["dimensions"], facts["topics"]) == (2, None)
    refused = run("index", tmp_path / "lsa", tmp_path / "other", "--dimensions", 5).complaint
    assert refused == f"{tmp_path / 'lsa'}: is LSA and brings its own dimensions; omit --dimensions."


def test_other_documents_than_those_of_the_model_can_be_indexed(run, model, as_lines, tmp_path):
    (tmp_path / "few.jsonl").write_text(as_lines({"id": "x", "text": "a cat"}, {"id": "y", "text": "a loan of the bank"}))
    run("build", tmp_path / "few.jsonl", tmp_path / "few", "--stop-words", "english")
    assert run("index", model, tmp_path / "index", "--corpus", tmp_path / "few").code == 0
    assert ids_of(run("search", tmp_path / "index", "tax", "--by", "lda", "-k", 1, "--json")) == ["y"]


def test_a_model_that_belongs_to_another_corpus_is_refused(run, model, news, tmp_path):
    refused = run("index", model, tmp_path / "index", "--corpus", news.parent / "corpus").complaint
    assert "it belongs to another corpus" in refused
    assert not (tmp_path / "index").exists()


def test_an_index_is_replaced_only_when_that_is_said(run, corpus, changing):
    before = (changing / "manifest.json").read_bytes()
    refused = run("index", corpus, changing).complaint
    assert refused == f"{changing}: exists already; choose another path, or replace it with --overwrite."
    assert (changing / "manifest.json").read_bytes() == before
    assert run("index", corpus, changing, "--overwrite").code == 0
    assert len(Index.open(changing)) == 60


def test_an_index_never_replaces_a_corpus(run, corpus):
    assert str(corpus) in run("index", corpus, corpus, "--overwrite").complaint


def test_what_cannot_be_indexed_is_named(run, model, index, corpus, tmp_path):
    refused = run("index", index, tmp_path / "new").complaint
    assert refused == f"{index}: is already an index; expected a semascope model or corpus."
    assert f"{tmp_path / 'nowhere'}: " in run("index", tmp_path / "nowhere", tmp_path / "new").complaint
    assert f"{tmp_path / 'nowhere'}: " in run("index", model, tmp_path / "new", "--corpus", tmp_path / "nowhere").complaint
    assert "--corpus" in run("index", corpus, tmp_path / "new", "--corpus", corpus).complaint


def test_info_tells_what_is_in_an_index(run, index):
    (facts,) = run("info", index, "--json").json
    assert facts.pop("bytes_on_disk") > 1000
    assert facts == {
        "kind": "index",
        "documents": 60,
        "deleted_documents": 0,
        "segments": 1,
        "words": 8,
        "dimensions": 8,
        "topic_model": "PLSA",
        "topics": 2,
    }
    ran = run("info", index)
    assert "deleted documents" in ran.out
    assert ran.next_commands == [f"semascope search {index} '…'"]


# --- changing it -----------------------------------------------------------------------------------------------------------


def test_documents_are_added_replaced_deleted_and_merged(run, changing, as_lines, tmp_path):
    (tmp_path / "more.jsonl").write_text(as_lines({"nr": "e", "body": "platinum mines", "topic": "platinum"}))
    named = ["--id", "nr", "--text", "body", "--labels", "topic"]
    assert "5 documents" in run("index-add", changing, tmp_path / "more.jsonl", *named).out
    assert ids_of(run("search", changing, "platinum", "--json", "-k", 1, "--where", "label=platinum")) == ["e"]
    assert "already has a document 'e'" in run("index-add", changing, tmp_path / "more.jsonl", *named).complaint
    assert "5 documents" in run("index-add", changing, tmp_path / "more.jsonl", *named, "--replace").out
    ran = run("index-delete", changing, "e", "a")
    assert "3 documents" in ran.out
    assert "(2 deleted documents)" in ran.out
    assert "1 segment, " in run("index-merge", changing).out
    assert ran.next_commands == [f"semascope search {changing} '…'"]
    assert run("info", changing, "--json").json[0]["deleted_documents"] == 0


def test_documents_that_cannot_be_added_or_deleted_change_nothing(run, changing, tmp_path):
    before = (changing / "manifest.json").read_bytes()
    assert run("index-add", changing, tmp_path / "nowhere.jsonl").complaint == f"{tmp_path / 'nowhere.jsonl'}: no such file."
    assert run("index-delete", changing, "a", "zz").complaint == "the index has no document 'zz'."
    assert (changing / "manifest.json").read_bytes() == before


# --- search ----------------------------------------------------------------------------------------------------------------


def test_search_shows_rank_score_title_labels_and_passage(run, news):
    ran = run("search", news, "gold mines", "-k", 2)
    _, _, first, passage, *_ = ran.out.splitlines()
    assert first.split() == ["1", first.split()[1], "██████", "a", "Mines", "gold"]
    assert passage.strip() == "gold mines of africa"
    assert ran.next_commands == [f"semascope search {news} --like a"]
    assert ran.err == ""


def test_words_that_match_or_are_related_stand_out(run, news, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    out = run("search", news, "harvest", "-k", 1).out
    assert "\x1b[1mharvest\x1b[0m" in out
    assert "\x1b[3;4mfails\x1b[0m" in out


def test_nothing_in_a_text_is_taken_for_markup(run, news):
    assert "wheat harvest [bold]fails[/bold]" in run("search", news, "harvest", "-k", 1).out


def test_search_tells_programs_what_it_shows_people(run, news):
    (hit, *_) = run("search", news, "gold mines", "--json").json
    score = hit.pop("score")
    assert score > 0
    marks = [mark for mark in hit.pop("marks") if mark[2] == "match"]
    assert marks == [[0, 4, "match"], [5, 10, "match"]]
    assert hit == {"id": "a", "title": "Mines", "labels": ["gold"], "snippet": "gold mines of africa"}


@pytest.mark.parametrize("by", ["bm25", "cosine", "lsa", "hybrid", "kl", "lda", "fisher", "fisher-iid-dfim-w"])
def test_every_similarity_finds_documents_of_the_subject(run, index, by):
    assert all(line["labels"] == ["money"] for line in run("search", index, "bank loan", "--by", by, "-k", 5, "--json").json)
    assert run("search", index, "bank loan", "--by", by).next_commands


@pytest.mark.parametrize(
    ("conditions", "wanted"),
    [
        (["label=grain"], "cd"),
        (["label=grain", "label=silver"], "bcd"),
        (["date>=1988"], "cd"),
        (["date<=1987-03"], "a"),
        (["date >= 1987-04", "date<=1988-01"], "bc"),
        (["label=gold", "title=Prices"], "b"),
        (["id=a", "id=d"], "ad"),
    ],
    ids=str,
)
def test_where_chooses_documents(run, news, conditions, wanted):
    options = [part for condition in conditions for part in ("--where", condition)]
    assert "".join(sorted(ids_of(run("search", news, "wheat gold prices", *options, "--by", "lsa", "--json")))) == wanted


def test_documents_of_a_language_are_found_by_a_query_in_it(run, as_lines, tmp_path):
    records = [{"id": "x", "texts": {"en": "the war"}}, {"id": "y", "texts": {"de": "der Frieden war kurz"}}]
    (tmp_path / "two.jsonl").write_text(as_lines(*records))
    run("build", tmp_path / "two.jsonl", tmp_path / "two", "--languages", "en,de")
    run("index", tmp_path / "two", tmp_path / "index")
    assert ids_of(run("search", tmp_path / "index", "war", "--by", "bm25", "--language", "en", "--json")) == ["x"]
    assert ids_of(run("search", tmp_path / "index", "war", "--by", "bm25", "--where", "language=de", "--json")) == ["y"]


def test_documents_like_one_are_found_without_it(run, index):
    found = run("search", index, "--like", "doc1", "-k", 5, "--json").json
    assert len(found) == 5
    assert all(line["labels"] == ["money"] and line["id"] != "doc1" for line in found)
    assert run("search", index, "--like", "doc1").next_commands == [f"semascope search {index} --like {found[0]['id']}"]


def test_queries_are_read_from_standard_input_one_a_line(run, news, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("gold mines\n\n  zebra\nwheat harvest\n"))
    ran = run("search", news, "-", "-k", 1, "--json")
    assert [(line["query"], line["id"]) for line in ran.json] == [("gold mines", "a"), ("wheat harvest", "c")]
    assert ran.err == "No word of the query is in the index: zebra.\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("gold mines\nwheat harvest\n"))
    ran = run("search", news, "-", "-k", 1)
    assert [line for line in ran.out.splitlines() if line in ("gold mines", "wheat harvest")] == ["gold mines", "wheat harvest"]
    assert ran.next_commands == [f"semascope search {news} --like c"]


def test_standard_input_without_queries_is_said_to_be_empty(run, news, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("\n \n"))
    assert run("search", news, "-").complaint == "standard input: no queries; expected one per line."


def test_unknown_words_are_named_when_others_are_found(run, news):
    ran = run("search", news, "zebra gold yak", "--json")
    assert ran.err == "Not in the index: zebra, yak.\n"
    assert ids_of(ran)[:2]


@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["zebra yak"], "No word of the query is in the index: zebra, yak."),
        (["the of and"], "The query has no searchable words: all are stop words or too short."),
        (["gold", "--where", "label=zebra"], "No results: no document matches --where."),
        (["--like", "a", "--where", "date>=1999"], "No results: no document matches --where."),
        (
            ["gold", "--by", "bm25", "--where", "label=grain"],
            "No results: no document that matches --where also matches by bm25.",
        ),
        (
            ["--like", "a", "--by", "bm25", "--where", "label=grain"],
            "No results: no document that matches --where also matches by bm25.",
        ),
    ],
    ids=str,
)
def test_when_nothing_is_found_one_sentence_says_why(run, news, arguments, why, options):
    ran = run("search", news, *arguments, *options)
    assert (ran.code, ran.out, ran.err) == (0, "", f"{why}\n")


def test_a_document_without_words_is_like_no_other(run, as_lines, tmp_path):
    (tmp_path / "some.jsonl").write_text(as_lines({"id": "x", "text": "gold mines"}, {"id": "y", "text": ""}))
    run("build", tmp_path / "some.jsonl", tmp_path / "some")
    run("index", tmp_path / "some", tmp_path / "index")
    ran = run("search", tmp_path / "index", "--like", "y")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "No document is similar to 'y': they have no words in common.\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([""], "the query is empty; enter some words."),
        ([" \t"], "the query is empty; enter some words."),
        (["gold", "--by", "tfidf"], "unknown similarity 'tfidf': choose one of bm25, cosine, lsa,"),
        (["gold", "--by", "lda"], "by='lda' needs topics, but the index has none"),
        (["gold", "--where", "color=red"], "no field 'color' to filter by; the fields are label, language, id,"),
        (["gold", "--where", "language=de"], "there is no language 'de'"),
        (["gold", "--language", "de"], "the index has a single unnamed language"),
        (["--like", "zz"], "the index has no document 'zz'."),
    ],
    ids=str,
)
def test_what_cannot_be_looked_for_is_answered_with_a_sentence(run, news, arguments, sentence):
    assert run("search", news, *arguments).complaint.startswith(sentence)


@pytest.mark.parametrize("condition", ["label", "label=", "=gold", "", "date>1987", "date<1987", "label!=gold", "date==1987"])
def test_a_condition_that_cannot_be_read_is_answered_with_what_can(run, news, condition):
    said = usage_of(run("search", news, "gold", "--where", condition))
    assert f"--where takes FIELD=VALUE, FIELD>=VALUE or FIELD<=VALUE, not {condition!r}." in said


@pytest.mark.parametrize("conditions", [["date=1987", "date>=1986"], ["date>=1986", "date>=1987"]], ids=str)
def test_conditions_that_contradict_each_other_are_refused(run, news, conditions):
    options = [part for condition in conditions for part in ("--where", condition)]
    assert "limits of 'date'" in usage_of(run("search", news, "gold", *options))


@pytest.mark.parametrize("field", ["label", "labels", "language"])
def test_labels_and_languages_have_no_limits(run, news, field):
    assert f"--where takes {field}=VALUE" in usage_of(run("search", news, "gold", "--where", f"{field}>=a"))


@pytest.mark.parametrize("arguments", [[], ["gold", "--like", "a"], ["--like", "a", "--language", "de"]], ids=str)
def test_either_a_query_or_a_document_is_looked_for(run, news, arguments):
    assert "expected either QUERY" in usage_of(run("search", news, *arguments))


@pytest.mark.parametrize("command", [["search", "gold"], ["evaluate-search", "queries", "qrels"]], ids=str)
def test_at_least_one_document_must_be_asked_for(run, news, command):
    assert "-k" in usage_of(run(command[0], news, *command[1:], "-k", 0))


def test_an_index_is_not_mistaken_for_anything_else(run, corpus, model, index, tmp_path):
    for wrong in (corpus, model, tmp_path / "nowhere", tmp_path):
        assert f"{wrong}: expected a semascope index" in run("search", wrong, "gold").complaint
    assert "found a semascope index" in run("fit", index, tmp_path / "other").complaint


def test_bytes_that_are_not_text_do_no_harm(run, as_lines, tmp_path):
    (tmp_path / "odd.jsonl").write_text(as_lines({"id": "x\x1b[2J", "text": "gold \x1b[0K mines\x07", "title": "\x1b]0;t\x07"}))
    run("build", tmp_path / "odd.jsonl", tmp_path / "odd")
    run("index", tmp_path / "odd", tmp_path / "index")
    ran = run("search", tmp_path / "index", "mines \udcff")
    assert ran.code == 0
    assert "mines" in ran.out
    assert "\x1b" not in ran.out.split("Next:")[0]


# --- evaluate-search -------------------------------------------------------------------------------------------------------


def test_similarities_are_judged_side_by_side(run, index, queries, qrels):
    ran = run("evaluate-search", index, queries, qrels)
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["by", "MAP", "P@5", "Rprec", "nDCG@10", "p", "against", "bm25", "queries/s"] in lines
    assert [line[0] for line in lines[3:8]] == ["bm25", "lsa", "hybrid", "lda", "kl"]
    assert "3 queries with relevant documents" in ran.out
    assert "Empty queries, without results: 1 of 4." in ran.err
    assert "Queries without relevant documents, skipped: 1 of 4." in ran.err
    assert ran.next_commands[0].startswith(f"semascope evaluate-search {index} {queries} {qrels} --by ")


def test_judgments_are_of_what_python_finds(run, index, queries, qrels):
    (judged,) = run("evaluate-search", index, queries, qrels, "--by", "bm25", "--measures", "MAP,R@60", "--json").json
    found = Index.open(index).search(["a cat and a dog", "tax and loan"], 60, by="bm25")
    cats, taxes = ({hit.id for hit in hits} for hits in found)
    recalls = [sum(f"doc{number}" in cats for number in range(0, 60, 4)) / 15, "doc1" in taxes, 0]
    assert (judged["queries"], judged["R@60"]) == (3, pytest.approx(sum(recalls) / 3))
    assert 0 < judged["AP"] < judged["R@60"]
    assert (judged["by"], judged["baseline"], judged["p"]) == ("bm25", "bm25", None)
    assert judged["queries_per_second"] > 0


def test_an_index_without_topics_is_judged_without_them(run, corpus, queries, qrels, tmp_path):
    run("index", corpus, tmp_path / "plain")
    ran = run("evaluate-search", tmp_path / "plain", queries, qrels, "--json")
    assert [line["by"] for line in ran.json] == ["bm25", "lsa", "hybrid"]
    assert all(line["p"] is None or 0 <= line["p"] <= 1 for line in ran.json)


def test_a_run_that_was_written_is_judged_alike(run, index, queries, qrels, tmp_path):
    options = ["--by", "hybrid", "--run", tmp_path / "hybrid.run"]
    (made,) = run("evaluate-search", index, queries, qrels, *options, "--json").json
    kept = tmp_path / "all.txt"
    kept.write_text("".join(line for line in qrels.read_text().splitlines(keepends=True) if not line.startswith("9")))
    (judged,) = run("evaluate-search", kept, "--run-in", tmp_path / "hybrid.run", "--json").json
    measures = ("queries", "AP", "P@5", "Rprec", "nDCG@10")
    assert [judged[name] for name in measures] == [made[name] for name in measures]
    assert (judged["run"], judged["queries_per_second"]) == (str(tmp_path / "hybrid.run"), None)


def test_runs_made_elsewhere_are_compared_with_those_of_the_index(run, index, queries, qrels, tmp_path):
    (tmp_path / "other.run").write_text("1 Q0 doc0 1 2.5 me\n1 Q0 doc3 2 1.5 me\n")
    ran = run("evaluate-search", index, queries, qrels, "--by", "lsa", "--run-in", tmp_path / "other.run", "--json")
    assert [line.get("by", line.get("run")) for line in ran.json] == ["lsa", str(tmp_path / "other.run")]
    assert [line["baseline"] for line in ran.json] == ["lsa", "lsa"]
    assert f"Queries without results in {tmp_path / 'other.run'}: 2 of 3." in ran.err
    options = ["--run-in", tmp_path / "other.run", "--baseline", tmp_path / "other.run"]
    assert "p against" in run("evaluate-search", index, queries, qrels, *options).out


def test_the_baseline_is_searched_by_even_if_it_was_not_asked_for(run, index, queries, qrels):
    ran = run("evaluate-search", index, queries, qrels, "--by", "lsa", "--baseline", "cosine", "--json")
    assert [(line["by"], line["p"] is None) for line in ran.json] == [("cosine", True), ("lsa", False)]


def test_relevant_documents_that_the_index_does_not_have_are_counted(run, news, queries, qrels):
    assert "Relevant documents that are not in the index: 17 of 17." in run("evaluate-search", news, queries, qrels).err


def test_queries_may_be_trec_topics(run, index, qrels, tmp_path):
    (tmp_path / "topics").write_text("<top>\n<num> Number: 1\n<title> cat\n<desc> Description:\ndog\n</top>\n")
    options = ["--text", "title", "--text", "description", "--by", "bm25", "--json"]
    (judged,) = run("evaluate-search", index, tmp_path / "topics", qrels, *options).json
    assert (judged["queries"], judged["nDCG@10"] > 0) == (1, True)


def test_queries_without_any_judgment_are_refused(run, index, qrels, as_lines, tmp_path):
    (tmp_path / "others.jsonl").write_text(as_lines({"id": "77", "text": "cat"}))
    wanted = f"{qrels}: no relevant documents for any of the queries; check that the query ids match."
    assert run("evaluate-search", index, tmp_path / "others.jsonl", qrels).complaint == wanted


def test_queries_that_are_all_empty_are_refused(run, index, qrels, as_lines, tmp_path):
    (tmp_path / "empty.jsonl").write_text(as_lines({"id": "1", "text": ""}, {"id": "2", "text": " "}))
    wanted = f"{tmp_path / 'empty.jsonl'}: all queries are empty."
    assert run("evaluate-search", index, tmp_path / "empty.jsonl", qrels).complaint == wanted


def test_queries_with_the_same_id_are_refused(run, index, qrels, as_lines, tmp_path):
    (tmp_path / "twice.jsonl").write_text(as_lines({"id": "1", "text": "cat"}, {"id": "1", "text": "dog"}))
    assert "the id '1' appears twice" in run("evaluate-search", index, tmp_path / "twice.jsonl", qrels).complaint


def test_files_that_are_not_there_are_named(run, index, queries, qrels, tmp_path):
    nowhere = tmp_path / "nowhere"
    for paths in ([nowhere, queries, qrels], [index, nowhere, qrels], [index, queries, nowhere]):
        assert run("evaluate-search", *paths).complaint.startswith(f"{nowhere}: ")
    assert run("evaluate-search", qrels, "--run-in", nowhere).complaint == f"{nowhere}: no such file."


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--by", "tfidf"], "unknown similarity 'tfidf'"),
        (["--baseline", "tfidf"], "unknown similarity 'tfidf'"),
        (["--measures", "P@0"], "unknown measure 'P@0'"),
    ],
    ids=str,
)
def test_what_cannot_be_judged_is_answered_with_a_sentence(run, index, queries, qrels, options, sentence):
    (queries.parent / "judged.jsonl").write_text(queries.read_text().splitlines()[0])
    assert run("evaluate-search", index, queries.parent / "judged.jsonl", qrels, *options).complaint.startswith(sentence)


def test_options_that_do_not_go_together_are_answered_with_the_usage(run, index, queries, qrels, tmp_path):
    written = tmp_path / "x.run"
    written.write_text("1 Q0 doc0 1 2.5 me\n")
    assert "expected INDEX, QUERIES and QRELS" in usage_of(run("evaluate-search", index, qrels))
    assert "require INDEX and QUERIES" in usage_of(run("evaluate-search", qrels, "--run-in", written, "--by", "lsa"))
    assert "choose it with --by" in usage_of(run("evaluate-search", index, queries, qrels, "--run", written))
    nowhere = ["--by", "lsa", "--run", tmp_path / "no" / "x.run"]
    assert "there is no directory" in usage_of(run("evaluate-search", index, queries, qrels, *nowhere))
    assert "is not one of the runs" in run("evaluate-search", qrels, "--run-in", written, "--baseline", "bm25").err
