"""All benchmarks: those that compare with other packages, and those that see whether promises are kept."""

from __future__ import annotations

COMPARISONS = {
    "lda": "LDA: time to quality",
    "spark": "LDA: Spark",
    "plsa": "PLSA: an iteration",
    "plsa_systems": "PLSA: five systems",
    "lsa": "LSA",
    "labeled": "Labeled LDA: batch",
    "labeled_online": "Labeled LDA: stream",
    "labeled_prediction": "Labeled LDA: prediction",
    "text_to_counts": "Text to counts",
    "search_speed": "Search: speed",
    "scaling": "Scaling",
    "learned_priors": "LDA: learned priors",
    "vb_optima": "LDA: variational EM",
    "mr_lda": "LDA: a paper's experiments",
}
"""The quick form runs these alone."""

PROMISES = {
    "cost": "PLSA: tiles",
    "tempering": "PLSA: tempering",
    "plsi_paper": "PLSA: a paper's experiment",
    "bigger_than_memory": "Bigger than memory",
    "lda_priors": "LDA: priors",
    "unseen_alpha": "LDA: a default that depends on K",
    "auto_priors": "LDA: learned or default priors",
    "draws": "LDA: draws",
    "lda_scaling": "LDA: tokens and topics",
    "lda_inference": "LDA: inference",
    "streams": "LDA: streams",
    "informed": "LDA: word lists",
    "polylingual": "LDA: languages",
    "lsa_quality": "LSA: quality",
    "hybrid": "Search: quality",
    "labeled_stream": "Labeled LDA: long streams",
    "stream_faults": "Labeled LDA: kills",
    "explorer": "Explorer",
    "hostile": "Hostile files",
    "hostile_cost": "Hostile files: cost",
    "startup": "Start-up",
    "house": "The source",
    "same_bits": "The same bits",
}

TITLES = {**COMPARISONS, **PROMISES}
