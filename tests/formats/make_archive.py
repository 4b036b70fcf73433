"""Write the archive of the current format version: python tests/formats/make_archive.py v2"""

import sys
from pathlib import Path

import semascope as ss

if __name__ == "__main__":
    home = Path(__file__).parent / "archives" / sys.argv[1]
    corpus = ss.Corpus.from_texts(
        ["The cat sees the dog.", "The dog sees the bird.", "cat"],
        ids=["a", "b", "c"],
        labels=[["animals"], ["animals", "pets"], []],
        analyzer=ss.Analyzer(stop_words=["the"]),
    )
    corpus.save(home / "corpus")
    model = ss.PLSA(2, random_state=0).fit(corpus)
    model.save(home / "model")
    ss.LabeledLDA(background=1, max_iter=4, random_state=0).fit(corpus).save(home / "labeled-model")
    ss.OnlineLabeledLDA(n_initial=1, random_state=0).partial_fit(corpus).save(home / "online-model")
    index = ss.Index.build(corpus, model, path=home / "index")
    index.add(["A bird sees a cat."], ids=["d"])
    index.delete("c")
    corpus = ss.Corpus.from_texts(
        [{"en": "The war is over.", "de": "Der Hund war da."}, {"de": "Die Katze war da."}],
        ids=["a", "b"],
        analyzer={"en": ss.Analyzer(stop_words=["the"]), "de": ss.Analyzer(stop_words=["der", "die"])},
    )
    corpus.save(home / "polylingual-corpus")
    ss.PLSA(2, random_state=0).fit(corpus).save(home / "polylingual-model")
