"""Labelling at scale: chunks, workers, journals and files around the teacher."""
