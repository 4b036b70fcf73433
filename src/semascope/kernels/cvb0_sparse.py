"""Sparse CVB0 over the active topics of each document: of a thousand topics, most documents use about a dozen.

Topics are processed in groups of eight. A document keeps the groups with a topic that has more than a fraction of a token.
The mass of all other topics is one number, distributed among them as in the prior, in proportion to α_k. So

    N_dk + α_k = r_d α_k    in every topic k that is not kept,  r_d = 1 + (tokens elsewhere) / (sum of α_k elsewhere)

and with p_w = Σ_k α_k P(w | k), precomputed for all documents, sums over all topics cost no more than sums over those kept:
Σ_k (N_dk + α_k) P(w | k) = Σ_kept (N_dk + α_k − r_d α_k) P(w | k) + r_d p_w. The same holds for the counts of a word: its
counts from documents that do not keep a topic are α_k P(w | k) times one sum over all documents, minus those that keep it.

Every pass refreshes a subset of the documents: it computes the expected counts of the topics elsewhere and chooses the groups
to keep anew. The last group of topics starts earlier if it would extend beyond the last topic. Topics that it shares with the
previous group count only in that one: here their α and their counts are zero.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import inlined, kernel
from semascope.kernels.plsa import length_of, log_part
from semascope.kernels.prefetch import prefetch
from semascope.kernels.simd import WIDTH, larger, load, spread, store, total

AHEAD = 4
"""Prefetch distance in entries."""

MOST = 2.0**10
"""Upper bound on the ratio of the prior's part of a word in a document to the sum over its topics: keeps sums bounded."""


@kernel
def sparse_documents(
    ends, words, counts, languages, group_ends, groups, now, before, others, momentum,
    alpha, starts, topics, scale, floor, prior_part, turn, every, least,
    rows, factors, parts, new_ends, new_groups, new_now, new_before, new_others,
):  # fmt: skip
    """Run the pass by document: update the topics of each document.

    Same numbers as tests/reference/cvb0_sparse.py::few_dense (NumPy, written for reading). Groups are rows of `WIDTH` topics.

    group_ends  int64[d + 1]   in   groups of document d are [group_ends[d]:group_ends[d + 1]] of the three that follow
    groups      int32[n]       in   ids of the groups that are kept, ascending within a document
    now         float[n, 8]    in   N_dk after the last pass
    before      float[n, 8]    in   and after the one before
    others      float[d]       in   tokens of the document in topics that are not kept
    momentum    float          in   extrapolation factor from `before` to `now`
    alpha       float[g, 8]    in   prior of the topics in each group
    starts      int64[g]       in   first topic of each group
    topics      float[v, k]    in   (N_wk + η) / (N_k + Σ_w η)
    scale       float[l, g, 8] in   1 / (N_k + Σ_w η), for each language
    floor       float[l, g, 8] in   η / (N_k + Σ_w η)
    prior_part  float[v]       in   Σ_k α_k P(word | topic)
    turn, every                in   documents turn, turn + every, … choose their groups anew
    least       float          in   minimum expected tokens of a topic for its group to be kept
    rows        float[n, 8]    out  N_dk + α_k that the pass starts from
    factors     float[d]       out  r_d
    parts       float[nnz, 2]  out  1 / Σ a b of each entry, and n over the normalizer of its responsibilities
    new_*                      out  the same as `group_ends` … `others`, for the next pass

    Returns the sum of n log P(word | document) before the pass.
    """
    log_likelihood, one, nothing = 0.0, rows.dtype.type(1), rows.dtype.type(0)
    n_groups, zero = len(starts), spread(nothing)
    room, firsts = (n_groups, WIDTH), np.empty(n_groups, np.int64)
    beyond, shares, sums, elsewhere = (
        np.empty(room, rows.dtype), np.empty(room, rows.dtype), np.empty(room, rows.dtype), np.empty(room, rows.dtype)
    )  # fmt: skip
    alpha_sum = alpha.sum()
    new_ends[0] = 0
    for d in range(len(ends) - 1):
        first, n = group_ends[d], group_ends[d + 1] - group_ends[d]
        length, alpha_kept, mass = length_of(counts, ends[d], ends[d + 1]), zero, zero
        for i in range(n):
            at, group = first + i, groups[first + i]
            firsts[i] = starts[group]
            here, prior = load(now, at, 0), load(alpha, group, 0)
            row = larger(here + spread(momentum) * (here - load(before, at, 0)), zero) + prior
            store(rows, at, 0, row)
            store(sums, i, 0, zero)
            alpha_kept += prior
            mass += row
        alpha_left = max(alpha_sum - total(alpha_kept), alpha_sum * rows.dtype.type(1e-6)) if n < n_groups else nothing
        factor = one + others[d] / alpha_left if n < n_groups else one
        factors[d] = factor
        for i in range(n):
            store(beyond, i, 0, load(rows, first + i, 0) - spread(factor) * load(alpha, groups[first + i], 0))
        in_others = nothing
        for j in range(ends[d], ends[d + 1]):
            word, lang = words[j], languages[words[j]]
            if j + AHEAD < len(words):
                for i in range(n):
                    prefetch(topics, words[j + AHEAD], firsts[i])
            of_all, of_prior = zero, zero
            for i in range(n):
                part = load(topics, word, firsts[i])
                of_all += load(beyond, i, 0) * part
                of_prior += load(alpha, groups[first + i], 0) * part
            prior_total = factor * prior_part[word]
            all_total = total(of_all) + prior_total
            rest = factor * max(prior_part[word] - total(of_prior), nothing) if n < n_groups else nothing
            inverse, kept = one / all_total, zero
            for i in range(n):
                group = groups[first + i]
                share = without_one(
                    load(rows, first + i, 0), load(topics, word, firsts[i]), spread(inverse),
                    load(alpha, group, 0), load(scale[lang], group, 0), load(floor[lang], group, 0),
                )  # fmt: skip
                store(shares, i, 0, share)
                kept += share
            weight = counts[j] / max(total(kept) + rest, prior_total * rows.dtype.type(1 / MOST))
            parts[j, 0], parts[j, 1] = inverse, weight
            in_others += weight * rest
            for i in range(n):
                store(sums, i, 0, load(sums, i, 0) + spread(weight) * load(shares, i, 0))
            log_likelihood += log_part(counts[j], all_total)
        log_likelihood -= log_part(length, total(mass) + factor * alpha_left)
        if d % every != turn:
            keep_groups(d, first, n, groups, sums, now, in_others, new_ends, new_groups, new_now, new_before, new_others)
            continue
        score_elsewhere(elsewhere, words, parts, ends[d], ends[d + 1], topics, starts, spread(factor), alpha)
        choose_groups(
            d, first, n, groups, sums, now, in_others, elsewhere, least, new_ends, new_groups, new_now, new_before, new_others
        )
    return log_likelihood


