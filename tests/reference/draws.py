"""Gibbs sweeps over documents and draws of topics in plain Python: the same random numbers, written to be read."""

import math
from itertools import product
from math import lgamma

import numpy as np

from reference.heldout import MASK, mix

STEP = 0x9E3779B97F4A7C15
LANES = 8


class Numbers:
    """Random numbers from 0 to 1, one after the other."""

    def __init__(self, state):
        self.state = int(state)

    def __call__(self):
        self.state = (self.state + STEP) & MASK
        return (mix(self.state) >> 11) * 2.0**-53


def of_document(key, number):
    """The random numbers of a document in a sweep."""
    return Numbers(mix(mix(int(key)) ^ number))


def choose(weights, limit):
    """The topic where the sum of the weights passes its share: every eighth topic first, then those next to them, …"""
    order = [k for lane in range(LANES) for k in range(lane, len(weights), LANES) if weights[k] > 0]
    left = limit * sum(weights[k] for k in order)
    for k in order:
        if left < weights[k]:
            return k
        left -= weights[k]
    return order[-1] if order else -1


class Document:
    """How many tokens each topic has, and the topics in the order in which the first of them came."""

    def __init__(self, n_topics, chosen):
        self.counts, self.topics = np.zeros(n_topics, int), []
        for topic in chosen:
            self.add(topic)

    def add(self, topic):
        if topic >= 0:
            self.counts[topic] += 1
            if self.counts[topic] == 1:
                self.topics.append(topic)

    def remove(self, topic):
        """Take a token out; the last topic takes the place of one that has none left."""
        if topic >= 0:
            self.counts[topic] -= 1
            if self.counts[topic] == 0:
                self.topics[self.topics.index(topic)] = self.topics[-1]
                self.topics.pop()

    def choose(self, prior, topics, limit):
        """The topic where the sum of the weights passes its share: first those of the document, then those of the prior."""
        weights, of_prior = [self.counts[k] * float(topics[k]) for k in self.topics], prior * topics
        left = limit * (sum(weights) + of_prior.sum())
        for k, weight in zip(self.topics, weights, strict=True):
            if left < weight:
                return k
            left -= weight
        return choose(of_prior, left / of_prior.sum()) if of_prior.any() else -1


def sweep_documents(documents, topics, priors, keys, first_document, chosen, kept=()):
    """Sweeps over documents, lists of words; `chosen` are lists of topics, -1 for none yet. Gives the topics afterwards, and
    those after the sweeps whose numbers are kept."""
    result, drawn = [], [[] for _ in kept]
    for d, (words, mine) in enumerate(zip(documents, chosen, strict=True)):
        prior, mine = priors[d if len(priors) > 1 else 0], list(mine)
        document = Document(len(prior), mine)
        for sweep, key in enumerate(keys):
            random = of_document(key, first_document + d)
            for i, word in enumerate(words):
                document.remove(mine[i])
                new = document.choose(prior, topics[word], random())
                mine[i] = new if new >= 0 else max(mine[i], 0)
                document.add(mine[i])
            for number in np.flatnonzero(np.array(kept, int) == sweep):
                drawn[number].append(list(mine))
        result.append(mine)
    return result, drawn


def choose_first(documents, topics, shares, key, first_document):
    """A first topic for each token, by the shares of its document."""
    result = []
    for d, words in enumerate(documents):
        random = of_document(key, first_document + d)
        result.append([max(choose(shares[d] * topics[word], random()), 0) for word in words])
    return result


def bins(n_bins, single=256, growth=1.05):
    """Numbers from 0 on, by themselves and then in lists that grow."""
    found, size = [[n] for n in range(min(n_bins, single))], single * (growth - 1)
    while len(found) < n_bins:
        first = found[-1][-1] + 1
        found.append(list(range(first, first + int(size))))
        size *= growth
    return found


def exceeding(chosen, n_topics, n_bins):
    """How many of the numbers in each bin are less than N_dk, or at last than |d|, in all documents together."""
    table, numbers = np.zeros((n_bins, n_topics + 1), int), bins(n_bins)
    for mine in chosen:
        for k, n in enumerate([*np.bincount(np.array(mine, int), minlength=n_topics), len(mine)]):
            for row, members in enumerate(numbers):
                table[row, k] += sum(member < n for member in members)
    return table


def count_assignments(documents, chosen, n_words, n_topics):
    """N_wk."""
    table = np.zeros((n_words, n_topics), int)
    for words, mine in zip(documents, chosen, strict=True):
        for word, topic in zip(words, mine, strict=True):
            table[word, topic] += 1
    return table


def draw_topics(counts, eta, keys, languages):
    """Gamma variates of N_wk + η_wk."""
    drawn = np.empty(counts.shape)
    for word, k in np.ndindex(*counts.shape):
        start = mix((word * STEP + 1) & MASK)
        drawn[word, k] = gamma_variate(counts[word, k] + eta[word, k], Numbers(mix(int(keys[languages[word], k]) ^ start)))
    return drawn


def gamma_variate(shape, random):
    """A Gamma variate: by Ahrens and Dieter (1974) where the shape is less than one, else by Marsaglia and Tsang (2000)."""
    while True:
        if shape < 1:
            border = 1 + shape / math.e
            point, accept = border * random(), random()
            if point <= 1:
                log = math.log(max(point, 1e-300)) / shape
                if log < -87:
                    return 0.0
                value, chance = math.exp(log), math.exp(-math.exp(log))
            else:
                value = -math.log((border - point) / shape)
                chance = value ** (shape - 1)
            if accept <= chance:
                return value
        else:
            d = shape - 1 / 3
            normal = math.sqrt(-2 * math.log(max(random(), 1e-300))) * math.cos(2 * math.pi * random())
            cube, accept = (1 + normal / math.sqrt(9 * d)) ** 3, math.log(max(random(), 1e-300))
            if cube > 0 and accept < normal**2 / 2 + d - d * cube + d * math.log(cube):
                return d * cube


def posterior(words, topics, alpha):
    """P(z | words) of every assignment of the words of one document, by enumeration, given P(word | topic)."""
    logs = {}
    for z in product(range(len(alpha)), repeat=len(words)):
        n = np.bincount(z, minlength=len(alpha))
        polya = sum(lgamma(n[k] + alpha[k]) - lgamma(alpha[k]) for k in range(len(alpha)))
        logs[z] = polya + sum(math.log(topics[word, k]) for word, k in zip(words, z, strict=True))
    p = np.exp(np.array(list(logs.values())))
    return dict(zip(logs, p / p.sum(), strict=True))
