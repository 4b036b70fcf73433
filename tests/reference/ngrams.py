"""N-grams in plain Python: written to be read."""


def number_ngrams(documents, shortest, longest, n_words):
    """Number the runs of words in documents that are lists of word numbers, in the order in which they are met.

    Returns the runs of each document, and the pair (shorter run, last word) of each number from `n_words` on.
    """
    pairs, found = [], []
    for words in documents:
        runs = []
        for i, word in enumerate(words):
            run = word
            if shortest == 1:
                runs.append(run)
            for length in range(2, min(longest, len(words) - i) + 1):
                pair = (run, words[i + length - 1])
                if pair not in pairs:
                    pairs.append(pair)
                run = n_words + pairs.index(pair)
                if length >= shortest:
                    runs.append(run)
        found.append(runs)
    return found, pairs
