"""The particle filter of Labeled LDA, written for reading: every particle has whole tables of its own."""

import numpy as np

from semascope.kernels.heldout import mix, uniform

STEP = np.uint64(0x9E3779B97F4A7C15)


class Filter:
    """Particles over documents as lists of words and lists of labels; nothing is looked at again."""

    def __init__(self, n_particles, n_words, n_labels, alpha, eta, seeds, threshold, *, published=False):
        self.counts = np.zeros((n_particles, n_labels, n_words))
        self.logs = np.zeros(n_particles)
        self.alpha, self.eta, self.seeds, self.threshold, self.published = alpha, eta, seeds, threshold, published
        self.history = [[] for _ in range(n_particles)]
        self.n_documents = self.n_resampled = 0
        self.score = 0.0

    def learn(self, words, labels):
        with np.errstate(over="ignore"):
            random, before, own = (
                mix(mix(self.seeds[0]) ^ np.uint64(self.n_documents)),
                self.logs.copy(),
                np.zeros(len(self.logs)),
            )
            of_document = np.zeros((len(self.logs), len(labels)))
            for number, word in enumerate(words):
                for p, counts in enumerate(self.counts):
                    sizes = counts.sum(axis=1)[labels]
                    phi = (counts[labels, word] + self.eta) / (sizes + counts.shape[1] * self.eta)
                    joint = phi * (of_document[p] + self.alpha)
                    random = np.uint64(random + STEP)
                    new = int(np.searchsorted(np.cumsum(joint)[:-1], uniform(random) * joint.sum(), side="right"))
                    log = np.log(joint.sum() / (number + len(labels) * self.alpha))
                    own[p] += log
                    self.logs[p] += np.log(phi[new]) if self.published else log
                    counts[labels[new], word] += 1
                    of_document[p, new] += 1
                    self.history[p].append(labels[new])
        weights = np.exp(before - before.max())
        self.score += np.log(weights @ np.exp(own - own.max()) / weights.sum()) + own.max()
        self.n_documents += 1
        if self.worth() <= self.threshold:
            self.resample()

    def worth(self):
        weights = np.exp(self.logs - self.logs.max())
        return weights.sum() ** 2 / (weights**2).sum()

    def resample(self):
        n = len(self.logs)
        weights = np.exp(self.logs - self.logs.max())
        offset = uniform(self.seeds[1] ^ np.uint64(self.n_resampled))
        drawn = np.searchsorted(np.cumsum(weights), (np.arange(n) + offset) * weights.sum() / n, side="right")
        extra = list(np.repeat(np.arange(n), np.maximum(np.bincount(drawn, minlength=n) - 1, 0)))
        ancestors = [p if p in drawn else extra.pop(0) for p in range(n)]
        self.counts = self.counts[ancestors]
        self.history = [list(self.history[p]) for p in ancestors]
        self.logs = np.zeros(n)
        self.n_resampled += 1


def look_again(words, counts, labels, shares, label_word, sizes, alpha, eta):
    """Share out the words of one document anew; `label_word` and `sizes` count it too, and are written over."""
    of_document = counts @ shares
    for j, word in enumerate(words):
        known = label_word[labels, word] - shares[j] + eta
        weights = known / (sizes[labels] - shares[j] + label_word.shape[1] * eta) * (of_document - shares[j] + alpha)
        new = weights / weights.sum()
        label_word[labels, word] += counts[j] * (new - shares[j])
        sizes[labels] += counts[j] * (new - shares[j])
        of_document += counts[j] * (new - shares[j])
        shares[j] = new
