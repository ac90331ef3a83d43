"""The retriever's own profile of a length: what everything is compared with."""

from __future__ import annotations

from enough.baselines.fixed import FixedLength
from enough.evaluation.sufficiency import selected_profile
from enough.prompts.profile_sequences import Profile
from enough.teacher.supervision import Subject


def first_records(subject: Subject, length: int) -> Profile:
    """Up to so many records in the retriever's order; one that does not fit is passed over."""
    return selected_profile(FixedLength(length), subject)
