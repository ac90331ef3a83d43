"""The retriever's own profile of a length: what everything is compared with."""

from __future__ import annotations

from enough.prompts.profile_sequences import Profile
from enough.teacher.supervision import Subject


def first_records(subject: Subject, length: int) -> Profile:
    """Up to so many records in the retriever's order; one that does not fit ends the profile."""
    room, taken = subject.space.budget.max_profile_tokens, 0
    for tokens in subject.space.budget.record_tokens[:length]:
        if (room := room - tokens) < 0:
            break
        taken += 1
    return tuple(range(taken))
