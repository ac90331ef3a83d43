"""LaMP's BM25: words split at white space, scored as rank_bm25's BM25Okapi 0.2.2 scores them.

In: a request and a legal history. Out: the pool by BM25 score. Document frequencies are counted in
that history alone, so nothing of other users enters a score.

Okapi's idf is negative for words in more than half of the records. BM25Okapi puts a share of the
mean idf in its place, and no variant of bm25s does: where idf is negative, bm25s has zero. Since a
history is indexed for one query only, an index that precomputes the score of every word has no
advantage either. So the formula is written out here; the tests compare it with rank_bm25 and, on
words that are not common, with bm25s.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.records import History, Pool, Request
from enough.retrieval.ranking import best_first, retrieval_texts


@dataclass(frozen=True, slots=True)
class BM25Retriever:
    """Best words in common first.

    Attributes:
        k1: how soon repeating a word stops to count.
        b: how much long records are held back; 0 not at all, 1 in proportion to their length.
        epsilon: share of the mean idf that common words get in place of a negative one.
    """

    k1: float = 1.5
    b: float = 0.75
    epsilon: float = 0.25

    def retrieve(self, request: Request, history: History, limit: int) -> Pool:
        """The records that share the query's rarest words."""
        documents = [text.split() for text in retrieval_texts(request.task, history)]
        return best_first(history, self.scores(request.query.split(), documents), limit)

    def scores(
        self, query: Sequence[str], documents: Sequence[Sequence[str]]
    ) -> NDArray[np.float64]:
        """One score per document, [len(documents)]; zero where no word is shared.

        In histories of a few records most words are common and the mean idf itself can be negative.
        Sharing a common word then lowers the score; that is how the official scorer works, too.
        """
        total = np.zeros(len(documents))
        lengths = np.array([len(words) for words in documents])
        if not lengths.any():
            return total
        counts = [Counter(words) for words in documents]
        idf = self._idf(counts)
        damping = self.k1 * (1 - self.b + self.b * lengths / lengths.mean())
        for word in query:  # a word that the query repeats counts again
            if word in idf:
                frequency = np.array([count[word] for count in counts])
                total += idf[word] * (frequency * (self.k1 + 1) / (frequency + damping))
        return total

    def _idf(self, counts: Sequence[Counter[str]]) -> dict[str, float]:
        containing = Counter(word for count in counts for word in count)
        size = len(counts)
        idf = {
            word: math.log(size - with_word + 0.5) - math.log(with_word + 0.5)
            for word, with_word in containing.items()
        }
        floor = self.epsilon * sum(idf.values()) / len(idf)
        return {word: value if value >= 0 else floor for word, value in idf.items()}