@kernel
def sparse_words(
    distinct, word_ends, documents, places, parts, group_ends, groups, rows, factors,
    alpha, starts, topics, scale, floor, prior_part, languages, totals, multiplier, begin, end,
):  # fmt: skip
    """Run the pass by word: add the expected counts of each word and topic to exact totals.

    distinct … places             in       entries by word, from `by_word`
    parts … languages             in       as in `sparse_documents`
    totals        int64[v, k + 1] in, out  expected counts times `multiplier`, rounded up, less α_k P(w | k) / p_w times those
                                           in the last column: Σ n r_d p_w over the normalizer of the responsibilities
    begin, end                    in       the distinct words to add
    """
    n_groups, nothing = len(starts), rows.dtype.type(0)
    sums, of_word = np.zeros((n_groups, WIDTH), rows.dtype), np.empty((n_groups, WIDTH), rows.dtype)
    by_prior = np.zeros(n_groups, rows.dtype)
    for i in range(begin, end):
        word, lang, all_by_prior = distinct[i], languages[distinct[i]], nothing
        for group in range(n_groups):
            store(of_word, group, 0, load(topics, word, starts[group]))
        for j in range(word_ends[i], word_ends[i + 1]):
            d, inverse, weight = documents[j], spread(parts[places[j], 0]), parts[places[j], 1]
            if j + AHEAD < len(documents):
                prefetch(parts, places[j + AHEAD], 0)
                prefetch_groups(rows, group_ends, documents[j + AHEAD])
            from_prior = weight * factors[d]
            all_by_prior += from_prior
            for at in range(group_ends[d], group_ends[d + 1]):
                group = groups[at]
                share = without_one(
                    load(rows, at, 0), load(of_word, group, 0), inverse,
                    load(alpha, group, 0), load(scale[lang], group, 0), load(floor[lang], group, 0),
                )  # fmt: skip
                store(sums, group, 0, load(sums, group, 0) + spread(weight) * share)
                by_prior[group] += from_prior
        for group in range(n_groups):
            if by_prior[group] > 0:
                kept = load(sums, group, 0) - spread(by_prior[group]) * load(alpha, group, 0) * load(of_word, group, 0)
                store(sums, group, 0, kept)
                for lane in range(WIDTH):
                    totals[word, starts[group] + lane] += np.int64(np.ceil(np.float64(sums[group, lane]) * multiplier))
                store(sums, group, 0, spread(nothing))
                by_prior[group] = 0
        totals[word, totals.shape[1] - 1] += np.int64(np.ceil(np.float64(all_by_prior * prior_part[word]) * multiplier))


@kernel
def select_groups(rows, before, least, starts, n_topics, group_ends, groups, kept, kept_before, others):
    """Select the groups of dense counts with a topic above `least`, in both rows.

    rows, before  float[d, k]  in   N_dk after the last pass, and after the one before
    group_ends …  others       out  as in `sparse_documents`

    Returns the number of groups kept.
    """
    at = 0
    group_ends[0] = 0
    for d in range(len(rows)):
        others[d] = 0
        for group in range(len(starts)):
            most, words = rows[d, 0] - rows[d, 0], rows[d, 0] - rows[d, 0]
            for k in range(group * WIDTH, min((group + 1) * WIDTH, n_topics)):
                most = max(most, rows[d, k])
                words += rows[d, k]
            if most <= least:
                others[d] += words
                continue
            groups[at] = group
            for lane in range(WIDTH):
                k = starts[group] + lane
                counts_here = k >= group * WIDTH
                kept[at, lane] = rows[d, k] if counts_here else 0
                kept_before[at, lane] = before[d, k] if counts_here else 0
            at += 1
        group_ends[d + 1] = at
    return at


