"""Tests of `enough.encoder_tuning`."""
