"""Is STOP right? Forced continuation, calibration to the teacher, errors of whole trajectories."""
