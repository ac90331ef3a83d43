"""The human evaluation kit: blind pairs on a page, annotators' files, verdicts and agreement."""