@kernel
def expand_theta(group_ends, groups, kept, others, alpha, starts, shares):
    """Compute P(topic | document) of all topics from the kept groups.

    group_ends … starts  in   as in `sparse_documents`
    shares  float[d, k]  out  (N_dk + α_k) / Σ_k (N_dk + α_k)
    """
    alpha_sum = alpha.sum()
    for d in range(len(shares)):
        left, sums = alpha_sum, others[d] + alpha_sum
        for at in range(group_ends[d], group_ends[d + 1]):
            left -= alpha[groups[at]].sum()
            sums += kept[at].sum()
        n_kept = group_ends[d + 1] - group_ends[d]
        factor = 1 + others[d] / left if n_kept < len(starts) else sums - sums
        for group in range(len(starts)):
            for lane in range(WIDTH):
                if starts[group] + lane >= group * WIDTH:
                    shares[d, starts[group] + lane] = factor * alpha[group, lane] / sums
        for at in range(group_ends[d], group_ends[d + 1]):
            group = groups[at]
            for lane in range(WIDTH):
                if starts[group] + lane >= group * WIDTH:
                    shares[d, starts[group] + lane] = (kept[at, lane] + alpha[group, lane]) / sums


@kernel
def counts_of_few(totals, unit, alpha, prior_part, table):
    """Convert the exact totals of `sparse_words` to N_wk.

    totals  int64[v, k + 1]  in   N_wk over `unit`, minus the part in the last column
    alpha   float[k]         in   and `prior_part`, as used in the pass
    table   float[v, k]      in   `topics` as used in the pass
                             out  N_wk
    """
    n_topics, nothing = table.shape[1], unit - unit
    for word in range(len(totals)):
        by_prior = totals[word, n_topics] * unit / prior_part[word]
        for k in range(n_topics):
            table[word, k] = max(totals[word, k] * unit + by_prior * alpha[k] * table[word, k], nothing)


# --- parts of a pass -----------------------------------------------------------------------------------------------------


@inlined
def without_one(a, b, inverse, alpha, scale, floor):
    """Compute unnormalized responsibilities, excluding the current token."""
    gamma = a * b * inverse
    return larger(a - gamma, alpha) * larger(b - gamma * scale, floor)


@inlined
def prefetch_groups(rows, group_ends, d):
    """Prefetch the groups of a document; a cache line holds two."""
    for at in range(group_ends[d], group_ends[d + 1], 2):
        prefetch(rows, at, 0)


@inlined
def keep_groups(d, first, n, groups, sums, now, in_others, new_ends, new_groups, new_now, new_before, new_others):
    """Keep the same groups for the next pass."""
    at = new_ends[d]
    for i in range(n):
        new_groups[at + i] = groups[first + i]
        store(new_now, at + i, 0, load(sums, i, 0))
        store(new_before, at + i, 0, load(now, first + i, 0))
    new_ends[d + 1], new_others[d] = at + n, in_others


@inlined
def score_elsewhere(elsewhere, words, parts, first, last, topics, starts, factor, alpha):
    """Compute the tokens of a document that each topic would have if it were one of those not kept."""
    for group in range(len(starts)):
        store(elsewhere, group, 0, factor - factor)
    for j in range(first, last):
        for group in range(len(starts)):
            words_here = load(elsewhere, group, 0) + spread(parts[j, 1]) * load(topics, words[j], starts[group])
            store(elsewhere, group, 0, words_here)
    for group in range(len(starts)):
        store(elsewhere, group, 0, factor * load(alpha, group, 0) * load(elsewhere, group, 0))


@inlined
def choose_groups(
    d, first, n, groups, sums, now, in_others, elsewhere, least, new_ends, new_groups, new_now, new_before, new_others
):  # fmt: skip
    """Keep the groups with a topic above the threshold; the tokens of the others join those elsewhere."""
    at, i, zero = new_ends[d], 0, in_others - in_others
    for group in range(len(elsewhere)):
        kept = i < n and groups[first + i] == group
        here = load(sums, i, 0) if kept else load(elsewhere, group, 0)
        store(elsewhere, group, 0, here)
        most = zero
        for lane in range(WIDTH):
            most = max(most, elsewhere[group, lane])
        if most > least:
            new_groups[at] = group
            store(new_now, at, 0, here)
            store(new_before, at, 0, load(now, first + i, 0) if kept else here)
            at += 1
        if most > least and not kept:
            in_others -= total(here)
        if most <= least and kept:
            in_others += total(here)
        i += kept
    new_ends[d + 1], new_others[d] = at, max(in_others, zero)
