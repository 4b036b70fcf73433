"""Attribution, written for reading."""


def most_probable(theta, p_words):
    """The most probable topic of each word, and P(topic | word, document); (-1, 0) where none can give it."""
    found = []
    for shares, of_word in zip(theta, p_words, strict=True):
        joint = [float(share) * float(p) for share, p in zip(shares, of_word, strict=True)]
        best = max(range(len(joint)), key=joint.__getitem__, default=-1)
        found.append((best, joint[best] / sum(joint)) if joint and joint[best] > 0 else (-1, 0.0))
    return found
